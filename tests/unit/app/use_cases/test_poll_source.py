"""A source that only knows the present is asked in time: regularly, and when something changed."""

import asyncio
from collections.abc import Callable
from typing import Self, TypeVar

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.hotplug import MemoryHotplug
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.latest_tree import LatestTree
from deviceplugin.app.use_cases.poll_source import LOOK_SECONDS, PollSource
from deviceplugin.domain.devices import DeviceInfo
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.monitoring_events import ScanEnded
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.ports.driven.hotplug import Change
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.timing import Pace
from deviceplugin.domain.tree import DeviceTree

_Result = TypeVar("_Result")


def tree() -> DeviceTree:
    """Return a tree with one device."""
    made = DeviceTree()
    made.add_device("yellow", "a", DeviceInfo())
    return made


class CountingSource(DeviceSource):
    """A source that counts how often it is asked, and may fail."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None
        self.during: Callable[[], None] | None = None

    def scan(self) -> DeviceTree:
        """Return a tree with one device, or fail."""
        self.asked += 1
        if self.during is not None:
            self.during()
        if self.error is not None:
            raise self.error
        return tree()


class Polling:
    """A source that is polled each five seconds."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.source = CountingSource()
        self.latest = LatestTree("color.example")
        self.journal = MemoryJournal()
        self.poll = PollSource(
            self.source,
            worker=InlineWorker(),
            clock=self.clock,
            journal=self.journal,
            seconds=5.0,
        )
        self.task = asyncio.create_task(self.poll.scan(self.latest))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})


async def test_a_source_is_asked_at_once_and_then_regularly() -> None:
    async with Polling() as polling:
        await polling.clock.settle()
        assert polling.source.asked == 1
        assert len((await polling.latest.next()).resources) == 1
        await polling.clock.advance(14.9)
        assert polling.source.asked == 3
        await polling.clock.advance(0.1)
        assert polling.source.asked == 4


async def test_what_has_to_be_known_before_the_first_look_is_waited_for_once() -> None:
    """Also if a look fails and the scan begins anew."""
    clock, source, latest = ManualClock(), CountingSource(), LatestTree("color.example")
    known = asyncio.Event()
    prepared: list[int] = []

    async def prepare() -> None:
        prepared.append(source.asked)
        await known.wait()

    poll = PollSource(
        source,
        worker=InlineWorker(),
        clock=clock,
        journal=MemoryJournal(),
        seconds=5.0,
        prepare=prepare,
    )
    source.error = ScanError("gone")
    for _ in range(2):
        scan = asyncio.create_task(poll.scan(latest))
        await clock.settle()
        if not known.is_set():
            assert source.asked == 0
            known.set()
        with pytest.raises(ScanError):
            await scan
    assert (prepared, source.asked) == ([0], 2)


async def test_a_source_is_asked_at_once_when_somebody_asks_for_a_look() -> None:
    async with Polling() as polling:
        await polling.clock.settle()
        polling.poll.look_again()
        polling.poll.look_again()
        await polling.clock.settle()
        assert polling.source.asked == 2, "two wishes at once are one look"
        await polling.clock.advance(4.9)
        assert polling.source.asked == 2, "the next regular look is five seconds after that one"


async def test_the_time_between_looks_can_change() -> None:
    """From the next look on, which whoever changes it may ask for."""
    async with Polling() as polling:
        await polling.clock.settle()
        polling.poll.every(1.0)
        polling.poll.look_again()
        await polling.clock.advance(2.9)
        assert polling.source.asked == 4
        polling.poll.every(None)
        await polling.clock.advance(0.1 + Pace().deaf)
        assert polling.source.asked == 6


async def test_a_wish_during_a_look_is_not_lost() -> None:
    """The look under way may have passed what the wish is about."""
    async with Polling() as polling:
        await asyncio.sleep(0)
        assert polling.source.asked == 0, "the worker has been asked, and not answered yet"
        polling.poll.look_again()
        await polling.clock.settle()
        assert polling.source.asked == 2


async def test_a_source_that_fails_makes_the_scan_fail_and_the_next_scan_asks_again() -> None:
    async with Polling() as polling:
        await polling.clock.settle()
        polling.source.error = ScanError("no /sys")
        await polling.clock.advance(5)
        with pytest.raises(ScanError, match="no /sys"):
            await polling.task
        polling.source.error = None
        polling.task = asyncio.create_task(polling.poll.scan(polling.latest))
        await polling.clock.settle()
        assert polling.source.asked == 3


class HangingWorker(Worker):
    """A worker whose calls end when a test lets them."""

    def __init__(self) -> None:
        self.calls = 0
        self.free = asyncio.Event()

    async def run(self, call: Callable[[], _Result]) -> _Result:
        """Make the call once it may end."""
        self.calls += 1
        await self.free.wait()
        return call()


class Hanging(Polling):
    """A source whose first look does not end."""

    def __init__(self) -> None:
        super().__init__()
        self.worker = HangingWorker()
        self.task.cancel()
        self.poll = PollSource(
            self.source,
            worker=self.worker,
            clock=self.clock,
            journal=self.journal,
            seconds=5.0,
        )
        self.task = asyncio.create_task(self.poll.scan(self.latest))


async def test_a_look_that_hangs_has_failed_and_no_second_one_hangs_beside_it() -> None:
    """So that doubt follows, as after any failure, and threads do not pile up."""
    async with Hanging() as polling:
        for _ in range(3):
            await polling.clock.advance(LOOK_SECONDS)
            with pytest.raises(ScanError, match="has not ended within 30 s"):
                await polling.task
            polling.task = asyncio.create_task(polling.poll.scan(polling.latest))
        await polling.clock.settle()
        assert polling.worker.calls == 1
        polling.worker.free.set()
        await polling.clock.settle()
        assert len((await polling.latest.next()).resources) == 1
        await polling.clock.advance(5)
        assert polling.worker.calls == 2


async def test_the_end_of_scanning_ends_a_look_that_hangs() -> None:
    async with Hanging() as polling:
        await polling.clock.settle()
        polling.task.cancel()
        await asyncio.wait({polling.task})
        await polling.clock.settle()
        assert len(asyncio.all_tasks()) == 1


# --- changes that are heard ----------------------------------------------------------------------


class Hearing:
    """A source with two that hear of changes, and what was forgotten before which look."""

    def __init__(self, *, seconds: float | None = None, deaf: bool = False) -> None:
        self.clock = ManualClock()
        self.source = CountingSource()
        self.looks: list[float] = []
        self.forgotten: list[tuple[int, Change]] = []
        self.kernel = MemoryHotplug(deaf=deaf)
        self.nodes = MemoryHotplug()
        self.latest = LatestTree("color.example")
        self.poll = PollSource(
            self.source,
            worker=InlineWorker(),
            clock=self.clock,
            journal=MemoryJournal(),
            seconds=seconds,
            hotplugs=[self.kernel, self.nodes],
            forget=lambda change: self.forgotten.append((self.source.asked, change)),
        )
        self.task = asyncio.create_task(self.poll.scan(self.latest))

    async def __aenter__(self) -> Self:
        await self.clock.settle()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})
        assert len(asyncio.all_tasks()) == 1


USB = Change(paths=frozenset({"/devices/usb1"}))
NODE = Change(paths=frozenset({"/dev/ttyUSB0"}))


async def test_a_change_brings_a_look_at_once_and_one_more_when_all_is_quiet() -> None:
    """A device is announced as gone a moment before it is."""
    for told in ("kernel", "nodes"):
        async with Hearing() as hearing:
            await hearing.clock.advance(10)
            getattr(hearing, told).tell(USB)
            await hearing.clock.settle()
            assert hearing.source.asked == 2
            assert hearing.forgotten == [(1, USB)], "before the look"
            await hearing.clock.advance(Pace().settle)
            assert hearing.source.asked == 3
            await hearing.clock.advance(19)
            assert hearing.source.asked == 3


async def test_a_burst_of_changes_is_few_looks_and_none_of_it_is_lost() -> None:
    """A hub with twenty ports is hundreds of changes within seconds."""
    async with Hearing() as hearing:
        for number in range(300):
            hearing.kernel.tell(Change(paths=frozenset({f"/devices/{number}"})))
            await hearing.clock.advance(0.01)
        assert hearing.source.asked <= 14
        await hearing.clock.advance(2)
        assert hearing.source.asked <= 16
        told = Change()
        for _, change in hearing.forgotten:
            told |= change
        assert told.paths == {f"/devices/{number}" for number in range(300)}
        asked = hearing.source.asked
        hearing.kernel.tell(USB)
        await hearing.clock.settle()
        assert hearing.source.asked == asked + 1, "the first one after a burst is quick again"


@pytest.mark.parametrize("apart", [0.0, 0.001, 0.005, 0.006, 0.01, 0.015, 0.03, 0.06, 0.2])
@pytest.mark.parametrize("count", [2, 4, 5])
async def test_the_last_of_a_handful_of_changes_waits_ten_milliseconds_at_most(
    count: int, apart: float
) -> None:
    """A device that is plugged in is announced once for each part of it; its node comes last."""
    async with Hearing() as hearing:
        await hearing.clock.advance(10)
        for number in range(count):
            await hearing.clock.advance(apart if number else 0.0)
            hearing.kernel.tell(NODE if number == count - 1 else USB)
        await hearing.clock.advance(0.01)
        (before,) = [asked for asked, change in hearing.forgotten if NODE.paths <= change.paths]
        assert hearing.source.asked > before, "what it is about has been looked at since"


async def test_a_wish_for_a_look_waits_for_no_burst() -> None:
    """A pod waits for it."""
    async with Hearing() as hearing:
        for _ in range(100):
            hearing.kernel.tell(USB)
            await hearing.clock.advance(0.02)
        asked = hearing.source.asked
        hearing.kernel.tell(USB)
        await hearing.clock.settle()
        assert hearing.source.asked == asked
        hearing.poll.look_again()
        await hearing.clock.settle()
        assert hearing.source.asked == asked + 1


async def test_a_change_during_a_look_brings_another() -> None:
    """The look under way may have passed what it is about."""
    async with Hearing() as hearing:
        hearing.source.during = lambda: hearing.kernel.tell(USB)
        hearing.poll.look_again()
        await hearing.clock.settle()
        hearing.source.during = None
        assert hearing.source.asked == 3
        assert hearing.forgotten == [(2, USB)]


async def test_looks_are_seldom_as_long_as_every_change_is_heard() -> None:
    async with Hearing() as hearing:
        await hearing.clock.advance(Pace().heard * 3 - 0.1)
        assert hearing.source.asked == 3
        hearing.nodes.deafen()
        await hearing.clock.advance(Pace().heard + 0.1)
        asked = hearing.source.asked
        await hearing.clock.advance(Pace().deaf * 3)
        assert hearing.source.asked == asked + 3


async def test_who_hears_nothing_is_asked_again_at_each_look() -> None:
    async with Hearing(deaf=True) as hearing:
        await hearing.clock.advance(Pace().deaf * 4)
        assert hearing.source.asked == 5
        assert hearing.kernel.calls == 5
        assert hearing.nodes.calls == 1


async def test_looks_are_as_far_apart_as_somebody_said() -> None:
    """Whatever is heard."""
    async with Hearing(seconds=2) as hearing:
        await hearing.clock.advance(20)
        assert hearing.source.asked == 11


async def test_what_was_heard_while_scans_failed_is_told_before_the_next_look() -> None:
    async with Hearing() as hearing:
        hearing.source.error = ScanError("no /sys")
        hearing.kernel.tell(USB)
        await hearing.clock.settle()
        with pytest.raises(ScanError):
            await hearing.task
        hearing.nodes.tell(NODE)
        hearing.source.error = None
        hearing.task = asyncio.create_task(hearing.poll.scan(hearing.latest))
        await hearing.clock.advance(1)
        told = Change()
        for _, change in hearing.forgotten:
            told |= change
        assert told == USB | NODE


async def test_each_look_that_ends_well_is_told_with_how_long_it_took() -> None:
    """For those who count: its failure is told by who runs the scans."""
    polling = Polling()
    async with polling:
        await polling.clock.settle()
        polling.source.error = ScanError("gone")
        await polling.clock.advance(5.0)
        assert polling.journal.events == (ScanEnded(seconds=0.0),)


async def test_a_look_that_takes_its_time_says_so() -> None:
    async with Hanging() as polling:
        await polling.clock.advance(2.5)
        polling.worker.free.set()
        await polling.clock.settle()
        assert polling.journal.events == (ScanEnded(seconds=2.5),)
