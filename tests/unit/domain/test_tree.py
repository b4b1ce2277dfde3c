"""A tree is the scanner's until it is handed over; then nobody can change it."""

from typing import Any, cast

import pytest

from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.errors import InvalidDeviceError, InvalidResourceNameError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import DeviceTree, FrozenTree, TreeChanges

YELLOW = ResourceName("color.example", "yellow")
GREEN = ResourceName("color.example", "green")
BLUE = ResourceName("color.example", "blue")
WELL, ILL = DeviceInfo(), DeviceInfo(health=Health.UNHEALTHY)
A, B = DeviceId("a"), DeviceId("b")


def test_a_frozen_tree_has_full_names_and_what_was_added() -> None:
    tree = DeviceTree()
    tree.add_device("yellow", "a", WELL)
    tree.add_device("color.example/green", A, ILL)
    tree.add_type("other.example/none")
    assert tree.freeze("color.example").resources == {
        YELLOW: {A: WELL},
        GREEN: {A: ILL},
        ResourceName("other.example", "none"): {},
    }


def test_the_same_id_again_replaces_the_device() -> None:
    tree = DeviceTree()
    tree.add_device("yellow", "a", WELL)
    tree.add_device("yellow", A, ILL)
    assert tree.freeze("color.example").resources[YELLOW] == {A: ILL}


def test_naming_a_type_again_keeps_its_devices() -> None:
    tree = DeviceTree()
    tree.add_device("yellow", "a", WELL)
    tree.add_type("yellow")
    assert tree.freeze("color.example").resources[YELLOW] == {A: WELL}


def test_a_type_named_both_short_and_in_full_is_one_resource() -> None:
    tree = DeviceTree()
    tree.add_device("yellow", "a", WELL)
    tree.add_device("color.example/yellow", "b", ILL)
    assert tree.freeze("color.example").resources == {YELLOW: {A: WELL, B: ILL}}


def test_what_was_handed_over_is_not_reached_by_later_changes() -> None:
    tree = DeviceTree()
    tree.add_device("yellow", "a", WELL)
    frozen = tree.freeze("color.example")
    tree.add_device("yellow", "a", ILL)
    tree.add_device("yellow", "b", WELL)
    tree.add_type("green")
    assert frozen.resources == {YELLOW: {A: WELL}}
    assert tree.freeze("color.example").resources == {YELLOW: {A: ILL, B: WELL}, GREEN: {}}


def test_a_frozen_tree_copies_what_it_is_made_of() -> None:
    devices = {A: WELL}
    resources = {YELLOW: devices}
    frozen = FrozenTree(resources)
    devices[B] = WELL
    resources[GREEN] = {}
    assert frozen.resources == {YELLOW: {A: WELL}}


def test_nobody_can_change_a_frozen_tree() -> None:
    frozen: Any = FrozenTree({YELLOW: {A: WELL}})
    with pytest.raises(TypeError):
        frozen.resources[GREEN] = {}
    with pytest.raises(TypeError):
        frozen.resources[YELLOW][B] = WELL
    with pytest.raises(AttributeError):
        frozen.resources = {}


@pytest.mark.parametrize("name", ["", "x_", "a/b/c", "kubernetes.io/x", "-x"])
def test_a_type_that_makes_no_resource_is_refused_at_once_and_leaves_nothing(name: str) -> None:
    tree = DeviceTree()
    with pytest.raises(InvalidResourceNameError):
        tree.add_type(cast("Any", name))
    with pytest.raises(InvalidResourceNameError):
        tree.add_device(cast("Any", name), "a", WELL)
    assert tree.freeze("color.example").resources == {}


def test_an_id_that_is_none_is_refused_and_leaves_nothing() -> None:
    tree = DeviceTree()
    with pytest.raises(InvalidDeviceError):
        tree.add_device("yellow", "", WELL)
    assert tree.freeze("color.example").resources == {}


def test_a_namespace_that_makes_no_resource_is_refused() -> None:
    tree = DeviceTree()
    tree.add_type("yellow")
    with pytest.raises(InvalidResourceNameError):
        tree.freeze("Color.example")


def test_changes_are_what_came_what_changed_and_what_went_sorted() -> None:
    old = FrozenTree({YELLOW: {A: WELL}, GREEN: {A: WELL}, ResourceName("z.z", "z"): {}})
    new = FrozenTree({YELLOW: {A: WELL}, GREEN: {A: ILL}, ResourceName("a.a", "z"): {}, BLUE: {}})
    changes = new.changes_since(old)
    assert changes.added == (ResourceName("a.a", "z"), BLUE)
    assert changes.updated == (GREEN,)
    assert changes.removed == (ResourceName("z.z", "z"),)


def test_a_device_that_came_or_went_is_a_change_of_its_type() -> None:
    one, two = FrozenTree({YELLOW: {A: WELL}}), FrozenTree({YELLOW: {A: WELL, B: WELL}})
    assert two.changes_since(one) == one.changes_since(two) == TreeChanges(updated=(YELLOW,))


def test_equal_trees_have_no_changes() -> None:
    tree = FrozenTree({YELLOW: {A: WELL, B: ILL}})
    changes = tree.changes_since(FrozenTree({YELLOW: {B: ILL, A: WELL}}))
    assert changes == TreeChanges()
    assert not changes
    assert TreeChanges(added=(YELLOW,))


def test_a_tree_shows_how_many_devices_each_type_has() -> None:
    tree = DeviceTree()
    tree.add_device("yellow", "a", WELL)
    tree.add_type("green")
    assert repr(tree) == "DeviceTree(yellow: 1, green: 0)"


def test_what_is_no_device_is_refused_when_it_is_added() -> None:
    """In the scanner's own stack."""
    nothing: Any = None
    with pytest.raises(InvalidDeviceError, match="must be a DeviceInfo"):
        DeviceTree().add_device("widget", "a", nothing)


@pytest.mark.parametrize("name", [0, None, [], b"yellow"])
def test_a_type_whose_name_is_no_text_is_refused(name: object) -> None:
    tree = DeviceTree()
    with pytest.raises(InvalidResourceNameError, match="must be text"):
        tree.add_type(cast("Any", name))
    with pytest.raises(InvalidResourceNameError, match="must be text"):
        tree.add_device(cast("Any", name), "a", DeviceInfo())


@pytest.mark.parametrize("key", [0, None, [], b"a"])
def test_an_id_that_is_no_text_is_refused(key: object) -> None:
    with pytest.raises(InvalidDeviceError, match="must be text, not"):
        DeviceTree().add_device("yellow", cast("Any", key), DeviceInfo())
