"""The laws of shares: ids that map back without doubt, and the fate of the device."""

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.allocation import select
from deviceplugin.domain.devices import MAX_ID, DeviceId, DeviceInfo, DeviceNode, Health
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.inventory import Inventory
from deviceplugin.domain.preference import Policy, Wish, packed, preferred, spread
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.sharing import MAX_SHARES, devices_of, share_ids, shared

KVM = ResourceName("x.local", "kvm")
HOSTILE = ["a::0", "a", "a::0::0", "x-slice-1", "a:b", "a/b", "a,b", "a.b", "a b", "::", "::1"]
IDS = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=1000),
).map(DeviceId.shorten)


def info(parent: str = "", numa: Iterable[int] = ()) -> DeviceInfo:
    """Return a device with a node."""
    return DeviceInfo(nodes=[DeviceNode("/dev/kvm")], parent=parent, numa_nodes=tuple(numa))


def shares(counts: dict[str, int], parent: str = "") -> dict[DeviceId, DeviceInfo]:
    """Return the shares of devices, so many of each."""
    return {
        key: each
        for name, count in counts.items()
        for key, each in shared({DeviceId(name): info(parent)}, count).items()
    }


@given(st.lists(IDS, min_size=1, max_size=8, unique=True), st.integers(1, 40))
def test_ids_of_shares_map_back_without_doubt(ids: list[DeviceId], count: int) -> None:
    """Whatever a device's id holds, the mark of shares too; all are distinct and can be sent."""
    found = shared({key: info() for key in ids}, count)
    assert len(found) == count * len(ids)
    assert Counter(devices_of(found).values()) == dict.fromkeys(ids, count)
    assert all(len(key.value) <= MAX_ID for key in found)


@given(IDS)
def test_the_only_share_of_a_device_is_the_device(key: DeviceId) -> None:
    assert share_ids(key, 1) == (key,)
    assert shared({key: info()}, 1) == {key: info()}


@given(IDS, st.integers(1, 30), st.integers(1, 30))
def test_more_shares_leave_those_that_there_are(key: DeviceId, few: int, more: int) -> None:
    """A changed count renames nothing but the only share."""
    if min(few, more) > 1:
        small, large = sorted([share_ids(key, few), share_ids(key, more)], key=len)
        assert large[: len(small)] == small


@pytest.mark.parametrize("count", [0, -1, MAX_SHARES + 1])
def test_a_number_of_shares_has_bounds(count: int) -> None:
    with pytest.raises(InvalidValueError, match=f"from 1 to {MAX_SHARES}"):
        shared({}, count)


def test_shares_have_the_fate_of_their_device() -> None:
    """Health, topology and what a container gets; a change of the device is one of each."""
    device = info(numa=[1])
    before = Inventory().observe(shared({DeviceId("kvm"): device}, 3))
    after = before.observe(shared({DeviceId("kvm"): device.unhealthy()}, 3))
    assert {each.numa_nodes for each in before.listing} == {(1,)}
    assert len(after.changes_since(before).vanished) == 3
    gone = before.observe({})
    assert {each.health for each in gone.listing} == {Health.UNHEALTHY}
    assert [each.id.value for each in gone.listing] == ["kvm::0", "kvm::1", "kvm::2"]


def test_fewer_shares_leave_those_listed_that_a_container_may_hold() -> None:
    """What is given up stays, Unhealthy, until nobody holds it."""
    four = Inventory().observe(shares({"kvm": 4}))
    two = four.observe(shares({"kvm": 2}))
    assert {each.id.value: each.health.value for each in two.listing} == {
        "kvm::0": "Healthy",
        "kvm::1": "Healthy",
        "kvm::2": "Unhealthy",
        "kvm::3": "Unhealthy",
    }
    held = two.release([DeviceId("kvm::3"), DeviceId("kvm::0")])
    assert [each.id.value for each in held.listing] == ["kvm::0", "kvm::1", "kvm::2"]


def test_two_shares_of_one_device_bring_it_once() -> None:
    devices = shares({"kvm": 3})
    grant = select(KVM, devices, list(devices)[:2]).default()
    assert [node.host_path for node in grant.nodes] == ["/dev/kvm"]


@pytest.mark.parametrize("parent", ["", "card"])
def test_packed_uses_up_the_shares_of_a_device_first(parent: str) -> None:
    """Of one that is used already, if that is enough; else of as few as possible."""
    devices = shares({"a": 4, "b": 4}, parent)
    free = tuple(key for key in devices if key.value not in {"b::0", "b::1"})
    assert chosen(packed, Wish(available=free, size=2), devices) == {"b": 2}
    assert chosen(packed, Wish(available=free, size=4), devices) in ({"a": 4}, {"a": 2, "b": 2})
    begun = (DeviceId("a::0"),)
    wish = Wish(available=free, must_include=begun, size=3)
    assert chosen(packed, wish, devices) == {"a": 3}


@pytest.mark.parametrize("parent", ["", "card"])
def test_spread_takes_a_share_of_each_device(parent: str) -> None:
    """Those that fewer use come first."""
    devices = shares({"a": 4, "b": 4, "c": 4}, parent)
    assert chosen(spread, Wish(available=tuple(devices), size=3), devices) == dict.fromkeys(
        "abc", 1
    )
    free = tuple(key for key in devices if key.value not in {"a::0", "b::0"})
    assert chosen(spread, Wish(available=free, size=1), devices) == {"c": 1}


@given(st.data())
def test_spread_takes_no_second_share_where_another_device_is_unused(
    data: st.DataObject,
) -> None:
    """Of devices of one place, all of whose shares are free."""
    counts = dict.fromkeys("abcd"[: data.draw(st.integers(1, 4))], 3)
    devices = shares(counts, "card")
    size = data.draw(st.integers(1, len(devices)))
    taken = chosen(spread, Wish(available=tuple(devices), size=size), devices)
    assert sum(taken.values()) == size
    assert max(taken.values()) - min([*taken.values(), *[0] * (len(counts) - len(taken))]) <= 1


def chosen(policy: Policy, wish: Wish, devices: dict[DeviceId, DeviceInfo]) -> dict[str, int]:
    """Return how many shares of each device a policy takes."""
    ids = preferred(policy, wish, devices)
    assert wish.is_met_by(ids)
    return dict(Counter(devices[key].share_of for key in ids))
