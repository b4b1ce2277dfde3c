"""What happens where the kernel has no inotify left to give.

Limits are those of a process or a user, so each law runs in a process of its own.
"""

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest


def printed(*command: str) -> str:
    """Return what the command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ours


POLLING: Final = """
import asyncio, os, resource, sys
from pathlib import Path
from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal

folder = Path(sys.argv[1])
clock, journal = ManualClock(), MemoryJournal()
before = resource.getrlimit(resource.RLIMIT_NOFILE)

async def waits_for(seconds):
    task = asyncio.create_task(directory.changed(seconds))
    await clock.advance(seconds - 1)
    assert not task.done()
    await clock.advance(1)
    await task

async def main():
    global directory
    # The first use looks for the C library, which takes files of its own.
    InotifyDirectory(str(folder), clock=clock, journal=journal).close()
    # From here on no file can be opened: a limit that holds for root, too.
    free = os.dup(2)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    directory = InotifyDirectory(str(folder), clock=clock, journal=journal)
    for number in range(3):
        (folder / f"{number}.sock").rename(folder / "kubelet.sock")
        await waits_for(3600)
        assert directory.identity("kubelet.sock") is not None
        assert not directory.heard
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    # The end of the next wait tries again; from then on nobody need wait.
    await waits_for(3600)
    assert directory.heard
    (folder / "kubelet.sock").unlink()
    await asyncio.wait_for(directory.changed(3600), 10)
    directory.close()

asyncio.run(main())
print(*(event.reason for event in journal.events), sep="\\n")
"""


def test_without_inotify_the_wait_is_a_poll_until_it_is_back(tmp_path: Path) -> None:
    """Recorded once, with what to do about it, however often it is tried."""
    for name in ("0.sock", "1.sock", "2.sock"):
        (tmp_path / name).touch()
    (reason,) = printed(sys.executable, "-c", POLLING, str(tmp_path)).splitlines()
    assert "EMFILE (errno 24" in reason
    assert "fs.inotify.max_user_instances" in reason


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
    return printed(*IN_NAMESPACE, script, *arguments)


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
