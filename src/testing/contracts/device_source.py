"""The laws of `DeviceSource`."""

from abc import abstractmethod
from contextlib import AbstractContextManager
from itertools import permutations
from typing import ClassVar, Final, Protocol

import pytest

from deviceplugin.domain.devices import DeviceInfo, Health
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_source import DeviceSource

NAMESPACE: Final = "contract.example"
NAMES: Final = ("a", "b", "c")


class DeviceSourceWorld(Protocol):
    """A machine without devices, on which some can come and go, and a source that offers them.

    Each has a name of its own; the source offers all of them as one resource.
    """

    @property
    @abstractmethod
    def source(self) -> DeviceSource:
        """The source under test."""
        ...

    @abstractmethod
    def appear(self, name: str) -> str:
        """Let a device be there, with its node; return the node's path on the host."""
        ...

    @abstractmethod
    def vanish(self, name: str) -> None:
        """Let a device be gone."""
        ...

    @abstractmethod
    def lose_node(self, name: str) -> None:
        """Let a device be there without its node, for a source that can tell."""
        ...

    @abstractmethod
    def add_odd(self) -> None:
        """Let something odd be there that the source has to pass over, if that can be."""
        ...

    @abstractmethod
    def break_down(self) -> None:
        """Let every look fail from now on."""
        ...

    @abstractmethod
    def recover(self) -> None:
        """End that."""
        ...


class DeviceSourceContract:
    """What holds for each source: subclass it and provide `world`.

    What a source cannot do, by its nature, is said by an attribute; the law is skipped by name.
    """

    sees_nodes: ClassVar[bool] = True
    """Whether it knows that a device's node is gone."""
    can_fail: ClassVar[bool] = True
    """Whether a look can fail as a whole."""

    def world(self) -> AbstractContextManager[DeviceSourceWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    def test_it_reports_exactly_what_is_there(self) -> None:
        """No device is invented, none is lost; nothing is not an error."""
        with self.world() as world:
            assert _found(world) == {}
            paths = {world.appear(name) for name in NAMES}
            found = _found(world)
            assert len(found) == len(NAMES)
            assert {node.host_path for info in found.values() for node in info.nodes} == paths
            assert {info.health for info in found.values()} == {Health.HEALTHY}

    def test_a_device_that_is_gone_is_not_reported(self) -> None:
        """It is for others to remember who may still hold it."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            whole = _found(world)
            world.vanish(NAMES[0])
            rest = _found(world)
            assert rest.items() < whole.items()
            assert len(rest) == len(NAMES) - 1

    def test_a_look_changes_nothing(self) -> None:
        """Two looks at one state are equal."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            assert world.source.scan().freeze(NAMESPACE) == world.source.scan().freeze(NAMESPACE)

    def test_a_tree_belongs_to_whoever_asked(self) -> None:
        """What is done to it is seen by no later look."""
        with self.world() as world:
            world.appear(NAMES[0])
            before = _found(world)
            tree = world.source.scan()
            tree.add_device("other", "x", DeviceInfo())
            assert _found(world) == before

    def test_ids_do_not_depend_on_the_order_in_which_devices_came(self) -> None:
        """Nor on what else is there: the same hardware is the same after a restart."""
        ids: set[frozenset[str]] = set()
        for order in permutations(NAMES):
            with self.world() as world:
                for name in order:
                    world.appear(name)
                ids.add(frozenset(_found(world)))
        assert len(ids) == 1

    def test_a_device_that_comes_back_has_its_id_again(self) -> None:
        """Whether it was seen to be gone or not."""
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            before = _found(world)
            for looks in (0, 1):
                world.vanish(NAMES[1])
                for _ in range(looks):
                    _found(world)
                world.appear(NAMES[1])
                assert _found(world) == before

    def test_a_device_without_its_node_is_unhealthy(self) -> None:
        """It is there, and nobody can use it; the others can."""
        if not self.sees_nodes:
            pytest.skip("sees_nodes: this source knows nothing of nodes")
        with self.world() as world:
            for name in NAMES:
                world.appear(name)
            whole = _found(world)
            world.lose_node(NAMES[0])
            found = _found(world)
            assert found.keys() == whole.keys()
            changed = [key for key in found if found[key] != whole[key]]
            assert [found[key].health for key in changed] == [Health.UNHEALTHY]

    def test_an_odd_entry_hides_no_good_one(self) -> None:
        """And is not reported itself."""
        with self.world() as world:
            world.appear(NAMES[0])
            before = _found(world)
            world.add_odd()
            assert _found(world) == before

    def test_a_look_that_fails_is_not_an_empty_one(self) -> None:
        """It raises `ScanError`, and is forgotten once a look succeeds."""
        if not self.can_fail:
            pytest.skip("can_fail: no look of this source can fail as a whole")
        with self.world() as world:
            world.appear(NAMES[0])
            before = _found(world)
            for _ in range(2):
                world.break_down()
                with pytest.raises(ScanError):
                    world.source.scan()
                world.recover()
                assert _found(world) == before


def _found(world: DeviceSourceWorld) -> dict[str, DeviceInfo]:
    """Return the devices of a look, by id."""
    resources = world.source.scan().freeze(NAMESPACE).resources
    return {str(key): info for devices in resources.values() for key, info in devices.items()}
