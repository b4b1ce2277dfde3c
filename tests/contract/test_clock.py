"""Each clock and each chance obeys its port's laws."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import attrs

from deviceplugin.adapters.memory.clock import FixedChance, ManualClock
from deviceplugin.adapters.system.clock import SystemChance, SystemClock
from deviceplugin.domain.ports.driven.clock import Chance
from deviceplugin.testing.contracts.chance import ChanceContract
from deviceplugin.testing.contracts.clock import ClockContract, ClockWorld


@attrs.frozen
class _ManualWorld:
    clock: ManualClock = attrs.field(factory=ManualClock)

    async def pass_time(self, seconds: float) -> None:
        await self.clock.advance(seconds)


@attrs.frozen
class _SystemWorld:
    clock: SystemClock = attrs.field(factory=SystemClock)

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class TestSystemClock(ClockContract):
    """The machine's own time."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[ClockWorld]:
        yield _SystemWorld()


class TestSystemChance(ChanceContract):
    """The kernel's randomness."""

    def chance(self) -> Chance:
        return SystemChance()


class TestManualClock(ClockContract):
    """Time moved by hand."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[ClockWorld]:
        yield _ManualWorld()


class TestFixedChance(ChanceContract):
    """Chance that is known."""

    def chance(self) -> Chance:
        return FixedChance(0.0, 0.5, 0.999)
