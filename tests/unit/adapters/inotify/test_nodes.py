"""The laws of hearing of device nodes that no other adapter shares."""

import asyncio
import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deviceplugin.adapters.inotify import NodeHotplug, nodes
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import SystemDeviceNodes
from deviceplugin.domain.events import HotplugDegraded
from deviceplugin.domain.ports.driven.hotplug import Change
from deviceplugin.testing.contracts.law import soon


@contextmanager
def watching(
    root: Path, *patterns: str, journal: MemoryJournal | None = None
) -> Generator[NodeHotplug]:
    """Watch below a /dev."""
    made = NodeHotplug(
        patterns,
        nodes=SystemDeviceNodes(str(root)),
        dev_root=str(root),
        journal=journal or MemoryJournal(),
    )
    try:
        yield made
    finally:
        made.close()


def node(path: str) -> Change:
    """Return the change of one node."""
    return Change(paths=frozenset({path}))


async def test_folders_are_followed_as_they_come(tmp_path: Path) -> None:
    """Udev makes /dev/serial/by-id with the first link in it, and removes it with the last."""
    with watching(tmp_path, "/dev/serial/by-id/*") as hotplug:
        for _ in range(2):
            for name in ("serial", "serial/by-id"):
                (tmp_path / name).mkdir()
                assert await soon(hotplug.changed()) == node(f"/dev/{name}")
            (tmp_path / "serial/by-id/x").symlink_to("../../ttyUSB0")
            assert await soon(hotplug.changed()) == node("/dev/serial/by-id/x")
            (tmp_path / "serial/by-id/x").unlink()
            assert await soon(hotplug.changed()) == node("/dev/serial/by-id/x")
            (tmp_path / "serial/by-id").rmdir()
            assert (await soon(hotplug.changed())).paths
            (tmp_path / "serial").rmdir()
            assert (await soon(hotplug.changed())).paths


async def test_what_nobody_asked_for_wakes_nobody(tmp_path: Path) -> None:
    """/dev is full of what comes and goes."""
    (tmp_path / "bus/usb/001").mkdir(parents=True)
    with watching(tmp_path, "/dev/tty[AU]*", "/dev/bus/usb/*/0*") as hotplug:
        waiting = asyncio.create_task(hotplug.changed())
        for name in ("pts0", "bus/other", "bus/usb/001/100"):
            (tmp_path / name).touch()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not waiting.done()
        (tmp_path / "bus/usb/001/001").touch()
        assert await soon(_result(waiting)) == node("/dev/bus/usb/001/001")


async def _result(task: "asyncio.Task[Change]") -> Change:
    return await task


async def test_what_a_link_leads_to_is_watched_where_it_is(tmp_path: Path) -> None:
    """The link stays when the device goes."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/real").touch()
    (tmp_path / "modem").symlink_to("/dev/sub/real")
    with watching(tmp_path, "/dev/modem") as hotplug:
        (tmp_path / "sub/real").unlink()
        assert await soon(hotplug.changed()) == node("/dev/sub/real")


async def test_no_folder_outside_is_watched(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "dev/sub").symlink_to("../outside")
    with watching(tmp_path / "dev", "/dev/sub/x", "/dev/y") as hotplug:
        waiting = asyncio.create_task(hotplug.changed())
        (tmp_path / "outside/x").touch()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not waiting.done()
        (tmp_path / "dev/y").touch()
        assert await soon(_result(waiting)) == node("/dev/y")


async def test_without_inotify_nothing_is_heard_until_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is told once, with what to raise."""

    def exhausted() -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    journal = MemoryJournal()
    with monkeypatch.context() as patch:
        patch.setattr(nodes, "open_instance", exhausted)
        with watching(tmp_path, "/dev/x", journal=journal) as hotplug:
            for _ in range(2):
                assert not hotplug.heard
                waiting = asyncio.create_task(hotplug.changed())
                await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.wait({waiting})
            patch.undo()
            waiting = asyncio.create_task(hotplug.changed())
            await asyncio.sleep(0)
            assert hotplug.heard
            (tmp_path / "x").touch()
            assert await soon(_result(waiting)) == node("/dev/x")
    (event,) = journal.of(HotplugDegraded)
    assert "fs.inotify.max_user_instances" in event.reason


def test_who_asks_for_no_node_needs_no_inotify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "open_instance", None)
    with watching(tmp_path) as hotplug:
        assert hotplug.heard


async def test_others_can_be_looked_for(tmp_path: Path) -> None:
    """At once, by a call that is under way, too: none before, others, and none again."""
    with watching(tmp_path) as hotplug:
        assert hotplug.heard
        for name in ("a", "b"):
            waiting = asyncio.create_task(hotplug.changed())
            await asyncio.sleep(0)
            hotplug.look_for([f"/dev/{name}*"])
            assert await soon(asyncio.wait_for(waiting, None)) == Change(everything=True)
            for other in ("a1", "b1"):
                (tmp_path / other).touch()
                (tmp_path / other).unlink()
            assert await soon(hotplug.changed()) == node(f"/dev/{name}1")
        hotplug.look_for([])
        assert await soon(hotplug.changed()) == Change(everything=True)
        assert hotplug.heard
        (tmp_path / "b1").touch()
        assert not await _is_told(hotplug)


async def test_the_same_again_is_no_change(tmp_path: Path) -> None:
    with watching(tmp_path, "/dev/a", "/dev/b") as hotplug:
        hotplug.look_for(["/dev/b", "/dev/a", "/dev/a"])
        assert not await _is_told(hotplug)
        (tmp_path / "a").touch()
        assert await soon(hotplug.changed()) == node("/dev/a")


async def test_after_the_end_nothing_is_looked_for(tmp_path: Path) -> None:
    with watching(tmp_path, "/dev/a") as hotplug:
        hotplug.close()
        hotplug.look_for(["/dev/b"])
        (tmp_path / "b").touch()
        assert not await _is_told(hotplug)


async def _is_told(hotplug: NodeHotplug) -> bool:
    """Say whether there is anything to tell, after the loop had time to hear it."""
    waiting = asyncio.create_task(hotplug.changed())
    for _ in range(5):
        await asyncio.sleep(0.001)
    told = waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})
    return told
