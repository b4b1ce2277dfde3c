"""Code of an author may be plain or async, may fail, may hang: we get its answer or the reason."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.author_code import AuthorCode, run_either
from deviceplugin.domain.errors import AllocationTimeoutError
from deviceplugin.domain.ports.driven.worker import Worker

_Result = TypeVar("_Result")


class Author:
    """What an author may write."""

    def plain(self, number: int, *, more: int = 0) -> int:
        """Answer at once."""
        return number + more

    async def waiting(self, number: int, *, more: int = 0) -> int:
        """Answer after others had a turn."""
        await asyncio.sleep(0)
        return number + more

    async def hanging(self) -> None:
        """Never answer."""
        await asyncio.Event().wait()

    async def cancelling(self) -> None:
        """Await something that is cancelled."""
        other = asyncio.ensure_future(asyncio.Event().wait())
        other.cancel()
        await other

    def failing(self) -> None:
        """Fail in a way that one could take for our own limit."""
        raise TimeoutError("the card did not answer")


# The type of what an author may hand in; mypy does not infer it from one of its two forms.
PLAIN: Callable[..., Awaitable[int] | int] = Author().plain
WAITING: Callable[..., Awaitable[int] | int] = Author().waiting
HANGING: Callable[..., Awaitable[None] | None] = Author().hanging
CANCELLING: Callable[..., Awaitable[None] | None] = Author().cancelling
FAILING: Callable[..., Awaitable[None] | None] = Author().failing


def code(clock: ManualClock, worker: Worker | None = None) -> AuthorCode:
    """Return what calls an author's code, with ten seconds for each call."""
    return AuthorCode(worker=worker or InlineWorker(), clock=clock, seconds=10.0)


async def test_a_plain_and_an_async_method_are_called_alike() -> None:
    call = code(ManualClock()).call
    assert await call(PLAIN, 1, more=2) == 3
    assert await call(WAITING, 1, more=2) == 3


async def test_a_plain_function_that_returns_a_coroutine_is_awaited() -> None:
    """As a method does that a decorator has wrapped."""
    wrapped: Callable[..., Awaitable[int] | int] = partial(Author().waiting, 1)
    assert await code(ManualClock()).call(wrapped, more=2) == 3


class RecordingWorker(Worker):
    """Notes what it was given."""

    def __init__(self) -> None:
        self.calls = 0

    async def run(self, call: Callable[[], _Result]) -> _Result:
        """Make the call here."""
        self.calls += 1
        return call()


async def test_only_a_plain_method_goes_to_the_worker() -> None:
    """An async one belongs to the loop, and must not leave it."""
    worker = RecordingWorker()
    call = code(ManualClock(), worker).call
    await call(WAITING, 1)
    assert worker.calls == 0
    await call(PLAIN, 1)
    assert worker.calls == 1


async def test_an_async_method_runs_in_the_thread_of_the_loop() -> None:
    async def where() -> int:
        return threading.get_ident()

    asked: Callable[..., Awaitable[int] | int] = where
    assert await code(ManualClock(), RecordingWorker()).call(asked) == threading.get_ident()


async def test_a_method_that_hangs_is_cut_off_with_its_name_and_the_limit() -> None:
    clock = ManualClock()
    call = asyncio.create_task(code(clock).call(HANGING))
    await clock.advance(9.9)
    assert not call.done()
    await clock.advance(0.1)
    with pytest.raises(AllocationTimeoutError) as late:
        await call
    assert (late.value.call, late.value.seconds) == ("Author.hanging", 10.0)


class StuckWorker(Worker):
    """A worker whose thread never comes back."""

    async def run(self, call: Callable[[], _Result]) -> _Result:
        """Wait for ever."""
        await asyncio.Event().wait()
        return call()


async def test_a_plain_method_that_hangs_is_cut_off_too() -> None:
    clock = ManualClock()
    call = asyncio.create_task(code(clock, StuckWorker()).call(PLAIN, 1))
    await clock.advance(10)
    with pytest.raises(AllocationTimeoutError):
        await call


async def test_an_error_of_the_author_passes_as_it_is_even_a_timeout() -> None:
    """Its text becomes the pod's status; we must not say that it did not answer when it did."""
    with pytest.raises(TimeoutError, match="the card did not answer") as raised:
        await code(ManualClock()).call(FAILING)
    assert type(raised.value) is TimeoutError


async def test_what_is_cancelled_within_an_authors_code_is_an_error_of_theirs() -> None:
    """Taken for our own cancelling it would end a handler without an answer."""
    with pytest.raises(RuntimeError, match=r"Author\.cancelling awaited"):
        await code(ManualClock()).call(CANCELLING)


async def test_our_own_cancelling_is_none() -> None:
    call = asyncio.create_task(run_either(InlineWorker(), partial(HANGING)))
    await ManualClock().settle()
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
