"""What comes along with a device: those of the companions' devices that are related to it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import Relation
from deviceplugin.domain.discovery.rulebook import Sighting
from deviceplugin.domain.resources import ResourceName

_Index = Mapping[str, tuple[Candidate, ...]]
_EVERYWHERE: Final = "*"


def above(path: str) -> Iterator[str]:
    """Yield the paths of the directories that a path is below, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


def _homes(relation: Relation, guest: Candidate) -> Iterator[str]:
    """Yield what the devices have in common that a guest can come along with."""
    if relation is Relation.DEVICE:
        yield _EVERYWHERE
    elif relation is Relation.SIBLINGS:
        yield guest.hardware_path
    elif relation is Relation.CHILDREN:
        yield from above(guest.devpath)
    else:
        yield guest.iommu_group


def _home(relation: Relation, host: Candidate) -> str:
    if relation is Relation.DEVICE:
        return _EVERYWHERE
    if relation is Relation.SIBLINGS:
        return host.hardware_path
    return host.devpath if relation is Relation.CHILDREN else host.iommu_group


class Guests:
    """All devices that may come along with another one, found by what they have in common."""

    def __init__(self, sightings: Iterable[Sighting]) -> None:
        self._fitting: dict[tuple[ResourceName, int], list[Candidate]] = defaultdict(list)
        self._indexes: dict[tuple[ResourceName, int], _Index] = {}
        for each in sightings:
            for fit in each.fits:
                self._fitting[fit].append(each.candidate)

    def of(self, rule: ResourceRule, number: int, host: Candidate) -> tuple[Candidate, ...]:
        """Return what comes along with a device by the rule's companion of that number, sorted."""
        relation = rule.provision.companions[number].relation
        home = _home(relation, host)
        if not home:
            return ()
        found = self._index((rule.resource, number), relation).get(home, ())
        return tuple(each for each in found if each.identity != host.identity)

    def has(self, rule: ResourceRule, number: int, device: Candidate) -> bool:
        """Say whether a device is one of those that come along by the rule's companion."""
        fitting = self._fitting.get((rule.resource, number), ())
        return any(each.identity == device.identity for each in fitting)

    def _index(self, fit: tuple[ResourceName, int], relation: Relation) -> _Index:
        if fit not in self._indexes:
            found: dict[str, list[Candidate]] = defaultdict(list)
            for guest in sorted(self._fitting.get(fit, ()), key=lambda each: each.identity):
                for home in _homes(relation, guest):
                    found[home].append(guest)
            self._indexes[fit] = MappingProxyType(
                {home: tuple(guests) for home, guests in found.items()}
            )
        return self._indexes[fit]
