"""What the contract cannot say of inotify."""

import asyncio
import errno
import os
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.inotify import watches as watches_module
from deviceplugin.adapters.inotify.instance import open_instance
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import SystemClock
from deviceplugin.domain.events import WatchDegraded
from deviceplugin.domain.ports.driven.directory import Arrivals
from deviceplugin.testing.contracts.law import BOUND, soon
from deviceplugin.testing.loop import run

LONG: Final = 3600.0
QUEUE: Final = Path("/proc/sys/fs/inotify/max_queued_events")
MANY: Final = 100_000


@contextmanager
def watched(path: Path) -> Generator[InotifyDirectory]:
    """Watch `path` in real time."""
    directory = InotifyDirectory(str(path), clock=SystemClock(), journal=MemoryJournal())
    with closing(directory):
        yield directory


async def waiting(directory: InotifyDirectory) -> asyncio.Task[None]:
    """Return a call that has begun to listen."""
    task = asyncio.create_task(directory.changed(LONG))
    await asyncio.sleep(0)
    return task


async def heard_nothing(task: asyncio.Task[None]) -> None:
    """Let the loop poll a few times; what had happened before would have woken the task."""
    for _ in range(5):
        await asyncio.sleep(0.001)
    assert not task.done()
    task.cancel()
    await asyncio.wait({task})


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.EMFILE, "fs.inotify.max_user_instances"),
        (errno.ENFILE, "fs.file-max"),
        (errno.ENOSPC, "fs.inotify.max_user_watches"),
    ],
)
@pytest.mark.parametrize("at", ["open", "add_watch"])
def test_whatever_the_kernel_has_no_more_of_the_wait_is_a_poll_until_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, code: int, remedy: str
) -> None:
    """Recorded once, with what to raise; no limit of a process or user brings ENFILE about."""
    refusing = [True]

    class Refusing:
        """Has nothing left for as long as it is told so."""

        def __init__(self) -> None:
            self._inner = open_instance()

        def add_watch(self, path: str, mask: int) -> int:
            check("add_watch")
            return self._inner.add_watch(path, mask)

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

    def check(where: str) -> None:
        if refusing[0] and where == at:
            raise OSError(code, os.strerror(code))

    def opened() -> Refusing:
        check("open")
        return Refusing()

    async def law() -> None:
        before = len(instances())
        monkeypatch.setattr(watches_module, "open_instance", opened)
        clock, journal = ManualClock(), MemoryJournal()
        with closing(InotifyDirectory(str(tmp_path), clock=clock, journal=journal)) as directory:
            # In doubt, but once: who doubted at each look would register for ever.
            assert [directory.arrivals().missed for _ in range(2)] == [True, False]
            for _ in range(3):
                assert not directory.heard
                assert not directory.arrivals().missed
                task = asyncio.create_task(directory.changed(LONG))
                await clock.advance(LONG - 1)
                assert not task.done()
                await clock.advance(1)
                await soon(asyncio.wait_for(task, None))
            (event,) = journal.of(WatchDegraded)
            assert f"{errno.errorcode[code]} (errno {code}" in event.reason
            assert remedy in event.reason
            assert len(instances()) <= before + 1
            refusing[0] = False
            task = asyncio.create_task(directory.changed(LONG))
            await clock.advance(LONG)
            await soon(asyncio.wait_for(task, None))
            assert directory.heard
        assert len(instances()) == before

    run(law())


def test_closing_ends_a_wait_within_a_fifth_of_a_second(tmp_path: Path) -> None:
    """And itself waits for no reader, nor for the time of the wait. The best of a few counts."""

    async def law() -> None:
        taken = list[float]()
        for _ in range(3):
            directory = InotifyDirectory(
                str(tmp_path), clock=SystemClock(), journal=MemoryJournal()
            )
            task = await waiting(directory)
            begin = time.monotonic()
            directory.close()
            await asyncio.wait_for(task, BOUND)
            taken.append(time.monotonic() - begin)
        assert min(taken) < 0.2, taken

    run(law())


def test_noise_wakes_nobody(tmp_path: Path) -> None:
    """The kubelet writes its checkpoint at each allocation: a hidden file, renamed into place."""
    plugins = tmp_path / "plugins"
    plugins.mkdir()

    async def law() -> None:
        with watched(plugins) as directory:
            task = await waiting(directory)
            for name in ("kubelet_internal_checkpoint", "DEPRECATION", ".hidden.sock", "sock"):
                (plugins / ".1234").touch()
                (plugins / ".1234").rename(plugins / name)
                (plugins / name).unlink()
            (plugins / "folder").mkdir()
            (tmp_path / "beside.sock").touch()
            await heard_nothing(task)

    run(law())


def test_a_directory_is_awaited_from_the_first_name_that_is_missing(tmp_path: Path) -> None:
    """Missing is no error, however much is missing: each name that appears is a wake."""
    plugins = tmp_path / "kubelet" / "device-plugins"

    async def law() -> None:
        with watched(plugins) as directory:
            assert directory.identity("kubelet.sock") is None
            for each in (plugins.parent, plugins):
                task = await waiting(directory)
                each.mkdir()
                await soon(asyncio.wait_for(task, None))
            task = await waiting(directory)
            (plugins / "kubelet.sock").touch()
            await soon(asyncio.wait_for(task, None))
            assert directory.identity("kubelet.sock") is not None

    run(law())


def test_a_file_that_is_moved_away_is_missed(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "ours.sock").touch()

    async def law() -> None:
        with watched(plugins) as directory:
            task = await waiting(directory)
            (plugins / "ours.sock").rename(tmp_path / "ours.sock")
            await soon(asyncio.wait_for(task, None))

    run(law())


def test_a_directory_that_is_moved_away_is_missed(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()

    async def law() -> None:
        with watched(plugins) as directory:
            (plugins / "ours.sock").touch()
            await soon(directory.changed(LONG))
            plugins.rename(tmp_path / "old")
            await soon(directory.changed(LONG))
            assert directory.identity("ours.sock") is None
            task = await waiting(directory)
            (tmp_path / "old" / "kubelet.sock").touch()
            await heard_nothing(task)

    run(law())


def test_a_file_in_the_place_of_the_directory_is_borne(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.touch()

    async def law() -> None:
        with watched(plugins) as directory:
            task = await waiting(directory)
            plugins.unlink()
            await soon(asyncio.wait_for(task, None))
            plugins.mkdir()
            await soon(directory.changed(LONG))
            task = await waiting(directory)
            (plugins / "kubelet.sock").touch()
            await soon(asyncio.wait_for(task, None))

    run(law())


def test_a_parent_that_may_not_be_read_is_done_without(tmp_path: Path) -> None:
    """Then the directory's removal is left to the poll; its files are watched all the same."""
    plugins = tmp_path / "closed" / "plugins"
    plugins.mkdir(parents=True)
    plugins.parent.chmod(0o311)

    async def law() -> None:
        with watched(plugins) as directory:
            task = await waiting(directory)
            (plugins / "kubelet.sock").touch()
            await soon(asyncio.wait_for(task, None))

    try:
        run(law())
    finally:
        plugins.parent.chmod(0o755)


def test_an_overflow_is_a_wake_and_no_end(tmp_path: Path) -> None:
    """When the kernel dropped events, nobody knows which: that is a reason to look."""
    length = int(QUEUE.read_text())
    if length > MANY:
        pytest.skip("overflow: the queue of this kernel is too long to fill")

    async def law() -> None:
        with watched(tmp_path) as directory:
            names = [tmp_path / ".a", tmp_path / ".b"]
            names[0].touch()
            # Each is two events; equal ones in a row would fall together.
            for _ in range(length // 4 + 10):
                names[0].rename(names[1])
                names[1].rename(names[0])
            await soon(directory.changed(LONG))
            assert directory.arrivals().missed
            task = await waiting(directory)
            (tmp_path / "kubelet.sock").touch()
            await soon(asyncio.wait_for(task, None))
            assert directory.arrivals() == Arrivals(names=("kubelet.sock",))

    run(law())


def instances() -> list[str]:
    """Return what the kernel tells of each inotify instance of this process."""
    found: list[str] = []
    for each in Path("/proc/self/fd").iterdir():
        # Other threads may close what was listed.
        with suppress(FileNotFoundError):
            if str(each.readlink()) == "anon_inode:inotify":
                found.append(Path("/proc/self/fdinfo", each.name).read_text())
    return found


def test_instances_are_given_back(tmp_path: Path) -> None:
    """A thousand watchers, each used and closed, leave no instance behind.

    Twenty at a time, since the kernel takes its time to end one.
    """
    at_a_time, each = 20, 50

    async def cycles() -> None:
        for _ in range(each):
            with watched(tmp_path) as directory:
                await directory.changed(0)
                assert directory.heard

    before = len(instances())
    with ThreadPoolExecutor(at_a_time) as pool:
        for done in [pool.submit(asyncio.run, cycles()) for _ in range(at_a_time)]:
            done.result()
    assert len(instances()) == before


def watches() -> int:
    """Return how many folders this process watches."""
    return sum(each.count("inotify wd:") for each in instances())


def test_what_was_left_is_watched_no_more(tmp_path: Path) -> None:
    """A link that is re-pointed again and again leaves no watch behind."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "plugins").symlink_to("one")

    async def law() -> None:
        with watched(tmp_path / "plugins") as directory:
            before = watches()
            for name in ("two", "three", "one", "two"):
                (tmp_path / "link").symlink_to(name)
                (tmp_path / "link").rename(tmp_path / "plugins")
                await soon(directory.changed(LONG))
                assert watches() == before

    run(law())
