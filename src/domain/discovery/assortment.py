"""Which resource gets which device: each goes to the first rule that matches, and to no other.

Two nodes can be one physical device. If one of them belongs to a resource, the other is not given
to another one, else two pods would share what each was promised alone:

- nodes of one number, whatever their names;
- a whole and its parts: a USB device and what is on it, a disk and its partitions;
- the nodes that the kernel makes of one graphics card: card0 and renderD128.

Parts of a card that do not contain each other (two ports, two partitions, a card's clock and its
I2C bus) are devices of their own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.resources import ResourceName

_WHOLES: Final = frozenset({"usb", "block"})
"""Subsystems whose devices have a node for all that is below them."""


@attrs.frozen(kw_only=True)
class Skip:
    """A candidate that a rule matches and does not get; contested if another resource has it."""

    resource: ResourceName
    device: str
    reason: str
    is_contested: bool = False


@attrs.frozen(kw_only=True, eq=False)
class Assortment:
    """What each resource gets, if anything, and what was passed over."""

    found: Mapping[ResourceName, tuple[Candidate, ...]]
    skips: tuple[Skip, ...]


def assort(rules: Rulebook, sightings: Iterable[Sighting]) -> Assortment:
    """Hand out the candidates; the order in which they were seen does not matter."""
    order = {rule.resource: index for index, rule in enumerate(rules)}
    claimed = [each for each in sightings if each.claims]
    claimed.sort(key=lambda each: (order[each.claims[0].resource], each.candidate.identity))
    hand = _Hand()
    for each in claimed:
        hand.out(each.claims, each.candidate)
    return hand.dealt()


class _Hand:
    """An assortment in the making."""

    def __init__(self) -> None:
        self._found: dict[ResourceName, list[Candidate]] = defaultdict(list)
        self._skips: list[Skip] = []
        self._owners: dict[str, ResourceName] = {}
        self._places = _Places()

    def out(self, claims: tuple[ResourceRule, ...], candidate: Candidate) -> None:
        """Give the candidate to the first of the rules that claim it."""
        for rule in claims:
            skip = self._skip(rule.resource, candidate)
            if skip:
                self._skips.append(skip)
            else:
                self._found[rule.resource].append(candidate)
                self._places.occupy(candidate, rule.resource)
                self._owners[_device(candidate.node)] = rule.resource

    def dealt(self) -> Assortment:
        """Return the whole."""
        found = {resource: tuple(each) for resource, each in self._found.items()}
        return Assortment(found=MappingProxyType(found), skips=tuple(self._skips))

    def _skip(self, resource: ResourceName, candidate: Candidate) -> Skip | None:
        """Return why the resource cannot be given the candidate, if it cannot."""
        owner = self._owners.get(_device(candidate.node))
        reason = _fault(candidate.node)
        if not reason and owner:
            reason = f"its device node already belongs to {owner}"
        elif not reason:
            owner = self._places.owner(candidate, resource)
            reason = f"it is part of what already belongs to {owner}" if owner else ""
        contested = owner is not None and owner != resource
        return (
            Skip(resource=resource, device=shown(candidate), reason=reason, is_contested=contested)
            if reason
            else None
        )


class _Places:
    """Which resources have what is at, above and below each place in sysfs."""

    def __init__(self) -> None:
        self._units: dict[str, ResourceName] = {}
        self._wholes: dict[str, ResourceName] = {}
        self._below: dict[str, set[ResourceName]] = defaultdict(set)

    def occupy(self, candidate: Candidate, resource: ResourceName) -> None:
        """Let a resource have what is at the candidate's place."""
        self._units[_unit(candidate)] = resource
        if candidate.subsystem in _WHOLES:
            self._wholes[candidate.devpath] = resource
        for place in _above(candidate.devpath):
            self._below[place].add(resource)

    def owner(self, candidate: Candidate, resource: ResourceName) -> ResourceName | None:
        """Return another resource that has the device, a whole that it is part of, or a part."""
        owners = [self._units.get(_unit(candidate))]
        owners += [self._wholes.get(place) for place in _above(candidate.devpath)]
        if candidate.subsystem in _WHOLES:
            owners += sorted(self._below[candidate.devpath])
        return next((each for each in owners if each not in {None, resource}), None)


def _unit(candidate: Candidate) -> str:
    """Return the place of all nodes that are one device."""
    card, drm, _ = candidate.devpath.rpartition("/drm/")
    return card + drm if candidate.subsystem == "drm" and card else candidate.identity


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _device(node: Node | None) -> str:
    return node.device if node else ""


def _fault(node: Node | None) -> str:
    """Return why no container can be given the node, or nothing."""
    if node is None:
        return "it has no device node"
    return "" if node.path.isprintable() else "the name of its device node is not printable text"


def shown(candidate: Candidate) -> str:
    """Return what people know the candidate by."""
    text = candidate.identity
    return text if text.isprintable() else ascii(text)[1:-1]
