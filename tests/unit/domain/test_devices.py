"""A device is valid from birth: what the kubelet or a runtime would choke on cannot be built."""

import re
from contextlib import suppress
from typing import Any, cast

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deviceplugin.domain.devices import (
    MAX_ID,
    DeviceId,
    DeviceInfo,
    DeviceNode,
    ForeignId,
    Health,
    Mount,
    id_as_held,
)
from deviceplugin.domain.errors import InvalidDeviceError

SURROGATES = re.compile("[\ud800-\udfff]")
SURROGATE = "\udce4"
"""What Python makes of a file name's byte that is no UTF-8."""


def test_an_id_is_as_long_as_the_kubelets_api_allows() -> None:
    assert MAX_ID == 63


def test_the_values_of_health_are_the_kubelets_words() -> None:
    assert [health.value for health in Health] == ["Healthy", "Unhealthy"]


@pytest.mark.parametrize("text", ["x", "x" * MAX_ID, "a::0", "pci-0000:3b:00.0", "a/b,c d", "ä"])
def test_an_id_has_1_to_63_printable_characters(text: str) -> None:
    assert str(DeviceId(text)) == text


@pytest.mark.parametrize("text", ["", "x" * (MAX_ID + 1), "a\n", "\0", "a\tb", SURROGATE])
def test_no_other_text_is_an_id(text: str) -> None:
    with pytest.raises(InvalidDeviceError) as refusal:
        DeviceId(text)
    assert (refusal.value.part, refusal.value.value) == ("device id", text)


@given(st.text(min_size=1, max_size=200))
def test_an_id_that_a_kubelet_knows_is_kept_as_it_is_whatever_its_form(text: str) -> None:
    """A plugin that was there before us may have given it; no scan of ours can."""
    if SURROGATES.search(text) or "\0" in text:
        return
    key = id_as_held(text)
    assert key.value == text
    try:
        assert key == DeviceId(text)
    except InvalidDeviceError:
        assert isinstance(key, ForeignId)


@pytest.mark.parametrize("text", ["a\0", SURROGATE])
def test_what_no_message_can_hold_no_kubelet_knows(text: str) -> None:
    with pytest.raises(InvalidDeviceError):
        id_as_held(text)


def test_ids_sort_by_their_text() -> None:
    assert [key.value for key in sorted(map(DeviceId, ("b", "a10", "a2")))] == ["a10", "a2", "b"]


@given(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=MAX_ID))
@example("x" * MAX_ID)
def test_shortening_leaves_an_id_that_fits_as_it_is(text: str) -> None:
    assert DeviceId.shorten(text).value == text


def test_shortening_is_the_same_in_every_process_and_version() -> None:
    """The kubelet remembers ids over restarts of the plugin."""
    long = "/sys/devices/" + "x" * 60
    assert DeviceId.shorten(long).value == "/sys/devices/" + "x" * 37 + "-fcdb020c7977"


LONG = st.text("ab", min_size=MAX_ID + 1, max_size=MAX_ID + 40)


@given(st.sets(LONG, min_size=2, max_size=20))
def test_shortened_ids_fit_begin_like_the_text_and_stay_apart(texts: set[str]) -> None:
    ids = {text: DeviceId.shorten(text).value for text in texts}
    assert len(set(ids.values())) == len(texts)
    for text, short in ids.items():
        assert len(short) == MAX_ID
        assert text.startswith(short.rpartition("-")[0])


def test_no_shortened_id_holds_what_no_message_can() -> None:
    """A surrogate in the part cut off counts for the hash; where it would stay it is refused."""
    tail = DeviceId.shorten("x" * MAX_ID + SURROGATE)
    assert tail.value.encode()
    assert tail != DeviceId.shorten("x" * (MAX_ID + 1))
    with pytest.raises(InvalidDeviceError):
        DeviceId.shorten(SURROGATE + "x" * MAX_ID)


BAD_PATHS = ["", "dev/x", "./x", "/dev/\0", f"/dev/{SURROGATE}"]


@pytest.mark.parametrize("kind", [DeviceNode, Mount])
@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_are_absolute_and_can_be_sent(kind: Any, path: str) -> None:  # noqa: ANN401
    for wrong in ({"host_path": path, "container_path": "/dev/x"}, {"container_path": path}):
        with pytest.raises(InvalidDeviceError):
            kind(**{"host_path": "/dev/x"} | wrong)


def test_a_node_has_the_hosts_path_and_may_be_read_and_written_unless_said_otherwise() -> None:
    node = DeviceNode("/dev/x")
    assert (node.container_path, node.permissions) == ("/dev/x", "rw")
    assert DeviceNode("/dev/x", container_path="/dev/y").container_path == "/dev/y"


def test_a_mount_has_the_hosts_path_and_is_read_only_unless_said_otherwise() -> None:
    mount = Mount("/lib/x")
    assert (mount.container_path, mount.read_only) == ("/lib/x", True)
    assert Mount("/lib/x", container_path="/y").container_path == "/y"


@pytest.mark.parametrize("letters", ["r", "w", "m", "rw", "mrw", "rwm"])
def test_permissions_are_letters_that_a_runtime_knows(letters: str) -> None:
    assert DeviceNode("/dev/x", permissions=letters).permissions == letters


@pytest.mark.parametrize("letters", ["", "x", "rwx", "rr", "RW", "r w"])
def test_other_permissions_are_refused(letters: str) -> None:
    with pytest.raises(InvalidDeviceError, match="letters r, w and m"):
        DeviceNode("/dev/x", permissions=letters)


def test_the_one_obvious_argument_is_positional_all_else_is_named() -> None:
    for kind in (DeviceNode, Mount):
        positional = [field.name for field in attrs.fields(kind) if not field.kw_only]
        assert positional == ["host_path"]
    assert all(field.kw_only for field in attrs.fields(DeviceInfo))


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("NUMA node", {"numa_nodes": [-1]}),
        ("NUMA node", {"numa_nodes": [0, -1]}),
        ("environment variable", {"envs": {"": "x"}}),
        ("environment variable", {"envs": {"A=B": "x"}}),
        ("environment variable", {"envs": {"A\0": "x"}}),
        ("environment variable", {"envs": {SURROGATE: "x"}}),
        ("value of environment variable A", {"envs": {"A": "\0"}}),
        ("value of environment variable A", {"envs": {"A": SURROGATE}}),
        ("value of environment variable A", {"envs": {"A": 1}}),
        ("annotation", {"annotations": {"": "x"}}),
        ("annotation", {"annotations": {SURROGATE: "x"}}),
        ("value of annotation a", {"annotations": {"a": SURROGATE}}),
        ("CDI device", {"cdi_devices": ["gpu0"]}),
        ("CDI device", {"cdi_devices": ["vendor.com/gpu"]}),
        ("CDI device", {"cdi_devices": ["vendor.com/gpu="]}),
        ("CDI device", {"cdi_devices": ["/gpu=0"]}),
        ("CDI device", {"cdi_devices": ["vendor.com/=0"]}),
        ("CDI device", {"cdi_devices": ["vendor.com/gpu=vendor.com/gpu=0"]}),
        ("CDI device", {"cdi_devices": ["a/b/c=0"]}),
        ("CDI device", {"cdi_devices": ["vendor.com/gpu=a b"]}),
    ],
)
def test_what_would_fail_far_from_its_cause_fails_here(part: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidDeviceError) as refusal:
        DeviceInfo(**wrong)
    assert refusal.value.part == part


def test_each_part_is_kept_once_and_numa_nodes_in_order() -> None:
    node, mount = DeviceNode("/dev/x"), Mount("/x")
    info = DeviceInfo(
        nodes=[node, DeviceNode("/dev/y"), node],
        mounts=[mount, mount],
        numa_nodes=[1, 0, 1],
        cdi_devices=["v.com/gpu=1", "v.com/gpu=0", "v.com/gpu=1"],
    )
    assert info.nodes == (node, DeviceNode("/dev/y"))
    assert info.mounts == (mount,)
    assert info.numa_nodes == (0, 1)
    assert info.cdi_devices == ("v.com/gpu=1", "v.com/gpu=0")


def test_numa_node_0_is_a_place_and_none_is_no_place() -> None:
    assert DeviceInfo(numa_nodes=[0]).numa_nodes == (0,)
    assert DeviceInfo().numa_nodes == ()


def test_what_was_handed_over_can_be_changed_without_changing_the_device() -> None:
    envs, annotations, attributes = {"A": "1"}, {"a": "1"}, {"model": "x"}
    nodes, numa = [DeviceNode("/dev/x")], [0]
    info = DeviceInfo(
        envs=envs, annotations=annotations, attributes=attributes, nodes=nodes, numa_nodes=numa
    )
    same = attrs.evolve(info)
    for pairs in (envs, annotations, attributes):
        pairs["later"] = "x"
    nodes.clear()
    numa.append(1)
    assert info == same


def test_nobody_can_change_a_device() -> None:
    info: Any = DeviceInfo(envs={"A": "1"})
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        info.health = Health.UNHEALTHY
    with pytest.raises(TypeError):
        info.envs["A"] = "2"


def test_devices_are_equal_by_what_they_say() -> None:
    assert DeviceInfo(envs={"A": "1", "B": "2"}) == DeviceInfo(envs={"B": "2", "A": "1"})
    assert DeviceInfo(envs={"A": "1"}) != DeviceInfo(envs={"A": "2"})


def test_an_unhealthy_copy_differs_in_nothing_else() -> None:
    info = DeviceInfo(nodes=[DeviceNode("/dev/x")], numa_nodes=[1], parent="card0")
    ill = info.unhealthy()
    assert ill == attrs.evolve(info, health=Health.UNHEALTHY)
    assert info.health is Health.HEALTHY
    assert ill.unhealthy() is ill


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("health", {"health": "Healthy"}),
        ("device node", {"nodes": "/dev/null"}),
        ("device node", {"nodes": ["/dev/null"]}),
        ("mount", {"mounts": [DeviceNode("/dev/null")]}),
        ("NUMA node", {"numa_nodes": [2**63]}),
    ],
)
def test_a_part_of_the_wrong_kind_is_refused_where_it_is_made(
    part: str, wrong: dict[str, Any]
) -> None:
    """Not in the stream to the kubelet, where it would strand the resource."""
    with pytest.raises(InvalidDeviceError, match=part):
        DeviceInfo(**wrong)


NODE = DeviceNode("/dev/null")
ODD: tuple[Any, ...] = (
    0,
    1.5,
    True,
    "ab",
    b"ab",
    NODE,
    object(),
    [0],
    ["ab", 0],
    [{}, {}],
    {1: "a"},
)
"""What a type checker would have refused for most parts of a device."""


@pytest.mark.parametrize("kind", [DeviceId, DeviceNode, Mount, DeviceInfo])
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_a_part_of_the_wrong_type_is_refused_by_name_or_taken(
    kind: type[Any], value: object
) -> None:
    """Never by whatever Python says of what was done with it."""
    base: dict[str, Any] = {} if kind is DeviceInfo else {"value": "a"}
    if kind in {DeviceNode, Mount}:
        base = {"host_path": "/dev/null"}
    for field in attrs.fields(kind):
        if field.init:
            with suppress(InvalidDeviceError):
                kind(**cast("Any", {**base, field.name: value}))


@pytest.mark.parametrize("name", ["nodes", "mounts", "numa_nodes", "cdi_devices"])
@pytest.mark.parametrize("value", [0, "ab", b"ab", NODE, True])
def test_one_where_there_may_be_several_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidDeviceError, match="must be a list or a tuple"):
        DeviceInfo(**cast("Any", {name: value}))


@pytest.mark.parametrize("name", ["envs", "annotations", "attributes"])
@pytest.mark.parametrize("value", [1, "ab", ["ab"], NODE])
def test_what_is_no_mapping_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidDeviceError, match="must be a dict of names and values"):
        DeviceInfo(**cast("Any", {name: value}))


def test_an_id_is_made_of_text_alone() -> None:
    number: Any = 0
    for make in (DeviceId, DeviceId.shorten):
        with pytest.raises(InvalidDeviceError, match="must be text, not int"):
            make(number)
