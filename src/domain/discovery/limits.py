"""Which units of a resource are offered where there may be only so many of them.

Those that containers hold go first, then those that can be used, then those that were offered
before, and else the order of their ids decides: a unit keeps its place for as long as it can be
used, and takes none from one that can while it cannot.

What a probe says counts for nothing here: nobody asks the probe of what only waits.
"""

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Final

from deviceplugin.domain.devices import DeviceId, Health
from deviceplugin.domain.discovery.assortment import Skip, shown
from deviceplugin.domain.discovery.health import ailments
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.offer import Offer
from deviceplugin.domain.sharing import devices_of
from deviceplugin.domain.tree import Devices

_text: Final = attrgetter("value")


def chosen(
    rule: ResourceRule,
    offers: Mapping[DeviceId, Offer],
    before: Devices,
    held: Collection[DeviceId],
) -> Sequence[DeviceId]:
    """Return the ids of those that are offered, sorted.

    `before` is what was offered last, in the health that was believed of it: what one look says
    against it does not cost it its place.
    """
    limit = rule.provision.limit
    if limit is None or len(offers) <= limit:
        return sorted(offers, key=_text)
    had = devices_of(before)
    places = set(had.values())
    ill = {had[key] for key, info in before.items() if info.health is Health.UNHEALTHY}
    well = places - ill

    def is_of_no_use(key: DeviceId) -> bool:
        return key not in well and _is_ill(rule, offers[key])

    order = sorted(
        offers, key=lambda key: (key not in held, is_of_no_use(key), key not in places, key)
    )
    return sorted(order[:limit], key=_text)


def beyond(rule: ResourceRule, found: Offer) -> Skip:
    """Return that a unit waits for a place."""
    return Skip(
        resource=rule.resource,
        device=shown(found.unit.lead),
        reason=f"the limit of {rule.provision.limit} is reached",
    )


def _is_ill(rule: ResourceRule, found: Offer) -> bool:
    members = found.unit.members
    return bool(found.troubles) or any(ailments(each, rule.unmet(each), None) for each in members)
