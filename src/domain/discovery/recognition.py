"""Which devices could be what is held, by the ids that they could have.

So it is after a restart, when nobody remembers where it was.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.identity import Known, names
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.staying import HeldDevices, Stay
from deviceplugin.domain.discovery.traits import Traits
from deviceplugin.domain.discovery.units import grouped
from deviceplugin.domain.holds import Hold, Holds
from deviceplugin.domain.resources import ResourceName

_Members = tuple[Candidate, ...]
_CouldBe = tuple[Hold, _Members, str]
"""What is held that devices could be, and the place of the unit that they would be."""


def by_name(rules: Rulebook, strangers: Sequence[Sighting], left: Holds) -> Mapping[str, Stay]:
    """Return the devices that may be what is held, by the ids that they could have.

    What is no device's id may be that of a group which is none any more, or of a whole that nobody
    asks for: each part of it is a device that may be held, then. One that could be both is neither
    for sure.
    """
    found: dict[str, Stay] = {}
    besides: list[tuple[Hold, _Members]] = []
    for could_be in (_own_ids, _ids_of_wholes):
        held = HeldDevices(left)
        could: dict[Hold, list[tuple[_Members, str]]] = defaultdict(list)
        settled = set(found)
        for hold, members, unit in could_be(rules, strangers, held):
            if settled.isdisjoint(each.identity for each in members):
                settled.update(each.identity for each in members)
                could[hold].append((members, unit))
            else:
                besides.append((hold, members))
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
    unknown = HeldDevices(left)
    for hold, members in besides:
        if unknown.of(hold.id, hold.resource):
            found.update(
                (each.identity, attrs.evolve(found[each.identity], is_sure=False))
                for each in members
                if each.identity in found
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
