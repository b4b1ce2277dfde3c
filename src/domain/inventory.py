"""What we advertise of one resource, in generations."""

from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Final, Self

import attrs

from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.room import (
    MAX_HELD,
    MAX_HELD_BYTES,
    MAX_LIST_BYTES,
    fitting,
    listed_bytes,
)
from deviceplugin.domain.tree import Devices


@attrs.frozen
class ListedDevice:
    """A device as the kubelet's list shows it."""

    id: DeviceId
    health: Health
    numa_nodes: tuple[int, ...] = ()


NO_DEVICES: Final[Devices] = MappingProxyType({})
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


def _read_only(vanished: Mapping[DeviceId, int]) -> Mapping[DeviceId, int]:
    return MappingProxyType(dict(vanished))


def _size(devices: Devices, keys: Iterable[DeviceId]) -> int:
    return sum(listed_bytes(key.value, devices[key].numa_nodes) for key in keys)


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

    `vanished` are those that the last scan did not find, each with the generation that first
    listed it so; they alone can be let go.
    """

    devices: Mapping[DeviceId, DeviceInfo] = attrs.field(
        factory=dict[DeviceId, DeviceInfo], converter=_sorted_by_id
    )
    generation: int = 0
    vanished: Mapping[DeviceId, int] = attrs.field(
        factory=dict[DeviceId, int], converter=_read_only
    )
    listing: Listing = attrs.field(
        default=attrs.Factory(_listed, takes_self=True), init=False, eq=False, repr=False
    )

    def observe(self, found: Devices) -> Self:
        """Return the next generation after a scan of `found`, or self if nothing changed."""
        kept = {key: info.unhealthy() for key, info in self.devices.items() if key not in found}
        return self._next({**kept, **found}, kept.keys())

    def doubt(self) -> Self:
        """Return a generation in which nothing may be handed out, for want of a good scan."""
        doubted = {key: info.unhealthy() for key, info in self.devices.items()}
        return self._next(doubted, self.vanished.keys())

    def keep(
        self, held: Mapping[DeviceId, Collection[int]], *, beside: Devices = NO_DEVICES
    ) -> Self:
        """Return a generation that lists what containers may hold, though no scan found it.

        Nothing is known of such a device but its id and the NUMA nodes under which the kubelet
        remembers it. Unhealthy it is; without its nodes, a kubelet with a topology policy that
        starts again would refuse the pod that holds it.

        As many are listed as there is room for (`domain.room`) beside what is listed already and
        the devices `beside`, those of a scan that is to be observed next. What is among those
        needs none.
        """
        unlisted = {key: nodes for key, nodes in held.items() if key not in self.devices}
        unknown = {
            key: DeviceInfo(health=Health.UNHEALTHY, numa_nodes=unlisted[key])
            for key in self._with_room(unlisted, beside)
        }
        return self._next({**unknown, **self.devices}, unknown.keys() | self.vanished.keys())

    def _with_room(
        self, unlisted: Mapping[DeviceId, Collection[int]], beside: Devices
    ) -> Collection[DeviceId]:
        """Return those that can be listed beside what is, and what is about to be."""
        asking = {key: nodes for key, nodes in unlisted.items() if key not in beside}
        if not asking:
            return unlisted.keys()
        gone = _size(self.devices, self.vanished)
        found = _size(self.devices, self.devices.keys() - self.vanished.keys())
        found += _size(beside, beside.keys() - self.devices.keys())
        fit = fitting(
            asking,
            devices=MAX_HELD - len(self.vanished),
            size=min(MAX_HELD_BYTES, MAX_LIST_BYTES - found) - gone,
        )
        return (unlisted.keys() & beside.keys()) | set(fit)

    def release(self, ids: Collection[DeviceId]) -> Self:
        """Return a generation without those of `ids` that have vanished."""
        left = {
            key: info
            for key, info in self.devices.items()
            if key not in ids or key not in self.vanished
        }
        return self._next(left, self.vanished.keys() & left.keys())

    def changes_since(self, older: "Inventory") -> InventoryChanges:
        """Return which devices came, changed, or turned Unhealthy since `older`."""
        changed = [key for key in self.devices if self.devices[key] != older.devices.get(key)]
        vanished = {key for key in changed if self._fell_ill(key, older)}
        return InventoryChanges(
            added=tuple(key for key in changed if key not in older.devices),
            updated=tuple(key for key in changed if key in older.devices and key not in vanished),
            vanished=tuple(sorted(vanished, key=attrgetter("value"))),
        )

    def _fell_ill(self, key: DeviceId, older: "Inventory") -> bool:
        before = older.devices.get(key)
        return (
            before is not None
            and before.health is Health.HEALTHY
            and self.devices[key].health is Health.UNHEALTHY
        )

    def _next(self, devices: Devices, vanished: Collection[DeviceId]) -> Self:
        same = devices == self.devices
        if same and vanished == self.vanished.keys():
            return self
        generation = self.generation if same else self.generation + 1
        return attrs.evolve(
            self,
            devices=self.devices if same else devices,
            generation=generation,
            vanished={key: self.vanished.get(key, generation) for key in vanished},
        )
