"""Which devices stay where they are, because a container may hold them.

A device that is held keeps the resource and the id that it is held by, whatever the rules say now
and whatever else it could be called: another id for it, in whichever resource, could give it to a
second container. It is known by where it was when it was offered, as long as nothing says that it
is another one; where nobody remembers that, as after a restart, by the ids that it could have.

What cannot be offered as it is held is not offered at all, see `steadying`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.identity import Known, names
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.staying import (
    NOBODY_STAYS,
    HeldDevices,
    Offered,
    Stay,
    Stays,
    Whereabouts,
)
from deviceplugin.domain.discovery.traits import Traits
from deviceplugin.domain.discovery.units import grouped
from deviceplugin.domain.holds import Hold, Holds
from deviceplugin.domain.resources import ResourceName

_Members = tuple[Candidate, ...]
_CouldBe = tuple[Hold, _Members, str]
"""What is held that devices could be, and the place of the unit that they would be."""


def ours(rules: Rulebook, holds: Holds) -> Holds:
    """Return what is held of resources in the domains of the rules.

    Other plugins have ids of the same form, such as PCI addresses, for what need not be the same.
    """
    domains = {rule.resource.domain for rule in rules}
    return frozenset(each for each in holds if each.resource.domain in domains)


def stays(
    rules: Rulebook, seen: Sequence[Sighting], holds: Holds, whereabouts: Whereabouts
) -> Stays:
    """Return the devices that are held."""
    if not holds:
        return NOBODY_STAYS
    held = HeldDevices(holds)
    remembered = {
        place: Stay(
            hold=hold,
            holds=held.of(hold.id, hold.resource),
            known=known,
            unit=whereabouts[hold].unit,
        )
        for place, (hold, known) in _remembered(seen, whereabouts).items()
    }
    guesses = {hold for hold, offered in whereabouts.items() if offered.is_guess}
    certain = {place: each for place, each in remembered.items() if each.hold not in guesses}
    found = {place: each for place, each in certain.items() if each.holds}
    left = holds - {hold for each in found.values() for hold in each.holds}
    if left:
        strangers = [
            each for each in seen if each.claims and each.candidate.identity not in certain
        ]
        found.update(_by_name(rules, strangers, left))
    # Where the ids tell no more what it could be, it is where it was taken to be.
    told = {each.hold for each in found.values()}
    found.update(
        (place, each)
        for place, each in remembered.items()
        if each.holds and each.hold not in told and place not in found
    )
    guests = {
        hold: offered.guests
        for hold, offered in whereabouts.items()
        if offered.guests and held.of(hold.id, hold.resource)
    }
    for place, (hold, known) in _still_there(seen, guests).items() if guests else ():
        if place not in found:
            found[place] = Stay(
                hold=hold,
                holds=held.of(hold.id, hold.resource),
                known=known,
                unit=whereabouts[hold].unit,
                is_guest=True,
            )
    return MappingProxyType(found)


def whereabouts_of(holds: Holds, whereabouts: Whereabouts) -> frozenset[str]:
    """Return the places of what is held, and of what came along with it."""
    held = HeldDevices(holds)
    return frozenset(
        known.place
        for hold, offered in whereabouts.items()
        if held.of(hold.id, hold.resource)
        for known in (*offered.members, *offered.guests)
    )


def _remembered(
    seen: Sequence[Sighting], whereabouts: Whereabouts
) -> Mapping[str, tuple[Hold, Known]]:
    """Return as what each device was offered last that is still the same one."""
    return _still_there(seen, {hold: each.members for hold, each in whereabouts.items()})


def _still_there(
    seen: Sequence[Sighting], then: Mapping[Hold, Sequence[Known]]
) -> Mapping[str, tuple[Hold, Known]]:
    """Return what of these is where it was, and is not seen to be another device."""
    at = {known.place: (hold, known) for hold, each in then.items() for known in each}
    found: dict[str, tuple[Hold, Known]] = {}
    for each in seen:
        place = each.candidate.identity
        if place in at:
            hold, known = at[place]
            now = Known.of(each.candidate)
            if known.is_likely(now):
                found[place] = hold, now
    return found


def _by_name(rules: Rulebook, strangers: Sequence[Sighting], left: Holds) -> Mapping[str, Stay]:
    """Return the devices that may be what is held, by the ids that they could have.

    What is no device's id may be that of a group which is none any more, or of a whole that nobody
    asks for: each part of it is a device that may be held, then.
    """
    found: dict[str, Stay] = {}
    for could_be in (_own_ids, _ids_of_wholes):
        held = HeldDevices(left)
        could: dict[Hold, list[tuple[_Members, str]]] = defaultdict(list)
        settled = set(found)
        for hold, members, unit in could_be(rules, strangers, held):
            if settled.isdisjoint(each.identity for each in members):
                settled.update(each.identity for each in members)
                could[hold].append((members, unit))
        for hold, units in could.items():
            holds = held.of(hold.id, hold.resource)
            left -= frozenset(holds)
            found.update(
                (
                    each.identity,
                    Stay(
                        hold=hold,
                        holds=holds,
                        unit=unit,
                        known=Known.of(each),
                        is_sure=len(units) == 1,
                    ),
                )
                for members, unit in units
                for each in members
            )
    return found


def _own_ids(
    rules: Rulebook, strangers: Sequence[Sighting], held: HeldDevices
) -> Iterator[_CouldBe]:
    """Yield what is held that devices could be: of their own resources first, then of others.

    A longer id tells more, of whichever resource: the shorter one was another device's then. What
    another resource may have given out alone is no member of what is held as a group.
    """
    own: dict[ResourceName, list[Candidate]] = defaultdict(list)
    for each in strangers:
        for rule in each.claims:
            if rule.provision.group_by is None or not _is_elsewhere(each.candidate, rule, held):
                own[rule.resource].append(each.candidate)
    for rule in rules:
        for members, known in grouped(rule, own.get(rule.resource, ())):
            if rule.provision.group_by is None:
                yield from _most_telling(known, members, held, None, rule.resource)
            else:
                yield from _most_telling(known, members, held, rule.resource)
    for each in strangers:
        yield from _most_telling(Known.of(each.candidate), (each.candidate,), held, None)


def _is_elsewhere(candidate: Candidate, rule: ResourceRule, held: HeldDevices) -> bool:
    """Say whether a device may be held by its own id, and by other resources only."""
    could = _most_telling(Known.of(candidate), (candidate,), held, None)
    return any(not held.of(hold.id, rule.resource) for hold, _, _ in could)


def _ids_of_wholes(
    _rules: Rulebook, strangers: Sequence[Sighting], held: HeldDevices
) -> Iterator[_CouldBe]:
    """Yield what is held that devices could be part of: by all that tells their hardware."""
    for each in strangers:
        traits = each.candidate.traits
        for whole in (attrs.evolve(traits, part=""), Traits(address=traits.address)):
            if whole.known:
                known = Known(whole, "", each.candidate.identity)
                yield from _most_telling(known, (each.candidate,), held, None)


def _most_telling(
    known: Known,
    members: _Members,
    held: HeldDevices,
    resource: ResourceName | None,
    first: ResourceName | None = None,
) -> Iterator[_CouldBe]:
    """Yield the hold with the longest of the ids that a device could have, if there is one.

    Of one resource, or of any: then of the `first`, if that has it.
    """
    for name in reversed(tuple(names(known))):
        for hold in (*held.of(name, first or resource), *held.of(name, resource)):
            yield Hold(hold.resource, name), members, known.place
            return


def still(whereabouts: Whereabouts, staying: Stays, holds: Holds) -> Whereabouts:
    """Return where all that is held is, or was when it was seen last."""
    if not holds:
        return {}
    held = HeldDevices(holds)
    kept = {
        hold: offered for hold, offered in whereabouts.items() if held.of(hold.id, hold.resource)
    }
    new: dict[Hold, list[Stay]] = defaultdict(list)
    for place, stay in staying.items():
        before = kept.get(stay.hold)
        if stay.is_sure and not stay.is_guest and (before is None or place not in _places(before)):
            new[stay.hold].append(stay)
    found = {
        hold: Offered(each[0].unit, tuple(stay.known for stay in each), is_guess=True)
        for hold, each in new.items()
    }
    return {**kept, **found}


def _places(offered: Offered) -> Iterator[str]:
    return (known.place for known in offered.members)
