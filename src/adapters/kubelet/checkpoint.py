"""Who holds what, by the file in which the kubelet remembers it. It is only ever read.

The kubelet rewrites it when something is allocated and when a list comes in, so devices of pods
that have ended may still be in it. That makes it a source that can say what may be held, never
what is free. Its checksum covers the text of a Go value, which only a kubelet can make; a file
that was damaged may name too much, and that is safe.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from deviceplugin.adapters.kubelet.fresh import Fresh
from deviceplugin.adapters.kubelet.held import HeldByName, by_resource, collected
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.holders import Holders
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings

CHECKPOINT: Final = "kubelet_internal_checkpoint"
"""The file's name in the plugin directory."""
MAX_BYTES: Final = 8 * 1024 * 1024
"""Room for tens of thousands of held devices; what is larger is no checkpoint."""
MAX_VALUES: Final = 250_000
"""Each value takes some ten times the memory of its few bytes, and all are read in one go."""

_NODE: Final = re.compile("[0-9]{1,4}")


class CheckpointHolders(Holders):
    """Reads the checkpoint in a plugin directory, on a thread of the worker's."""

    def __init__(self, plugin_dir: str, *, worker: Worker, clock: Clock) -> None:
        self._file = Path(plugin_dir, CHECKPOINT)
        self._worker = worker
        self._held = Fresh(self._ask, clock=clock)

    async def holders(self, resource: ResourceName) -> Holdings:
        """Return what the file names: nothing, if there is none yet."""
        held = await self._held()
        return held.get(str(resource), Holdings())

    async def all_holders(self) -> Mapping[ResourceName, Holdings]:
        """Return all that the file names."""
        return by_resource(await self._held())

    async def _ask(self) -> HeldByName:
        return await self._worker.run(self._read)

    def _read(self) -> HeldByName:
        try:
            data = self._content()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unknown(os.strerror(error.errno or 0)) from error
        if sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
            raise self._unknown(f"has more than {MAX_VALUES} values: no checkpoint has")
        try:
            return collected(_named(json.loads(data)), complete=False)
        except (ValueError, RecursionError) as error:
            raise self._unknown(f"is no JSON: {error}") from error
        except HoldersUnknownError as error:
            raise self._unknown(str(error)) from error

    def _content(self) -> bytes:
        # Not to wait for a writer, should it be a pipe.
        handle = os.open(self._file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise self._unknown("is no regular file")
            with open(handle, "rb", closefd=False) as file:
                data = file.read(MAX_BYTES + 1)
        finally:
            os.close(handle)
        if len(data) > MAX_BYTES:
            raise self._unknown(f"is too large: at most {MAX_BYTES} bytes are read")
        return data

    def _unknown(self, reason: str) -> HoldersUnknownError:
        return HoldersUnknownError(f"{self._file}: {reason}")


def _named(document: object) -> Iterator[tuple[str, str, Iterable[int]]]:
    """Yield (resource, device id, NUMA nodes) of each entry, passing over what is not one.

    `{"Data": {"PodDeviceEntries": [{"ResourceName": ..., "DeviceIDs": ...}]}}`, with ids by NUMA
    node since Kubernetes 1.20, before that without.
    """
    for entry in _list(_mapping(_mapping(document).get("Data")).get("PodDeviceEntries")):
        fields = _mapping(entry)
        resource, ids = fields.get("ResourceName"), fields.get("DeviceIDs")
        if isinstance(resource, str):
            for node, part in ((None, ids), *_mapping(ids).items()):
                nodes = _numbers(node)
                yield from (
                    (resource, each, nodes) for each in _list(part) if isinstance(each, str)
                )


def _numbers(node: str | None) -> tuple[int, ...]:
    """Return the node that a key of the file stands for; "-1" is none."""
    return (int(node),) if node is not None and _NODE.fullmatch(node) else ()


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
