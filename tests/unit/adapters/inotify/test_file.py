"""What the contract cannot say of a watched file on a real file system."""

import asyncio
import errno
import os
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from deviceplugin.adapters.inotify import InotifyFile
from deviceplugin.adapters.inotify.followed import FollowedPath
from deviceplugin.adapters.inotify.watches import ITSELF, Watches
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import SystemClock
from deviceplugin.testing.contracts.law import soon
from deviceplugin.testing.loop import run

LONG: Final = 3600.0


@contextmanager
def watched(path: Path) -> Generator[InotifyFile]:
    """Watch `path` in real time."""
    file = InotifyFile(str(path), clock=SystemClock(), journal=MemoryJournal())
    with closing(file):
        yield file


def test_a_folder_that_is_made_again_is_watched_as_before(tmp_path: Path) -> None:
    """As an administrator does who unpacks a new one; missing folders are awaited by name."""
    folder = tmp_path / "etc" / "deviceplugin"
    path = folder / "plugin.yaml"

    async def law() -> None:
        with watched(path) as file:
            for _ in range(2):
                for make in (folder.parent.mkdir, folder.mkdir, path.touch):
                    make()
                    await soon(file.changed(LONG))
                assert file.identity() is not None
                path.unlink()
                folder.rmdir()
                folder.parent.rmdir()
                await soon(file.changed(LONG))
                # The removals are several events, which need not fall together.
                await _quiet(file)
                assert file.identity() is None

    run(law())


async def _quiet(file: InotifyFile) -> None:
    """Return when nothing more is to be heard."""
    while True:
        task = asyncio.create_task(file.changed(LONG))
        await asyncio.wait({task}, timeout=0.02)
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
            return


def test_a_folder_that_is_moved_away_takes_the_file_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "plugin.yaml").touch()

    async def law() -> None:
        with watched(folder / "plugin.yaml") as file:
            folder.rename(tmp_path / "old")
            await soon(file.changed(LONG))
            assert file.identity() is None

    run(law())


def test_files_beside_it_wake_nobody(tmp_path: Path) -> None:
    """An editor's swap files, and other keys of a ConfigMap."""
    path = tmp_path / "plugin.yaml"
    path.touch()

    async def law() -> None:
        with watched(path) as file:
            task = asyncio.create_task(file.changed(LONG))
            await asyncio.sleep(0)
            for name in (".plugin.yaml.swp", "plugin.yaml~", "other.sock"):
                (tmp_path / name).write_text("beside")
                (tmp_path / name).unlink()
            path.read_text()
            for _ in range(5):
                await asyncio.sleep(0.001)
            assert not task.done()
            task.cancel()
            await asyncio.wait({task})

    run(law())


def test_what_is_no_regular_file_has_no_identity(tmp_path: Path) -> None:
    """A pipe can be read once only, and would block whoever tried again."""
    os.mkfifo(tmp_path / "pipe")

    async def law() -> None:
        for each in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
            with watched(each) as file:
                assert file.identity() is None

    run(law())


def _scarce(failures: int) -> Callable[[], Watches]:
    """Return what makes watches, once it has failed so often."""
    left = [failures]

    def make() -> Watches:
        if left[0]:
            left[0] -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return Watches(ITSELF)

    return make


def test_without_inotify_the_wait_is_a_poll_until_it_is_back(tmp_path: Path) -> None:
    """Told once, however often it is tried."""
    path = tmp_path / "plugin.yaml"
    path.touch()
    clock, told = ManualClock(), list[OSError]()
    followed = FollowedPath(str(path), clock=clock, watches=_scarce(3), degraded=told.append)

    async def law() -> None:
        with closing(followed):
            for _ in range(3):
                task = asyncio.create_task(followed.changed(30))
                path.write_text("unheard")
                await clock.advance(29)
                assert not task.done()
                await clock.advance(1)
                await task
            path.write_text("heard")
            await soon(followed.changed(LONG))

    run(law())
    assert [error.errno for error in told] == [errno.EMFILE]
