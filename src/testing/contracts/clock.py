"""The laws of `Clock`."""

import asyncio
from abc import abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import pytest

from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.testing.contracts.law import law, soon

TOLERANCE = 1e-6
"""Seconds by which floating point and the resolution of a timer may deceive."""


class ClockWorld(Protocol):
    """A clock, and the power to let its time pass."""

    @property
    @abstractmethod
    def clock(self) -> Clock:
        """The clock under test."""
        ...

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Return when the clock's time has passed by `seconds`."""
        ...


class ClockContract:
    """What holds for each clock: subclass it and provide `world`."""

    def world(self) -> AbstractAsyncContextManager[ClockWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_time_only_grows(self, world: ClockWorld) -> None:
        """A later look never shows an earlier time."""
        first = world.clock.now()
        second = world.clock.now()
        await world.pass_time(0.01)
        assert first <= second < world.clock.now()

    @law
    async def test_a_sleep_lasts_as_long_as_asked(self, world: ClockWorld) -> None:
        """When a sleep returns, its seconds have passed."""
        before = world.clock.now()
        sleep = asyncio.create_task(world.clock.sleep(0.02))
        await asyncio.sleep(0)
        await world.pass_time(0.02)
        await soon(asyncio.wait_for(sleep, None))
        assert world.clock.now() - before >= 0.02 - TOLERANCE

    @law
    async def test_a_sleep_that_is_not_over_goes_on(self, world: ClockWorld) -> None:
        """A sleep does not end early, and its task can be cancelled at any time."""
        sleep = asyncio.create_task(world.clock.sleep(3600))
        await world.pass_time(0.02)
        assert not sleep.done()
        sleep.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleep

    @law
    async def test_no_sleep_lets_others_run_first(self, world: ClockWorld) -> None:
        """A sleep of no seconds, or less, returns at once, but after who was ready."""
        for seconds in (0.0, -1.0):
            ready: list[bool] = []
            asyncio.get_running_loop().call_soon(ready.append, True)
            before = world.clock.now()
            await soon(world.clock.sleep(seconds))
            assert ready
            assert world.clock.now() - before < 1

    @law
    async def test_sleepers_wake_in_the_order_of_their_alarms(self, world: ClockWorld) -> None:
        """Who sleeps shorter wakes first; a cancelled sleep wakes nobody."""
        woken: list[float] = []

        async def sleeper(seconds: float) -> None:
            await world.clock.sleep(seconds)
            woken.append(seconds)

        sleepers = [asyncio.create_task(sleeper(each)) for each in (0.04, 0.02, 0.01, 0.03)]
        await asyncio.sleep(0)
        sleepers[1].cancel()
        await world.pass_time(0.04)
        await asyncio.wait(sleepers)
        assert woken == [0.01, 0.03, 0.04]
