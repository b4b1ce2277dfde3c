"""How code of the plugin's author is called: plain or async, never without a bound."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import ParamSpec, TypeVar

import attrs

from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.errors import AllocationTimeoutError
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.worker import Worker

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


HANDLER_SECONDS = 10.0
"""The bound of one call of the author's code; the kubelet sets none for most."""


@attrs.frozen(kw_only=True)
class AuthorCode:
    """Calls an author's method.

    An `async` method runs in the loop, a plain one on a thread of its own. Either is given
    `seconds`, because the kubelet gives no limit and admits pods one by one: a call that hung
    would stop the node.
    """

    worker: Worker
    clock: Clock
    seconds: float = HANDLER_SECONDS

    async def call(
        self,
        method: Callable[_Given, Awaitable[_Result] | _Result],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> _Result:
        """Return or raise what the method does; `AllocationTimeoutError` after the bound."""
        answer = run_either(self.worker, partial(method, *args, **kwargs))
        late = partial(AllocationTimeoutError, _name(method), self.seconds)
        return await within(self.clock, self.seconds, answer, late=late)


def _name(method: Callable[..., object]) -> str:
    return getattr(method, "__qualname__", repr(method))


async def run_either(worker: Worker, call: "partial[Awaitable[_Result] | _Result]") -> _Result:
    """Return what `call` does: in the loop if it is a coroutine function, else on a thread.

    A coroutine that awaits something cancelled looks as if we had been; it becomes an error.
    """
    try:
        return await _ran(worker, call)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError(f"{_name(call.func)} awaited something that was cancelled") from error
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # gRPC would answer it with silence, and the kubelet would wait for ever.
        raise RuntimeError(f"{_name(call.func)} raised {type(error).__name__}") from error


async def _ran(worker: Worker, call: "partial[Awaitable[_Result] | _Result]") -> _Result:
    if iscoroutinefunction(call.func):
        answer: Awaitable[_Result] | _Result = call()
    else:
        answer = await worker.run(call)
    if isawaitable(answer):
        awaited: _Result = await answer
        return awaited
    return answer
