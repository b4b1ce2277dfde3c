"""The laws of `Worker`."""

import asyncio
import threading
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import ClassVar

import pytest

from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.testing.contracts.law import BOUND, law, soon

_COLOUR: ContextVar[str] = ContextVar("colour")


class _OddError(Exception):
    """An error that nobody else raises."""


class WorkerContract:
    """What holds for each worker: subclass it and provide `world`, which is the worker itself.

    `runs_beside`: whether calls run while the event loop does; else those laws are skipped.
    """

    runs_beside: ClassVar[bool] = True

    def world(self) -> AbstractAsyncContextManager[Worker]:
        """Return a worker for one test."""
        raise NotImplementedError

    def _needs_runs_beside(self) -> None:
        if not self.runs_beside:
            pytest.skip("runs_beside: calls of this worker hold up the loop")

    @law
    async def test_returns_what_the_call_returns(self, worker: Worker) -> None:
        """The result is the very object."""
        result = object()
        assert await soon(worker.run(lambda: result)) is result

    @law
    async def test_raises_what_the_call_raises(self, worker: Worker) -> None:
        """The error is the very object."""
        error = _OddError("odd")
        with pytest.raises(_OddError) as raised:
            await soon(worker.run(lambda: _raise(error)))
        assert raised.value is error

    @law
    async def test_an_error_that_no_coroutine_can_raise_is_raised_as_another(
        self, worker: Worker
    ) -> None:
        """StopIteration neither hangs nor passes for a result."""
        with pytest.raises(RuntimeError):
            await soon(worker.run(lambda: _raise(StopIteration())))

    @law
    async def test_the_call_sees_the_context_of_its_caller(self, worker: Worker) -> None:
        """Context variables hold in the call as they do around it; what it sets stays its own."""
        _COLOUR.set("yellow")
        assert await soon(worker.run(_COLOUR.get)) == "yellow"

    @law
    async def test_the_loop_runs_while_a_call_blocks(self, worker: Worker) -> None:
        """A call may wait for what the loop does next."""
        self._needs_runs_beside()
        gate = threading.Event()
        work = asyncio.create_task(worker.run(lambda: gate.wait(BOUND)))
        await asyncio.sleep(0)
        gate.set()
        assert await soon(asyncio.wait_for(work, None))

    @law
    async def test_no_call_waits_for_another(self, worker: Worker) -> None:
        """Any number of calls are under way at once: here they can only end together."""
        self._needs_runs_beside()
        meeting = threading.Barrier(40)
        places = await soon(
            asyncio.wait_for(
                asyncio.gather(*(worker.run(lambda: meeting.wait(BOUND)) for _ in range(40))), None
            )
        )
        assert sorted(places) == list(range(40))

    @law
    async def test_a_cancelled_waiter_leaves_the_call_to_itself(self, worker: Worker) -> None:
        """Cancelling returns at once; the call goes on to its end and harms nobody."""
        self._needs_runs_beside()
        gate, over = threading.Event(), threading.Event()

        def call() -> None:
            gate.wait(BOUND)
            over.set()

        work = asyncio.create_task(worker.run(call))
        await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert not over.is_set()
        gate.set()
        assert await worker.run(lambda: over.wait(BOUND))


def _raise(error: Exception) -> None:
    raise error
