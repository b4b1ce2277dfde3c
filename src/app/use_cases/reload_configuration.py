"""Let another configuration take the place of the one in force, and touch only what differs."""

from collections.abc import Callable, Iterable, MutableMapping

import attrs

from deviceplugin.app.settings import OPTIONS, Configuration, Settings
from deviceplugin.domain.configuration_events import (
    ConfigurationReloaded,
    ConfigurationUnchanged,
    RestartNeeded,
)
from deviceplugin.domain.discovery.changes import RuleChanges
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.preference import POLICIES, Policy
from deviceplugin.domain.resources import ResourceName


@attrs.define(kw_only=True)
class ReloadConfiguration:
    """Tells the parts of a running plugin what another configuration says, and asks for a look.

    A resource is opened, retired or changed by the tree of that look, as if the hardware had
    changed; so one whose rule is the same notices nothing. Only a policy is part of what a kubelet
    was told when it registered: whose policy changed registers once more.

    - `follow` makes the source and what listens for it go by other rules;
    - `policies` are those of the resources that are opened, `renew` opens some anew;
    - `every` sets the seconds from look to look, `look_again` asks for one at once, also where the
      last one failed.
    """

    configuration: Configuration
    follow: Callable[[Rulebook], None]
    policies: MutableMapping[ResourceName, Policy | None]
    renew: Callable[[Iterable[ResourceName]], None]
    every: Callable[[float | None], None]
    look_again: Callable[[], None]
    journal: Journal
    _started_with: Settings = attrs.field(init=False)
    _awaiting: tuple[str, ...] = attrs.field(default=(), init=False)

    def __attrs_post_init__(self) -> None:
        """Remember what only a start can change."""
        self._started_with = self.configuration.settings

    def __call__(self, newer: Configuration, *, asked: bool = True) -> None:
        """Let `newer` be in force, or say that it is already, if that was `asked`.

        To be called in the loop of the plugin, or before there is one. Raises `InvalidValueError`
        if two rules are about one resource; nothing is changed then.
        """
        older = self.configuration
        if (newer.rules, newer.settings) == (older.rules, older.settings):
            if asked:
                self.journal.record(ConfigurationUnchanged(source=newer.source))
            return
        changes = RuleChanges.between(older.rules, newer.rules)
        self.follow(rulebook(newer))
        self.configuration = newer
        self.policies.clear()
        self.policies.update(policies_of(newer.rules))
        self.renew(changes.repoliced)
        self.every(newer.settings.rescan_seconds)
        self.look_again()
        self._tell(changes, _differing(older.settings, newer.settings))

    def _tell(self, changes: RuleChanges, settings: frozenset[str]) -> None:
        live = {name for name in settings if _is_live(name)}
        source = self.configuration.source
        self.journal.record(
            ConfigurationReloaded(
                source=source,
                added=tuple(map(str, changes.added)),
                removed=tuple(map(str, changes.removed)),
                changed=tuple(map(str, changes.changed)),
                reordered=tuple(map(str, changes.reordered)),
                settings=tuple(sorted(live)),
            )
        )
        differing = _differing(self._started_with, self.configuration.settings)
        awaiting = tuple(sorted(name for name in differing if not _is_live(name)))
        if awaiting and awaiting != self._awaiting:
            self.journal.record(RestartNeeded(source=source, settings=awaiting))
        self._awaiting = awaiting


def rulebook(configuration: Configuration) -> Rulebook:
    """Return the rules as a source goes by them. Raises `InvalidValueError`."""
    return Rulebook(
        configuration.rules, on_conflict=OnConflict(configuration.settings.on_conflict)
    )


def policies_of(rules: Iterable[ResourceRule]) -> dict[ResourceName, Policy | None]:
    """Return the allocation policy of each resource that rules are about."""
    return {rule.resource: POLICIES[rule.allocation_policy] for rule in rules}


def _differing(older: Settings, newer: Settings) -> frozenset[str]:
    return frozenset(
        field.name
        for field in attrs.fields(type(newer))
        if getattr(older, field.name) != getattr(newer, field.name)
    )


def _is_live(name: str) -> bool:
    return name in OPTIONS and OPTIONS[name].live
