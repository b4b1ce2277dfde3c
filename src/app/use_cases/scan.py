"""Run the scanner for as long as the plugin lives."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import attrs

from deviceplugin.app.use_cases.author_code import run_either
from deviceplugin.app.use_cases.latest_tree import LatestTree
from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.errors import ScanError, StoppedError, reason_of
from deviceplugin.domain.events import ScanDoubted, ScanFailed, ScanRecovered
from deviceplugin.domain.ports.driven.clock import Chance, Clock
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.timing import Backoff
from deviceplugin.domain.tree import DeviceTree

LOOK_SECONDS: Final = 30.0
"""How long one look of a source may take before it counts as failed."""


@attrs.define(kw_only=True)
class RunScanner:
    """Calls `scan`, again and again if it raises, later each time.

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

    async def __call__(self, latest: LatestTree, doubt: Callable[[], None]) -> None:
        """Return when `scan` returns; call `doubt` when scans have failed for too long."""
        async with asyncio.TaskGroup() as tasks:
            while await self._failed(latest):
                if self._doubting is None:
                    self._doubting = tasks.create_task(self._doubt_in_time(doubt))
                await self.clock.sleep(self.backoff.delay(self._failures, self.chance.fraction()))
            self._trust()

    def heard(self) -> None:
        """Take note that a tree came in."""
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
            reason = reason_of(error)
            self.journal.record(ScanFailed(reason=reason, failures=self._failures))
            return True
        return False

    async def _doubt_in_time(self, doubt: Callable[[], None]) -> None:
        await self.clock.sleep(self.doubt_seconds)
        self.journal.record(ScanDoubted(seconds=self.doubt_seconds))
        doubt()

    def _trust(self) -> None:
        self._failures = 0
        if self._doubting is not None:
            self._doubting.cancel()
            self._doubting = None


class PollSource(Scanner):
    """Makes a scanner of a source that knows the present: looks regularly, and when asked.

    A look that takes longer than `LOOK_SECONDS` counts as failed. It is still waited for: a
    source that hangs is not asked a second time beside the first.
    """

    def __init__(
        self, source: DeviceSource, *, worker: Worker, clock: Clock, seconds: float
    ) -> None:
        """Look every `seconds`."""
        self._source = source
        self._worker = worker
        self._clock = clock
        self._seconds = seconds
        self._asked = asyncio.Event()
        self._look: asyncio.Task[DeviceTree] | None = None

    def look_again(self) -> None:
        """Look at once."""
        self._asked.set()

    async def scan(self, notifier: Notifier, /) -> None:
        """Hand in what the source finds, for ever. Raises what it raises, and `ScanError`."""
        while True:
            self._asked.clear()
            notifier.notify(await self._found())
            try:
                await within(self._clock, self._seconds, self._asked.wait())
            except TimeoutError:
                continue

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
