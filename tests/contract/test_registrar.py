"""Each registrar obeys the laws of `Registrar`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.kubelet import MemoryKubelet
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.contracts.registrar import RegistrarContract
from deviceplugin.testing.contracts.registrar_world import RegistrarWorld


class _MemoryWorld(RegistrarWorld):
    def __init__(self, directory: MemoryDirectory, clock: ManualClock) -> None:
        self._directory = directory
        self._kubelet = MemoryKubelet(directory, clock)
        self._clock = clock

    @property
    def registrar(self) -> MemoryKubelet:
        return self._kubelet

    @property
    def host(self) -> MemoryKubelet:
        return self._kubelet

    @property
    def dial_seconds(self) -> float:
        return 10.0

    async def start_kubelet(self) -> None:
        self._kubelet.start()

    async def stop_kubelet(self) -> None:
        await self._kubelet.stop()

    def refuse_next(self, reason: str) -> None:
        self._kubelet.refuse_next(reason=reason)

    def hang_next(self) -> None:
        self._kubelet.hang_next()

    def put_deaf(self, endpoint: str) -> None:
        self._directory.put(endpoint)

    def remove(self, endpoint: str) -> None:
        self._directory.remove(endpoint)

    async def asked(self, count: int) -> None:
        await self._kubelet.until(lambda: len(self._kubelet.registrations) >= count)

    def options(self, resource: ResourceName) -> Options | None:
        return self._kubelet.options(resource)

    async def listed(self, resource: ResourceName) -> Listing:
        await self._kubelet.until(lambda: self._kubelet.listings(resource))
        return self._kubelet.listings(resource)[-1]

    async def pass_time(self, seconds: float) -> None:
        await self._clock.advance(seconds)


class TestMemoryKubelet(RegistrarContract):
    """Without sockets, in virtual time."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[RegistrarWorld]:
        clock = ManualClock()
        world = _MemoryWorld(MemoryDirectory(clock), clock)
        async with world.registrar:
            yield world
