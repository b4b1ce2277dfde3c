"""What the suites of all that is `Watched` wait for."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from deviceplugin.testing.contracts.law import soon


async def waiting_on(changed: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
    """Return a call of `changed` that really waits: what came before it is behind it.

    The pause only makes a law stricter; without it, a late wake would be taken for a later one.
    """
    for _ in range(20):
        task = asyncio.create_task(changed())
        await asyncio.wait({task}, timeout=0.02)
        if not task.done():
            return task
        await task
    raise AssertionError("wakes again and again without a change")


async def woken(task: asyncio.Task[None]) -> None:
    """Return when the call has returned, soon."""
    await soon(asyncio.wait_for(task, None))


async def given_up(task: asyncio.Task[None]) -> None:
    """End a call that waits."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await soon(asyncio.wait_for(task, None))
