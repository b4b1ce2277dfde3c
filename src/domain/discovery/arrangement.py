"""From what was seen to what is offered under which id, all resources together."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.discovery.assortment import Skip
from deviceplugin.domain.discovery.conflicts import dealt_out
from deviceplugin.domain.discovery.guests import Guests
from deviceplugin.domain.discovery.holding import ours, stays, still
from deviceplugin.domain.discovery.identity import Identities, identify
from deviceplugin.domain.discovery.limits import beyond, chosen
from deviceplugin.domain.discovery.offer import Offer, offer
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.staying import HeldDevices, Offered, Whereabouts
from deviceplugin.domain.discovery.steadying import in_the_way, steadied
from deviceplugin.domain.discovery.units import assemble
from deviceplugin.domain.holds import NOTHING_HELD, Hold, Holds
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices

NOTHING: Final[Mapping[ResourceName, Devices]] = {}
NOWHERE: Final[Whereabouts] = {}
NOTHING_GIVEN: Final = Identities()


@attrs.frozen(kw_only=True, eq=False)
class Arrangement:
    """What is offered of each resource that has a device, and what was passed over.

    `disputed` are those that are contested where that is an error. `remembered` is where what is
    held was offered last, and `in_the_way` what is held of devices that are therefore not where
    the rules alone would put them.
    """

    offers: Mapping[ResourceName, tuple[Offer, ...]] = MappingProxyType({})
    skips: tuple[Skip, ...] = ()
    disputed: tuple[Skip, ...] = ()
    identities: Identities = NOTHING_GIVEN
    remembered: Whereabouts = NOWHERE
    in_the_way: Holds = NOTHING_HELD
    waiting: frozenset[ResourceName] = frozenset()
    """Resources of which there is more than may be offered."""

    # Each look asks for it while anything is held.
    @cached_property
    def whereabouts(self) -> Whereabouts:
        """What all is offered as, or was that is held: that unit stays what it was."""
        offered: dict[Hold, Offered] = {}
        alone = {
            member.identity
            for offers in self.offers.values()
            for each in offers
            for member in each.unit.members
        }
        for resource, offers in self.offers.items():
            for each in offers:
                hold = Hold(resource, each.id)
                guests = [guest for guest in each.unit.guests if guest.identity not in alone]
                now = Offered.of(each.unit.known, each.unit.members, guests)
                then = self.remembered.get(hold)
                offered[hold] = now if then is None else now.after(then)
        return {**self.remembered, **offered}


def arrange(  # noqa: PLR0913 - what was before, by name
    rules: Rulebook,
    seen: Sequence[Sighting],
    *,
    before: Mapping[ResourceName, Devices] = NOTHING,
    identities: Identities = NOTHING_GIVEN,
    held: Holds = NOTHING_HELD,
    whereabouts: Whereabouts = NOWHERE,
) -> Arrangement:
    """Return what sightings come to, in whatever order they are.

    `before` is what was offered last: a limited resource keeps what it has, see `limits`.
    `identities` are the ids given so far, as far as they are remembered. What is `held` stays what
    it is, by its last `whereabouts` or its id.
    """
    every, held = held, ours(rules, held)
    guests = Guests(seen)
    staying = stays(rules, seen, held, whereabouts)
    dealt, disputed = dealt_out(rules, seen, guests, staying)
    steady = steadied(rules, assemble(rules, dealt, guests), staying)
    units = steady.units
    present = (each.known for found in units.values() for each in found)
    known = identify(present, identities, steady.ids, HeldDevices(held) if held else ())
    ids = {each.place: key for key, each in known.given.items()}
    offers: dict[ResourceName, tuple[Offer, ...]] = {}
    skips = [*dealt.skips, *steady.skips]
    waiting: set[ResourceName] = set()
    for rule in rules:
        if rule.resource not in units:
            continue
        found = [offer(rule, unit, ids[unit.known.place]) for unit in units[rule.resource]]
        by_id = {each.id: each for each in found}
        places = chosen(rule, by_id, before.get(rule.resource, {}), steady.ids)
        offers[rule.resource] = tuple(by_id[key] for key in places)
        if len(places) < len(by_id):
            waiting.add(rule.resource)
            skips += [beyond(rule, by_id[key]) for key in sorted(by_id.keys() - {*places})]
    return Arrangement(
        offers=offers,
        skips=tuple(skips),
        disputed=disputed,
        identities=known,
        # Also what no rule of now is about: the next ones may be.
        remembered=still(whereabouts, staying, every),
        in_the_way=in_the_way(rules, (*skips, *disputed), staying),
        waiting=frozenset(waiting),
    )
