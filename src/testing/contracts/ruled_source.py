"""The laws of `RuledSource`, beside those of `DeviceSource`."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Final, Protocol

import attrs
import pytest

from deviceplugin.domain.devices import DeviceInfo
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_source import RuledSource
from deviceplugin.testing.contracts.device_source import (
    NAMES,
    NAMESPACE,
    DeviceSourceContract,
    DeviceSourceWorld,
)

WIDGET: Final = f"{NAMESPACE}/widget"
GADGET: Final = f"{NAMESPACE}/gadget"

_Found = Mapping[str, Mapping[str, DeviceInfo]]


class RuledSourceWorld(DeviceSourceWorld, Protocol):
    """The same machine; the source goes by `rule(WIDGET)` at first."""

    @property
    @abstractmethod
    def source(self) -> RuledSource:
        """The source under test."""
        ...

    @abstractmethod
    def rule(self, resource: str, *names: str) -> ResourceRule:
        """Return a rule that matches the devices of these names, or all of the machine."""
        ...


class RuledSourceContract(DeviceSourceContract):
    """What holds for each source that goes by rules."""

    def world(self) -> AbstractContextManager[RuledSourceWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    def test_the_next_look_goes_by_the_new_rules(self) -> None:
        """A resource that came is there, one that went is not, and ids stay what they were."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            before = _found(world)
            assert before.keys() == {WIDGET}
            world.source.follow(Rulebook([world.rule(GADGET)]))
            assert _found(world) == {GADGET: before[WIDGET]}
            world.source.follow(Rulebook([world.rule(WIDGET)]))
            assert _found(world) == before

    def test_a_rule_that_changed_offers_what_it_matches_now(self) -> None:
        """Of the resource it was about before; what it leaves is free for the next rule."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            whole = _found(world)[WIDGET]
            world.source.follow(Rulebook([world.rule(WIDGET, NAMES[0]), world.rule(GADGET)]))
            found = _found(world)
            assert len(found[WIDGET]) == 1
            assert len(found[GADGET]) == len(NAMES) - 1
            assert {**found[WIDGET], **found[GADGET]} == whole

    def test_what_is_the_same_in_both_is_not_forgotten(self) -> None:
        """A resource that once had a device stays, as long as a rule is about it."""
        with self.world() as world:
            once = attrs.evolve(world.rule(WIDGET, NAMES[0]), advertise_empty=False)
            never = attrs.evolve(world.rule(GADGET, NAMES[1]), advertise_empty=False)
            world.source.follow(Rulebook([once, never]))
            assert _found(world) == {}
            world.appear(NAMES[0])
            assert _found(world).keys() == {WIDGET}
            world.vanish(NAMES[0])
            world.source.follow(Rulebook([once, world.rule(GADGET, NAMES[1])]))
            assert _found(world) == {WIDGET: {}, GADGET: {}}
            world.source.follow(Rulebook([attrs.evolve(once, permissions="r")]))
            assert _found(world) == {WIDGET: {}}
            world.source.follow(Rulebook([]))
            assert _found(world) == {}
            world.source.follow(Rulebook([once]))
            assert _found(world) == {}

    def test_what_is_to_happen_to_a_conflict_is_part_of_the_rules(self) -> None:
        """The same rules may come with another word about that."""
        with self.world() as world:
            world.appear(NAMES[0])
            rules = [world.rule(WIDGET), world.rule(GADGET)]
            world.source.follow(Rulebook(rules, on_conflict=OnConflict.ERROR))
            with pytest.raises(ScanError):
                world.source.scan()
            world.source.follow(Rulebook(rules, on_conflict=OnConflict.FIRST))
            assert len(_found(world)[WIDGET]) == 1

    def test_the_same_rules_again_change_nothing(self) -> None:
        """However often."""
        with self.world() as world:
            world.appear(NAMES[0])
            before = _found(world)
            for _ in range(3):
                world.source.follow(Rulebook([world.rule(WIDGET)]))
                assert _found(world) == before


def _found(world: RuledSourceWorld) -> _Found:
    """Return the devices of a look, by resource and id."""
    resources = world.source.scan().freeze(NAMESPACE).resources
    return {
        str(resource): {str(key): info for key, info in devices.items()}
        for resource, devices in resources.items()
    }
