"""What happens where the kernel has no inotify left to give."""

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.events import WatchDegraded
from deviceplugin.testing.contracts.law import soon
from deviceplugin.testing.loop import run

LONG: Final = 3600.0


async def waiting(directory: InotifyDirectory) -> asyncio.Task[None]:
    """Return a call that has begun to listen."""
    task = asyncio.create_task(directory.changed(LONG))
    await asyncio.sleep(0)
    return task


@contextmanager
def no_descriptors_left() -> Generator[None]:
    """Let this process open no more files: a limit that holds for root, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_inotify_the_wait_is_a_poll_until_it_is_back(tmp_path: Path) -> None:
    """Recorded once for each time it is lost, with what to do about it."""

    async def law() -> None:
        clock, journal = ManualClock(), MemoryJournal()
        for name in ("0.sock", "1.sock", "2.sock"):
            (tmp_path / name).touch()
        with no_descriptors_left():
            directory = InotifyDirectory(str(tmp_path), clock=clock, journal=journal)
            for number in range(3):
                task = await waiting(directory)
                (tmp_path / f"{number}.sock").rename(tmp_path / "kubelet.sock")
                await clock.advance(LONG - 1)
                assert not task.done()
                await clock.advance(1)
                await soon(asyncio.wait_for(task, None))
                assert directory.identity("kubelet.sock") is not None
        (degraded,) = journal.events
        assert isinstance(degraded, WatchDegraded)
        assert "EMFILE (errno 24" in degraded.reason
        assert "fs.inotify.max_user_instances" in degraded.reason
        # The end of the next wait tries again.
        task = await waiting(directory)
        await clock.advance(LONG)
        await soon(asyncio.wait_for(task, None))
        (tmp_path / "kubelet.sock").unlink()
        await soon(directory.changed(LONG))
        assert len(journal.events) == 1
        directory.close()

    run(law())


IN_NAMESPACE: Final = ("unshare", "--user", "--map-root-user", sys.executable, "-c")


@cache
def no_namespaces() -> str:
    """Return why no limit can be set in a user namespace, or nothing."""
    probe = "open('/proc/sys/user/max_inotify_watches', 'r+').write('100')"
    ended = subprocess.run([*IN_NAMESPACE, probe], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    return ended.stderr.strip() and ended.stderr.strip().splitlines()[-1]


def in_namespace(script: str, *arguments: str) -> str:
    """Return what the script prints in a user namespace, whose limits are nobody else's."""
    if reason := no_namespaces():
        pytest.skip(f"user namespace: {reason}")
    command = [*IN_NAMESPACE, script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours


LIMITED: Final = """
import sys
from pathlib import Path
from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import SystemClock

Path(f"/proc/sys/user/{sys.argv[1]}").write_text("0")
journal = MemoryJournal()
InotifyDirectory("/", clock=SystemClock(), journal=journal).close()
print(*(event.reason for event in journal.events))
"""


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("max_inotify_instances", "EMFILE (errno 24"),
        ("max_inotify_watches", "ENOSPC (errno 28"),
    ],
)
def test_each_limit_of_the_kernel_is_named(limit: str, expected: str) -> None:
    shown = in_namespace(LIMITED, limit)
    assert expected in shown
    assert limit.replace("max_inotify", "fs.inotify.max_user") in shown


FLAPPING: Final = """
import asyncio
from pathlib import Path
from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import SystemClock

limit = Path("/proc/sys/user/max_inotify_watches")
few, many = "0", limit.read_text()
journal = MemoryJournal()
counts = []

async def main():
    directory = InotifyDirectory("/", clock=SystemClock(), journal=journal)
    for value in (few, few, many, many, few, few):
        limit.write_text(value)
        if value == few:
            directory._release()
        await directory.changed(0)
        counts.append(len(journal.events))
    directory.close()

asyncio.run(main())
print(*counts)
"""


def test_each_loss_of_inotify_is_recorded_once() -> None:
    """One that comes back and is lost again is another loss."""
    assert in_namespace(FLAPPING).split() == ["1", "1", "1", "1", "2", "2"]
