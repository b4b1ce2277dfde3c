"""Blocking calls, each on a thread of its own."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import NoReturn, TypeVar

from deviceplugin.domain.ports.driven.worker import Worker

_Result = TypeVar("_Result")
_Outcome = Callable[[], _Result]


class ThreadWorker(Worker):
    """Makes each call on a daemon thread.

    Not an executor's: it has so many threads and no more, so calls that never end would stop all
    others, and Python joins its threads at exit, so they would hold up the end of the process.
    """

    async def run(self, call: Callable[[], _Result]) -> _Result:
        """Return or raise what `call` does; its thread shares the caller's context variables."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[_Outcome[_Result]] = loop.create_future()

        def work() -> None:
            done = _outcome(call)
            # A loop that was closed meanwhile has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_deliver, outcome, done)

        name = f"deviceplugin: {getattr(call, '__qualname__', type(call).__name__)}"
        threading.Thread(target=copy_context().run, args=[work], name=name, daemon=True).start()
        return (await outcome)()


def _outcome(call: Callable[[], _Result]) -> _Outcome[_Result]:
    """Make the call, and return how to return or raise what it did.

    Not `Future.set_exception`, which some exceptions may not be given to.
    """
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - whatever it is, the caller gets it
        return partial(_raise, error)
    return lambda: result


def _deliver(outcome: asyncio.Future[_Outcome[_Result]], done: _Outcome[_Result]) -> None:
    if not outcome.done():
        outcome.set_result(done)


def _raise(error: BaseException) -> NoReturn:
    raise error
