"""From what was seen to what is offered under which id, all resources together."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.discovery.assortment import Assortment, Skip, assort, shown
from deviceplugin.domain.discovery.guests import Guests
from deviceplugin.domain.discovery.identity import Identities, identify
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.offer import Offer, offer
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.units import Unit, assemble
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.sharing import devices_of
from deviceplugin.domain.tree import Devices

NOTHING: Mapping[ResourceName, Devices] = {}
NOBODY: Identities = {}
_text: Final = attrgetter("value")


@attrs.frozen(kw_only=True, eq=False)
class Arrangement:
    """What is offered of each resource that has a device, and what was passed over."""

    dealt: Assortment
    offers: Mapping[ResourceName, tuple[Offer, ...]]
    skips: tuple[Skip, ...]
    identities: Identities


def arrange(
    rules: Rulebook,
    seen: Sequence[Sighting],
    *,
    before: Mapping[ResourceName, Devices] = NOTHING,
    identities: Identities = NOBODY,
) -> Arrangement:
    """Return what sightings come to, in whatever order they are.

    `before` is what was offered last: a limited resource keeps what it has. `identities` are the
    ids given so far.
    """
    guests = Guests(seen)
    dealt = assort(rules, seen, guests)
    units = assemble(rules, dealt, guests)
    given, known = identify((each.known for found in units.values() for each in found), identities)
    ids = {each.place: key for key, each in given.items()}
    offers: dict[ResourceName, tuple[Offer, ...]] = {}
    skips = list(dealt.skips)
    for rule in rules:
        if rule.resource not in units:
            continue
        by_id = {ids[unit.known.place]: unit for unit in units[rule.resource]}
        chosen = _chosen(rule, by_id, before.get(rule.resource, {}))
        offers[rule.resource] = tuple(offer(rule, by_id[key], key) for key in chosen)
        if len(chosen) < len(by_id):
            skips += [_beyond(rule, by_id[key]) for key in sorted(by_id.keys() - {*chosen})]
    return Arrangement(dealt=dealt, offers=offers, skips=tuple(skips), identities=known)


def _chosen(
    rule: ResourceRule, units: Mapping[DeviceId, Unit], before: Devices
) -> Sequence[DeviceId]:
    """Return the units that are offered: those that were before go first, then lower ids."""
    if rule.provision.limit is None:
        return sorted(units, key=_text)
    had = set(devices_of(before).values())
    first = sorted(units, key=lambda key: (key not in had, key))
    return sorted(first[: rule.provision.limit])


def _beyond(rule: ResourceRule, unit: Unit) -> Skip:
    return Skip(
        resource=rule.resource,
        device=shown(unit.lead),
        reason=f"the limit of {rule.provision.limit} is reached",
    )
