"""Another configuration reaches just the parts that it differs for."""

from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
import pytest

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.settings import OPTIONS, Configuration, Settings
from deviceplugin.app.use_cases.reload_configuration import ReloadConfiguration, policies_of
from deviceplugin.domain.configuration_events import (
    ConfigurationReloaded,
    ConfigurationUnchanged,
    RestartNeeded,
)
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES, Policy
from deviceplugin.testing.rules import rule

if TYPE_CHECKING:
    from deviceplugin.domain.resources import ResourceName

A = rule("x.local/a", {"name": "a"})
B = rule("x.local/b", {"name": "b"})
C = rule("x.local/c", {"name": "c"})
PACKED = attrs.evolve(A, allocation_policy="packed")


def configuration(*rules: ResourceRule, **settings: str) -> Configuration:
    """Return what a file says."""
    return Configuration(settings=Settings(**settings), rules=rules, source="plugin.yaml")


class Parts:
    """A plugin's parts, which note what they are told."""

    def __init__(self, begin: Configuration) -> None:
        self.told: list[object] = []
        self.journal = MemoryJournal()
        self.policies: dict[ResourceName, Policy | None] = policies_of(begin.rules)
        self.reload = ReloadConfiguration(
            configuration=begin,
            follow=self._follow,
            policies=self.policies,
            renew=lambda names: self.told.extend(f"renew {name}" for name in names),
            every=lambda seconds: self.told.append(f"every {seconds}"),
            look_again=lambda: self.told.append("look"),
            journal=self.journal,
        )

    def _follow(self, rules: Rulebook) -> None:
        self.told.append([str(each.resource) for each in rules])


def test_the_same_again_tells_nobody_anything() -> None:
    """Whoever asked is answered that it is the same, and whoever did not hears nothing."""
    parts = Parts(configuration(A, B))
    parts.reload(configuration(A, B), asked=False)
    assert parts.journal.of(ConfigurationUnchanged) == ()
    parts.reload(configuration(A, B), asked=True)
    assert list(parts.journal.events) == [ConfigurationUnchanged(source="plugin.yaml")]
    assert parts.told == []


def test_rules_are_followed_before_the_look_that_goes_by_them() -> None:
    """And what became of each resource is one event."""
    parts = Parts(configuration(A, B))
    parts.reload(configuration(attrs.evolve(B, permissions="r"), C))
    assert parts.told == [["x.local/b", "x.local/c"], "every None", "look"]
    assert parts.journal.events == (
        ConfigurationReloaded(
            source="plugin.yaml",
            added=("x.local/c",),
            removed=("x.local/a",),
            changed=("x.local/b",),
        ),
    )


def test_another_order_is_another_configuration() -> None:
    """The first rule that matches gets a device. It is told of those that stayed."""
    parts = Parts(configuration(A, B))
    parts.reload(configuration(B, A))
    assert parts.told == [["x.local/b", "x.local/a"], "every None", "look"]
    parts.reload(configuration(C, B, A))
    parts.reload(configuration(A, C))
    first, second, third = parts.journal.of(ConfigurationReloaded)
    assert first == ConfigurationReloaded(
        source="plugin.yaml", reordered=("x.local/b", "x.local/a")
    )
    assert second == ConfigurationReloaded(source="plugin.yaml", added=("x.local/c",))
    assert third == ConfigurationReloaded(
        source="plugin.yaml", removed=("x.local/b",), reordered=("x.local/a", "x.local/c")
    )


def test_only_another_policy_opens_a_resource_anew() -> None:
    """With the new policy in place by then: a kubelet learns at Register whether there is one."""
    parts = Parts(configuration(A, B))
    parts.reload(configuration(PACKED, attrs.evolve(B, permissions="r")))
    assert [each for each in parts.told if str(each).startswith("renew")] == ["renew x.local/a"]
    assert parts.policies == {A.resource: POLICIES["packed"], B.resource: None}
    parts.reload(configuration(B))
    assert parts.policies == {B.resource: None}


def test_what_can_change_while_it_runs_does() -> None:
    parts = Parts(configuration(A))
    parts.reload(configuration(A, rescan_seconds="7", log_level="debug"))
    assert "every 7.0" in parts.told
    (event,) = parts.journal.events
    assert isinstance(event, ConfigurationReloaded)
    assert event.settings == ("log_level", "rescan_seconds")


def test_what_needs_a_restart_is_told_once_and_the_rest_is_in_force() -> None:
    """Again only when it is something else; what is put back needs none any more."""
    parts = Parts(configuration(A))
    for file in (
        configuration(A, B, plugin_dir="/p", sys_root="/s"),
        configuration(A, B, C, plugin_dir="/p", sys_root="/s"),
        configuration(A, plugin_dir="/p"),
        configuration(A),
        configuration(A, plugin_dir="/p"),
    ):
        parts.reload(file)
    assert [each.settings for each in parts.journal.of(RestartNeeded)] == [
        ("plugin_dir", "sys_root"),
        ("plugin_dir",),
        ("plugin_dir",),
    ]
    assert all(each.settings == () for each in parts.journal.of(ConfigurationReloaded))
    assert ["x.local/a", "x.local/b", "x.local/c"] in parts.told


def _another(name: str) -> str:
    """Return a text that the setting takes, and that is not its default."""
    texts = ("/elsewhere", "7", "x.y", ":9100", *OPTIONS[name].help.split(" | "))
    values = {text: _value(name, text) for text in texts}
    default = getattr(Settings(), name)
    return next(text for text, value in values.items() if value not in (None, default))


def _value(name: str, text: str) -> object:
    with suppress(InvalidValueError):
        return OPTIONS[name].parse(text)
    return None


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_setting_is_either_in_force_or_awaits_a_restart(name: str) -> None:
    """None can change in silence."""
    parts = Parts(configuration(A))
    parts.reload(configuration(A, **{name: _another(name)}))
    (reloaded,) = parts.journal.of(ConfigurationReloaded)
    told = [*reloaded.settings, *(n for e in parts.journal.of(RestartNeeded) for n in e.settings)]
    assert told == [name]
    assert (name in reloaded.settings) == OPTIONS[name].live


def test_rules_that_contradict_each_other_change_nothing() -> None:
    parts = Parts(configuration(A))
    with pytest.raises(InvalidValueError):
        parts.reload(configuration(A, PACKED, rescan_seconds="7"))
    assert (parts.told, parts.journal.events) == ([], ())
    assert parts.policies == {A.resource: None}
    parts.reload(configuration(A), asked=False)
    assert parts.journal.events == ()
