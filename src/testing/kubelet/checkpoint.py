"""The file `kubelet_internal_checkpoint`: who holds what, and which resources were known.

The shape is the kubelet's: `{"Data": {"PodDeviceEntries": [...], "RegisteredDevices": {...}},
"Checksum": n}`. The checksum is a number of our own over the data, since the kubelet's hashes the
text of a Go dump; it is there to notice damage.
"""

import base64
import errno
import json
import os
import stat
import tempfile
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import attrs

from deviceplugin.testing.kubelet.allocations import Holding


@attrs.frozen(kw_only=True)
class Checkpoint:
    """What the kubelet writes down. Of the registered devices it reads back only the names."""

    holdings: tuple[Holding, ...] = ()
    registered: Mapping[str, frozenset[str]] = attrs.field(factory=dict[str, frozenset[str]])

    def encode(self) -> str:
        """Return the text of the file."""
        data = {
            "PodDeviceEntries": [_entry(holding) for holding in self.holdings] or None,
            "RegisteredDevices": {name: sorted(ids) for name, ids in self.registered.items()},
        }
        return json.dumps({"Data": data, "Checksum": _checksum(data)})

    @classmethod
    def decode(cls, text: str) -> Self:
        """Return what a file says; raises `ValueError` if it is damaged in any way."""
        try:
            return cls._decode(json.loads(text))
        except (LookupError, TypeError, AttributeError) as problem:
            message = f"not a checkpoint: {problem!r}"
            raise ValueError(message) from problem

    @classmethod
    def _decode(cls, tree: Mapping[str, Any]) -> Self:
        data = tree["Data"]
        if tree["Checksum"] != _checksum(data):
            message = "checkpoint is corrupted"
            raise ValueError(message)
        return cls(
            holdings=tuple(_holding(entry) for entry in data["PodDeviceEntries"] or ()),
            registered={name: frozenset(ids) for name, ids in data["RegisteredDevices"].items()},
        )


class CheckpointFile:
    """Where checkpoints are kept. Writers take turns, so that the newest one stays."""

    def __init__(self, path: Path) -> None:
        """Use the file at `path`; nothing is read or written yet."""
        self._path = path
        self._turn = threading.Lock()

    @property
    def turn(self) -> threading.Lock:
        """Held by a writer from before it looks at the state until it has written."""
        return self._turn

    def write(self, checkpoint: Checkpoint) -> None:
        """Replace the file at once, through a dot-file beside it (util/store/filestore.go)."""
        handle, name = tempfile.mkstemp(prefix=".", dir=self._path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(checkpoint.encode())
        try:
            Path(name).replace(self._path)
        except OSError:
            Path(name).unlink()
            raise

    def read(self) -> Checkpoint:
        """Return what is remembered: nothing if no file can be read or it is damaged.

        So the kubelet does: it logs what is wrong and goes on (devicemanager, Start).
        """
        try:
            return Checkpoint.decode(self._text())
        except (OSError, ValueError, RecursionError):
            return Checkpoint()

    def _text(self) -> str:
        # Not to wait for a writer, should it be a pipe.
        handle = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, encoding="utf-8") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, "is no regular file", str(self._path))
            return file.read()


def _entry(holding: Holding) -> dict[str, Any]:
    return {
        "PodUID": holding.pod,
        "ContainerName": holding.container,
        "ResourceName": holding.resource,
        "DeviceIDs": {str(node): list(ids) for node, ids in holding.nodes.items()},
        "AllocResp": base64.b64encode(holding.answer).decode("ascii"),
    }


def _holding(entry: Mapping[str, Any]) -> Holding:
    return Holding(
        pod=entry["PodUID"],
        container=entry["ContainerName"],
        resource=entry["ResourceName"],
        nodes={int(node): tuple(ids) for node, ids in entry["DeviceIDs"].items()},
        answer=base64.b64decode(entry["AllocResp"], validate=True),
    )


def _checksum(data: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(data, sort_keys=True).encode())
