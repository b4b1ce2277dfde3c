"""Run the scanner for as long as the plugin lives."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import attrs

from deviceplugin.app.use_cases.author_code import run_either
from deviceplugin.app.use_cases.author_place import located_reason
from deviceplugin.app.use_cases.latest_tree import LatestTree
from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.errors import StoppedError
from deviceplugin.domain.events import ScanDoubted, ScanFailed, ScanRecovered, ScanReturned
from deviceplugin.domain.ports.driven.clock import Chance, Clock
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.timing import Backoff

_RETURNED: Final = "it came to its end, and the plugin with it; a scan that is to go on loops"


@attrs.define(kw_only=True)
class RunScanner:
    """Calls `scan`, again and again if it raises, later each time, and at once after `hurry`.

    An error says nothing about devices, so the last tree stays in force; but after `doubt_seconds`
    without a good one, nothing can be confirmed any more.
    """

    scanner: Scanner
    worker: Worker
    clock: Clock
    chance: Chance
    journal: Journal
    doubt_seconds: float = 60.0
    backoff: Backoff = attrs.field(factory=lambda: Backoff(first=0.5))
    _failures: int = attrs.field(default=0, init=False)
    _doubting: "asyncio.Task[None] | None" = attrs.field(default=None, init=False)
    _hurried: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    async def __call__(self, latest: LatestTree, doubt: Callable[[], None]) -> None:
        """Return when `scan` returns; call `doubt` when scans have failed for too long."""
        async with asyncio.TaskGroup() as tasks:
            while await self._failed(latest):
                if self._doubting is None:
                    self._doubting = tasks.create_task(self._doubt_in_time(doubt))
                await self._back_off()
            self._trust()

    def hurry(self) -> None:
        """Let a scan that failed be tried again at once: what was wrong may be mended."""
        self._hurried.set()

    def heard(self) -> None:
        """Take note that a tree came in."""
        self._hurried.clear()
        if self._failures:
            self.journal.record(ScanRecovered())
        self._trust()

    async def _failed(self, latest: LatestTree) -> bool:
        """Run `scan` to its end and say whether that was an error."""
        try:
            await run_either(self.worker, partial(self.scanner.scan, latest))
        except StoppedError:
            return False
        except Exception as error:  # noqa: BLE001 - the author's code may raise anything
            self._failures += 1
            reason = located_reason(error)
            self.journal.record(ScanFailed(reason=reason, failures=self._failures))
            return True
        self.journal.record(ScanReturned(reason=_RETURNED))
        return False

    async def _back_off(self) -> None:
        delay = self.backoff.delay(self._failures, self.chance.fraction())
        with suppress(TimeoutError):
            await within(self.clock, delay, self._hurried.wait())
        self._hurried.clear()

    async def _doubt_in_time(self, doubt: Callable[[], None]) -> None:
        await self.clock.sleep(self.doubt_seconds)
        self.journal.record(ScanDoubted(seconds=self.doubt_seconds))
        doubt()

    def _trust(self) -> None:
        self._failures = 0
        if self._doubting is not None:
            self._doubting.cancel()
            self._doubting = None
