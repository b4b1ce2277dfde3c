"""A gRPC host and a kubelet that dials its sockets over gRPC."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import grpc
import grpc.aio

from deviceplugin.adapters.kubelet.host import GrpcHost
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.adapters.kubelet.status import status_of
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, DeviceNode, Health, Mount
from deviceplugin.domain.inventory import ListedDevice, Listing
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.testing.contracts.host_world import CallFailedError, HostWorld

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Sequence
    from pathlib import Path

    from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginAsyncStub
    from deviceplugin.domain.ports.driven.journal import Journal
    from deviceplugin.domain.ports.driven.kubelet import Host
    from deviceplugin.domain.preference import Wish

_Answer = TypeVar("_Answer")
_LOCAL = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))


def _texts(ids: Sequence[DeviceId]) -> list[str]:
    return [key.value for key in ids]


def _listing(message: wire.ListAndWatchResponse) -> Listing:
    return tuple(
        ListedDevice(
            DeviceId(device.ID),
            Health(device.health),
            tuple(node.ID for node in device.topology.nodes),
        )
        for device in message.devices
    )


def _grant(response: wire.ContainerAllocateResponse) -> Grant:
    return Grant(
        nodes=tuple(
            DeviceNode(
                node.host_path,
                container_path=node.container_path,
                permissions=node.permissions,
            )
            for node in response.devices
        ),
        mounts=tuple(
            Mount(each.host_path, container_path=each.container_path, read_only=each.read_only)
            for each in response.mounts
        ),
        envs=response.envs,
        annotations=response.annotations,
        cdi_devices=tuple(device.name for device in response.cdi_devices),
    )


async def _called(call: Awaitable[_Answer]) -> _Answer:
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise CallFailedError(error.code(), error.details() or "") from error


class GrpcWorld(HostWorld):
    """A host on real sockets in a directory; each call dials anew."""

    def __init__(
        self, directory: Path, journal: Journal | None = None, *, host: Host | None = None
    ) -> None:
        self._directory = directory
        sockets = SocketDirectory(str(directory))
        self._host = host or GrpcHost(sockets, journal or MemoryJournal())

    @property
    def host(self) -> Host:
        return self._host

    def identity(self, name: str) -> FileIdentity | None:
        try:
            status = (self._directory / name).stat()
        except FileNotFoundError:
            return None
        return FileIdentity(status.st_dev, status.st_ino, status.st_ctime_ns)

    def remove(self, name: str) -> None:
        (self._directory / name).unlink()

    def put_file(self, name: str) -> FileIdentity:
        self.remove(name)
        (self._directory / name).touch()
        identity = self.identity(name)
        assert identity is not None
        return identity

    def remove_directory(self) -> None:
        shutil.rmtree(self._directory)

    def kind_of(self, error: Exception) -> object:
        return status_of(error)[0]

    async def options(self, endpoint: str) -> Options:
        async with self._dialled(endpoint) as plugin:
            answer = await _called(plugin.GetDevicePluginOptions(wire.Empty()))
        return Options(answer.pre_start_required, answer.get_preferred_allocation_available)

    async def listings(self, endpoint: str) -> AsyncGenerator[Listing]:
        async with self._dialled(endpoint) as plugin:
            call = plugin.ListAndWatch(wire.Empty())
            while isinstance(message := await _called(call.read()), wire.ListAndWatchResponse):
                yield _listing(message)

    async def allocate(self, endpoint: str, ids: Sequence[DeviceId]) -> Grant:
        container = wire.ContainerAllocateRequest(devices_ids=_texts(ids))
        async with self._dialled(endpoint) as plugin:
            request = wire.AllocateRequest(container_requests=[container])
            answer = await _called(plugin.Allocate(request))
        (response,) = answer.container_responses
        return _grant(response)

    async def prefer(self, endpoint: str, wish: Wish) -> Sequence[DeviceId]:
        container = wire.ContainerPreferredAllocationRequest(
            available_deviceIDs=_texts(wish.available),
            must_include_deviceIDs=_texts(wish.must_include),
            allocation_size=wish.size,
        )
        async with self._dialled(endpoint) as plugin:
            request = wire.PreferredAllocationRequest(container_requests=[container])
            answer = await _called(plugin.GetPreferredAllocation(request))
        (response,) = answer.container_responses
        return tuple(DeviceId(text) for text in response.deviceIDs)

    async def prepare(self, endpoint: str, ids: Sequence[DeviceId]) -> None:
        async with self._dialled(endpoint) as plugin:
            request = wire.PreStartContainerRequest(devices_ids=_texts(ids))
            await _called(plugin.PreStartContainer(request))

    @asynccontextmanager
    async def _dialled(self, endpoint: str) -> AsyncGenerator[DevicePluginAsyncStub]:
        target = f"unix:{self._directory / endpoint}"
        async with grpc.aio.insecure_channel(target, options=_LOCAL) as channel:
            yield DevicePluginStub(channel)
