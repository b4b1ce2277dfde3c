"""What is advertised changes only for a reason, and never forgets a device."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health, id_as_held
from deviceplugin.domain.inventory import Inventory, InventoryChanges, ListedDevice
from deviceplugin.domain.room import MAX_HELD, MAX_LIST_BYTES, listed_bytes

WELL, ILL = DeviceInfo(), DeviceInfo(health=Health.UNHEALTHY)
PLACED = DeviceInfo(numa_nodes=[1])
A, B, C, D = map(DeviceId, "abcd")

found = st.dictionaries(
    st.sampled_from([A, B, C, D]), st.sampled_from([WELL, ILL, PLACED]), max_size=4
)


def test_the_generation_grows_only_on_a_real_change() -> None:
    first = Inventory().observe({A: WELL})
    assert first.generation == 1
    assert first.observe({A: DeviceInfo()}) is first
    second = first.observe({A: PLACED})
    assert (second.generation, second.devices[A]) == (2, PLACED)


def test_a_change_that_the_list_does_not_show_is_real_too() -> None:
    """Allocate answers with it."""
    first = Inventory().observe({A: WELL})
    second = first.observe({A: DeviceInfo(nodes=[DeviceNode("/dev/x")])})
    assert second.generation == 2
    assert second.listing == first.listing


def test_a_vanished_device_stays_unhealthy_where_it_was() -> None:
    seen = Inventory().observe({A: PLACED, B: WELL})
    gone = seen.observe({B: WELL})
    assert gone.listing == (
        ListedDevice(A, Health.UNHEALTHY, (1,)),
        ListedDevice(B, Health.HEALTHY),
    )
    assert gone.observe({B: WELL}) is gone


def test_a_device_that_comes_back_is_healthy_under_the_same_id() -> None:
    seen = Inventory().observe({A: PLACED})
    back = seen.observe({}).observe({A: PLACED})
    assert back.listing == seen.listing
    assert back.generation == 3


def test_doubt_makes_all_unhealthy_and_forgets_none() -> None:
    seen = Inventory().observe({A: WELL, B: PLACED, C: ILL})
    doubted = seen.doubt()
    assert list(doubted.devices) == [A, B, C]
    assert {info.health for info in doubted.devices.values()} == {Health.UNHEALTHY}
    assert doubted.generation == seen.generation + 1
    assert doubted.doubt() is doubted
    assert doubted.observe({A: WELL, B: PLACED, C: ILL}).listing == seen.listing


def test_the_list_is_sorted_by_id_whatever_the_order_of_the_scan() -> None:
    ids = [DeviceId(text) for text in ("b", "a10", "a2", "a")]
    inventory = Inventory().observe(dict.fromkeys(ids, WELL))
    assert [each.id.value for each in inventory.listing] == ["a", "a10", "a2", "b"]
    assert inventory == Inventory().observe(dict.fromkeys(reversed(ids), WELL))


def test_the_list_shows_a_place_only_where_it_is_known() -> None:
    listing = Inventory().observe({A: WELL, B: DeviceInfo(numa_nodes=[1, 0])}).listing
    assert [each.numa_nodes for each in listing] == [(), (0, 1)]


def test_changes_tell_what_came_what_changed_and_what_can_no_longer_be_had() -> None:
    old = Inventory().observe({A: WELL, B: WELL, C: ILL})
    new = old.observe({A: ILL, C: WELL, D: WELL})
    assert new.changes_since(old) == InventoryChanges(added=(D,), updated=(C,), vanished=(A, B))


def test_a_change_of_an_ill_device_is_no_loss() -> None:
    old = Inventory().observe({A: ILL})
    new = old.observe({A: DeviceInfo(health=Health.UNHEALTHY, numa_nodes=[0])})
    assert new.changes_since(old) == InventoryChanges(updated=(A,))


def test_a_device_that_is_new_and_ill_came() -> None:
    old = Inventory().observe({A: WELL})
    assert old.observe({A: WELL, B: ILL}).changes_since(old) == InventoryChanges(added=(B,))


def test_nobody_can_change_an_inventory_not_even_through_what_it_was_made_of() -> None:
    devices = {A: WELL}
    inventory: Any = Inventory().observe(devices)
    devices[B] = WELL
    assert list(inventory.devices) == [A]
    with pytest.raises(TypeError):
        inventory.devices[B] = WELL
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        inventory.generation = 9


@given(st.lists(found, max_size=8))
def test_over_any_history_no_id_is_lost_and_the_rest_is_as_last_seen(
    history: list[dict[DeviceId, DeviceInfo]],
) -> None:
    inventory, seen = Inventory(), set[DeviceId]()
    for scan in history:
        before, inventory = inventory, inventory.observe(scan)
        seen |= scan.keys()
        assert inventory.devices.keys() == seen
        assert all(inventory.devices[key] == info for key, info in scan.items())
        assert all(inventory.devices[key].health is Health.UNHEALTHY for key in seen - scan.keys())
        changed = inventory.devices != before.devices
        assert inventory.generation == before.generation + changed
        assert inventory.vanished.keys() == seen - scan.keys()
        moved = inventory.vanished.keys() != before.vanished.keys()
        assert (inventory is before) == (not changed and not moved)


def test_an_ill_device_that_vanishes_is_no_change_but_may_be_let_go() -> None:
    """What the kubelet sees of it stays the same, so nothing new is listed."""
    ill = Inventory().observe({A: ILL})
    gone = ill.observe({})
    assert gone is not ill
    assert (gone.listing, gone.generation) == (ill.listing, ill.generation)
    assert (list(ill.vanished), list(gone.vanished)) == ([], [A])


def test_a_device_that_came_back_and_vanished_again_did_so_in_a_later_generation() -> None:
    """So nobody takes what was known before for what is known since."""
    first = Inventory().observe({A: WELL}).observe({})
    again = first.observe({A: WELL}).observe({})
    assert first.vanished[A] < again.vanished[A]


def test_what_is_held_and_not_found_is_listed_unhealthy_where_it_was_given_out() -> None:
    """Without its NUMA nodes, its pod would not outlive a kubelet with a topology policy."""
    kept = Inventory().keep({B: (0, 1), D: ()})
    assert kept.listing == (
        ListedDevice(B, Health.UNHEALTHY, (0, 1)),
        ListedDevice(D, Health.UNHEALTHY),
    )
    assert kept.keep({B: (0, 1)}) is kept
    assert list(kept.observe({A: WELL}).vanished) == [B, D]


def test_what_is_held_and_found_is_as_it_was_found() -> None:
    """Before or after it was known to be held."""
    assert Inventory().keep({A: (1,)}).observe({A: PLACED}).devices == {A: PLACED}
    seen = Inventory().observe({A: PLACED})
    assert seen.keep({A: (1,)}) is seen
    assert Inventory().keep({A: (1,)}).observe({A: PLACED}).vanished == {}


@given(found, st.sets(st.sampled_from([A, B, C, D])), found, st.sets(st.sampled_from([A, B, C])))
def test_only_what_vanished_can_be_let_go(
    first: dict[DeviceId, DeviceInfo],
    held: set[DeviceId],
    second: dict[DeviceId, DeviceInfo],
    ids: set[DeviceId],
) -> None:
    """Whatever is asked to be let go: nothing that a scan finds is, and nothing else changes."""
    before = Inventory().observe(first).keep(dict.fromkeys(held, ())).observe(second)
    after = before.release(ids)
    gone = ids & (first.keys() | held) - second.keys()
    assert after.devices == {key: before.devices[key] for key in before.devices if key not in gone}
    assert after.vanished.keys() == before.vanished.keys() - gone
    assert (after is before) == (not gone)
    assert after.observe(second).devices == after.devices


@given(found, found)
def test_changes_name_each_device_that_differs_exactly_once(
    first: dict[DeviceId, DeviceInfo], second: dict[DeviceId, DeviceInfo]
) -> None:
    old = Inventory().observe(first)
    new = old.observe(second)
    changes = new.changes_since(old)
    named = (*changes.added, *changes.updated, *changes.vanished)
    differing = [key for key in new.devices if new.devices[key] != old.devices.get(key)]
    assert sorted(named) == differing
    assert all(list(part) == sorted(part) for part in attrs.astuple(changes))


@pytest.mark.parametrize("looks", [1, 3])
@pytest.mark.parametrize("known", [True, False], ids=["listed", "beside"])
def test_what_is_held_never_takes_the_room_of_what_is_found(
    looks: int,
    known: bool,  # noqa: FBT001
) -> None:
    """However much is named, look after look."""
    found = {DeviceId(f"{number:063}"): DeviceInfo() for number in range(40_000)}
    seen = Inventory().observe(found) if known else Inventory()
    for look in range(looks):
        held = {id_as_held(f"{look}-{number:0600}"): (0,) for number in range(5_000)}
        seen = seen.keep({A: (), **held}, beside=found)
    seen = seen.observe(found)
    assert A in seen.vanished
    assert found.keys() <= seen.devices.keys()
    sizes = (listed_bytes(key.value, info.numa_nodes) for key, info in seen.devices.items())
    assert sum(sizes) <= MAX_LIST_BYTES


def test_what_is_held_in_any_number_is_listed_up_to_a_bound() -> None:
    seen = Inventory()
    for look in range(3):
        seen = seen.keep({DeviceId(f"{look}-{number}"): () for number in range(4_000)})
    assert len(seen.devices) == MAX_HELD


def test_what_is_held_and_found_needs_no_room() -> None:
    found = {DeviceId(f"{number:063}"): DeviceInfo() for number in range(MAX_HELD + 1)}
    held: dict[DeviceId, tuple[int, ...]] = dict.fromkeys([*found, A], ())
    assert Inventory().keep(held, beside=found).devices.keys() == held.keys()
