"""Each source of knowledge about holders obeys the laws of `Holders`."""

import base64
import json
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.pod_resources import PodResources

from deviceplugin.adapters.kubelet.checkpoint import CHECKPOINT, CheckpointHolders
from deviceplugin.adapters.kubelet.pod_resources import PodResourcesHolders
from deviceplugin.adapters.memory.holders import MemoryHolders
from deviceplugin.adapters.system import SystemClock, ThreadWorker
from deviceplugin.domain.devices import id_as_held
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.contracts.holders import HoldersContract, HoldersWorld
from deviceplugin.testing.contracts.law import BOUND


class _MemoryWorld:
    """Containers that are just said to hold devices."""

    def __init__(self, *, complete: bool) -> None:
        self.holders = MemoryHolders(complete=complete)

    async def hold(self, resource: ResourceName, *ids: str) -> None:
        self.holders.hold(resource, *map(id_as_held, ids))

    async def free(self, resource: ResourceName, *ids: str) -> None:
        self.holders.free(resource, *map(id_as_held, ids))

    async def break_down(self) -> None:
        self.holders.fail("on purpose")

    async def recover(self) -> None:
        self.holders.fail("")


class TestMemoryHolders(HoldersContract):
    """Without a kubelet."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HoldersWorld]:
        yield _MemoryWorld(complete=True)


class TestIncompleteMemoryHolders(HoldersContract):
    """As a source that does not know every container."""

    complete = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HoldersWorld]:
        yield _MemoryWorld(complete=False)


class _PodResourcesWorld:
    """A server of pod resources over real gRPC."""

    def __init__(self, root: Path) -> None:
        self.server = PodResources(root)
        self.holders = PodResourcesHolders(
            str(root), worker=ThreadWorker(), clock=SystemClock(), seconds=BOUND
        )

    async def hold(self, resource: ResourceName, *ids: str) -> None:
        self.server.hold(str(resource), *ids)

    async def free(self, resource: ResourceName, *ids: str) -> None:
        self.server.free(str(resource), *ids)

    async def break_down(self) -> None:
        await self.server.stop()

    async def recover(self) -> None:
        await self.server.start()


class TestPodResourcesHolders(HoldersContract):
    """As a kubelet says it."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HoldersWorld]:
        with TemporaryDirectory(prefix="dp-") as directory:
            world = _PodResourcesWorld(Path(directory))
            world.server.nodes = (0, 1)
            await world.recover()
            try:
                yield world
            finally:
                await world.break_down()


class _CheckpointWorld:
    """A file as the kubelet writes it."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / CHECKPOINT
        self._containers: list[tuple[ResourceName, list[str]]] = []
        self.holders = CheckpointHolders(
            str(directory), worker=ThreadWorker(), clock=SystemClock()
        )

    async def hold(self, resource: ResourceName, *ids: str) -> None:
        self._containers.append((resource, list(ids)))
        self._write()

    async def free(self, resource: ResourceName, *ids: str) -> None:
        self._containers = [
            (name, [each for each in held if name != resource or each not in ids])
            for name, held in self._containers
        ]
        self._write()

    async def break_down(self) -> None:
        self._file.write_bytes(b"{")

    async def recover(self) -> None:
        self._write()

    def _write(self) -> None:
        entries: list[dict[str, Any]] = []
        for number, (resource, held) in enumerate(self._containers):
            nodes = defaultdict[str, list[str]](list)
            for place, each in enumerate(held):
                nodes[str(place % 3 - 1)].append(each)
            entries.append(
                {
                    "PodUID": f"pod-{number}",
                    "ContainerName": "main",
                    "ResourceName": str(resource),
                    "DeviceIDs": nodes,
                    "AllocResp": base64.b64encode(b"answer").decode(),
                }
            )
        data: dict[str, Any] = {
            "PodDeviceEntries": entries or None,
            "RegisteredDevices": {"example.com/w": []},
        }
        # As the kubelet does, through a file beside it.
        newer = self._file.with_name(".newer")
        newer.write_text(json.dumps({"Data": data, "Checksum": 1}))
        newer.replace(self._file)


class TestCheckpointHolders(HoldersContract):
    """As a kubelet wrote it down."""

    complete = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HoldersWorld]:
        with TemporaryDirectory() as directory:
            yield _CheckpointWorld(Path(directory))
