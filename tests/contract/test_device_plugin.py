"""Our device plugins obey the laws of the driving port, near at hand and over each transport."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from tests.support.grpc_world import GrpcWorld

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.serve_devices import OpenResource
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import AllocationError
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin, Options
from deviceplugin.domain.preference import Wish, packed
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.contracts.device_plugin import (
    DevicePluginContract,
    DevicePluginWorld,
    Found,
)
from deviceplugin.testing.contracts.host_world import CallFailedError


class _Near(DevicePluginWorld):
    """The application service itself."""

    def __init__(self) -> None:
        self._board = Board()
        self.front: DevicePlugin = OpenResource(
            author=object(),
            journal=MemoryJournal(),
            code=AuthorCode(worker=InlineWorker(), clock=ManualClock(), seconds=10),
            look_again=lambda: None,
            policy_of=lambda _: packed,
        )(ResourceName("example.com", "widget"), self._board)

    @property
    def failure(self) -> type[Exception]:
        return AllocationError

    @property
    def readers(self) -> int:
        return self._board.readers

    def found(self, devices: Found) -> None:
        self._board.post(self._board.inventory.observe(devices))

    def retire(self) -> None:
        self._board.retire()

    async def options(self) -> Options:
        return self.front.options

    def watch(self) -> AsyncGenerator[Listing]:
        return self.front.devices.watch()

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        return await self.front.devices.allocate(ids)

    async def prefer(self, wish: Wish) -> Sequence[DeviceId]:
        assert self.front.preference is not None
        return await self.front.preference.prefer(wish)


class _OverGrpc(_Near):
    """The same, as a kubelet sees it."""

    def __init__(self, transport: GrpcWorld) -> None:
        super().__init__()
        self.transport = transport
        self.endpoint = ""

    @property
    def failure(self) -> type[Exception]:
        return CallFailedError

    async def options(self) -> Options:
        return await self.transport.options(self.endpoint)

    def watch(self) -> AsyncGenerator[Listing]:
        return self.transport.listings(self.endpoint)

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        return await self.transport.allocate(self.endpoint, ids)

    async def prefer(self, wish: Wish) -> Sequence[DeviceId]:
        return await self.transport.prefer(self.endpoint, wish)


class TestApplicationService(DevicePluginContract):
    """Asked directly."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[DevicePluginWorld]:
        yield _Near()


class TestOverGrpc(DevicePluginContract):
    """Asked over gRPC."""

    coalesces: ClassVar[bool] = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[DevicePluginWorld]:
        with TemporaryDirectory() as directory:
            world = _OverGrpc(GrpcWorld(Path(directory)))
            served = await world.transport.host.serve(world.front)
            world.endpoint = served.endpoint
            try:
                yield world
            finally:
                await served.close()
