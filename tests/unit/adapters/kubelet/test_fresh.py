"""One question serves all who came before it was put, and no two are put in too short a time."""

import asyncio

import pytest

from deviceplugin.adapters.kubelet.fresh import Fresh
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.domain.errors import HoldersUnknownError


class Oracle:
    """Answers with the number of the question, when it may; or fails."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.failure: Exception | None = None

    async def __call__(self) -> int:
        """Take a question."""
        self.asked += 1
        number = self.asked
        await self.may_answer.wait()
        if self.failure is not None:
            raise self.failure
        return number


async def test_all_who_ask_at_once_share_an_answer() -> None:
    oracle = Oracle()
    fresh = Fresh(oracle, clock=ManualClock())
    assert await asyncio.gather(*(fresh() for _ in range(100))) == [1] * 100


async def test_who_comes_while_a_question_is_open_shares_the_next() -> None:
    oracle, clock = Oracle(), ManualClock()
    fresh = Fresh(oracle, clock=clock)
    oracle.may_answer.clear()
    first = asyncio.ensure_future(fresh())
    await clock.settle()
    late = [asyncio.ensure_future(fresh()) for _ in range(5)]
    await clock.settle()
    oracle.may_answer.set()
    assert await asyncio.gather(first, *late) == [1, 2, 2, 2, 2, 2]


async def test_questions_are_put_so_far_apart() -> None:
    oracle, clock = Oracle(), ManualClock()
    fresh = Fresh(oracle, clock=clock, interval=2.0)
    assert await fresh() == 1
    await clock.advance(0.5)
    asking = asyncio.ensure_future(fresh())
    await clock.advance(1.4)
    assert oracle.asked == 1
    await clock.advance(0.1)
    assert await asking == 2
    await clock.advance(5.0)
    asking = asyncio.ensure_future(fresh())
    await clock.settle()
    assert await asking == 3


async def test_who_gives_up_leaves_the_question_to_the_others() -> None:
    """Be it who put it, or who waits for their turn."""
    oracle, clock = Oracle(), ManualClock()
    fresh = Fresh(oracle, clock=clock)
    oracle.may_answer.clear()
    askers = [asyncio.ensure_future(fresh()) for _ in range(4)]
    await clock.settle()
    for asker in (askers[0], askers[2]):
        asker.cancel()
    await clock.settle()
    oracle.may_answer.set()
    assert list(await asyncio.gather(askers[1], askers[3])) == [2, 2]


async def test_a_failure_is_raised_to_each_as_their_own_and_is_no_lasting_matter() -> None:
    oracle = Oracle()
    fresh = Fresh(oracle, clock=ManualClock())
    oracle.failure = HoldersUnknownError("why")
    errors = await asyncio.gather(*(fresh() for _ in range(3)), return_exceptions=True)
    assert [str(each) for each in errors] == ["why"] * 3
    assert len(set(map(id, errors))) == 3
    oracle.failure = None
    assert await fresh() == 2


async def test_an_error_that_is_no_answer_is_not_shared() -> None:
    """Such as one of our own: the next one asks anew."""
    oracle = Oracle()
    fresh = Fresh(oracle, clock=ManualClock())
    oracle.failure = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        await fresh()
    oracle.failure = None
    assert await fresh() == 2
