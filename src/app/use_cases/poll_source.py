"""Look at a source regularly, and at once when something tells of a change."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.monitoring_events import ScanEnded
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.ports.driven.hotplug import Change, Hotplug
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.timing import Pace, until_next
from deviceplugin.domain.tree import DeviceTree

LOOK_SECONDS: Final = 30.0
"""How long one look of a source may take before it counts as failed."""
_NOTHING: Final = Change()


def nothing_to_forget(_: Change) -> None:
    """Do nothing about a change: the source remembers nothing that it could make void."""


class PollSource(Scanner):
    """Makes a scanner of a source that knows the present: looks regularly, and when asked.

    A change that one of the `hotplugs` hears of brings a look at once; further ones of a burst
    follow at a growing distance, and one more when it is over. `forget` is told before the look
    what may have changed; `prepare` ends before the first look begins. Looks are `seconds` apart
    if nothing tells of a change; None leaves it to `pace`: seldom while every change is heard.

    A look that takes longer than `LOOK_SECONDS` counts as failed. It is still waited for: a
    source that hangs is not asked a second time beside the first.
    """

    def __init__(  # noqa: PLR0913 - they go by name
        self,
        source: DeviceSource,
        *,
        worker: Worker,
        clock: Clock,
        journal: Journal,
        seconds: float | None,
        hotplugs: Sequence[Hotplug] = (),
        forget: Callable[[Change], None] = nothing_to_forget,
        prepare: Callable[[], Awaitable[None]] | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Look at nothing yet."""
        self._source = source
        self._worker = worker
        self._clock = clock
        self._journal = journal
        self._seconds = seconds
        self._hotplugs = tuple(hotplugs)
        self._forget = forget
        self._prepare = prepare
        self._pace = pace or Pace()
        self._asked = asyncio.Event()
        self._look: asyncio.Task[DeviceTree] | None = None
        self._hearing: dict[int, asyncio.Task[Change]] = {}
        self._news = _NOTHING
        self._burst = 0
        self._begun = 0.0

    def look_again(self) -> None:
        """Look at once."""
        self._asked.set()

    def every(self, seconds: float | None) -> None:
        """Look so often from the next look on; None leaves it to the pace."""
        self._seconds = seconds

    async def scan(self, notifier: Notifier, /) -> None:
        """Hand in what the source finds, for ever. Raises what it raises, and `ScanError`."""
        if self._prepare is not None:
            await self._prepare()
            self._prepare = None
        try:
            while True:
                self._asked.clear()
                self._begun = self._clock.now()
                found = await self._found()
                self._journal.record(ScanEnded(seconds=self._clock.now() - self._begun))
                notifier.notify(found)
                await self._rest()
        finally:
            await self._stop_hearing()

    async def _rest(self) -> None:
        """Return when it is time for the next look."""
        patience = self._pace.settle if self._burst else self._patience()
        await self._wait_for_news(patience)
        if self._news:
            await self._hold_back()
            self._burst += 1
        elif not self._asked.is_set():
            self._burst = 0
        news, self._news = self._news, _NOTHING
        if news:
            self._forget(news)

    async def _hold_back(self) -> None:
        """Keep the distance from the look before, and take what is told meanwhile along."""
        end = self._begun + self._pace.gap(self._burst)
        while not self._asked.is_set() and self._clock.now() < end:
            await self._wait_for_news(end - self._clock.now())

    async def _wait_for_news(self, seconds: float) -> None:
        """Return once a change was heard, or somebody asks for a look, else after `seconds`."""
        self._listen()
        with suppress(TimeoutError):
            await within(self._clock, seconds, self._woken())
        self._gather()

    def _patience(self) -> float:
        if self._seconds is not None:
            return self._seconds
        heard = self._hotplugs and all(each.heard for each in self._hotplugs)
        return until_next(self._pace.heard, self._clock.now()) if heard else self._pace.deaf

    async def _woken(self) -> None:
        """Return once somebody asks for a look, or a change was heard."""
        asked = asyncio.create_task(self._asked.wait())
        try:
            await asyncio.wait(
                {asked, *self._hearing.values()}, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            asked.cancel()

    def _listen(self) -> None:
        """Let every one hear; who hears nothing tries anew."""
        for number, each in enumerate(self._hotplugs):
            hearing = self._hearing.get(number)
            if hearing is not None and not hearing.done() and not each.heard:
                hearing.cancel()
                hearing = None
            if hearing is None:
                self._hearing[number] = asyncio.create_task(each.changed())

    def _gather(self) -> None:
        """Take what was heard; a call that ended makes room for the next."""
        for number, hearing in list(self._hearing.items()):
            if hearing.done():
                del self._hearing[number]
                if not hearing.cancelled():
                    self._news |= hearing.result()

    async def _stop_hearing(self) -> None:
        """End every call: what it has heard is kept, what it would have heard is not lost."""
        tasks = list(self._hearing.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._gather()

    async def _found(self) -> DeviceTree:
        self._look = look = self._look or asyncio.create_task(self._worker.run(self._source.scan))
        try:
            return await within(self._clock, LOOK_SECONDS, _outcome(look), late=_late)
        except asyncio.CancelledError:
            look.cancel()
            raise
        finally:
            if look.done():
                self._look = None


async def _outcome(look: "asyncio.Task[DeviceTree]") -> DeviceTree:
    return await asyncio.shield(look)


def _late() -> ScanError:
    return ScanError(
        f"a look at the hardware has not ended within {LOOK_SECONDS:g} s; a device or its driver "
        "may hang"
    )
