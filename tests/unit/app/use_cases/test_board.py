"""Whoever reads a board sees the newest list, whatever others do and however slow they are."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.app.use_cases.board import Board
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode
from deviceplugin.domain.inventory import Inventory, Listing


def found(*names: str) -> Inventory:
    """Return an inventory with these devices."""
    return Inventory().observe({DeviceId(name): DeviceInfo() for name in names})


def names(listing: Listing) -> str:
    """Return the ids of a list."""
    return "".join(device.id.value for device in listing)


async def waiting_for_next(stream: AsyncGenerator[Listing]) -> "asyncio.Task[Listing]":
    """Ask for the next list and let everything run; the answer may be there or not."""
    asked = asyncio.create_task(anext(stream))
    await ManualClock().settle()
    return asked


async def test_the_first_list_is_the_full_one_even_an_empty_one() -> None:
    async with aclosing(Board().listings()) as stream:
        assert await anext(stream) == ()
    async with aclosing(Board(found("b", "a")).listings()) as stream:
        assert names(await anext(stream)) == "ab"


async def test_a_list_comes_only_when_it_differs() -> None:
    board = Board(found("a"))
    async with aclosing(board.listings()) as stream:
        await anext(stream)
        asked = await waiting_for_next(stream)
        board.post(board.inventory)
        board.post(found("a"))
        other = {DeviceId("a"): DeviceInfo(nodes=[DeviceNode("/dev/a")])}
        board.post(board.inventory.observe(other))
        await ManualClock().settle()
        assert not asked.done()
        board.post(found("a", "b"))
        assert names(await asked) == "ab"


async def test_a_change_that_was_taken_back_unseen_is_no_list() -> None:
    board = Board(found("a"))
    async with aclosing(board.listings()) as stream:
        await anext(stream)
        asked = await waiting_for_next(stream)
        board.post(found("b"))
        board.post(found("a"))
        await ManualClock().settle()
        assert not asked.done()
        asked.cancel()
        await asyncio.wait({asked})


async def test_a_slow_reader_gets_the_newest_list_alone() -> None:
    board = Board(found("a"))
    async with aclosing(board.listings()) as stream:
        assert names(await anext(stream)) == "a"
        for name in "bcd":
            board.post(found(name))
        assert names(await anext(stream)) == "d"
        asked = await waiting_for_next(stream)
        assert not asked.done()
        asked.cancel()
        await asyncio.wait({asked})


async def test_1000_changes_without_a_reader_are_one_list_the_newest() -> None:
    board = Board()
    for number in range(1000):
        board.post(board.inventory.observe({DeviceId("a"): DeviceInfo(numa_nodes=[number])}))
    async with aclosing(board.listings()) as stream:
        assert [device.numa_nodes for device in await anext(stream)] == [(999,)]
        asked = await waiting_for_next(stream)
        assert not asked.done()
        asked.cancel()
        await asyncio.wait({asked})


async def test_readers_never_disturb_each_other() -> None:
    """One that never asks again, one that has gone, and one that reads everything."""
    board = Board(found("a"))
    idle, gone, eager = board.listings(), board.listings(), board.listings()
    assert [names(await anext(each)) for each in (idle, gone, eager)] == ["a", "a", "a"]
    await gone.aclose()
    for name in "bcd":
        asked = await waiting_for_next(eager)
        board.post(found(name))
        assert names(await asked) == name
    assert names(await anext(idle)) == "d"
    await idle.aclose()
    await eager.aclose()


@pytest.mark.parametrize("reading", [True, False])
async def test_a_reader_that_is_cancelled_leaves_nothing(reading: bool) -> None:  # noqa: FBT001
    board = Board(found("a"))

    async def read() -> None:
        async with aclosing(board.listings()) as stream:
            async for _ in stream:
                await (ManualClock().settle() if reading else asyncio.Event().wait())

    reader = asyncio.create_task(read())
    await ManualClock().settle()
    assert board.readers == 1
    reader.cancel()
    await asyncio.wait({reader})
    assert board.readers == 0
    await board.read_out()


async def test_after_its_last_list_a_retired_board_ends_every_stream() -> None:
    board = Board(found("a", "b"))
    reading, behind = board.listings(), board.listings()
    await anext(reading)
    await anext(behind)
    asked = await waiting_for_next(reading)
    board.post(board.inventory.observe({}))
    board.retire()
    last = await asked
    assert {device.health.value for device in last} == {"Unhealthy"}
    assert await anext(behind) == last
    for stream in (reading, behind):
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_a_reader_that_has_read_everything_ends_when_the_board_is_retired() -> None:
    board = Board(found("a"))
    stream = board.listings()
    await anext(stream)
    asked = await waiting_for_next(stream)
    board.retire()
    with pytest.raises(StopAsyncIteration):
        await asked


async def test_a_late_reader_of_a_retired_board_gets_the_last_list() -> None:
    board = Board(found("a"))
    board.retire()
    assert [names(each) async for each in board.listings()] == ["a"]


async def test_a_board_is_read_out_when_the_last_reader_has_gone() -> None:
    board = Board(found("a"))
    await board.read_out()
    one, two = board.listings(), board.listings()
    await anext(one)
    await anext(two)
    done = asyncio.create_task(board.read_out())
    await one.aclose()
    await ManualClock().settle()
    assert not done.done()
    await two.aclose()
    await done


async def test_a_list_is_read_when_every_stream_has_come_back_for_more() -> None:
    """Without a stream it is not."""
    board = Board(found("a"))
    assert not board.is_read
    async with aclosing(board.listings()) as first, aclosing(board.listings()) as second:
        await anext(first)
        assert not board.is_read
        asking = await waiting_for_next(first)
        assert board.is_read
        await anext(second)
        assert not board.is_read
        asking_too = await waiting_for_next(second)
        assert board.is_read
        board.post(found("a", "b"))
        assert not board.is_read
        await asyncio.gather(asking, asking_too)
    assert not board.is_read


async def test_an_audience_is_another_after_each_coming_and_going() -> None:
    """And that of one board is never another one's."""
    seen = set[int]()
    for board in (Board(found("a")), Board(found("a"))):
        seen.add(board.audience)
        for _ in range(2):
            async with aclosing(board.listings()) as stream:
                await anext(stream)
                seen.add(board.audience)
                board.post(found("b"))
                assert board.audience in seen
            seen.add(board.audience)
    assert len(seen) == 10
