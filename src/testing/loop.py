"""The one event loop of a test process.

grpc.aio binds its poller to the first loop that uses it and prints noise in any other, so every
test of a process shares this loop. No pytest plugin is needed.
"""

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

_Result = TypeVar("_Result")

PATIENCE = 60.0
"""Seconds after which a test that hangs is ended."""
ENDING = 1.0
"""Seconds within which a task that is ending when the test is over has ended."""


@cache
def shared_loop() -> asyncio.AbstractEventLoop:
    """Return the loop, made at the first call."""
    return asyncio.new_event_loop()


def run(law: Coroutine[Any, Any, _Result], *, patience: float = PATIENCE) -> _Result:
    """Return what `law` returns, run in the shared loop.

    Raises `AssertionError` if it leaves tasks behind, `TimeoutError` if it hangs.
    """
    return shared_loop().run_until_complete(_guarded(law, patience))


async def _guarded(law: Coroutine[Any, Any, _Result], patience: float) -> _Result:
    before = asyncio.all_tasks()
    try:
        async with asyncio.timeout(patience):
            result = await law
    except BaseException:
        await _ended(asyncio.all_tasks() - before)
        raise
    if left := await _ended(asyncio.all_tasks() - before):
        raise AssertionError(f"tasks left behind: {left}")
    return result


async def _ended(tasks: set[asyncio.Task[Any]]) -> list[str]:
    """Let what is ending, such as a handler of gRPC's, end; end the rest and return it."""
    if not tasks:
        return []
    _, left = await asyncio.wait(tasks, timeout=ENDING)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    return sorted(map(repr, left))
