"""Each host obeys the laws of `Host`."""

from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.host import MemoryHost, MemoryIncarnation
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.preference import Wish
from deviceplugin.testing.contracts.host import HostContract
from deviceplugin.testing.contracts.host_world import CallFailedError, HostWorld

_Answer = TypeVar("_Answer")


class _MemoryWorld(HostWorld):
    def __init__(self) -> None:
        self._directory = MemoryDirectory(ManualClock())
        self._host = MemoryHost(self._directory)

    @property
    def host(self) -> MemoryHost:
        return self._host

    def identity(self, name: str) -> FileIdentity | None:
        return self._directory.identity(name)

    def remove(self, name: str) -> None:
        self._directory.remove(name)

    def put_file(self, name: str) -> FileIdentity:
        return self._directory.put(name)

    def remove_directory(self) -> None:
        self._directory.remove_directory()

    def kind_of(self, error: Exception) -> object:
        return type(error)

    async def options(self, endpoint: str) -> Options:
        return await _called(self._dialled(endpoint).options())

    async def listings(self, endpoint: str) -> AsyncGenerator[Listing]:
        try:
            async with aclosing(self._dialled(endpoint).listings()) as listings:
                async for listing in listings:
                    yield listing
        except Exception as error:
            raise _failed(error) from error

    async def allocate(self, endpoint: str, ids: Sequence[DeviceId]) -> Grant:
        return await _called(self._dialled(endpoint).allocate(ids))

    async def prefer(self, endpoint: str, wish: Wish) -> Sequence[DeviceId]:
        return await _called(self._dialled(endpoint).prefer(wish))

    async def prepare(self, endpoint: str, ids: Sequence[DeviceId]) -> None:
        await _called(self._dialled(endpoint).prepare(ids))

    def _dialled(self, endpoint: str) -> MemoryIncarnation:
        served = self._host.dial(endpoint)
        if served is None:
            raise CallFailedError(ConnectionRefusedError, f"nobody listens on {endpoint}")
        return served


def _failed(error: Exception) -> CallFailedError:
    return CallFailedError(type(error), str(error))


async def _called(call: Coroutine[Any, Any, _Answer]) -> _Answer:
    try:
        return await call
    except Exception as error:
        raise _failed(error) from error


class TestMemoryHost(HostContract):
    """Without sockets."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HostWorld]:
        yield _MemoryWorld()
