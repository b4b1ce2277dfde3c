"""What is held is asked anew whenever the last answer may not be the whole truth any more."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.unit.app.use_cases.test_advertise import YELLOW, Advertising, shown, tree

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.app.use_cases.ask_anew import SOON, AskAnew
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.events import DevicesHeld
from deviceplugin.domain.holds import Hold
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.timing import Release

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Machine

APART = Release().apart
HOUR = 3600.0
A, B, C = map(DeviceId, "abc")


class Asked:
    """Counts questions by their moments; answers whether everybody knows."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.moments: list[float] = []
        self.known = True
        self.anew = AskAnew(self, clock=self.clock, apart=APART)

    async def __call__(self) -> bool:
        """Take a question."""
        self.moments.append(self.clock.now())
        return self.known


async def _nobody_knows_for(seconds: float) -> Asked:
    asked = Asked()
    asked.known = False
    running = asyncio.create_task(asked.anew.run())
    asked.anew.doubt()
    await asked.clock.advance(seconds)
    running.cancel()
    await asyncio.wait({running})
    return asked


async def test_while_somebody_cannot_answer_all_are_asked_again_and_again() -> None:
    """Soon, and then after twice as long each time, up to the time between two looks."""
    asked = await _nobody_knows_for(HOUR)
    assert asked.moments[:5] == [SOON, 2 * SOON, 4 * SOON, 8 * SOON, 16 * SOON]
    gaps = [later - earlier for earlier, later in pairwise(asked.moments)]
    assert max(gaps) < 2 * APART


async def test_a_long_silence_wakes_nobody_but_with_others() -> None:
    """At the full multiples at which all wake together."""
    asked = await _nobody_knows_for(HOUR)
    late = [moment for moment in asked.moments if moment > 2 * APART]
    assert late == [APART * number for number in range(3, int(HOUR / APART) + 1)]


async def test_once_all_have_answered_nothing_wakes_up() -> None:
    asked = Asked()
    running = asyncio.create_task(asked.anew.run())
    for moment in (0.0, HOUR):
        asked.known = False
        asked.anew.doubt()
        await asked.clock.advance(APART)
        asked.known = True
        await asked.clock.advance(2 * APART)
        before = len(asked.clock.alarms)
        await asked.clock.advance(HOUR - 3 * APART)
        assert len(asked.clock.alarms) == before, moment
    running.cancel()
    await asyncio.wait({running})


async def test_a_stream_that_opens_in_a_long_silence_is_not_late() -> None:
    asked = Asked()
    asked.known = False
    running = asyncio.create_task(asked.anew.run())
    asked.anew.doubt()
    await asked.clock.advance(10.25 * APART)
    asked.anew.stream_opened()
    await asked.clock.advance(SOON)
    assert asked.moments[-1] == 10.25 * APART + SOON
    running.cancel()
    await asyncio.wait({running})


async def test_all_streams_that_open_together_are_one_question(machine: "type[Machine]") -> None:
    """One for each resource, that is, all put at the same moment."""
    names = [f"type{number}" for number in range(100)]
    async with Advertising(machine()) as it:
        await it.follow(tree(**dict.fromkeys(names, "a")))
        assert it.here.registrations == len(names)
        it.here.holders.may_answer.clear()
        await it.here.clock.advance(SOON)
        assert len(it.here.holders.asked) == 2 * len(names)
        it.here.holders.may_answer.set()
        await it.here.clock.advance(HOUR)
        assert len(it.here.holders.asked) == 2 * len(names)


async def test_what_was_given_out_between_the_first_question_and_the_stream_is_listed(
    machine: "type[Machine]",
) -> None:
    """By another instance, in a rolling update; a look at the devices learns of it, too."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="b"))
        it.here.holders.hold(YELLOW, A)
        await it.here.clock.advance(SOON)
        assert it.lists() == {"yellow": "aB"}
        assert it.here.holds() == {Hold(YELLOW, A)}
        assert it.here.looks == 1
        assert it.here.journal.of(DevicesHeld) == (DevicesHeld(resource=YELLOW, devices=("a",)),)


async def test_what_was_given_out_while_another_kubelet_was_met_is_listed(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="b"))
        await it.here.clock.advance(HOUR)
        it.here.holders.hold(YELLOW, A)
        await it.here.clock.advance(HOUR)
        assert it.lists() == {"yellow": "B"}
        await it.here.kubelet.restart()
        await it.here.clock.advance(SOON)
        assert it.lists() == {"yellow": "aB"}


@pytest.mark.parametrize("seconds", [0.0, 0.5, 20.0, HOUR])
async def test_what_nobody_could_say_at_the_start_is_listed_when_they_can(
    machine: "type[Machine]", seconds: float
) -> None:
    """However long that took, without anything else that happens."""
    async with Advertising(machine()) as it:
        for source in (it.here.holders, it.here.hints):
            source.fail("not yet")
        it.here.holders.hold(YELLOW, A)
        it.here.hints.hold(YELLOW, C)
        await it.follow(tree(yellow="b"))
        await it.here.clock.advance(seconds)
        assert it.lists() == {"yellow": "B"}
        for source in (it.here.holders, it.here.hints):
            source.fail("")
        await it.here.clock.advance(APART)
        assert it.lists() == {"yellow": "aBc"}


@pytest.mark.parametrize("silent", [True, False])
async def test_what_nobody_could_say_before_is_in_the_first_list_for_the_next_kubelet(
    machine: "type[Machine]",
    silent: bool,  # noqa: FBT001
) -> None:
    """It may die of the lack: a directory that is mounted late has its checkpoint in it."""
    here = machine()
    async with Advertising(here) as it:
        await here.kubelet.stop()
        here.directory.remove("kubelet.sock")
        here.hints.fail("no such directory")
        if silent:
            here.holders.fail("no such socket")
        await it.follow(tree(yellow="b"))
        await here.clock.advance(2 * APART)
        here.hints.fail("")
        here.hints.hold(YELLOW, A)
        await here.start_kubelet()
        assert [shown(each) for each in here.kubelet.listings(YELLOW)] == ["aB"]


async def test_a_kubelet_is_met_at_once_when_all_is_known(machine: "type[Machine]") -> None:
    """A kubelet that restarts waits for nobody's answer."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="b"))
        await it.here.clock.advance(HOUR)
        it.here.holders.may_answer.clear()
        await it.here.kubelet.restart()
        await it.here.clock.settle()
        assert it.lists() == {"yellow": "B"}


async def test_a_kubelet_waits_no_longer_than_a_holder_may_take(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        it.here.holders.fail("not here")
        await it.follow(tree(yellow="b"))
        await it.here.clock.advance(HOUR)
        it.here.holders.fail("")
        it.here.holders.may_answer.clear()
        await it.here.kubelet.restart()
        await it.here.clock.settle()
        assert it.lists() == {}
        await it.here.clock.advance(Release().answer)
        assert it.lists() == {"yellow": "B"}


async def test_what_is_named_between_two_looks_that_agree_stays(machine: "type[Machine]") -> None:
    """The question that a new stream brings about counts as any other one."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await it.here.clock.advance(APART)
        stream = it.here.host.plugins[0].devices.watch()
        it.here.holders.hold(YELLOW, A)
        await it.here.clock.advance(SOON)
        await anext(stream)
        await it.here.clock.advance(SOON)
        it.here.holders.free(YELLOW, A)
        await it.here.clock.advance(2 * APART - 3 * SOON)
        assert it.lists() == {"yellow": "aB"}
        await stream.aclose()


async def test_a_question_before_a_stream_has_the_list_lets_nothing_go(
    machine: "type[Machine]",
) -> None:
    """A container may still be given the device by it."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"))
        async with aclosing(it.here.host.plugins[0].devices.watch()) as slow:
            await anext(slow)
            await it.follow(tree(yellow="b"))
            await it.here.clock.advance(APART)
            reading = asyncio.create_task(_read(slow))
            await it.here.clock.advance(APART)
            assert it.lists() == {"yellow": "aB"}
            await it.here.clock.advance(APART)
            assert it.lists() == {"yellow": "B"}
            reading.cancel()
            await asyncio.wait({reading})


async def _read(stream: AsyncGenerator[Listing]) -> None:
    async for _ in stream:
        pass
