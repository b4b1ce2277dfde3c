"""The machine's own time and chance."""

import asyncio
import time
from random import SystemRandom

from deviceplugin.domain.ports.driven.clock import Chance, Clock


class SystemClock(Clock):
    """Time since the machine started: no step of the wall clock moves it."""

    def now(self) -> float:
        """Return what asyncio's loop calls its time; other threads may ask as well."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed."""
        await asyncio.sleep(seconds)


class SystemChance(Chance):
    """The kernel's randomness: two processes that fork or start together still differ."""

    def __init__(self) -> None:
        self._random = SystemRandom()

    def fraction(self) -> float:
        """Return a number in [0, 1)."""
        return self._random.random()
