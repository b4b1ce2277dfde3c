"""Each watched file obeys the laws of `WatchedFile`, in whichever way it is written."""

import itertools
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from deviceplugin.adapters.inotify import InotifyFile
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.watched_file import MemoryFile
from deviceplugin.adapters.system import SystemClock
from deviceplugin.testing.contracts.watched_file import WatchedFileContract, WatchedFileWorld


class _MemoryWorld(WatchedFileWorld):
    def __init__(self) -> None:
        self._clock = ManualClock()
        self._file = MemoryFile(self._clock)

    @property
    def file(self) -> MemoryFile:
        return self._file

    def write(self) -> None:
        self._file.write()

    def replace(self) -> None:
        self._file.replace()

    def remove(self) -> None:
        self._file.remove()

    def noise(self) -> None:
        self._file.wake()

    async def pass_time(self, seconds: float) -> None:
        await self._clock.advance(seconds)


class TestMemoryFile(WatchedFileContract):
    """Without a file system."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[WatchedFileWorld]:
        yield _MemoryWorld()


class _FolderWorld:
    """A file in a folder, which editors write in place or rename a new one over."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "etc"
        self._folder.mkdir()
        self._path = self._folder / "plugin.yaml"
        self._numbers = itertools.count()
        self.file = InotifyFile(str(self._path), clock=SystemClock(), journal=MemoryJournal())

    def write(self) -> None:
        before = self.file.identity()
        self._path.write_text(f"{next(self._numbers)}")
        # The clock of a file system may stand still for some milliseconds.
        while self.file.identity() == before:
            os.utime(self._path)

    def replace(self) -> None:
        newer = self._folder / f".{next(self._numbers)}~"
        newer.touch()
        # Kept, so that no inode is used a second time while its times are the same.
        (self._folder / f".kept{next(self._numbers)}").hardlink_to(newer)
        newer.rename(self._path)

    def remove(self) -> None:
        self._path.unlink()

    def noise(self) -> None:
        (self._folder / ".plugin.yaml.swp").touch()
        (self._folder / ".plugin.yaml.swp").unlink()

    async def pass_time(self, seconds: float) -> None:
        pass


class TestInotifyFile(WatchedFileContract):
    """With the kernel's own events."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[WatchedFileWorld]:
        with TemporaryDirectory() as root:
            world = _FolderWorld(Path(root))
            with closing(world.file):
                yield world


class _ConfigMapWorld:
    """A volume as the kubelet writes it: each version is a folder, and ..data leads to one."""

    def __init__(self, root: Path) -> None:
        self._volume = root / "config"
        self._volume.mkdir()
        self._numbers = itertools.count()
        path = self._volume / "plugin.yaml"
        path.symlink_to("..data/plugin.yaml")
        self.file = InotifyFile(str(path), clock=SystemClock(), journal=MemoryJournal())

    def write(self) -> None:
        raise NotImplementedError

    def replace(self) -> None:
        self._lead_to(with_file=True)

    def remove(self) -> None:
        self._lead_to(with_file=False)

    def noise(self) -> None:
        (self._volume / "other.yaml").touch()
        (self._volume / "other.yaml").unlink()

    async def pass_time(self, seconds: float) -> None:
        pass

    def _lead_to(self, *, with_file: bool) -> None:
        """Swap the versions in one step; the older one stays, so that its inode stays its own."""
        version = self._volume / f"..2026_{next(self._numbers)}"
        version.mkdir()
        if with_file:
            (version / "plugin.yaml").touch()
        newer = self._volume / "..data_tmp"
        newer.symlink_to(version.name)
        newer.rename(self._volume / "..data")


class TestInotifyFileOfConfigMap(WatchedFileContract):
    """Behind two links, one of which is re-pointed."""

    in_place = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[WatchedFileWorld]:
        with TemporaryDirectory() as root:
            world = _ConfigMapWorld(Path(root))
            with closing(world.file):
                yield world
