"""Which resource gets which device: each goes to the first rule that matches, and to no other.

Two nodes can be one physical device. If one of them belongs to a resource, the other is not given
to another one, else two pods would share what each was promised alone:

- nodes of one number, whatever their names;
- a whole and its parts: a USB device and what is on it, a disk and its partitions;
- the nodes that the kernel makes of one graphics card: card0 and renderD128.

Parts of a card that do not contain each other (two ports, two partitions, a card's clock and its
I2C bus) are devices of their own.

What comes along with a device by its place in the hardware is taken with it: no later rule gets
it. It may come along with devices of other resources, too, as a sound card's controls do.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.guests import Guests
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import Relation
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
    """What each resource gets, if anything, and what was passed over.

    `owner` says which other resource than a given one has a device, or one that it is part of.
    """

    found: Mapping[ResourceName, tuple[Candidate, ...]]
    skips: tuple[Skip, ...]
    owner: Callable[[Candidate, ResourceName], ResourceName | None]


def assort(rules: Rulebook, sightings: Iterable[Sighting], guests: Guests) -> Assortment:
    """Hand out the candidates; the order in which they were seen does not matter."""
    claimed: dict[ResourceName, list[Sighting]] = defaultdict(list)
    for each in sightings:
        if each.claims:
            claimed[each.claims[0].resource].append(each)
    hand = _Hand()
    for rule in rules:
        for each in sorted(claimed[rule.resource], key=lambda one: one.candidate.identity):
            hand.out(each.claims, each.candidate)
        hand.bring(rule, guests)
    return hand.dealt()


class _Hand:
    """An assortment in the making."""

    def __init__(self) -> None:
        self._found: dict[ResourceName, list[Candidate]] = defaultdict(list)
        self._skips: list[Skip] = []
        self._owners: dict[str, ResourceName] = {}
        self._places = _Places()
        self._has_guests = False
        self._guest_owners: dict[str, ResourceName] = {}
        self._guest_places = _Places()

    def out(self, claims: tuple[ResourceRule, ...], candidate: Candidate) -> None:
        """Give the candidate to the first of the rules that claim it."""
        for rule in claims:
            skip = self._skip(rule, candidate)
            if skip:
                self._skips.append(skip)
            else:
                self._found[rule.resource].append(candidate)
                self._places.occupy(candidate, rule.resource)
                if candidate.node:
                    self._owners[candidate.node.device] = rule.resource

    def bring(self, rule: ResourceRule, guests: Guests) -> None:
        """Take with a rule's devices what comes along by its place in the hardware."""
        for number, companion in enumerate(rule.provision.companions):
            if companion.relation is Relation.DEVICE:
                continue
            for host in self._found.get(rule.resource, ()):
                for guest in guests.of(rule, number, host):
                    if self.owner(guest, rule.resource) is None:
                        self._take_along(guest, rule.resource)

    def owner(self, candidate: Candidate, resource: ResourceName) -> ResourceName | None:
        """Return another resource that has the device, a whole that it is part of, or a part."""
        owner = self._owners.get(candidate.node.device) if candidate.node else None
        if owner is not None and owner != resource:
            return owner
        return self._places.owner(candidate, resource)

    def _take_along(self, guest: Candidate, resource: ResourceName) -> None:
        self._has_guests = True
        self._guest_places.occupy(guest, resource)
        if guest.node:
            self._guest_owners.setdefault(guest.node.device, resource)

    def dealt(self) -> Assortment:
        """Return the whole."""
        found = {resource: tuple(each) for resource, each in self._found.items()}
        return Assortment(
            found=MappingProxyType(found), skips=tuple(self._skips), owner=self.owner
        )

    def _skip(self, rule: ResourceRule, candidate: Candidate) -> Skip | None:
        """Return why the resource cannot be given the candidate, if it cannot."""
        resource, node = rule.resource, candidate.node
        owner = self._owners.get(node.device) if node else None
        reason = _fault(node, rule)
        if not reason and owner:
            reason = f"its device node already belongs to {owner}"
        elif not reason:
            owner = self._places.owner(candidate, resource)
            reason = f"it is part of what already belongs to {owner}" if owner else ""
        if not reason and self._has_guests and (owner := self._host(candidate, resource)):
            reason = f"it comes along with what already belongs to {owner}"
        contested = owner is not None and owner != resource
        return (
            Skip(resource=resource, device=shown(candidate), reason=reason, is_contested=contested)
            if reason
            else None
        )

    def _host(self, candidate: Candidate, resource: ResourceName) -> ResourceName | None:
        """Return another resource with a device of which the candidate comes along."""
        owner = self._guest_owners.get(candidate.node.device) if candidate.node else None
        if owner is not None and owner != resource:
            return owner
        return self._guest_places.owner(candidate, resource)


class _Places:
    """Which resources have what is at, above and below each place in sysfs."""

    def __init__(self) -> None:
        self._units: dict[str, ResourceName] = {}
        self._wholes: dict[str, ResourceName] = {}
        self._occupied: list[tuple[str, ResourceName]] = []
        self._below: dict[str, set[ResourceName]] = defaultdict(set)

    def occupy(self, candidate: Candidate, resource: ResourceName) -> None:
        """Let a resource have what is at the candidate's place."""
        self._units[_unit(candidate)] = resource
        if candidate.subsystem in _WHOLES:
            self._wholes[candidate.devpath] = resource
        self._occupied.append((candidate.devpath, resource))

    def owner(self, candidate: Candidate, resource: ResourceName) -> ResourceName | None:
        """Return another resource that has the device, a whole that it is part of, or a part."""
        owner = self._units.get(_unit(candidate))
        if owner is not None and owner != resource:
            return owner
        if self._wholes:
            for place in _above(candidate.devpath):
                owner = self._wholes.get(place)
                if owner is not None and owner != resource:
                    return owner
        if candidate.subsystem in _WHOLES:
            return min(self._parts(candidate.devpath) - {resource}, default=None)
        return None

    def _parts(self, path: str) -> set[ResourceName]:
        """Return the resources that have a part of a whole."""
        # Few devices are wholes: what is above all others is gone through once one is met.
        for place, resource in self._occupied:
            for above in _above(place):
                self._below[above].add(resource)
        self._occupied.clear()
        return self._below[path]


def _unit(candidate: Candidate) -> str:
    """Return the place of all nodes that are one device."""
    card, drm, _ = candidate.devpath.rpartition("/drm/")
    return card + drm if candidate.subsystem == "drm" and card else candidate.identity


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _fault(node: Node | None, rule: ResourceRule) -> str:
    """Return why no container can be given the node, or nothing."""
    if node is None:
        return "" if rule.provision.gives_more else "it has no device node"
    return "" if node.path.isprintable() else "the name of its device node is not printable text"


def shown(candidate: Candidate) -> str:
    """Return what people know the candidate by."""
    text = candidate.identity
    return text if text.isprintable() else ascii(text)[1:-1]
