"""Time that a test moves."""

import asyncio

import pytest

from deviceplugin.adapters.memory.clock import FixedChance, ManualClock
from deviceplugin.testing.loop import run


def test_an_alarm_set_by_a_sleeper_that_woke_rings_in_its_turn() -> None:
    """An hour of ticks passes in one go, with each tick at its own time."""

    async def law() -> None:
        clock, ticks = ManualClock(100.0), list[float]()

        async def ticker() -> None:
            while True:
                await clock.sleep(600)
                ticks.append(clock.now())

        task = asyncio.create_task(ticker())
        await clock.advance(3600)
        assert ticks == [700, 1300, 1900, 2500, 3100, 3700]
        assert clock.now() == 3700
        task.cancel()
        await asyncio.wait({task})

    run(law())


def test_what_is_ready_runs_between_two_alarms() -> None:
    """A sleeper may hand on to others, who see the time at which it woke."""

    async def law() -> None:
        clock, seen = ManualClock(), list[tuple[str, float]]()
        queue: asyncio.Queue[str] = asyncio.Queue()

        async def sleeper(name: str, seconds: float) -> None:
            await clock.sleep(seconds)
            await queue.put(name)

        async def reader() -> None:
            while True:
                seen.append((await queue.get(), clock.now()))

        tasks = [
            asyncio.create_task(work) for work in (reader(), sleeper("b", 2), sleeper("a", 1))
        ]
        await clock.advance(5)
        assert seen == [("a", 1), ("b", 2)]
        tasks[0].cancel()
        await asyncio.wait(tasks)

    run(law())


def test_an_alarm_that_is_not_due_does_not_ring() -> None:
    async def law() -> None:
        clock = ManualClock()
        task = asyncio.create_task(clock.sleep(1))
        await clock.advance(0.5)
        assert not task.done()
        await clock.settle()
        assert (task.done(), clock.now()) == (False, 0.5)
        await clock.advance(0.5)
        assert task.done()

    run(law())


def test_chance_is_what_it_was_told() -> None:
    chance = FixedChance(0.25, 0.5)
    assert [chance.fraction() for _ in range(3)] == [0.25, 0.5, 0.25]
    assert FixedChance().fraction() == 0
    for outside in (-0.1, 1.0):
        with pytest.raises(ValueError, match="must be in"):
            FixedChance(outside)
