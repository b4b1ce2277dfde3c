"""What the contract cannot say of a directory in memory."""

import asyncio

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.testing.loop import run


def test_a_deaf_directory_leaves_all_to_the_poll() -> None:
    """So a test can lose every event."""

    async def law() -> None:
        clock = ManualClock()
        directory = MemoryDirectory(clock)
        directory.deaf = True
        task = asyncio.create_task(directory.changed(1))
        directory.put("kubelet.sock")
        await clock.settle()
        assert not task.done()
        await clock.advance(1)
        assert task.done()

    run(law())


def test_a_wake_needs_no_change() -> None:
    async def law() -> None:
        directory = MemoryDirectory(ManualClock())
        directory.wake()
        await directory.changed(1)

    run(law())


def test_names_are_those_that_are_there() -> None:
    directory = MemoryDirectory(ManualClock(), "/plugins")
    directory.put("b.sock")
    directory.put("a.sock")
    assert (directory.path, directory.names()) == ("/plugins", ("a.sock", "b.sock"))
    directory.remove("a.sock")
    assert directory.names() == ("b.sock",)
    directory.remove_directory()
    assert directory.names() == ()


def test_what_cannot_be_is_refused() -> None:
    directory = MemoryDirectory(ManualClock())
    with pytest.raises(FileNotFoundError):
        directory.remove("missing.sock")
    directory.remove_directory()
    with pytest.raises(FileNotFoundError):
        directory.put("kubelet.sock")
