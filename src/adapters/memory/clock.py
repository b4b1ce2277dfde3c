"""Time that a test moves, and chance that it knows."""

import asyncio
import heapq
import itertools

from deviceplugin.domain.ports.driven.clock import Chance, Clock


class ManualClock(Clock):
    """Time that stands still until `advance` moves it.

    `turns` is how many passes of the event loop `settle` waits for: the longest chain of tasks
    that wake one another. A pass in which nothing is ready costs microseconds, so it is generous.
    `alarms` are the moments at which sleepers were woken.
    """

    def __init__(self, start: float = 0.0, *, turns: int = 100) -> None:
        self._now = start
        self._turns = turns
        self.alarms: list[float] = []
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        """Return the seconds to which time was moved."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Return once time was moved by `seconds`."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        alarm: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._numbers), alarm))
        await alarm

    async def advance(self, seconds: float) -> None:
        """Move time by `seconds`, waking sleepers one by one in the order of their alarms.

        After each, whatever is ready runs; alarms that it sets within the time are woken as well.
        """
        until = self._now + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, alarm = heapq.heappop(self._sleepers)
            if not alarm.done():
                self._now = max(self._now, due)
                self.alarms.append(self._now)
                alarm.set_result(None)
                await self.settle()
        self._now = max(self._now, until)

    def leap(self, seconds: float) -> None:
        """Move time and wake nobody, as it is for a process that stood still meanwhile.

        Whoever is due by then is woken by the next `advance`.
        """
        self._now += seconds

    async def settle(self) -> None:
        """Let all run that is ready, and what that makes ready, without moving time."""
        for _ in range(self._turns):
            await asyncio.sleep(0)


class FixedChance(Chance):
    """Chance that gives the fractions it was made with, over and over."""

    def __init__(self, *fractions: float) -> None:
        if not all(0 <= fraction < 1 for fraction in fractions):
            raise ValueError(f"each fraction must be in [0, 1): {fractions}")
        self._fractions = itertools.cycle(fractions or (0.0,))

    def fraction(self) -> float:
        """Return the next one."""
        return next(self._fractions)
