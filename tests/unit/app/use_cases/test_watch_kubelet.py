"""A kubelet is known by its socket file, and each change of it is told once."""

import asyncio
from typing import Self

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.use_cases.watch_kubelet import WatchKubelet
from deviceplugin.app.use_cases.world import KUBELET_SOCKET
from deviceplugin.domain.events import (
    KubeletAppeared,
    KubeletAwaited,
    KubeletMissing,
    KubeletVanished,
)
from deviceplugin.domain.phases import Phase, Signal
from deviceplugin.domain.ports.driven.directory import Arrivals, FileIdentity
from deviceplugin.domain.routes import Kubelet, Route
from deviceplugin.domain.timing import Rhythm

RHYTHM = Rhythm()


class Told:
    """A follower that remembers what it was told."""

    def __init__(self) -> None:
        self.news: list[FileIdentity | None] = []
        self.signals: list[Signal] = []
        self.stands = Phase.WAITING
        self.checks = 0

    @property
    def phase(self) -> Phase:
        """Stand as told."""
        return self.stands

    @property
    def at_rest(self) -> bool:
        """Be well if it stands so."""
        return self.stands is Phase.STEADY

    def kubelet_moved(self, signal: Signal, kubelet: Kubelet | None) -> None:
        """Remember the file, or that it is gone."""
        assert (signal is Signal.KUBELET_VANISHED) == (kubelet is None)
        self.signals.append(signal)
        self.news.append(None if kubelet is None else kubelet.identity)

    def check_socket(self, arrivals: Arrivals) -> None:
        """Count."""
        del arrivals
        self.checks += 1


class Watched:
    """A plugin directory that is watched while the context lasts."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.journal = MemoryJournal()
        self.directory = MemoryDirectory(self.clock)
        self.watch = WatchKubelet({Route.REGISTER: self.directory}, self.clock, self.journal)
        self.told = Told()
        self.watch.follow(self.told)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.watch.run())
        await self.clock.settle()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    async def put(self, name: str = KUBELET_SOCKET) -> FileIdentity:
        """Make a file, in the place of the last one of its name."""
        identity = self.directory.put(name)
        await self.clock.settle()
        return identity

    async def remove(self, name: str = KUBELET_SOCKET) -> None:
        """Remove a file."""
        self.directory.remove(name)
        await self.clock.settle()


async def test_a_kubelet_that_is_there_is_told_of_at_once() -> None:
    watched = Watched()
    identity = watched.directory.put(KUBELET_SOCKET)
    async with watched:
        assert watched.told.news == [identity]
        assert watched.journal.events == (KubeletAppeared(directory="/plugins"),)


async def test_each_change_is_told_once_however_often_we_look() -> None:
    async with Watched() as it:
        first = await it.put()
        for _ in range(5):
            it.directory.wake()
            await it.clock.advance(1)
        await it.remove()
        for _ in range(5):
            await it.clock.advance(1)
        second = await it.put()
        await it.clock.advance(5)
        assert it.told.news == [first, None, second]
        assert len(it.journal.of(KubeletAppeared)) == 2
        assert len(it.journal.of(KubeletVanished)) == 1


async def test_a_file_in_the_place_of_the_last_one_is_another_kubelet() -> None:
    """Two restarts between two looks, or a rename into place, show no gap."""
    async with Watched() as it:
        first = await it.put()
        second = await it.put()
        assert it.told.news == [first, second]
        it.directory.remove(KUBELET_SOCKET)
        it.directory.put(KUBELET_SOCKET)
        it.directory.remove(KUBELET_SOCKET)
        third = await it.put()
        assert it.told.news == [first, second, third]


async def test_a_directory_whose_events_are_lost_is_looked_at_each_second() -> None:
    async with Watched() as it:
        it.directory.deaf = True
        identity = await it.put()
        assert it.told.news == []
        await it.clock.advance(1)
        assert it.told.news == [identity]
        await it.remove()
        await it.clock.advance(1)
        assert it.told.news == [identity, None]


async def test_while_all_is_well_and_heard_looks_are_seldom() -> None:
    """A machine at rest is not woken for nothing; what an event missed is found all the same."""
    async with Watched() as it:
        it.told.stands = Phase.STEADY
        await it.put()
        checks = it.told.checks
        await it.clock.advance(10 * RHYTHM.resting)
        assert it.told.checks == checks + 10
        it.directory.deaf = True
        missed = await it.put()
        await it.clock.advance(RHYTHM.resting)
        assert it.told.news[-1] == missed


async def test_where_nothing_is_heard_looks_are_close_however_well_all_is() -> None:
    async with Watched() as it:
        it.told.stands = Phase.STEADY
        it.directory.heard = False
        await it.put()
        checks = it.told.checks
        await it.clock.advance(10)
        assert it.told.checks == checks + 10 / RHYTHM.restless


@pytest.mark.parametrize("phase", [each for each in Phase if each is not Phase.STEADY])
async def test_one_that_is_not_well_has_all_looked_at_closely(phase: Phase) -> None:
    """From the moment on at which it is so."""
    async with Watched() as it:
        it.told.stands = Phase.STEADY
        other = Told()
        other.stands = Phase.STEADY
        it.watch.follow(other)
        await it.put()
        await it.clock.advance(RHYTHM.resting + 1)
        other.stands = phase
        it.directory.wake()
        await it.clock.settle()
        checks = it.told.checks
        await it.clock.advance(10)
        assert it.told.checks == checks + 10


async def test_who_follows_from_now_on_is_looked_after_closely() -> None:
    """It has no server yet, whatever the rhythm was before."""
    async with Watched() as it:
        it.told.stands = Phase.STEADY
        await it.put()
        await it.clock.advance(RHYTHM.resting + 1)
        late = Told()
        it.watch.follow(late)
        await it.clock.settle()
        checks = late.checks
        await it.clock.advance(5)
        assert late.checks == checks + 5


async def test_a_directory_that_goes_and_comes_back_is_no_end() -> None:
    async with Watched() as it:
        await it.put()
        it.directory.remove_directory()
        await it.clock.settle()
        it.directory.make_directory()
        again = await it.put()
        assert it.told.news[1:] == [None, again]


async def test_each_look_has_followers_look_after_their_own_sockets() -> None:
    async with Watched() as it:
        before = it.told.checks
        await it.put("plugin-1.sock")
        assert it.told.checks > before
        before = it.told.checks
        await it.clock.advance(3)
        assert it.told.checks == before + 3


async def test_who_follows_late_is_told_of_the_kubelet_there_is() -> None:
    async with Watched() as it:
        late, later = Told(), Told()
        it.watch.follow(late)
        assert late.news == []
        identity = await it.put()
        it.watch.follow(later)
        assert (late.news, later.news) == ([identity], [identity])


async def test_who_no_longer_follows_is_told_nothing_more() -> None:
    async with Watched() as it:
        it.watch.unfollow(it.told)
        checks = it.told.checks
        await it.put()
        assert (it.told.news, it.told.checks) == ([], checks)


async def test_a_directory_that_is_missing_is_told_from_a_kubelet_that_is() -> None:
    """The one needs a mount, the other time."""
    async with Watched() as it:
        (awaited,) = it.journal.of(KubeletAwaited)
        assert "there is no kubelet.sock in it yet" in awaited.reason
    journal, clock = MemoryJournal(), ManualClock()
    directory = MemoryDirectory(clock)
    directory.remove_directory()
    watching = asyncio.create_task(WatchKubelet({Route.REGISTER: directory}, clock, journal).run())
    await clock.settle()
    watching.cancel()
    (awaited,) = journal.of(KubeletAwaited)
    assert "no such directory yet; is the kubelet's directory mounted here?" in awaited.reason


async def test_an_absent_kubelet_is_waited_for_with_one_line_and_one_warning() -> None:
    async with Watched() as it:
        (awaited,) = it.journal.events
        assert isinstance(awaited, KubeletAwaited)
        assert awaited.directory == "/plugins"
        await it.clock.advance(59)
        assert len(it.journal.events) == 1
        await it.clock.advance(1)
        (missing,) = it.journal.of(KubeletMissing)
        assert missing == KubeletMissing(directory="/plugins", seconds=60.0)
        await it.clock.advance(300)
        assert len(it.journal.events) == 2


async def test_a_kubelet_that_vanished_for_long_is_warned_of_once_each_time() -> None:
    async with Watched() as it:
        for _ in range(2):
            await it.put()
            await it.clock.advance(100)
            await it.remove()
            await it.clock.advance(200)
        assert len(it.journal.of(KubeletMissing)) == 2
        await it.put()
        await it.remove()
        await it.clock.advance(59)
        assert len(it.journal.of(KubeletMissing)) == 2
