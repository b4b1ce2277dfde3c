"""Each plugin directory obeys the laws of `PluginDirectory`."""

import itertools
import shutil
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import SystemClock
from deviceplugin.testing.contracts.directory import DirectoryContract
from deviceplugin.testing.contracts.directory_world import DirectoryWorld


class _MemoryWorld(DirectoryWorld):
    def __init__(self) -> None:
        self._clock = ManualClock()
        self._directory = MemoryDirectory(self._clock)
        self._beside = MemoryDirectory(self._clock, "/beside")
        self._beside.listeners.append(self._directory)

    @property
    def directory(self) -> MemoryDirectory:
        return self._directory

    def appear(self, name: str) -> None:
        self._directory.put(name)

    def appear_beside(self, name: str) -> None:
        self._beside.put(name)

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


class _InotifyWorld:
    """The device directory, the kubelet's and the plugins' are three different folders."""

    def __init__(self, root: Path, *, by_link: bool) -> None:
        self._numbers = itertools.count()
        self._real = root / "kubelet" / "device-plugins"
        self._real.mkdir(parents=True)
        self._link = root / "plugins"
        if by_link:
            self._link.symlink_to(self._real)
        self._root = root
        self._spare = root / "spare"
        self._spare.mkdir()
        path = self._link if by_link else self._real
        self._beside = root / "kubelet" / "plugins_registry"
        self.directory = InotifyDirectory(
            str(path), clock=SystemClock(), journal=MemoryJournal(), beside=[str(self._beside)]
        )

    def appear(self, name: str) -> None:
        (self._real / name).touch(exist_ok=False)

    def appear_beside(self, name: str) -> None:
        self._beside.mkdir(exist_ok=True)
        (self._beside / name).touch(exist_ok=False)

    def vanish(self, name: str) -> None:
        (self._real / name).unlink()

    def replace(self, name: str) -> None:
        newer = self._spare / name
        newer.touch(exist_ok=False)
        newer.rename(self._real / name)

    @contextmanager
    def open_socket(self, name: str) -> Generator[None]:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(self._real / name))
            server.listen()
            yield

    def remove_directory(self) -> None:
        shutil.rmtree(self._real)

    def make_directory(self) -> None:
        self._real.mkdir()

    def repoint(self) -> None:
        self._real = self._root / f"elsewhere{next(self._numbers)}"
        self._real.mkdir()
        newer = self._spare / "link"
        newer.symlink_to(self._real)
        newer.rename(self._link)

    async def pass_time(self, seconds: float) -> None:
        pass


class TestInotifyDirectory(DirectoryContract):
    """The kernel's own events, with a path that is as it is configured."""

    by_link = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[DirectoryWorld]:
        with TemporaryDirectory() as root:
            world = _InotifyWorld(Path(root), by_link=self.by_link)
            with closing(world.directory):
                yield world


class TestInotifyDirectoryByLink(TestInotifyDirectory):
    """The kernel's own events, with a path that is a link."""

    by_link = True


class TestMemoryDirectory(DirectoryContract):
    """Without a file system."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[DirectoryWorld]:
        yield _MemoryWorld()
