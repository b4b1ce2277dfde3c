"""How two sets of rules differ."""

from collections.abc import Iterable
from typing import Self

import attrs

from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True)
class RuleChanges:
    """The resources that rules came for, went for or changed for, and the last by their policy.

    All in the order of the newer rules, those that went in the order of the older ones. If those
    that stayed are in another order, it is that of `reordered`.
    """

    added: tuple[ResourceName, ...] = ()
    removed: tuple[ResourceName, ...] = ()
    changed: tuple[ResourceName, ...] = ()
    reordered: tuple[ResourceName, ...] = ()
    repoliced: frozenset[ResourceName] = frozenset()

    @classmethod
    def between(cls, older: Iterable[ResourceRule], newer: Iterable[ResourceRule]) -> Self:
        """Return what makes the newer rules of the older ones."""
        before = {rule.resource: rule for rule in older}
        after = {rule.resource: rule for rule in newer}
        changed = [
            (before[name], rule)
            for name, rule in after.items()
            if name in before and rule != before[name]
        ]
        stayed = tuple(name for name in after if name in before)
        return cls(
            added=tuple(name for name in after if name not in before),
            removed=tuple(name for name in before if name not in after),
            changed=tuple(new.resource for _, new in changed),
            reordered=() if stayed == tuple(name for name in before if name in after) else stayed,
            repoliced=frozenset(
                new.resource
                for old, new in changed
                if new.allocation_policy != old.allocation_policy
            ),
        )
