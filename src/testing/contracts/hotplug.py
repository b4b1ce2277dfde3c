"""The laws of `Hotplug`."""

import asyncio
from abc import abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import ClassVar, Protocol

import pytest

from deviceplugin.domain.ports.driven.hotplug import MOST_NAMED, Change, Hotplug
from deviceplugin.testing.contracts.law import law, soon


class HotplugWorld(Protocol):
    """A machine on which things change when a law says so, and somebody who hears of it."""

    @property
    @abstractmethod
    def hotplug(self) -> Hotplug:
        """The one under test."""
        ...

    @abstractmethod
    def change(self, number: int = 0) -> str:
        """Let something change, the same thing for the same number; return its path."""
        ...

    @abstractmethod
    def overflow(self) -> None:
        """Let so much happen that some of it is missed."""
        ...

    @abstractmethod
    def deafen(self) -> None:
        """Let nothing be heard from now on."""
        ...


class HotplugContract:
    """What holds for each: subclass it and provide `world`.

    What one cannot show, by its nature, is said by an attribute; the law is skipped by name.
    """

    can_overflow: ClassVar[bool] = True
    can_be_deaf: ClassVar[bool] = True
    many: ClassVar[bool] = True
    """Whether any number of different things can change."""

    def world(self) -> AbstractAsyncContextManager[HotplugWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_a_change_is_told_at_once(self, world: HotplugWorld) -> None:
        """To a caller who waits; each one, again and again."""
        assert world.hotplug.heard
        for _ in range(3):
            waiting = asyncio.create_task(world.hotplug.changed())
            await asyncio.sleep(0)
            path = world.change()
            assert _tells(await soon(_result(waiting)), path)

    @law
    async def test_it_listens_from_its_making_on(self, world: HotplugWorld) -> None:
        """What happens before the first call, and between any two, is told by the next."""
        for number in range(3):
            path = world.change(number)
            assert _tells(await soon(world.hotplug.changed()), path)

    @law
    async def test_a_call_that_is_cancelled_takes_nothing_with_it(
        self, world: HotplugWorld
    ) -> None:
        """Whether it had heard of the change by then or not."""
        for turns in range(4):
            waiting = asyncio.create_task(world.hotplug.changed())
            await asyncio.sleep(0)
            path = world.change()
            for _ in range(turns):
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
            told = Change() if waiting.cancelled() else waiting.result()
            if not _tells(told, path):
                assert _tells(await soon(world.hotplug.changed()), path)

    @law
    async def test_many_changes_are_few_answers(self, world: HotplugWorld) -> None:
        """Each is told, by name or as part of everything."""
        if not self.many:
            pytest.skip("many: few things can change here")
        paths = {world.change(number) for number in range(50)}
        told, answers = Change(), 0
        while not all(_tells(told, path) for path in paths):
            told |= await soon(world.hotplug.changed())
            answers += 1
        assert answers <= 5

    @law
    async def test_what_is_known_of_a_change_is_bounded(self, world: HotplugWorld) -> None:
        """Beyond the bound everything may have changed."""
        change = Change()
        for number in range(MOST_NAMED + 1):
            change |= Change(paths=frozenset({f"/devices/{number}"}))
        assert change == Change(everything=True)
        assert change | Change(paths=frozenset({"/x"})) == change
        path = world.change()
        assert _tells(await soon(world.hotplug.changed()), path)

    @law
    async def test_what_was_missed_is_a_change_of_everything(self, world: HotplugWorld) -> None:
        """And what happens after that is heard again."""
        if not self.can_overflow:
            pytest.skip("can_overflow: nothing is missed here")
        world.overflow()
        while not (await soon(world.hotplug.changed())).everything:
            pass
        path = world.change()
        assert _tells(await soon(world.hotplug.changed()), path)

    @law
    async def test_who_hears_nothing_says_so_and_waits(self, world: HotplugWorld) -> None:
        """Instead of failing: regular looks go on."""
        if not self.can_be_deaf:
            pytest.skip("can_be_deaf: this one cannot be kept from hearing")
        world.deafen()
        assert not world.hotplug.heard
        waiting = asyncio.create_task(world.hotplug.changed())
        world.change()
        await _turns()
        assert not waiting.done()
        waiting.cancel()
        await asyncio.wait({waiting})

    @law
    async def test_after_the_end_nothing_is_told(self, world: HotplugWorld) -> None:
        """A call waits, until it is cancelled; the end may be said twice."""
        world.change()
        waiting = asyncio.create_task(world.hotplug.changed())
        for _ in range(2):
            world.hotplug.close()
        await _turns()
        late = asyncio.create_task(world.hotplug.changed())
        await _turns()
        assert not late.done()
        for task in (waiting, late):
            task.cancel()
        await asyncio.wait({waiting, late})


def _tells(change: Change, path: str) -> bool:
    return change.everything or path in change.paths


async def _result(task: "asyncio.Task[Change]") -> Change:
    return await task


async def _turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
