"""What a kubelet may ask about one resource."""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

import attrs

from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.preference import Wish
from deviceplugin.domain.resources import ResourceName


class AdvertisesDevices(Protocol):
    """The part that every resource has."""

    @abstractmethod
    def watch(self) -> AsyncGenerator[Listing]:
        """Yield the full list at once, then each newer one that differs from the last yielded.

        A reader that is slow misses lists, never the newest. Any number of readers never disturb
        each other. Ends when the resource is retired, after its last list.
        """
        ...

    @abstractmethod
    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Return what one container gets for these devices; raises `AllocationError`."""
        ...


class PrefersDevices(Protocol):
    """The power to say which of the free devices a container had better get."""

    @abstractmethod
    async def prefer(self, wish: Wish) -> Sequence[DeviceId]:
        """Return exactly `wish.size` distinct ids, or none to leave the choice to the kubelet.

        Never raises for an internal fault: an error would fail the pod.
        """
        ...


class PreparesContainers(Protocol):
    """The power to act before each start of a container."""

    @abstractmethod
    async def prepare(self, ids: Sequence[DeviceId]) -> None:
        """Make these devices ready; what is raised delays the container's start."""
        ...


@attrs.frozen
class Options:
    """What GetDevicePluginOptions answers, and Register carries."""

    pre_start_required: bool = False
    preferred_allocation_available: bool = False


@attrs.frozen(kw_only=True)
class DevicePlugin:
    """All that a kubelet may ask about one resource. A power that is None is not offered."""

    resource: ResourceName
    devices: AdvertisesDevices
    preference: PrefersDevices | None = None
    preparation: PreparesContainers | None = None

    @property
    def options(self) -> Options:
        """The options that follow from the powers."""
        return Options(self.preparation is not None, self.preference is not None)
