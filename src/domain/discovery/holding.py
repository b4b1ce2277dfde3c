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

from deviceplugin.domain.discovery.identity import Known
from deviceplugin.domain.discovery.recognition import by_name
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.staying import (
    NOBODY_STAYS,
    HeldDevices,
    Offered,
    Stay,
    Stays,
    Whereabouts,
)
from deviceplugin.domain.holds import Hold, Holds


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
        found.update(by_name(rules, strangers, left))
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
