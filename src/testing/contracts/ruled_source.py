"""The laws of `RuledSource`, beside those of `DeviceSource`."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Final, Protocol

import attrs

from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook
from deviceplugin.domain.holds import Hold, Minded
from deviceplugin.domain.ports.driven.device_source import RuledSource
from deviceplugin.domain.resources import ResourceName
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

    @abstractmethod
    def hold(self, *holds: Hold) -> None:
        """Let containers hold just these, as far as the source is told."""
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
            for name in NAMES:
                world.appear(name)
            rules = [world.rule(WIDGET), world.rule(GADGET, NAMES[0])]
            world.source.follow(Rulebook(rules, on_conflict=OnConflict.FIRST))
            assert len(_found(world)[WIDGET]) == len(NAMES)
            world.source.follow(Rulebook(rules, on_conflict=OnConflict.ERROR))
            found = _found(world)
            assert len(found[WIDGET]) == len(NAMES) - 1
            assert found[GADGET] == {}

    def test_a_conflict_hides_nothing_else(self) -> None:
        """What two resources claim, nobody gets; what else comes and goes is seen."""
        with self.world() as world:
            rules = [world.rule(WIDGET), world.rule(GADGET, NAMES[0])]
            world.source.follow(Rulebook(rules, on_conflict=OnConflict.ERROR))
            world.appear(NAMES[0])
            assert _found(world) == {WIDGET: {}, GADGET: {}}
            world.appear(NAMES[1])
            assert len(_found(world)[WIDGET]) == 1
            world.vanish(NAMES[1])
            assert _found(world) == {WIDGET: {}, GADGET: {}}

    def test_what_is_held_stays_where_it_is_though_the_rules_change(self) -> None:
        """Under its id; once it is free it goes where the rules put it."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            before = _found(world)[WIDGET]
            held, *free = before
            world.hold(_hold(WIDGET, held))
            world.source.follow(Rulebook([world.rule(GADGET), world.rule(WIDGET)]))
            found = _found(world)
            assert found[WIDGET] == {held: before[held]}
            assert found[GADGET] == {key: before[key] for key in free}
            world.hold()
            assert _found(world) == {WIDGET: {}, GADGET: before}

    def test_what_is_held_by_a_resource_that_goes_is_offered_by_nobody(self) -> None:
        """Until it is free."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            before = _found(world)[WIDGET]
            held, *free = before
            world.hold(_hold(WIDGET, held))
            world.source.follow(Rulebook([world.rule(GADGET)]))
            assert _found(world) == {GADGET: {key: before[key] for key in free}}
            world.hold()
            assert _found(world) == {GADGET: before}

    def test_what_is_held_since_an_earlier_run_stays_where_it_was(self) -> None:
        """Though nobody remembers it here: by the id that it has."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            held, *free = _found(world)[WIDGET]
        with self.world() as world:
            world.hold(_hold(WIDGET, held))
            for name in NAMES:
                world.appear(name)
            world.source.follow(Rulebook([world.rule(GADGET), world.rule(WIDGET)]))
            found = _found(world)
            assert [*found[WIDGET]] == [held]
            assert [*found[GADGET]] == free

    def test_a_tree_says_what_it_takes_into_account(self) -> None:
        """What is held, and what of it is in the way of the rules."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            holds = {_hold(WIDGET, key) for key in _found(world)[WIDGET]}
            world.hold(*holds)
            assert _minded(world) == Minded(held=holds)
            world.source.follow(Rulebook([world.rule(GADGET, NAMES[0]), world.rule(WIDGET)]))
            minded = _minded(world)
            assert minded.held == holds
            assert len(minded.in_the_way) == 1
            world.hold()
            assert _minded(world) == Minded()

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


def _minded(world: RuledSourceWorld) -> Minded:
    minded = world.source.scan().freeze(NAMESPACE).minded
    assert minded is not None
    return minded


def _hold(resource: str, key: str) -> Hold:
    return Hold(ResourceName.parse(resource), DeviceId(key))
