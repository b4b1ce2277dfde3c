"""A preference is an answer to what was asked, or none; and it is the best of its policy."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from types import FrameType
from typing import Any, TypeVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.preference import POLICIES, Policy, Wish, packed, preferred, spread
from deviceplugin.domain.tree import Devices

Ids = tuple[DeviceId, ...]
_Key = TypeVar("_Key")

CHOOSING: list[Policy] = [policy for policy in POLICIES.values() if policy is not None]
every_policy = pytest.mark.parametrize("policy", CHOOSING)


def ids(*names: str) -> Ids:
    """Return ids by their texts."""
    return tuple(map(DeviceId, names))


def place(node: int | None, card: int | None) -> DeviceInfo:
    """Return a device on a card of a NUMA node, as far as they are known."""
    return DeviceInfo(
        numa_nodes=[] if node is None else [node],
        parent="" if card is None else f"node{node}-card{card}",
    )


devices_found = st.lists(
    st.builds(place, st.sampled_from([None, 0, 1, 2]), st.one_of(st.none(), st.integers(0, 2))),
    max_size=9,
).map(lambda infos: {DeviceId(f"d{n}"): info for n, info in enumerate(infos)})


@st.composite
def sensible(draw: st.DrawFn) -> tuple[Wish, Devices]:
    """Draw a wish that can be met; not all devices need to be known."""
    devices = draw(devices_found)
    available = tuple(draw(st.permutations([*devices, *ids("stranger")])))
    size = draw(st.integers(0, len(available)))
    musts = tuple(draw(st.permutations(available)))[: draw(st.integers(0, size))]
    return Wish(available=available, must_include=musts, size=size), devices


@every_policy
@given(case=sensible())
def test_a_sensible_wish_gets_exactly_what_it_asked_for(
    policy: Policy, case: tuple[Wish, Devices]
) -> None:
    wish, devices = case
    chosen = preferred(policy, wish, devices)
    assert len(chosen) == len(set(chosen)) == wish.size
    assert set(wish.must_include) <= set(chosen) <= set(wish.available)
    assert wish.is_met_by(chosen)
    assert list(chosen) == sorted(chosen)


@every_policy
@given(case=sensible(), data=st.data())
def test_the_answer_does_not_depend_on_the_order_of_anything(
    policy: Policy, case: tuple[Wish, Devices], data: st.DataObject
) -> None:
    wish, devices = case
    same = Wish(
        available=tuple(data.draw(st.permutations(wish.available))),
        must_include=tuple(data.draw(st.permutations(wish.must_include))),
        size=wish.size,
    )
    known = {key: devices[key] for key in data.draw(st.permutations(list(devices)))}
    assert preferred(policy, same, known) == preferred(policy, wish, devices)


@every_policy
def test_of_devices_that_are_alike_the_lowest_ids_are_chosen(policy: Policy) -> None:
    devices = {DeviceId(f"d{n}"): DeviceInfo(parent="card") for n in (3, 1, 4, 2)}
    assert preferred(policy, Wish(available=tuple(devices), size=2), devices) == ids("d1", "d2")


A, B, C = ids("a", "b", "c")
NONSENSE = {
    "more than there are": Wish(available=(A, B), size=3),
    "less than must be": Wish(available=(A, B, C), must_include=(A, B), size=1),
    "none although some must be": Wish(available=(A, B), must_include=(A,), size=0),
    "a must that is not available": Wish(available=(A, B), must_include=(C,), size=1),
    "a negative number": Wish(available=(A, B), size=-1),
    "an available id twice": Wish(available=(A, B, B), size=1),
    "a must twice": Wish(available=(A, B), must_include=(A, A), size=2),
}


@every_policy
@pytest.mark.parametrize("wish", NONSENSE.values(), ids=NONSENSE)
def test_a_senseless_wish_gets_no_preference(policy: Policy, wish: Wish) -> None:
    """The kubelet then chooses by itself; an error would fail the pod."""
    assert not wish.makes_sense()
    assert wish.only_answer() == ()
    assert preferred(policy, wish, {A: DeviceInfo()}) == ()


@every_policy
@given(
    wish=st.builds(
        Wish,
        available=st.lists(st.sampled_from((A, B, C)), max_size=4).map(tuple),
        must_include=st.lists(st.sampled_from((A, B, C)), max_size=4).map(tuple),
        size=st.integers(-2, 5),
    )
)
def test_any_wish_gets_what_it_asked_for_or_nothing(policy: Policy, wish: Wish) -> None:
    chosen = preferred(policy, wish, {})
    assert wish.is_met_by(chosen) if wish.makes_sense() else chosen == ()


def unwilling(wish: Wish, devices: Devices) -> Ids:
    """Refuse to choose."""
    raise AssertionError(f"asked to choose for {wish} of {devices}")


def test_where_there_is_no_choice_no_policy_is_asked() -> None:
    for wish, answer in (
        (Wish(available=(B, A), size=2), (A, B)),
        (Wish(available=(C, B, A), must_include=(C, A), size=2), (A, C)),
        (Wish(available=(B, A), size=0), ()),
        (Wish(available=(), size=0), ()),
    ):
        assert wish.only_answer() == preferred(unwilling, wish, {}) == answer


@pytest.mark.parametrize(
    "chosen", [(), (A,), (A, A), (A, DeviceId("x")), (B, C), (A, B, C)], ids=str
)
def test_what_was_not_asked_for_does_not_meet_a_wish(chosen: Ids) -> None:
    wish = Wish(available=(A, B, C), must_include=(A,), size=2)
    assert wish.is_met_by((A, C))
    assert not wish.is_met_by(chosen)


# --- packed --------------------------------------------------------------------------------------


def node_of(key: DeviceId, devices: Devices) -> tuple[int, ...]:
    """Return where a device is, as far as it is known."""
    return devices.get(key, DeviceInfo()).numa_nodes


def parent_of(key: DeviceId, devices: Devices) -> str:
    """Return what a device is part of; one without a parent is its own."""
    return devices.get(key, DeviceInfo()).parent or key.value


def cost(chosen: Ids, devices: Devices) -> tuple[int, int]:
    """Return how many NUMA nodes and how many parents a choice uses."""
    nodes = {node_of(key, devices) for key in chosen}
    return len(nodes), len({parent_of(key, devices) for key in chosen})


def choices(wish: Wish) -> Iterator[Ids]:
    """Go through all answers to a wish."""
    others = sorted(set(wish.available) - set(wish.must_include))
    for more in combinations(others, wish.size - len(wish.must_include)):
        yield (*wish.must_include, *more)


@given(sensible())
def test_packing_uses_no_more_numa_nodes_than_any_other_choice(case: tuple[Wish, Devices]) -> None:
    wish, devices = case
    best = min(cost(choice, devices)[0] for choice in choices(wish))
    assert cost(preferred(packed, wish, devices), devices)[0] == best


@given(sensible())
def test_packing_uses_no_more_parents_than_any_choice_on_the_same_numa_nodes(
    case: tuple[Wish, Devices],
) -> None:
    wish, devices = case
    chosen = preferred(packed, wish, devices)
    nodes = {node_of(key, devices) for key in chosen}
    there = (each for each in choices(wish) if {node_of(key, devices) for key in each} <= nodes)
    assert cost(chosen, devices)[1] == min(cost(each, devices)[1] for each in there)


@given(sensible())
def test_where_one_numa_node_does_packing_is_the_best_choice_of_all(
    case: tuple[Wish, Devices],
) -> None:
    wish, devices = case
    best = min(cost(choice, devices) for choice in choices(wish))
    assume(best[0] == 1)
    assert cost(preferred(packed, wish, devices), devices) == best


def test_packing_leaves_the_large_groups_whole() -> None:
    """Few devices come off the smallest card that has them: others still find a large one."""
    sizes = {"large": 4, "small": 2, "middle": 3}
    devices = {
        DeviceId(f"{card}{n}"): DeviceInfo(parent=card)
        for card, size in sizes.items()
        for n in range(size)
    }
    available = tuple(devices)
    for size, fitting in ((1, "small"), (2, "small"), (3, "middle"), (4, "large")):
        chosen = preferred(packed, Wish(available=available, size=size), devices)
        assert {devices[key].parent for key in chosen} == {fitting}


def test_packing_goes_on_where_it_must_begin() -> None:
    devices = {
        DeviceId(f"n{node}-{n}"): DeviceInfo(numa_nodes=[node], parent=f"card{node}{n // 2}")
        for node in (0, 1)
        for n in range(4)
    }
    wish = Wish(available=tuple(devices), must_include=ids("n1-2"), size=2)
    assert preferred(packed, wish, devices) == ids("n1-2", "n1-3")


# --- spread --------------------------------------------------------------------------------------


def shares(
    wish: Wish, chosen: Ids, group: Callable[[DeviceId], _Key]
) -> list[tuple[int, bool, bool]]:
    """Return for each group: how much was taken, whether more was free, whether by choice."""
    free = Counter(map(group, wish.available))
    taken = Counter(map(group, chosen))
    forced = Counter(map(group, wish.must_include))
    return [(taken[key], taken[key] < free[key], taken[key] > forced[key]) for key in free]


def is_even(parts: list[tuple[int, bool, bool]]) -> bool:
    """Say whether no free choice made a group stand out by more than one over one with room."""
    return all(
        more - less <= 1
        for more, _, by_choice in parts
        for less, room, _ in parts
        if by_choice and room
    )


@given(sensible())
def test_spreading_differs_by_at_most_one_per_numa_node_where_free_devices_allow(
    case: tuple[Wish, Devices],
) -> None:
    wish, devices = case
    chosen = preferred(spread, wish, devices)
    assert is_even(shares(wish, chosen, lambda key: node_of(key, devices)))


@given(sensible())
def test_within_a_numa_node_spreading_differs_by_at_most_one_per_parent(
    case: tuple[Wish, Devices],
) -> None:
    wish, devices = case
    chosen = preferred(spread, wish, devices)
    for node in {node_of(key, devices) for key in chosen}:
        here = Wish(
            available=tuple(key for key in wish.available if node_of(key, devices) == node),
            must_include=tuple(key for key in wish.must_include if node_of(key, devices) == node),
            size=wish.size,
        )
        picked = tuple(key for key in chosen if node_of(key, devices) == node)
        assert is_even(shares(here, picked, lambda key: parent_of(key, devices)))


def test_spreading_takes_the_emptier_side_first() -> None:
    devices = {
        DeviceId(f"n{node}-{n}"): DeviceInfo(numa_nodes=[node])
        for node in (0, 1)
        for n in range(3)
    }
    wish = Wish(available=tuple(devices), must_include=ids("n0-0"), size=2)
    assert preferred(spread, wish, devices) == ids("n0-0", "n1-0")


# --- size ----------------------------------------------------------------------------------------


class CountedDevices(dict[DeviceId, DeviceInfo]):
    """Devices that count how often one is looked at."""

    looks = 0

    def get(self, key: DeviceId, default: Any = None) -> Any:  # noqa: ANN401 - as dict's
        """Return the device, and count it."""
        self.looks += 1
        return super().get(key, default)


def many(count: int) -> Mapping[DeviceId, DeviceInfo]:
    """Return devices of many parents, on a few NUMA nodes, some replicas of one another."""
    return {
        DeviceId(f"gpu{n:05}"): DeviceInfo(numa_nodes=[n % 4], parent=f"card{n // 8 % 500}")
        for n in range(count)
    }


def calls_of(function: Callable[[], object]) -> int:
    """Return how many calls, of Python or of C code, a function makes."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        del frame, argument
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@every_policy
def test_10_000_devices_are_looked_at_once_each(policy: Policy) -> None:
    devices = CountedDevices(many(10_000))
    wish = Wish(available=tuple(devices), must_include=ids("gpu00003"), size=8)
    assert wish.is_met_by(preferred(policy, wish, devices))
    assert devices.looks <= 10_000


@every_policy
@pytest.mark.parametrize("share", [1000, 2])
def test_the_work_grows_with_the_devices_not_with_their_combinations(
    policy: Policy, share: int
) -> None:
    """Counted in calls, so that the law holds on a slow machine too."""
    work: list[int] = []
    for count in (2_500, 5_000, 10_000):
        devices = many(count)
        wish = Wish(available=tuple(devices), size=count // share)
        work.append(calls_of(partial(preferred, policy, wish, devices)))
    assert work[1] < 2.5 * work[0]
    assert work[2] < 2.5 * work[1]


def test_no_policy_means_that_the_call_is_not_offered() -> None:
    assert POLICIES["none"] is None
    assert set(POLICIES) == {"none", "packed", "spread"}
