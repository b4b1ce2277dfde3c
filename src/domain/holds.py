"""What containers may hold, and what a look at the devices knew of it."""

from collections.abc import Set as AbstractSet
from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.resources import ResourceName


@attrs.frozen
class Hold:
    """A container may hold this unit of this resource."""

    resource: ResourceName
    id: DeviceId


Holds = AbstractSet[Hold]
"""All that containers may hold."""
NOTHING_HELD: Final[Holds] = frozenset[Hold]()


def _frozen(holds: Holds) -> Holds:
    return frozenset(holds)


@attrs.frozen(kw_only=True)
class Minded:
    """What a tree takes into account.

    - `held`: what was known to be held when the tree was made;
    - `in_the_way`: those of them for which a device is not where the rules alone would put it.
    """

    held: Holds = attrs.field(default=NOTHING_HELD, converter=_frozen)
    in_the_way: Holds = attrs.field(default=NOTHING_HELD, converter=_frozen)
