"""Which units can be offered as they are held: no others are, of those that a container may hold.

If several devices could be the one that is held, none of them is offered. If it can no longer be
offered as it is held, it is not offered at all: neither in pieces, nor with others as one unit.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.discovery.assortment import Skip, shown
from deviceplugin.domain.discovery.identity import NOBODY, Known, Owners
from deviceplugin.domain.discovery.rulebook import Rulebook
from deviceplugin.domain.discovery.staying import Stay, Stays
from deviceplugin.domain.discovery.units import Unit
from deviceplugin.domain.holds import NOTHING_HELD, Hold, Holds
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True)
class Steady:
    """Units without those that cannot be offered as they are held; and who has an id for that."""

    units: Mapping[ResourceName, tuple[Unit, ...]]
    ids: Owners
    skips: tuple[Skip, ...] = ()


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
    held_as = _held_as(staying)
    for resource, found in units.items():
        stays_in = {unit: _stays_in(unit, staying) for unit in found}
        alone = {each.identity for unit in found for each in unit.members}
        times = Counter(each.hold for all_ in stays_in.values() for each in all_)
        kept: list[Unit] = []
        for unit, held in stays_in.items():
            unclear = [
                each
                for each in held
                if len(held) > 1
                or times[each.hold] > 1
                or _is_other_unit(unit, each, held_as[each.hold])
                or _is_other_share(each, counts[resource])
            ]
            unclear += _brought(unit, held, staying, alone)
            if unclear:
                skips.append(_withheld(resource, unit, unclear[0], staying))
                continue
            kept.append(unit)
            ids.update((each.hold.id, unit.known) for each in held)
        if kept:
            left[resource] = tuple(kept)
    return Steady(units=left, ids=ids, skips=tuple(skips))


def _stays_in(unit: Unit, staying: Stays) -> tuple[Stay, ...]:
    """Return what a unit's members are held as."""
    found = (staying.get(each.identity) for each in unit.members)
    members = (each for each in found if each is not None and not each.is_guest)
    return tuple({each.hold: each for each in members}.values())


def _brought(
    unit: Unit, held: Sequence[Stay], staying: Stays, alone: Container[str]
) -> Iterator[Stay]:
    """Yield what would come along with a unit, and is held as a device of its own.

    Not what is offered alone besides: the rules mean that.
    """
    own = {each.hold for each in held}
    for guest in unit.guests:
        stay = staying.get(guest.identity)
        if stay and not stay.is_guest and stay.hold not in own and guest.identity not in alone:
            yield stay


def _held_as(staying: Stays) -> Mapping[Hold, frozenset[str]]:
    """Return what is there of each device that is held."""
    found: dict[Hold, set[str]] = defaultdict(set)
    for place, stay in staying.items():
        if not stay.is_guest:
            found[stay.hold].add(place)
    return {hold: frozenset(places) for hold, places in found.items()}


def _is_other_unit(unit: Unit, stay: Stay, places: frozenset[str]) -> bool:
    """Say whether a unit is not the one that is held, nor all that is there of that.

    A group that is the same one may have other members; a device that is held alone is not the
    group that the rules make of it and others now, and a group not one of its members.
    """
    if unit.known.place == stay.unit:
        return False
    return places != frozenset(each.identity for each in unit.members)


def _is_other_share(stay: Stay, count: int) -> bool:
    """Say whether one is held alone of what is shared now, or shared of what now is not."""
    return any((hold.id == stay.hold.id) != (count == 1) for hold in stay.holds)


def _withheld(resource: ResourceName, unit: Unit, stay: Stay, staying: Stays) -> Skip:
    """Return that a unit is not offered because of the first part of it that is held so."""
    held = next(
        each
        for each in (*unit.members, *unit.guests)
        if (own := staying.get(each.identity)) is not None and own.hold == stay.hold
    )
    return Skip(
        resource=resource,
        device=shown(held),
        reason=str(stay),
        is_contested=True,
        is_held=True,
        place=held.identity,
        owner=stay.hold.resource,
    )


def in_the_way(rules: Rulebook, skips: Sequence[Skip], staying: Stays) -> Holds:
    """Return what is held of devices that are therefore not where the rules would put them."""
    if not staying:
        return NOTHING_HELD
    order = {rule.resource: number for number, rule in enumerate(rules)}
    kept: dict[ResourceName, set[Hold]] = defaultdict(set)
    for stay in staying.values():
        if not stay.is_guest:
            kept[stay.hold.resource].update(stay.holds)
    found: set[Hold] = set()
    for skip in skips:
        if skip.is_held and skip.place in staying:
            found.update(staying[skip.place].holds)
        elif skip.owner is not None and (
            skip.is_held or order[skip.resource] < order.get(skip.owner, len(order))
        ):
            # A part of what is held, or what it is part of, which would have gone first.
            found |= kept[skip.owner]
    return frozenset(found)
