"""Which resource gets which device: each goes to the first rule that matches, and to no other.

Two nodes can be one physical device, see `wholes`. If one of them belongs to a resource, the other
is not given to another one, else two pods would share what each was promised alone.

A device that is held stays with the resource by which it is, whatever the order; see `holding`.

What comes along with a device by its place in the hardware is taken with it: no later rule gets
it. It may come along with devices of other resources, too, as a sound card's controls do.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import attrs

from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.fronts import Fronts, fronts_of
from deviceplugin.domain.discovery.guests import Guests
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.staying import NOBODY_STAYS, Stay, Stays
from deviceplugin.domain.discovery.wholes import Places
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True)
class Skip:
    """A candidate that a rule matches and does not get; contested if another resource has it.

    It is `held` if it is not given since a container may hold it otherwise. `place` tells it from
    all others, and `owner` is the resource that has it.
    """

    resource: ResourceName
    device: str
    reason: str
    is_contested: bool = False
    is_held: bool = False
    place: str = ""
    owner: ResourceName | None = None


@attrs.frozen(kw_only=True, eq=False)
class Assortment:
    """What each resource gets, if anything, and what was passed over.

    `owner` says which other resource than a given one has a device, or one that it is part of.
    `withheld` are those that nobody gets, since several claim them.
    """

    found: Mapping[ResourceName, tuple[Candidate, ...]]
    skips: tuple[Skip, ...]
    owner: Callable[[Candidate, ResourceName], ResourceName | None]
    withheld: tuple[Candidate, ...] = ()


def assort(
    rules: Rulebook,
    sightings: Iterable[Sighting],
    guests: Guests,
    stays: Stays = NOBODY_STAYS,
    fronts: Fronts | None = None,
) -> Assortment:
    """Hand out the candidates; the order in which they were seen does not matter.

    `fronts` are those of all that was seen, if these are not all.
    """
    sightings = tuple(sightings)
    claimed: dict[ResourceName, list[Sighting]] = defaultdict(list)
    staying: list[Sighting] = []
    for each in sightings:
        stay = stays.get(each.candidate.identity) if stays else None
        if stay is not None and not stay.is_guest:
            staying.append(each)
        elif each.claims:
            claimed[each.claims[0].resource].append(each)
    hand = _Hand(fronts_of(rules, sightings) if fronts is None else fronts, stays)
    for each in sorted(staying, key=lambda one: one.candidate.identity):
        hand.keep(each.claims, each.candidate, stays[each.candidate.identity])
    for rule in rules if staying else ():
        hand.bring(rule, guests)
    for rule in rules:
        for each in sorted(claimed[rule.resource], key=lambda one: one.candidate.identity):
            hand.out(each.claims, each.candidate)
        hand.bring(rule, guests)
    return hand.dealt()


class _Hand:
    """An assortment in the making."""

    def __init__(self, fronts: Fronts, stays: Stays) -> None:
        self._fronts = fronts
        self._stays = stays
        self._kept = Places()
        self._kept_owners: dict[str, ResourceName] = {}
        self._found: dict[ResourceName, list[Candidate]] = defaultdict(list)
        self._skips: list[Skip] = []
        self._owners: dict[str, ResourceName] = {}
        self._places = Places()
        self._has_guests = False
        self._guest_owners: dict[str, ResourceName] = {}
        self._guest_places = Places()

    def out(self, claims: tuple[ResourceRule, ...], candidate: Candidate) -> None:
        """Give the candidate to the first of the rules that claim it."""
        for rule in claims:
            skip = self._skip(rule, candidate)
            if skip:
                self._skips.append(skip)
            else:
                self._found[rule.resource].append(candidate)
                self._occupy(candidate, rule.resource)

    def keep(self, claims: tuple[ResourceRule, ...], candidate: Candidate, stay: Stay) -> None:
        """Give the candidate to the resource by which it is held; if not to that, to none."""
        owner = stay.hold.resource
        reason, is_given = str(stay), False
        for rule in claims:
            if not stay.is_sure or rule.resource != owner:
                skip = _skipped(rule, candidate, reason, owner=owner)
                self._skips.append(attrs.evolve(skip, is_held=reason == str(stay)))
            elif fault := self._fault(candidate, rule):
                self._skips.append(_skipped(rule, candidate, fault))
            else:
                self._found[owner].append(candidate)
                is_given = True
                # What follows would not get it either if nobody held it.
                reason = f"its device node already belongs to {owner}"
        if not is_given:
            self._kept.occupy(candidate, owner)
            if candidate.node:
                self._kept_owners[candidate.node.device] = owner
        self._occupy(candidate, owner)

    def _occupy(self, candidate: Candidate, resource: ResourceName) -> None:
        self._places.occupy(candidate, resource)
        if candidate.node:
            self._owners[candidate.node.device] = resource

    def bring(self, rule: ResourceRule, guests: Guests) -> None:
        """Take with a rule's devices what comes along by its place in the hardware."""
        for number, companion in enumerate(rule.provision.companions):
            if not companion.takes:
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
        reason = self._fault(candidate, rule)
        if self._stays and not reason and (held := self._held(candidate)):
            skip = _skipped(rule, candidate, held.reason, owner=held.owner)
            # No dispute: nobody else wants it.
            return attrs.evolve(skip, is_contested=False, is_held=True)
        if not reason and owner:
            reason = f"its device node already belongs to {owner}"
        elif not reason:
            owner = self._places.owner(candidate, resource)
            reason = f"it is part of what already belongs to {owner}" if owner else ""
        if not reason and self._has_guests and (owner := self._host(candidate, resource)):
            reason = f"it comes along with what already belongs to {owner}"
        return _skipped(rule, candidate, reason, owner=owner) if reason else None

    def _held(self, candidate: Candidate) -> "_Held | None":
        """Return why a container may have the candidate, by another part of what it is."""
        stay = self._stays.get(candidate.identity)
        if stay is not None:
            return _Held(str(stay), stay.hold.resource)
        owner = self._kept_owners.get(candidate.node.device) if candidate.node else None
        owner = owner or self._kept.owner(candidate, None)
        reason = f"a container may hold it, or a part of it, as what was offered by {owner}"
        return _Held(reason, owner) if owner else None

    def _fault(self, candidate: Candidate, rule: ResourceRule) -> str:
        """Return why no container can be given the device, or nothing."""
        front = self._fronts.of(rule, candidate) if candidate.node is None else None
        if front is not None:
            return f"it has no device node, and {shown(front)}, which has one, matches, too"
        return _fault(candidate.node, rule)

    def _host(self, candidate: Candidate, resource: ResourceName) -> ResourceName | None:
        """Return another resource with a device of which the candidate comes along."""
        owner = self._guest_owners.get(candidate.node.device) if candidate.node else None
        if owner is not None and owner != resource:
            return owner
        return self._guest_places.owner(candidate, resource)


@attrs.frozen
class _Held:
    """Why a device is not given, and by which resource it is held."""

    reason: str
    owner: ResourceName


def _skipped(
    rule: ResourceRule, candidate: Candidate, reason: str, *, owner: ResourceName | None = None
) -> Skip:
    return Skip(
        resource=rule.resource,
        device=shown(candidate),
        reason=reason,
        is_contested=owner is not None and owner != rule.resource,
        place=candidate.identity,
        owner=owner,
    )


def _fault(node: Node | None, rule: ResourceRule) -> str:
    """Return why no container can be given the node, or nothing."""
    if node is None:
        return "" if rule.provision.gives_more else "it has no device node"
    return "" if node.path.isprintable() else "the name of its device node is not printable text"


def shown(candidate: Candidate) -> str:
    """Return what people know the candidate by."""
    text = candidate.identity
    return text if text.isprintable() else ascii(text)[1:-1]
