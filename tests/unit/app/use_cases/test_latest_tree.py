"""A scanner hands in trees from anywhere, never waits, and is told when to stop."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.app.use_cases.latest_tree import LatestTree
from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.errors import InvalidResourceNameError, InvalidValueError, StoppedError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import DeviceTree

YELLOW = ResourceName("color.example", "yellow")


def tree(*ids: str) -> DeviceTree:
    """Return a tree with these yellow devices."""
    made = DeviceTree()
    for key in ids:
        made.add_device("yellow", key, DeviceInfo())
    return made


async def ids_of_next(latest: LatestTree) -> list[str]:
    """Return which devices the next tree has."""
    return [key.value for key in (await latest.next()).resources[YELLOW]]


async def test_only_the_newest_tree_counts_and_each_is_returned_once() -> None:
    latest = LatestTree("color.example")
    for key in "abc":
        latest.notify(tree(key))
    assert await ids_of_next(latest) == ["c"]
    waiting = asyncio.create_task(ids_of_next(latest))
    await ManualClock().settle()
    assert not waiting.done()
    latest.notify(tree("d"))
    assert await waiting == ["d"]


async def test_a_tree_that_was_handed_in_can_be_changed_and_reused() -> None:
    latest = LatestTree("color.example")
    reused = tree("a")
    latest.notify(reused)
    reused.add_device("yellow", "b", DeviceInfo())
    assert await ids_of_next(latest) == ["a"]


async def test_any_thread_may_hand_in_and_its_newest_tree_arrives() -> None:
    latest = LatestTree("color.example")

    def scan() -> None:
        for number in range(500):
            latest.notify(tree(f"d{number}"))

    threads = [threading.Thread(target=scan) for _ in range(4)]
    for thread in threads:
        thread.start()
    while await ids_of_next(latest) != ["d499"]:
        pass
    for thread in threads:
        thread.join()


async def test_a_flood_of_trees_wakes_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wake that waits costs memory, and a scanner may be quicker than the loop."""
    loop, wakes = asyncio.get_running_loop(), list[object]()
    wake = loop.call_soon_threadsafe

    def counted(callback: Callable[[], None]) -> asyncio.Handle:
        wakes.append(callback)
        return wake(callback)

    monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
    latest = LatestTree("color.example")
    for number in range(1000):
        latest.notify(tree(f"d{number}"))
    assert len(wakes) == 1
    assert await ids_of_next(latest) == ["d999"]
    latest.notify(tree("last"))
    assert await ids_of_next(latest) == ["last"]


async def test_a_thread_wakes_a_loop_that_sleeps() -> None:
    latest = LatestTree("color.example")
    waiting = asyncio.create_task(ids_of_next(latest))
    await ManualClock().settle()
    thread = threading.Thread(target=latest.notify, args=[tree("a")])
    thread.start()
    assert await waiting == ["a"]
    thread.join()


async def test_a_tree_that_makes_no_resource_is_refused_in_the_scanners_own_call() -> None:
    latest = LatestTree("Color.example")
    with pytest.raises(InvalidResourceNameError):
        latest.notify(tree("a"))


async def test_after_the_end_a_scanner_is_told_so() -> None:
    latest = LatestTree("color.example")
    latest.stop()
    with pytest.raises(StoppedError, match="return from scan"):
        latest.notify(tree("a"))


def test_a_scanner_that_outlives_the_loop_is_told_so_too() -> None:
    """A thread that blocks in a look at the hardware may come back very late."""

    async def begin() -> LatestTree:
        return LatestTree("color.example")

    loop = asyncio.new_event_loop()
    latest = loop.run_until_complete(begin())
    loop.close()
    with pytest.raises(StoppedError, match="return from scan"):
        latest.notify(tree("a"))


async def test_a_tree_names_devices_by_id() -> None:
    latest = LatestTree("color.example")
    latest.notify(tree("a"))
    assert (await latest.next()).resources == {YELLOW: {DeviceId("a"): DeviceInfo()}}


@pytest.mark.parametrize(("given", "word"), [({}, "a dict"), (None, "None; did it forget")])
async def test_what_is_no_tree_is_refused_in_the_scanners_own_call(
    given: object, word: str
) -> None:
    latest = LatestTree("color.example")
    with pytest.raises(InvalidValueError, match=f"hands in a DeviceTree, not {word}"):
        latest.notify(cast("Any", given))
