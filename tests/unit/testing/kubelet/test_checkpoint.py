"""The checkpoint file."""

import base64
import json
import os
from pathlib import Path

import pytest

from deviceplugin.testing.kubelet.allocations import Holding
from deviceplugin.testing.kubelet.checkpoint import Checkpoint, CheckpointFile

HOLDING = Holding(
    pod="uid-1",
    container="main",
    resource="example.com/widget",
    nodes={0: ("a", "b"), -1: ("c",)},
    answer=b"\x0a\x00wire",
)
CHECKPOINT = Checkpoint(
    holdings=(HOLDING,),
    registered={"example.com/widget": frozenset({"a", "b", "c"})},
)


def test_it_has_the_shape_of_the_kubelets() -> None:
    """Others read this file: keys, node numbers as text, and the answer in base64."""
    tree = json.loads(CHECKPOINT.encode())
    assert tree["Data"]["RegisteredDevices"] == {"example.com/widget": ["a", "b", "c"]}
    (entry,) = tree["Data"]["PodDeviceEntries"]
    assert entry == {
        "PodUID": "uid-1",
        "ContainerName": "main",
        "ResourceName": "example.com/widget",
        "DeviceIDs": {"0": ["a", "b"], "-1": ["c"]},
        "AllocResp": base64.b64encode(HOLDING.answer).decode(),
    }
    assert isinstance(tree["Checksum"], int)


def test_it_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Nothing is lost on the way through the file."""
    file = CheckpointFile(tmp_path / "checkpoint")
    file.write(CHECKPOINT)
    assert file.read() == CHECKPOINT


def test_a_missing_one_remembers_nothing(tmp_path: Path) -> None:
    """A kubelet that never ran begins with nothing."""
    assert CheckpointFile(tmp_path / "checkpoint").read() == Checkpoint()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"Data": null, "Checksum": 0}',
        '{"Data": {}, "Checksum": 0}',
        CHECKPOINT.encode().replace("uid-1", "uid-2"),
    ],
)
def test_a_damaged_one_remembers_nothing(tmp_path: Path, text: str) -> None:
    """Text that does not parse, or does not match its checksum, is as good as none."""
    path = tmp_path / "checkpoint"
    path.write_text(text)
    assert CheckpointFile(path).read() == Checkpoint()


@pytest.mark.parametrize("kind", ["directory", "link to itself", "pipe", "deep"])
def test_one_that_cannot_be_read_is_as_none(tmp_path: Path, kind: str) -> None:
    """The kubelet logs it and goes on; nobody waits for whoever might write into a pipe."""
    path = tmp_path / "checkpoint"
    if kind == "directory":
        path.mkdir()
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_text("[" * 200_000)
    assert CheckpointFile(path).read() == Checkpoint()


def test_writing_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """It is tried with each list."""
    path = tmp_path / "checkpoint"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="checkpoint"):
        CheckpointFile(path).write(CHECKPOINT)
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]


def test_writing_leaves_nothing_else(tmp_path: Path) -> None:
    """The temporary file is renamed, not copied."""
    file = CheckpointFile(tmp_path / "checkpoint")
    file.write(CHECKPOINT)
    file.write(CHECKPOINT)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
