"""What we advertise of one resource, in generations."""

from collections.abc import Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Self

import attrs

from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.tree import Devices


@attrs.frozen
class ListedDevice:
    """A device as the kubelet's list shows it."""

    id: DeviceId
    health: Health
    numa_nodes: tuple[int, ...] = ()


Listing = tuple[ListedDevice, ...]
"""What one ListAndWatch message says: every device, sorted by id."""


@attrs.frozen(kw_only=True)
class InventoryChanges:
    """Which devices an observation changed; each tuple is sorted."""

    added: tuple[DeviceId, ...] = ()
    updated: tuple[DeviceId, ...] = ()
    vanished: tuple[DeviceId, ...] = ()


def _sorted_by_id(devices: Devices) -> Devices:
    return MappingProxyType(
        {key: devices[key] for key in sorted(devices, key=attrgetter("value"))}
    )


def _listed(inventory: "Inventory") -> Listing:
    return tuple(
        ListedDevice(key, info.health, info.numa_nodes) for key, info in inventory.devices.items()
    )


@attrs.frozen(unsafe_hash=False)
class Inventory:
    """The devices of one resource, as advertised; `generation` grows on each real change.

    A device that a container may hold is never dropped: the kubelet (1.34 to 1.37, with a topology
    policy) crashes at each start when a held id is no longer listed. So what vanishes stays,
    Unhealthy.
    """

    devices: Mapping[DeviceId, DeviceInfo] = attrs.field(
        factory=dict[DeviceId, DeviceInfo], converter=_sorted_by_id
    )
    generation: int = 0
    listing: Listing = attrs.field(
        default=attrs.Factory(_listed, takes_self=True), init=False, eq=False, repr=False
    )

    def observe(self, found: Devices) -> Self:
        """Return the next generation after a scan of `found`, or self if nothing changed."""
        kept = {key: info.unhealthy() for key, info in self.devices.items() if key not in found}
        return self._next({**kept, **found})

    def doubt(self) -> Self:
        """Return a generation in which nothing may be handed out, for want of a good scan."""
        return self._next({key: info.unhealthy() for key, info in self.devices.items()})

    def changes_since(self, older: "Inventory") -> InventoryChanges:
        """Return which devices came, changed, or turned Unhealthy since `older`."""
        changed = [key for key in self.devices if self.devices[key] != older.devices.get(key)]
        vanished = {key for key in changed if self._fell_ill(key, older)}
        return InventoryChanges(
            added=tuple(key for key in changed if key not in older.devices),
            updated=tuple(key for key in changed if key in older.devices and key not in vanished),
            vanished=tuple(sorted(vanished)),
        )

    def _fell_ill(self, key: DeviceId, older: "Inventory") -> bool:
        before = older.devices.get(key)
        return (
            before is not None
            and before.health is Health.HEALTHY
            and self.devices[key].health is Health.UNHEALTHY
        )

    def _next(self, devices: Devices) -> Self:
        if devices == self.devices:
            return self
        return attrs.evolve(self, devices=devices, generation=self.generation + 1)
