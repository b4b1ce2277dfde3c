"""A container gets everything that its devices bring along, or nothing and the reason."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.allocation import Grant, select
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health, Mount
from deviceplugin.domain.errors import (
    AllocationClashError,
    UnhealthyDeviceError,
    UnknownDeviceError,
)
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices

WIDGET = ResourceName("example.com", "widget")
A, B, C = map(DeviceId, "abc")
ILL = DeviceInfo(health=Health.UNHEALTHY)


def full(name: str) -> DeviceInfo:
    """Return a device that brings one of everything, of its own."""
    return DeviceInfo(
        nodes=[DeviceNode(f"/dev/{name}")],
        mounts=[Mount(f"/lib/{name}")],
        envs={f"WIDGET_{name.upper()}": name},
        annotations={f"widget/{name}": name},
        cdi_devices=[f"example.com/widget={name}"],
    )


def granted(*infos: DeviceInfo) -> Grant:
    """Return the default grant of devices a, b, … that look like this."""
    devices = {DeviceId(chr(ord("a") + n)): info for n, info in enumerate(infos)}
    return select(WIDGET, devices, devices).default()


@pytest.mark.parametrize("order", list(itertools.permutations([A, B, C])))
def test_no_device_loses_anything_to_another_whatever_the_order(
    order: Sequence[DeviceId],
) -> None:
    devices = {key: full(key.value) for key in (C, A, B)}
    assert select(WIDGET, devices, order).default() == Grant(
        nodes=(DeviceNode("/dev/a"), DeviceNode("/dev/b"), DeviceNode("/dev/c")),
        mounts=(Mount("/lib/a"), Mount("/lib/b"), Mount("/lib/c")),
        envs={"WIDGET_A": "a", "WIDGET_B": "b", "WIDGET_C": "c"},
        annotations={"widget/a": "a", "widget/b": "b", "widget/c": "c"},
        cdi_devices=tuple(f"example.com/widget={name}" for name in "abc"),
    )


names = st.text("xyz", min_size=1, max_size=2)
infos = st.builds(
    DeviceInfo,
    nodes=st.lists(
        st.builds(
            DeviceNode,
            names.map("/dev/{}".format),
            permissions=st.sampled_from(["r", "rw", "rwm", "w"]),
        ),
        max_size=3,
    ),
    mounts=st.lists(st.builds(Mount, names.map("/lib/{}".format)), max_size=3),
    envs=st.dictionaries(names, names, max_size=3),
    annotations=st.dictionaries(names, names, max_size=3),
    cdi_devices=st.lists(names.map(lambda name: f"e.com/w={name}"), max_size=3),
)


def outcome(devices: Devices, ids: Sequence[DeviceId]) -> Grant | str:
    """Return the default grant, or the text of the clash."""
    try:
        return select(WIDGET, devices, ids).default()
    except AllocationClashError as clash:
        return str(clash)


@given(st.dictionaries(names.map(DeviceId), infos, min_size=1, max_size=5), st.data())
def test_a_grant_is_the_union_of_its_devices_or_a_clash_in_every_order(
    devices: dict[DeviceId, DeviceInfo], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(sorted(devices)))
    grant = outcome(devices, order)
    assert outcome(devices, sorted(devices)) == grant
    if isinstance(grant, str):
        return
    for info in devices.values():
        assert info.envs.items() <= grant.envs.items()
        assert info.annotations.items() <= grant.annotations.items()
        assert set(info.mounts) <= set(grant.mounts)
        assert set(info.cdi_devices) <= set(grant.cdi_devices)
        for node in info.nodes:
            given_node = next(each for each in grant.nodes if each.host_path == node.host_path)
            assert set(node.permissions) <= set(given_node.permissions)
    for parts in (
        [node.container_path for node in grant.nodes],
        [mount.container_path for mount in grant.mounts],
        grant.cdi_devices,
    ):
        assert len(set(parts)) == len(parts)


def test_equal_parts_of_several_devices_are_given_once() -> None:
    shared = DeviceInfo(
        nodes=[DeviceNode("/dev/ctl")],
        mounts=[Mount("/lib/x")],
        envs={"A": "1"},
        annotations={"a": "1"},
        cdi_devices=["e.com/w=all"],
    )
    assert granted(shared, shared, shared) == granted(shared)


@pytest.mark.parametrize(
    ("first", "second", "union"), [("r", "w", "rw"), ("m", "r", "rm"), ("rw", "m", "rwm")]
)
def test_one_node_wanted_with_several_permissions_gets_all_of_them(
    first: str, second: str, union: str
) -> None:
    grant = granted(
        DeviceInfo(nodes=[DeviceNode("/dev/x", permissions=first)]),
        DeviceInfo(nodes=[DeviceNode("/dev/x", permissions=second)]),
    )
    assert grant.nodes == (DeviceNode("/dev/x", permissions=union),)


def test_permissions_are_given_as_they_were_wanted() -> None:
    """Widening them would open what nobody asked for."""
    read = DeviceNode("/dev/x", permissions="r")
    assert granted(DeviceInfo(nodes=[read]), full("b")).nodes[0] is read


def test_one_host_file_may_be_at_two_places_of_the_container() -> None:
    nodes = (DeviceNode("/dev/x"), DeviceNode("/dev/x", container_path="/dev/y"))
    assert granted(DeviceInfo(nodes=nodes)).nodes == nodes


@pytest.mark.parametrize(
    ("first", "second", "kind", "key", "values"),
    [
        (
            DeviceInfo(nodes=[DeviceNode("/dev/x", container_path="/dev/w")]),
            DeviceInfo(nodes=[DeviceNode("/dev/y", container_path="/dev/w")]),
            "device path",
            "/dev/w",
            ("/dev/x", "/dev/y"),
        ),
        (
            DeviceInfo(mounts=[Mount("/x", container_path="/w")]),
            DeviceInfo(mounts=[Mount("/y", container_path="/w")]),
            "mount path",
            "/w",
            ("/x (read-only)", "/y (read-only)"),
        ),
        (
            DeviceInfo(mounts=[Mount("/x")]),
            DeviceInfo(mounts=[Mount("/x", read_only=False)]),
            "mount path",
            "/x",
            ("/x (read-only)", "/x (writable)"),
        ),
        (
            DeviceInfo(nodes=[DeviceNode("/dev/x", container_path="/w")]),
            DeviceInfo(mounts=[Mount("/y", container_path="/w")]),
            "path",
            "/w",
            ("device /dev/x", "mount of /y (read-only)"),
        ),
        (
            DeviceInfo(envs={"W": "x"}),
            DeviceInfo(envs={"W": "y"}),
            "environment variable",
            "W",
            ("x", "y"),
        ),
        (
            DeviceInfo(annotations={"w": "x"}),
            DeviceInfo(annotations={"w": "y"}),
            "annotation",
            "w",
            ("x", "y"),
        ),
    ],
)
def test_a_clash_is_refused_with_its_kind_its_place_and_both_values(
    first: DeviceInfo, second: DeviceInfo, kind: str, key: str, values: tuple[str, str]
) -> None:
    with pytest.raises(AllocationClashError) as clash:
        granted(first, second)
    assert (clash.value.kind, clash.value.key, clash.value.values) == (kind, key, values)
    assert all(repr(part) in str(clash.value) for part in (key, *values))
    assert "its own" in str(clash.value)


def listed(text: str, *more: str, separator: str | None = ",") -> DeviceInfo:
    """Return a device whose variable LIST has this text; more variables have the same."""
    return DeviceInfo(envs=dict.fromkeys(["LIST", *more], text), env_separator=separator)


def test_values_of_one_variable_are_joined_in_the_order_of_the_ids() -> None:
    """As readers of such lists expect, in whichever order the kubelet names them."""
    devices = {C: listed("/dev/c"), A: listed("/dev/a"), B: listed("/dev/b")}
    for order in ([A, B, C], [C, A, B]):
        assert select(WIDGET, devices, order).default().envs == {"LIST": "/dev/a,/dev/b,/dev/c"}


def test_a_text_that_several_devices_have_is_joined_once() -> None:
    """Two shares of one device are one device to the container."""
    assert granted(listed("x"), listed("y"), listed("x")).envs == {"LIST": "x,y"}
    assert granted(listed("x"), listed("x")).envs == {"LIST": "x"}


def test_values_are_joined_by_what_the_devices_say() -> None:
    assert granted(listed("x", separator=" "), listed("y", separator=" ")).envs == {"LIST": "x y"}


def test_a_variable_of_one_device_is_as_it_is() -> None:
    assert granted(listed("x"), listed("y", "OWN")).envs == {"LIST": "x,y", "OWN": "y"}


@pytest.mark.parametrize(("first", "second"), [(None, None), (",", None), (None, ","), (",", ";")])
def test_values_that_no_one_separator_joins_are_refused(
    first: str | None, second: str | None
) -> None:
    with pytest.raises(AllocationClashError, match="'LIST' is wanted as 'x' and as 'y'"):
        granted(listed("x", separator=first), listed("y", separator=second))


def test_ids_never_advertised_are_named_all_at_once() -> None:
    with pytest.raises(UnknownDeviceError, match="never advertised: b, c") as refusal:
        select(WIDGET, {A: full("a")}, [C, A, B])
    assert refusal.value.ids == ("b", "c")


def test_unhealthy_ids_are_named_all_at_once() -> None:
    with pytest.raises(UnhealthyDeviceError, match="not healthy now: b, c") as refusal:
        select(WIDGET, {A: full("a"), B: ILL, C: ILL}, [C, A, B])
    assert refusal.value.ids == ("b", "c")


def test_unknown_and_unhealthy_ids_are_named_together() -> None:
    with pytest.raises(UnknownDeviceError) as refusal:
        select(WIDGET, {A: full("a"), B: ILL}, [C, A, B])
    assert (refusal.value.ids, refusal.value.unhealthy) == (("c",), ("b",))
    assert str(refusal.value) == "never advertised: c; not healthy now: b"


def test_the_same_request_has_the_same_answer_each_time() -> None:
    """There is no release call: init containers and restarts ask again."""
    devices = {A: full("a"), B: full("b")}
    alone = select(WIDGET, devices, [A]).default()
    assert select(WIDGET, devices, [A]).default() == alone
    both = select(WIDGET, devices, [A, B]).default()
    assert select(WIDGET, devices, [A]).default() == alone
    assert both.nodes[0] == alone.nodes[0]


def test_an_id_named_twice_is_one_device() -> None:
    devices = {A: full("a")}
    assert select(WIDGET, devices, [A, A]) == select(WIDGET, devices, [A])


def test_a_request_shows_its_devices_sorted_by_id() -> None:
    devices = {key: full(key.value) for key in (C, A, B)}
    request = select(WIDGET, devices, [C, A])
    assert (request.resource, list(request.devices)) == (WIDGET, [A, C])
