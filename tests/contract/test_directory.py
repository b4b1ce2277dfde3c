"""Each plugin directory obeys the laws of `PluginDirectory`."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.testing.contracts.directory import DirectoryContract
from deviceplugin.testing.contracts.directory_world import DirectoryWorld


class _MemoryWorld(DirectoryWorld):
    def __init__(self) -> None:
        self._clock = ManualClock()
        self._directory = MemoryDirectory(self._clock)

    @property
    def directory(self) -> MemoryDirectory:
        return self._directory

    def appear(self, name: str) -> None:
        self._directory.put(name)

    def vanish(self, name: str) -> None:
        self._directory.remove(name)

    def replace(self, name: str) -> None:
        self._directory.put(name)

    @contextmanager
    def open_socket(self, name: str) -> Generator[None]:
        self._directory.put(name)
        yield

    def remove_directory(self) -> None:
        self._directory.remove_directory()

    def make_directory(self) -> None:
        self._directory.make_directory()

    def repoint(self) -> None:
        self._directory.remove_directory()
        self._directory.make_directory()

    async def pass_time(self, seconds: float) -> None:
        await self._clock.advance(seconds)


class TestMemoryDirectory(DirectoryContract):
    """Without a file system."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[DirectoryWorld]:
        yield _MemoryWorld()
