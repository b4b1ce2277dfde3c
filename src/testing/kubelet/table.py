"""The device table: what the lists of the plugins amount to."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Self

import attrs

from deviceplugin.testing.kubelet.values import Device


def _read_only(devices: Mapping[str, Device]) -> Mapping[str, Device]:
    return MappingProxyType(dict(devices))


@attrs.frozen
class Quantity:
    """What the node shows of a resource."""

    capacity: int
    allocatable: int


@attrs.frozen(kw_only=True)
class Snapshot:
    """The devices of one resource. Each list replaces it as a whole (genericDeviceUpdateCallback).

    An id listed once healthy and once not sits in both sets, as in the kubelet, and counts twice.
    """

    devices: Mapping[str, Device] = attrs.field(factory=dict[str, Device], converter=_read_only)
    healthy: frozenset[str] = frozenset()
    unhealthy: frozenset[str] = frozenset()

    @classmethod
    def of(cls, devices: Iterable[Device]) -> Self:
        """Return the snapshot that a list makes; of equal ids the last one is kept."""
        devices = tuple(devices)
        return cls(
            devices={device.id: device for device in devices},
            healthy=frozenset(device.id for device in devices if device.healthy),
            unhealthy=frozenset(device.id for device in devices if not device.healthy),
        )

    @property
    def quantity(self) -> Quantity:
        """How many devices the node shows, and how many of them a pod may get."""
        return Quantity(len(self.healthy) + len(self.unhealthy), len(self.healthy))

    @property
    def aligned(self) -> bool:
        """Whether any device names a NUMA node, so that the topology manager asks for hints."""
        return any(device.has_topology for device in self.devices.values())

    def failed(self) -> Self:
        """Return the snapshot after the loss of the plugin: all unhealthy, capacity kept."""
        return attrs.evolve(self, healthy=frozenset(), unhealthy=self.healthy | self.unhealthy)
