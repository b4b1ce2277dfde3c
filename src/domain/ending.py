"""What a kubelet is told of the devices when the plugin ends."""

from enum import Enum


class OnExit(Enum):
    """Nothing, since another plugin may be about to take over; or that none can be used any more.

    The kubelet takes all devices for Unhealthy as soon as the stream has ended, unless another
    instance has registered by then: a last list shows through in both cases.
    """

    LEAVE = "leave"
    UNHEALTHY = "unhealthy"
