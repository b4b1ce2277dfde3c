"""Being found in plugins_registry obeys its laws, in memory and over real gRPC."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc.aio
from tests.support.grpc_world import GrpcWorld

from deviceplugin.adapters.kubelet.registry import PluginsRegistry
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.adapters.kubelet.wire import pluginregistration_pb2 as wire
from deviceplugin.adapters.kubelet.wire.pluginregistration_pb2_grpc import RegistrationStub
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.registry import MemoryRegistry
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.contracts.found_registrar import FoundRegistrarContract, FoundWorld
from deviceplugin.testing.contracts.host import HostContract
from deviceplugin.testing.contracts.host_world import HostWorld


class _MemoryWorld(FoundWorld):
    def __init__(self) -> None:
        self._clock = ManualClock()
        self._directory = MemoryDirectory(self._clock)
        self._registry = MemoryRegistry(self._directory, self._clock)

    @property
    def host(self) -> MemoryRegistry:
        return self._registry

    @property
    def registrar(self) -> MemoryRegistry:
        return self._registry

    async def ask(self, endpoint: str) -> ResourceName:
        return self._registry.ask(endpoint)

    async def tell(self, endpoint: str, error: str = "") -> None:
        self._registry.tell(endpoint, error)

    def remove(self, endpoint: str) -> None:
        self._directory.remove(endpoint)

    async def pass_time(self, seconds: float) -> None:
        await self._clock.advance(seconds)


class TestMemoryRegistry(FoundRegistrarContract):
    """Without sockets, in virtual time."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[FoundWorld]:
        yield _MemoryWorld()


class _GrpcFoundWorld(FoundWorld):
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._registry = PluginsRegistry(SocketDirectory(str(directory)), MemoryJournal())

    @property
    def host(self) -> PluginsRegistry:
        return self._registry

    @property
    def registrar(self) -> PluginsRegistry:
        return self._registry

    async def ask(self, endpoint: str) -> ResourceName:
        async with self._dialled(endpoint) as channel:
            info = await RegistrationStub(channel).GetInfo(wire.InfoRequest(), timeout=1)
        assert (info.type, info.endpoint) == ("DevicePlugin", "")
        assert list(info.supported_versions) == ["v1beta1"]
        return ResourceName.parse(info.name)

    async def tell(self, endpoint: str, error: str = "") -> None:
        status = wire.RegistrationStatus(plugin_registered=not error, error=error)
        async with self._dialled(endpoint) as channel:
            await RegistrationStub(channel).NotifyRegistrationStatus(status, timeout=5)

    def remove(self, endpoint: str) -> None:
        (self._directory / endpoint).unlink()

    async def pass_time(self, seconds: float) -> None:
        """Time passes by itself."""

    @asynccontextmanager
    async def _dialled(self, endpoint: str) -> AsyncGenerator[grpc.aio.Channel]:
        """Dial as the kubelet does here: it says the path for the authority."""
        path = self._directory / endpoint
        options = [
            ("grpc.default_authority", str(path)),
            ("grpc.use_local_subchannel_pool", 1),
        ]
        async with grpc.aio.insecure_channel(f"unix:{path}", options=options) as channel:
            yield channel


class TestPluginsRegistry(FoundRegistrarContract):
    """Over gRPC on real sockets."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[FoundWorld]:
        with TemporaryDirectory() as directory:
            yield _GrpcFoundWorld(Path(directory))
            assert os.listdir(directory) == []  # noqa: PTH208 - asked once all is over


class TestPluginsRegistryAsHost(HostContract):
    """What is found there serves as any other host does."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HostWorld]:
        with TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            sockets = SocketDirectory(directory)
            yield GrpcWorld(Path(directory), host=PluginsRegistry(sockets, MemoryJournal()))
