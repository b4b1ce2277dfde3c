"""What happened, as frozen values in the past tense: use cases record, adapters show them.

`level` says who should care: `debug` for the curious, `info` for a change of state, `warning` for
what a person may have to mend.
"""

from typing import ClassVar, Literal

import attrs

from deviceplugin.domain.resources import ResourceName

Level = Literal["debug", "info", "warning"]


@attrs.frozen(kw_only=True)
class Event:
    """Something that happened; a subclass carries the facts."""

    level: ClassVar[Level] = "info"


@attrs.frozen(kw_only=True)
class KubeletAwaited(Event):
    """There is no kubelet.sock in the plugin directory, or no plugins_registry; we wait for it."""

    directory: str
    reason: str


@attrs.frozen(kw_only=True)
class KubeletMissing(Event):
    """That has been so for so long that the directory may be the wrong one."""

    level: ClassVar[Level] = "warning"
    directory: str
    seconds: float


@attrs.frozen(kw_only=True)
class KubeletAppeared(Event):
    """A kubelet.sock is there, or another one in the place of the last.

    For one that is to find us by itself: the directory plugins_registry is.
    """

    directory: str


@attrs.frozen(kw_only=True)
class KubeletVanished(Event):
    """The file kubelet.sock is gone, or the directory plugins_registry."""

    directory: str


@attrs.frozen(kw_only=True)
class RegisterBlocked(Event):
    """No Register could be sent for so long that the kubelet is to find us by itself."""

    level: ClassVar[Level] = "warning"
    directory: str
    registry: str
    seconds: float


@attrs.frozen(kw_only=True)
class WatchDegraded(Event):
    """The directory cannot be watched; it is polled instead."""

    level: ClassVar[Level] = "warning"
    reason: str


@attrs.frozen(kw_only=True)
class HoldersUnknown(Event):
    """A source cannot say which devices containers hold, for the reason given."""

    reason: str


@attrs.frozen(kw_only=True)
class HotplugDegraded(Event):
    """Changes of the hardware are not heard from this source; regular looks find them instead."""

    level: ClassVar[Level] = "warning"
    source: str
    reason: str


@attrs.frozen(kw_only=True)
class ResourceEvent(Event):
    """Something about one resource."""

    resource: ResourceName


@attrs.frozen(kw_only=True)
class ServingFailed(ResourceEvent):
    """The resource's server could not start; `failures` in a row so far, this one counted."""

    level: ClassVar[Level] = "warning"
    reason: str
    failures: int


@attrs.frozen(kw_only=True)
class ServingFailedAgain(ServingFailed):
    """It failed once more for the same reason: of interest to those who count."""

    level: ClassVar[Level] = "debug"


@attrs.frozen(kw_only=True)
class RegistrationFailed(ResourceEvent):
    """Register did not succeed; `failures` in a row so far, this one counted."""

    level: ClassVar[Level] = "warning"
    endpoint: str
    reason: str
    failures: int


@attrs.frozen(kw_only=True)
class RegistrationFailedAgain(RegistrationFailed):
    """It failed once more for the same reason: of interest to those who count."""

    level: ClassVar[Level] = "debug"


@attrs.frozen(kw_only=True)
class ResourceRegistered(ResourceEvent):
    """The kubelet has accepted the resource and opened its stream."""

    endpoint: str


@attrs.frozen(kw_only=True)
class RegistrationLost(ResourceEvent):
    """A registered resource has to register again, for the reason given."""

    endpoint: str
    reason: str


@attrs.frozen(kw_only=True)
class ResourceStopped(ResourceEvent):
    """The resource is no longer served."""


@attrs.frozen(kw_only=True)
class InventoryChanged(ResourceEvent):
    """What is advertised changed: numbers of devices now and ids that changed."""

    devices: int
    healthy: int
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class DevicesHeld(ResourceEvent):
    """No scan finds these devices, but containers may hold them: they are listed as Unhealthy."""

    devices: tuple[str, ...]


@attrs.frozen(kw_only=True)
class DevicesReleased(ResourceEvent):
    """These vanished devices are held by nobody any more: they are no longer listed."""

    devices: tuple[str, ...]


@attrs.frozen(kw_only=True)
class DevicesAllocated(ResourceEvent):
    """A container was granted these devices."""

    level: ClassVar[Level] = "debug"
    devices: tuple[str, ...]


@attrs.frozen(kw_only=True)
class AllocationFailed(ResourceEvent):
    """A container was refused devices; the pod fails with this reason."""

    level: ClassVar[Level] = "warning"
    devices: tuple[str, ...]
    reason: str


@attrs.frozen(kw_only=True)
class PreparationFailed(AllocationFailed):
    """A container cannot start: its devices are not ready. The kubelet tries again."""


@attrs.frozen(kw_only=True)
class PreferenceFailed(ResourceEvent):
    """The plugin's preference failed; the kubelet was told to choose by itself."""

    level: ClassVar[Level] = "warning"
    reason: str


@attrs.frozen(kw_only=True)
class ListTooLarge(ResourceEvent):
    """A list has more bytes than a kubelet takes; the last one that fitted stays in force."""

    level: ClassVar[Level] = "warning"
    devices: int
    size: int
    bound: int
    reason: str


@attrs.frozen(kw_only=True)
class ScanFailed(Event):
    """A scan raised; the last good tree stays in force. `failures` in a row so far."""

    level: ClassVar[Level] = "warning"
    reason: str
    failures: int


@attrs.frozen(kw_only=True)
class ScanDoubted(Event):
    """Scans have failed for so long that no device can be confirmed: all are Unhealthy now."""

    level: ClassVar[Level] = "warning"
    seconds: float


@attrs.frozen(kw_only=True)
class ScanRecovered(Event):
    """A scan succeeded after failures."""


@attrs.frozen(kw_only=True)
class ScanReturned(Event):
    """The author's scan came back by itself, which ends the plugin in order."""

    reason: str
