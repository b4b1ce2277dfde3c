"""Which devices stay where they are, because a container may hold them.

A device that is held keeps the resource and the id that it is held by, whatever the rules say now
and whatever else it could be called: another id for it, in whichever resource, could give it to a
second container. It is known by where it was when it was offered, as long as nothing says that it
is another one; where nobody remembers that, as after a restart, by the ids that it could have.

If several devices could be the one that is held, none of them is offered. If it can no longer be
offered as it is held, it is not offered at all.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.discovery.assortment import Skip, shown
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.identity import NOBODY, Known, Owners, names
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.staying import NOBODY_STAYS, HeldDevices, Stay, Stays
from deviceplugin.domain.discovery.traits import Traits
from deviceplugin.domain.discovery.units import Unit, grouped
from deviceplugin.domain.holds import NOTHING_HELD, Hold, Holds
from deviceplugin.domain.resources import ResourceName

Whereabouts = Mapping[Hold, tuple[Known, ...]]
"""Where the members of each device were when it was offered last, by its resource and id."""
_Members = tuple[Candidate, ...]


@attrs.frozen(kw_only=True)
class Steady:
    """Units without those that cannot be offered as they are held; and who has an id for that."""

    units: Mapping[ResourceName, tuple[Unit, ...]]
    ids: Owners
    skips: tuple[Skip, ...] = ()


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
    remembered = _remembered(seen, whereabouts)
    found = {
        place: Stay(hold=hold, holds=units, known=known)
        for place, (hold, known) in remembered.items()
        if (units := held.of(hold.id, hold.resource))
    }
    left = holds - {hold for each in found.values() for hold in each.holds}
    if left:
        strangers = [
            each for each in seen if each.claims and each.candidate.identity not in remembered
        ]
        found.update(_by_name(rules, strangers, left))
    return MappingProxyType(found)


def _remembered(
    seen: Sequence[Sighting], whereabouts: Whereabouts
) -> Mapping[str, tuple[Hold, Known]]:
    """Return as what each device was offered last that is still the same one."""
    at = {known.place: (hold, known) for hold, all_ in whereabouts.items() for known in all_}
    found: dict[str, tuple[Hold, Known]] = {}
    for each in seen:
        place = each.candidate.identity
        if place in at:
            hold, then = at[place]
            now = Known.of(each.candidate)
            if then.is_likely(now):
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
        could: dict[Hold, list[_Members]] = defaultdict(list)
        settled = set(found)
        for hold, members in could_be(rules, strangers, held):
            if settled.isdisjoint(each.identity for each in members):
                settled.update(each.identity for each in members)
                could[hold].append(members)
        for hold, units in could.items():
            holds = held.of(hold.id, hold.resource)
            left -= frozenset(holds)
            for each in (member for members in units for member in members):
                found[each.identity] = Stay(
                    hold=hold, holds=holds, known=Known.of(each), is_sure=len(units) == 1
                )
    return found


def _own_ids(
    rules: Rulebook, strangers: Sequence[Sighting], held: HeldDevices
) -> Iterator[tuple[Hold, _Members]]:
    """Yield what is held that devices could be: of their own resources first, then of others."""
    own: dict[ResourceName, list[Candidate]] = defaultdict(list)
    for each in strangers:
        for rule in each.claims:
            own[rule.resource].append(each.candidate)
    for rule in rules:
        for members, known in grouped(rule, own.get(rule.resource, ())):
            yield from _most_telling(known, members, held, rule.resource)
    for each in strangers:
        yield from _most_telling(Known.of(each.candidate), (each.candidate,), held, None)


def _ids_of_wholes(
    _rules: Rulebook, strangers: Sequence[Sighting], held: HeldDevices
) -> Iterator[tuple[Hold, _Members]]:
    """Yield what is held that devices could be part of: by all that tells their hardware."""
    for each in strangers:
        traits = each.candidate.traits
        for whole in (attrs.evolve(traits, part=""), Traits(address=traits.address)):
            if whole.known:
                known = Known(whole, "", each.candidate.identity)
                yield from _most_telling(known, (each.candidate,), held, None)


def _most_telling(
    known: Known, members: _Members, held: HeldDevices, resource: ResourceName | None
) -> Iterator[tuple[Hold, _Members]]:
    """Yield the hold with the longest of the ids that a device could have, if there is one."""
    for name in reversed(tuple(names(known))):
        for hold in held.of(name, resource):
            yield Hold(hold.resource, name), members
            return


def steadied(
    rules: Rulebook, units: Mapping[ResourceName, tuple[Unit, ...]], staying: Stays
) -> Steady:
    """Let each unit with a device that is held have the id by which it is, or not be offered."""
    if not staying:
        return Steady(units=units, ids=NOBODY)
    counts = {rule.resource: rule.provision.count for rule in rules}
    left: dict[ResourceName, tuple[Unit, ...]] = {}
    ids = dict[DeviceId, Known]()
    skips: list[Skip] = []
    for resource, found in units.items():
        stays_in = {unit: _stays_in(unit, staying) for unit in found}
        times = Counter(each.hold for all_ in stays_in.values() for each in all_)
        kept: list[Unit] = []
        for unit, held in stays_in.items():
            unclear = [
                each
                for each in held
                if len(held) > 1 or times[each.hold] > 1 or _is_other_share(each, counts[resource])
            ]
            if unclear:
                skips.append(_withheld(resource, unit, unclear[0]))
                continue
            kept.append(unit)
            ids.update((each.hold.id, unit.known) for each in held)
        if kept:
            left[resource] = tuple(kept)
    return Steady(units=left, ids=ids, skips=tuple(skips))


def _stays_in(unit: Unit, staying: Stays) -> tuple[Stay, ...]:
    """Return what a unit's members are held as."""
    found = (staying.get(each.identity) for each in unit.members)
    return tuple({each.hold: each for each in found if each is not None}.values())


def _is_other_share(stay: Stay, count: int) -> bool:
    """Say whether one is held alone of what is shared now, or shared of what now is not."""
    return any((hold.id == stay.hold.id) != (count == 1) for hold in stay.holds)


def _withheld(resource: ResourceName, unit: Unit, stay: Stay) -> Skip:
    return Skip(
        resource=resource,
        device=shown(unit.lead),
        reason=str(stay),
        is_contested=True,
        is_held=True,
        place=unit.lead.identity,
        owner=stay.hold.resource,
    )


def still(whereabouts: Whereabouts, staying: Stays, holds: Holds) -> Whereabouts:
    """Return where all that is held is, or was when it was seen last."""
    if not holds:
        return {}
    held = HeldDevices(holds)
    kept = {
        hold: places for hold, places in whereabouts.items() if held.of(hold.id, hold.resource)
    }
    new: dict[Hold, list[Known]] = defaultdict(list)
    for place, stay in staying.items():
        if stay.is_sure and place not in {each.place for each in kept.get(stay.hold, ())}:
            new[stay.hold].append(stay.known)
    return {**kept, **{hold: tuple(places) for hold, places in new.items()}}


def in_the_way(rules: Rulebook, skips: Sequence[Skip], staying: Stays) -> Holds:
    """Return what is held of devices that are therefore not where the rules would put them."""
    if not staying:
        return NOTHING_HELD
    order = {rule.resource: number for number, rule in enumerate(rules)}
    kept: dict[ResourceName, set[Hold]] = defaultdict(set)
    for stay in staying.values():
        kept[stay.hold.resource].update(stay.holds)
    found: set[Hold] = set()
    for skip in skips:
        if skip.is_held:
            found.update(staying[skip.place].holds)
        elif skip.owner is not None and order[skip.resource] < order.get(skip.owner, len(order)):
            # A part of what is held, or what it is part of, which would have gone first.
            found |= kept[skip.owner]
    return frozenset(found)
