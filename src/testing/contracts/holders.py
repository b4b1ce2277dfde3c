"""The laws of `Holders`."""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import pytest

from deviceplugin.domain.devices import DeviceId, id_as_held
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.ports.driven.holders import Holders
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings
from deviceplugin.domain.room import MAX_HELD_BYTES
from deviceplugin.testing.contracts.law import law, soon

WIDGET = ResourceName("example.com", "widget")
GADGET = ResourceName("example.com", "gadget")
ODD = ("a/b,c d", "ä", "x" * 200, "tab\there", "a::0")
"""Ids that plugins have given, though not all of them are ones that we would."""


class HoldersWorld(Protocol):
    """A source, and containers that hold devices; at first none does."""

    @property
    @abstractmethod
    def holders(self) -> Holders:
        """The source under test."""
        ...

    @abstractmethod
    async def hold(self, resource: ResourceName, *ids: str) -> None:
        """Let one more container hold these devices of `resource`."""
        ...

    @abstractmethod
    async def free(self, resource: ResourceName, *ids: str) -> None:
        """Let no container hold these devices of `resource`, as far as the source could know."""
        ...

    @abstractmethod
    async def break_down(self) -> None:
        """Let the source be unable to answer."""
        ...

    @abstractmethod
    async def recover(self) -> None:
        """Let it be able again."""
        ...


class HoldersContract:
    """What holds for each source: subclass it and provide `world`.

    `complete` says whether it knows every container.
    """

    complete = True

    def world(self) -> AbstractAsyncContextManager[HoldersWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_nobody_holds_anything_at_first(self, world: HoldersWorld) -> None:
        """And it says whether it would know."""
        assert await soon(world.holders.holders(WIDGET)) == Holdings(complete=self.complete)

    @law
    async def test_names_what_containers_hold(self, world: HoldersWorld) -> None:
        """Each device once, whichever container holds it."""
        await world.hold(WIDGET, "a", "b")
        await world.hold(WIDGET, "c")
        await self._names(world, WIDGET, "a", "b", "c")

    @law
    async def test_tells_resources_apart(self, world: HoldersWorld) -> None:
        """The same id of another resource is another device."""
        await world.hold(WIDGET, "a", "b")
        await world.hold(GADGET, "a")
        await self._names(world, WIDGET, "a", "b")
        await self._names(world, GADGET, "a")
        await self._names(world, ResourceName("example.org", "widget"))

    @law
    async def test_names_no_more_what_was_given_back(self, world: HoldersWorld) -> None:
        """At the next question."""
        await world.hold(WIDGET, "a", "b")
        await world.hold(GADGET, "a")
        await self._names(world, WIDGET, "a", "b")
        await world.free(WIDGET, "a")
        await self._names(world, WIDGET, "b")
        await self._names(world, GADGET, "a")

    @law
    async def test_an_answer_is_never_older_than_its_question(self, world: HoldersWorld) -> None:
        """However soon it follows on another one: a look must not see what was before it began."""
        for number in range(5):
            await world.hold(WIDGET, f"a{number}")
            await self._names(world, WIDGET, *(f"a{each}" for each in range(number + 1)))

    @law
    async def test_names_ids_of_whatever_form(self, world: HoldersWorld) -> None:
        """Those too that another plugin gave, and that we never would."""
        await world.hold(WIDGET, *ODD)
        await self._names(world, WIDGET, *ODD)

    @law
    async def test_one_without_end_hides_no_other(self, world: HoldersWorld) -> None:
        """There are so many as a list has room for; who leaves some out does not know it all."""
        await world.hold(WIDGET, "a", "x" * MAX_HELD_BYTES)
        answer = await soon(world.holders.holders(WIDGET))
        assert [key.value for key in answer.held] == ["a"]
        assert answer.left_out == 1
        assert not answer.complete

    @law
    async def test_answers_many_questions_at_once(self, world: HoldersWorld) -> None:
        """Each about its own resource."""
        await world.hold(WIDGET, "a")
        await world.hold(GADGET, "b")
        answers = await soon(
            _all(*(world.holders.holders(each) for each in (WIDGET, GADGET) * 50))
        )
        assert [answer.held.keys() for answer in answers] == [_ids("a"), _ids("b")] * 50

    @law
    async def test_names_every_resource_that_is_held(self, world: HoldersWorld) -> None:
        """Whether anybody asked about it or not; what is not held is not named."""
        assert await soon(world.holders.all_holders()) == {}
        await world.hold(WIDGET, "a", "b")
        await world.hold(GADGET, "a")
        answer = await soon(world.holders.all_holders())
        assert {name: each.held.keys() for name, each in answer.items()} == {
            WIDGET: _ids("a", "b"),
            GADGET: _ids("a"),
        }
        assert {each.complete for each in answer.values()} == {self.complete}
        await world.free(WIDGET, "a", "b")
        held = (await soon(world.holders.all_holders())).get(WIDGET, Holdings()).held
        assert held.keys() == _ids()

    @law
    async def test_who_gives_up_takes_nobody_along(self, world: HoldersWorld) -> None:
        """Any of those who ask at once may be cancelled; the others are answered."""
        await world.hold(WIDGET, "a")
        questions = [asyncio.ensure_future(world.holders.holders(WIDGET)) for _ in range(6)]
        for moment in range(3):
            questions[moment * 2].cancel()
            await asyncio.sleep(0)
        answers = await soon(_settled(*questions))
        for answer in answers[1::2]:
            assert isinstance(answer, Holdings)
            assert answer.held.keys() == _ids("a")

    @law
    async def test_says_when_it_cannot_say(self, world: HoldersWorld) -> None:
        """To each who asks, with a reason; and it is no lasting matter."""
        await world.hold(WIDGET, "a")
        await world.break_down()
        failures = await soon(_settled(*(world.holders.holders(WIDGET) for _ in range(3))))
        assert all(isinstance(each, HoldersUnknownError) and str(each) for each in failures)
        with pytest.raises(HoldersUnknownError):
            await soon(world.holders.holders(GADGET))
        with pytest.raises(HoldersUnknownError):
            await soon(world.holders.all_holders())
        await world.recover()
        await self._names(world, WIDGET, "a")

    async def _names(self, world: HoldersWorld, resource: ResourceName, *ids: str) -> None:
        answer = await soon(world.holders.holders(resource))
        assert answer.held.keys() == _ids(*ids)
        assert answer.complete == self.complete


def _ids(*texts: str) -> frozenset[DeviceId]:
    return frozenset(map(id_as_held, texts))


async def _all(*questions: Awaitable[Holdings]) -> list[Holdings]:
    return await asyncio.gather(*questions)


async def _settled(*questions: Awaitable[Holdings]) -> list[Holdings | BaseException]:
    return await asyncio.gather(*questions, return_exceptions=True)
