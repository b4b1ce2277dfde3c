"""A scan that fails says nothing about devices: the last tree holds, for a while."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any, Self, TypeVar

from deviceplugin.adapters.memory.clock import FixedChance, ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.latest_tree import LatestTree
from deviceplugin.app.use_cases.scan import RunScanner
from deviceplugin.domain.devices import DeviceInfo
from deviceplugin.domain.events import ScanDoubted, ScanFailed, ScanRecovered, ScanReturned
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.tree import DeviceTree

_Result = TypeVar("_Result")
Scan = Callable[[Notifier], Coroutine[Any, Any, None]]


def tree() -> DeviceTree:
    """Return a tree with one device."""
    made = DeviceTree()
    made.add_device("yellow", "a", DeviceInfo())
    return made


class AsyncScanner(Scanner):
    """A scanner whose `scan` is what a test says, and that counts its calls."""

    def __init__(self, scan: Scan) -> None:
        self.calls = 0
        self._scan = scan

    async def scan(self, notifier: Notifier, /) -> None:
        """Scan."""
        self.calls += 1
        await self._scan(notifier)


class Running:
    """A scanner that runs, with all that is around it."""

    def __init__(self, scanner: Scanner, worker: Worker | None = None) -> None:
        self.clock = ManualClock()
        self.journal = MemoryJournal()
        self.doubts = 0
        self.latest = LatestTree("color.example")
        self.run_scanner = RunScanner(
            scanner=scanner,
            worker=worker or InlineWorker(),
            clock=self.clock,
            chance=FixedChance(0.5),
            journal=self.journal,
        )
        self.task = asyncio.create_task(self.run_scanner(self.latest, self._doubt))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})

    def _doubt(self) -> None:
        self.doubts += 1


async def fail(_: Notifier) -> None:
    """Fail as a scan does that may not read what it needs."""
    raise PermissionError("not as this user")


async def for_ever(_: Notifier) -> None:
    """Find nothing new, for ever."""
    await asyncio.Event().wait()


async def test_a_scan_that_returns_ends_the_scanning() -> None:
    async def once(notifier: Notifier) -> None:
        notifier.notify(tree())

    scanner = AsyncScanner(once)
    async with Running(scanner) as running:
        await running.task
        assert scanner.calls == 1
        assert len((await running.latest.next()).resources) == 1
        (told,) = running.journal.events
        assert isinstance(told, ScanReturned)
        assert "loops" in told.reason


async def test_a_scan_that_is_told_that_all_is_over_ends_the_scanning() -> None:
    async def late(notifier: Notifier) -> None:
        await asyncio.sleep(0)
        notifier.notify(tree())

    async with Running(AsyncScanner(late)) as running:
        running.latest.stop()
        await running.task
        assert not running.journal.events


async def test_a_plain_scan_runs_in_the_worker_and_the_loop_goes_on() -> None:
    """Seen by a scan that blocks until the loop itself lets it go on."""
    blocked, let_go = threading.Event(), threading.Event()

    class Blocking(Scanner):
        def scan(self, notifier: Notifier, /) -> None:
            blocked.set()
            let_go.wait()
            notifier.notify(tree())

    class OneThread(Worker):
        async def run(self, call: Callable[[], _Result]) -> _Result:
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[_Result] = loop.create_future()

            def work() -> None:
                result = call()
                loop.call_soon_threadsafe(answer.set_result, result)

            threading.Thread(target=work, daemon=True).start()
            return await answer

    async with Running(Blocking(), OneThread()) as running:
        await running.clock.settle()
        let_go.set()
        await running.task
        assert blocked.is_set()
        assert len((await running.latest.next()).resources) == 1


async def test_a_scan_that_fails_is_called_again_later_each_time_but_never_gives_up() -> None:
    times: list[float] = []

    async def broken(_: Notifier) -> None:
        times.append(running.clock.now())
        raise PermissionError("not as this user")

    async with Running(AsyncScanner(broken)) as running:
        await running.clock.advance(3600)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert gaps[0] <= 0.5
        assert gaps == sorted(gaps)
        assert max(gaps) <= 30
        assert times[-1] > 3500
        failures = running.journal.of(ScanFailed)
        assert [event.failures for event in failures] == list(range(1, len(times) + 1))
        assert failures[0].reason.startswith("PermissionError: not as this user (test_scan.py:")


async def test_a_scan_that_meets_something_cancelled_has_failed_and_not_ended() -> None:
    async def stumble(_: Notifier) -> None:
        other = asyncio.ensure_future(asyncio.Event().wait())
        other.cancel()
        await other

    scanner = AsyncScanner(stumble)
    async with Running(scanner) as running:
        await running.clock.advance(1)
        assert scanner.calls > 1
        assert "awaited something that was cancelled" in running.journal.of(ScanFailed)[0].reason


async def test_doubt_comes_once_when_no_tree_came_for_a_minute_after_a_failure() -> None:
    async with Running(AsyncScanner(fail)) as running:
        await running.clock.advance(59.9)
        assert running.doubts == 0
        await running.clock.advance(0.1)
        assert running.doubts == 1
        await running.clock.advance(600)
        assert running.doubts == 1
        assert [event.seconds for event in running.journal.of(ScanDoubted)] == [60.0]


async def test_doubt_comes_too_when_the_scan_hangs_after_its_failure() -> None:
    calls = iter([fail, for_ever])

    async def once_broken(notifier: Notifier) -> None:
        await next(calls)(notifier)

    async with Running(AsyncScanner(once_broken)) as running:
        await running.clock.advance(60)
        assert running.doubts == 1


async def test_a_tree_ends_the_doubt_and_the_count_of_failures() -> None:
    async with Running(AsyncScanner(fail)) as running:
        await running.clock.advance(50)
        running.run_scanner.heard()
        assert len(running.journal.of(ScanRecovered)) == 1
        await running.clock.advance(61)
        assert running.doubts == 0, "the next failure came later, so the minute begins anew"
        assert 1 in [event.failures for event in running.journal.of(ScanFailed)[5:]]
        await running.clock.advance(29)
        assert running.doubts == 1
        running.run_scanner.heard()
        await running.clock.advance(120)
        assert running.doubts == 2


async def test_a_scanner_that_is_well_but_silent_is_not_doubted() -> None:
    """It may wait for events that come once a year."""
    async with Running(AsyncScanner(for_ever)) as running:
        running.run_scanner.heard()
        await running.clock.advance(3600)
        assert running.doubts == 0
        assert not running.journal.events


async def test_a_scan_that_recovers_and_returns_leaves_no_doubt_behind() -> None:
    calls = iter([fail, None])

    async def then_well(notifier: Notifier) -> None:
        if (call := next(calls)) is not None:
            await call(notifier)

    async with Running(AsyncScanner(then_well)) as running:
        await running.clock.advance(1)
        await running.task
        await running.clock.advance(120)
        assert running.doubts == 0


async def test_a_scan_that_failed_is_tried_at_once_when_somebody_hurries() -> None:
    """While it waits, or while it is failing; after that it waits as before."""

    async def scan(_: Notifier) -> None:
        await asyncio.sleep(0)
        raise OSError("a conflict")

    scanner = AsyncScanner(scan)
    async with Running(scanner) as running:
        await running.clock.advance(100)
        before = scanner.calls
        running.run_scanner.hurry()
        await running.clock.settle()
        assert scanner.calls == before + 1
        await running.clock.advance(1)
        assert scanner.calls == before + 1


async def test_hurry_is_over_with_the_next_tree() -> None:
    """A failure long after is no reason for haste."""
    failing = asyncio.Event()

    async def scan(notifier: Notifier) -> None:
        notifier.notify(tree())
        await failing.wait()
        raise OSError("gone")

    scanner = AsyncScanner(scan)
    async with Running(scanner) as running:
        await running.clock.settle()
        running.run_scanner.hurry()
        running.run_scanner.heard()
        failing.set()
        await running.clock.settle()
        assert scanner.calls == 1
