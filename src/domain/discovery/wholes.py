"""Wholes and parts: which candidates are one physical device.

That are:

- nodes of one number, whatever their names;
- a whole and its parts: a USB device and what is on it, a disk and its partitions, an NVMe
  controller and its namespaces, by whatever path;
- an array or volume and each disk that it is made of;
- a device and another door to it, see `doors`: a disk and its sg0, a namespace and its ng0n1;
- a group of vfio and the nodes of its devices, by which each is had alone;
- the nodes that the kernel makes of one graphics card: card0 and renderD128.

Parts that do not contain each other (two ports, two partitions or namespaces, a card's clock and
its I2C bus) are devices of their own.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.doors import DOORS, behind
from deviceplugin.domain.resources import ResourceName

_WHOLES: Final = frozenset({"usb", "block", "nvme", "vfio"}) | DOORS
"""Subsystems whose devices have a node for all that is below them."""


class Places:
    """Which resources have what is at, above and below each place in sysfs."""

    def __init__(self) -> None:
        self._units: dict[str, ResourceName] = {}
        self._wholes: dict[str, ResourceName] = {}
        self._occupied: list[tuple[Candidate, ResourceName]] = []
        self._below: dict[str, set[ResourceName]] = defaultdict(set)

    def occupy(self, candidate: Candidate, resource: ResourceName) -> None:
        """Let a resource have what is at the candidate's place."""
        self._units[_unit(candidate)] = resource
        if candidate.subsystem in _WHOLES:
            self._wholes[_device(candidate)] = resource
        self._occupied.append((candidate, resource))

    def owner(self, candidate: Candidate, resource: ResourceName | None) -> ResourceName | None:
        """Return another resource that has the device, a whole that it is part of, or a part.

        None is no resource: then it is whichever has it.
        """
        owner = self._units.get(_unit(candidate))
        if owner is not None and owner != resource:
            return owner
        if self._wholes:
            for place in _containing(candidate):
                owner = self._wholes.get(place)
                if owner is not None and owner != resource:
                    return owner
        if candidate.subsystem in _WHOLES:
            parts = self._parts(_device(candidate))
            return min((each for each in parts if each != resource), default=None)
        return None

    def _parts(self, path: str) -> set[ResourceName]:
        """Return the resources that have a part of a whole."""
        # Few devices are wholes: what is above all others is gone through once one is met.
        for part, resource in self._occupied:
            for above in _containing(part):
                self._below[above].add(resource)
        self._occupied.clear()
        return self._below[path]


def is_part_of_one(one: Candidate, other: Candidate) -> bool:
    """Say whether two candidates are one device, or one is part of the other."""
    if one.node and other.node and one.node.device == other.node.device:
        return True
    wholes = {_device(each) for each in (one, other) if each.subsystem in _WHOLES}
    above = {*_containing(one), *_containing(other)}
    return _unit(one) == _unit(other) or not wholes.isdisjoint(above)


def _unit(candidate: Candidate) -> str:
    """Return the place of all nodes that are one device."""
    if not candidate.devpath:
        return candidate.identity
    card, drm, _ = candidate.devpath.rpartition("/drm/")
    return card + drm if candidate.subsystem == "drm" and card else _device(candidate)


def _device(candidate: Candidate) -> str:
    """Return the place of the device that a node leads to; of a whole, all parts are below it."""
    return behind(candidate.devpath, candidate.subsystem)


def _containing(candidate: Candidate) -> Iterator[str]:
    """Yield the places of all that a candidate is part of."""
    yield from _above(_device(candidate))
    for place in candidate.within:
        yield place
        yield from _above(place)


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path
