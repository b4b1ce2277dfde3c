"""The laws of `WatchedFile`."""

import asyncio
from abc import abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import ClassVar, Protocol

import pytest

from deviceplugin.domain.ports.driven.watched_file import WatchedFile
from deviceplugin.testing.contracts.law import law, soon
from deviceplugin.testing.contracts.watching import given_up, waiting_on, woken

LONG = 3600.0
"""Seconds that no test waits for: whoever returns before was woken."""


class WatchedFileWorld(Protocol):
    """A file that is not there at first, and the power to change it."""

    @property
    @abstractmethod
    def file(self) -> WatchedFile:
        """The file under test."""
        ...

    @abstractmethod
    def write(self) -> None:
        """Let the file that is there have other content, or make it; the writer closes it."""
        ...

    @abstractmethod
    def replace(self) -> None:
        """Put another file in the place of the one there is, or where none is, in one step."""
        ...

    @abstractmethod
    def remove(self) -> None:
        """Remove the file that is there."""
        ...

    @abstractmethod
    def noise(self) -> None:
        """Change something beside the file, if there is such a thing."""
        ...

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Let virtual time pass; where time is real, nothing need be done."""
        ...


class WatchedFileContract:
    """What holds for each watched file: subclass it and provide `world`.

    `in_place`: whether the file can be written without another being put in its place; else the
    laws about that are skipped.
    """

    in_place: ClassVar[bool] = True

    def world(self) -> AbstractAsyncContextManager[WatchedFileWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_a_file_has_an_identity_while_it_is_there(self, world: WatchedFileWorld) -> None:
        """None before and after; the same at each look in between."""
        assert world.file.identity() is None
        world.replace()
        assert world.file.identity() == world.file.identity() is not None
        world.remove()
        assert world.file.identity() is None

    @law
    async def test_whatever_changes_the_content_changes_the_identity(
        self, world: WatchedFileWorld
    ) -> None:
        """Written, replaced, removed and made again: never one that was there before."""
        seen = [world.file.identity()]
        changes = [world.replace, world.replace, world.remove, world.replace]
        for change in [*changes, world.write, world.write] if self.in_place else changes:
            change()
            seen.append(world.file.identity())
        found = [each for each in seen if each is not None]
        assert len(set(found)) == len(found) == len(seen) - 2

    @law
    async def test_wakes_when_it_is_replaced(self, world: WatchedFileWorld) -> None:
        """Who waits is told of a file that appears, and of each that is put in its place."""
        for _ in range(3):
            waiting = await _waiting(world)
            world.replace()
            await woken(waiting)

    @law
    async def test_wakes_when_it_is_written(self, world: WatchedFileWorld) -> None:
        """At the latest when the writer closes it, so that what was written can be read."""
        if not self.in_place:
            pytest.skip("in_place: this file is never written in place")
        for _ in range(3):
            waiting = await _waiting(world)
            world.write()
            await woken(waiting)

    @law
    async def test_wakes_when_it_is_removed_and_when_it_comes_back(
        self, world: WatchedFileWorld
    ) -> None:
        """Again and again."""
        world.replace()
        for _ in range(3):
            for change in (world.remove, world.replace):
                waiting = await _waiting(world)
                change()
                await woken(waiting)

    @law
    async def test_loses_no_wake_between_two_calls(self, world: WatchedFileWorld) -> None:
        """After a change while nobody waited, before the first call too, it returns at once."""
        world.replace()
        await soon(world.file.changed(LONG))
        await given_up(await _waiting(world))
        world.remove()
        await soon(world.file.changed(LONG))

    @law
    async def test_noise_does_not_blind(self, world: WatchedFileWorld) -> None:
        """What happens beside the file need wake nobody; after any of it a change does."""
        waiting = await _waiting(world)
        for _ in range(100):
            world.noise()
        if waiting.done():
            waiting = await _waiting(world)
        world.replace()
        await woken(waiting)

    @law
    async def test_returns_when_the_time_is_over(self, world: WatchedFileWorld) -> None:
        """Without any change the caller still gets its regular look."""
        for _ in range(2):
            wait = asyncio.create_task(world.file.changed(0.02))
            await world.pass_time(0.02)
            await woken(wait)
        await given_up(await _waiting(world))

    @law
    async def test_somebody_can_wake_it(self, world: WatchedFileWorld) -> None:
        """The call under way, or the next one; how often says nothing."""
        waiting = await _waiting(world)
        world.file.wake()
        await woken(waiting)
        world.file.wake()
        world.file.wake()
        await soon(world.file.changed(LONG))
        await given_up(await _waiting(world))

    @law
    async def test_knows_whether_it_hears(self, world: WatchedFileWorld) -> None:
        """Whoever looks seldom relies on it; after a close nothing is heard."""
        await given_up(await _waiting(world))
        assert world.file.heard
        world.file.close()
        world.file.wake()
        assert not world.file.heard
        await given_up(await _waiting(world))

    @law
    async def test_a_wait_can_be_given_up(self, world: WatchedFileWorld) -> None:
        """Cancelling ends the call alone; the next one is told of changes."""
        for _ in range(3):
            await given_up(await _waiting(world))
        waiting = await _waiting(world)
        world.replace()
        await woken(waiting)

    @law
    async def test_closing_ends_the_wait(self, world: WatchedFileWorld) -> None:
        """The call under way returns; later ones return when their time is over, not before."""
        waiting = await _waiting(world)
        world.file.close()
        world.file.close()
        await woken(waiting)
        wait = asyncio.create_task(world.file.changed(0.02))
        await world.pass_time(0.02)
        await woken(wait)
        await given_up(await _waiting(world))

    @law
    async def test_looks_are_not_watching(self, world: WatchedFileWorld) -> None:
        """After a close it can still be looked at."""
        world.file.close()
        world.replace()
        assert world.file.identity() is not None


async def _waiting(world: WatchedFileWorld) -> asyncio.Task[None]:
    return await waiting_on(lambda: world.file.changed(LONG))
