"""A wait has a limit, by the clock that was injected."""

import asyncio
import gc

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.app.use_cases.within import within


async def answer(text: str) -> str:
    """Return at once."""
    return text


async def failure(error: Exception) -> None:
    """Raise at once."""
    raise error


async def test_an_answer_in_time_is_returned_and_an_error_raised() -> None:
    clock = ManualClock()
    assert await within(clock, 1.0, answer("yes")) == "yes"
    with pytest.raises(LookupError, match="no"):
        await within(clock, 1.0, failure(LookupError("no")))


async def test_an_answer_that_comes_at_the_last_moment_is_in_time() -> None:
    clock = ManualClock()
    waiting = asyncio.create_task(within(clock, 1.0, clock.sleep(0.999)))
    await clock.advance(0.999)
    await waiting


async def test_what_takes_too_long_is_cancelled_and_over_when_the_wait_is() -> None:
    clock = ManualClock()
    cancelled = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def is_over() -> bool:
        with pytest.raises(TimeoutError):
            await within(clock, 2.0, hang())
        return cancelled.is_set()

    waiting = asyncio.create_task(is_over())
    await clock.advance(1.999)
    assert not waiting.done()
    await clock.advance(0.001)
    assert await waiting


@pytest.mark.parametrize("error", [None, RuntimeError("nobody listens any more")])
async def test_the_limit_holds_even_for_what_resists_being_cancelled(
    error: Exception | None,
) -> None:
    """However it ends after that, nobody is bothered."""
    clock = ManualClock()
    let_go = asyncio.Event()
    complaints: list[dict[str, object]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, complaint: complaints.append(complaint))

    async def resist() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await let_go.wait()
            if error is not None:
                raise error from None

    waiting = asyncio.create_task(within(clock, 1.0, resist()))
    await clock.advance(1.0)
    with pytest.raises(TimeoutError):
        await waiting
    let_go.set()
    await clock.settle()
    del waiting
    gc.collect()
    loop.set_exception_handler(None)
    assert complaints == []


async def test_the_error_of_being_late_can_be_chosen() -> None:
    clock = ManualClock()
    late = LookupError("too late")
    waiting = asyncio.create_task(within(clock, 1.0, clock.sleep(9), late=lambda: late))
    await clock.advance(1.0)
    with pytest.raises(LookupError) as raised:
        await waiting
    assert raised.value is late


async def test_who_is_cancelled_while_it_waits_cancels_what_it_waits_for() -> None:
    clock = ManualClock()
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    waiting = asyncio.create_task(within(clock, 2.0, hang()))
    await started.wait()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    assert cancelled.is_set()
