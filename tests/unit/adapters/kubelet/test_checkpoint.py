"""The checkpoint of a kubelet may hold anything: it is read for what it says, and does no harm."""

import json
import os
import socket
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.adapters.kubelet import checkpoint
from deviceplugin.adapters.kubelet.checkpoint import (
    CHECKPOINT,
    CheckpointHolders,
)
from deviceplugin.adapters.kubelet.held import MAX_ENTRIES
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings
from deviceplugin.domain.room import MAX_HELD, MAX_HELD_BYTES, listed_bytes
from deviceplugin.testing.kubelet.allocations import Holding
from deviceplugin.testing.kubelet.checkpoint import Checkpoint
from deviceplugin.testing.loop import run

WIDGET = ResourceName("example.com", "widget")


def places(directory: Path) -> dict[str, tuple[int, ...]]:
    """Return the widgets that the checkpoint names, with their NUMA nodes.

    Raises `HoldersUnknownError`.
    """
    source = CheckpointHolders(str(directory), worker=InlineWorker(), clock=ManualClock())
    answer = run(source.holders(WIDGET))
    assert not answer.complete
    return {key.value: nodes for key, nodes in answer.held.items()}


def held(directory: Path) -> set[str]:
    """Return the ids of widgets that the checkpoint names. Raises `HoldersUnknownError`."""
    return set(places(directory))


def entry(ids: object, resource: object = "example.com/widget") -> dict[str, Any]:
    """Return what a checkpoint says of one container."""
    return {"PodUID": "u", "ContainerName": "c", "ResourceName": resource, "DeviceIDs": ids}


def put(directory: Path, *entries: object) -> None:
    """Write a checkpoint with these entries."""
    data = {"PodDeviceEntries": entries, "RegisteredDevices": None}
    (directory / CHECKPOINT).write_text(json.dumps({"Data": data, "Checksum": 1}))


def test_without_a_file_nothing_is_known_to_be_held(tmp_path: Path) -> None:
    """Nor in a directory that is not there: a kubelet that was never here allocated nothing."""
    assert held(tmp_path) == set()
    assert held(tmp_path / "none") == set()


def test_what_the_fake_kubelet_writes_is_read(tmp_path: Path) -> None:
    written = Checkpoint(
        holdings=(
            Holding(
                pod="p",
                container="c",
                resource="example.com/widget",
                nodes={-1: ["a"], 0: ["b"], 1: ["b", "c"]},
                answer=b"x",
            ),
        ),
        registered={"example.com/widget": frozenset("abcd")},
    )
    (tmp_path / CHECKPOINT).write_text(written.encode())
    assert held(tmp_path) == {"a", "b", "c"}
    assert places(tmp_path) == {"a": (), "b": (0, 1), "c": (1,)}


@pytest.mark.parametrize(
    "ids", [{"-1": ["a", "b"]}, {"0": ["a"], "1": ["b"]}, ["a", "b"]], ids=["map", "nodes", "list"]
)
def test_ids_by_node_and_the_older_form_without_nodes_are_read(
    tmp_path: Path, ids: object
) -> None:
    put(tmp_path, entry(ids))
    assert held(tmp_path) == {"a", "b"}


def answer_to(directory: Path) -> Holdings:
    """Return all that is said of widgets. Raises `HoldersUnknownError`."""
    source = CheckpointHolders(str(directory), worker=InlineWorker(), clock=ManualClock())
    return run(source.holders(WIDGET))


@pytest.mark.parametrize(
    "excess",
    [
        pytest.param(["x" * 5_000_000], id="one without end"),
        pytest.param([f"{number:0600}" for number in range(9_000)], id="long ones"),
        pytest.param([f"{number:064}" for number in range(20_000)], id="many"),
    ],
)
def test_of_more_than_a_list_has_room_for_the_shortest_are_believed(
    tmp_path: Path, excess: list[str]
) -> None:
    """They would leave no room for the devices that are there; and hide no other resource's."""
    put(tmp_path, entry({"0": [*excess, "a"]}), entry({"0": ["b"]}, resource="example.com/other"))
    said = answer_to(tmp_path)
    ids = [key.value for key in said.held]
    assert "a" in ids
    assert len(ids) <= MAX_HELD
    assert sum(listed_bytes(key, (0,)) for key in ids) <= MAX_HELD_BYTES
    assert said.left_out == len(excess) + 1 - len(ids) > 0


def test_a_list_that_has_just_room_is_believed_as_a_whole(tmp_path: Path) -> None:
    many = [f"{number:063}" for number in range(MAX_HELD)]
    put(tmp_path, entry({"0": many}))
    assert answer_to(tmp_path).left_out == 0
    assert len(held(tmp_path)) == MAX_HELD


def test_a_file_that_names_devices_without_end_is_not_read_to_it(tmp_path: Path) -> None:
    put(tmp_path, *(entry({"0": list(map(str, range(50_001)))}) for _ in range(2)))
    with pytest.raises(HoldersUnknownError, match=f"names more than {MAX_ENTRIES} devices"):
        held(tmp_path)


@pytest.mark.parametrize(
    "value",
    [
        b"[]",
        b"{}",
        b'""',
        b'"ab"',
        b"1000",
        b"1.5",
        b'{"a":1}',
        b'{"":{}}',
        '"\U0001f600"'.encode(),
    ],
)
def test_no_content_takes_much_memory(tmp_path: Path, value: bytes) -> None:
    """A limit of the container's would end the plugin, at each of its starts."""
    times = checkpoint.MAX_BYTES // (len(value) + 1)
    for several in (times - 1, checkpoint.MAX_VALUES // 3):
        data = b"[" + (value + b",") * several + value + b"]"
        assert len(data) <= checkpoint.MAX_BYTES + 1
        (tmp_path / CHECKPOINT).write_bytes(data)
        del data
        tracemalloc.start()
        with suppress(HoldersUnknownError):
            held(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 64 * 1024 * 1024


def test_the_key_of_a_node_that_is_none_tells_of_no_node(tmp_path: Path) -> None:
    """Whatever it is: the device is held all the same."""
    put(tmp_path, entry({"2": ["a"], "-1": ["b"], "": ["c"], "x": ["d"], "9" * 30: ["e"]}))
    assert places(tmp_path) == {"a": (2,), "b": (), "c": (), "d": (), "e": ()}


def test_one_odd_entry_hides_no_good_one(tmp_path: Path) -> None:
    odd: list[object] = [1, None, {}, "good", "\ud800", "nul\0"]
    put(
        tmp_path,
        None,
        [],
        7,
        {},
        entry(None),
        entry("a"),
        entry({"0": "a", "1": None, "2": odd}),
        entry(["x"], resource=None),
        entry(["x"], resource=["example.com/widget"]),
        entry({"0": ["last"]}),
    )
    assert held(tmp_path) == {"good", "last"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\0" * 100,
        b"\xff\xfe\xfd",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"9" * 10_000,
        b'{"Data":{"PodDeviceEntries":[{"ResourceName":"example.com/widget","Devi',
    ],
    ids=["empty", "brace", "nuls", "bytes", "deep", "deeper", "long", "cut"],
)
def test_what_cannot_be_read_is_told_with_the_path(tmp_path: Path, text: bytes) -> None:
    (tmp_path / CHECKPOINT).write_bytes(text)
    with pytest.raises(HoldersUnknownError, match=f"{tmp_path / CHECKPOINT}: is no JSON"):
        held(tmp_path)


@pytest.mark.parametrize(
    "text", ["null", "[]", "{}", '"x"', "1", '{"Data": []}', '{"Data": null}']
)
def test_json_of_another_kind_names_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / CHECKPOINT).write_text(text)
    assert held(tmp_path) == set()


def test_a_file_without_end_is_not_read_to_it(tmp_path: Path) -> None:
    with (tmp_path / CHECKPOINT).open("wb") as file:
        file.truncate(checkpoint.MAX_BYTES + 1)
    with pytest.raises(HoldersUnknownError, match="too large: at most 8388608 bytes"):
        held(tmp_path)


def test_what_is_no_file_is_neither_read_nor_waited_for(tmp_path: Path) -> None:
    """A directory, a pipe that nobody writes to, a device, a socket, a link that ends nowhere."""
    path = tmp_path / CHECKPOINT
    path.mkdir()
    with pytest.raises(HoldersUnknownError, match="no regular file"):
        held(tmp_path)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(HoldersUnknownError, match="no regular file"):
        held(tmp_path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(HoldersUnknownError, match="no regular file"):
        held(tmp_path)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        with pytest.raises(HoldersUnknownError, match="No such device"):
            held(tmp_path)
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(HoldersUnknownError, match="symbolic links"):
        held(tmp_path)


json_values: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["example.com/widget", "a"]),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["Data", "PodDeviceEntries", "ResourceName", "DeviceIDs", "0"])
            | st.text(),
            inner,
        )
    ),
    max_leaves=20,
)
entries: st.SearchStrategy[list[object]] = st.lists(
    st.fixed_dictionaries({}, optional={"ResourceName": json_values, "DeviceIDs": json_values})
    | json_values
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory for all examples."""
    return tmp_path_factory.mktemp("checkpoint")


@given(entries)
def test_no_entry_hides_another(place: Path, others: list[object]) -> None:
    """Whatever it is."""
    put(place, *others)
    before = held(place)
    put(place, *others, entry({"0": ["ours"]}))
    assert held(place) == before | {"ours"}


def strings(value: object) -> Iterator[str]:
    """Yield every text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from strings(list(cast("dict[str, object]", value).values()))
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from strings(each)


@given(json_values)
def test_any_json_is_read(place: Path, document: object) -> None:
    """A kubelet of another age may write something else altogether."""
    (place / CHECKPOINT).write_text(json.dumps(document))
    assert held(place) <= set(strings(document))


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_told(place: Path, data: bytes) -> None:
    (place / CHECKPOINT).write_bytes(data)
    with suppress(HoldersUnknownError):
        assert held(place) == set()


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_a_damaged_checkpoint_is_read_or_told(place: Path, start: int, damage: bytes) -> None:
    """Cut off or overwritten anywhere."""
    put(place, *(entry({"0": [f"dev{number}"]}) for number in range(20)))
    whole = (place / CHECKPOINT).read_bytes()
    cut = start % len(whole)
    for data in (whole[:cut], whole[:cut] + damage + whole[cut + len(damage) :]):
        (place / CHECKPOINT).write_bytes(data)
        with suppress(HoldersUnknownError):
            held(place)
