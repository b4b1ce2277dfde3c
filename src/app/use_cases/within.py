"""Wait, but not for ever, by the clock that was injected."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from deviceplugin.domain.ports.driven.clock import Clock

_Result = TypeVar("_Result")


async def within(
    clock: Clock,
    seconds: float,
    answer: Coroutine[Any, Any, _Result],
    *,
    late: Callable[[], Exception] = TimeoutError,
) -> _Result:
    """Return or raise what `answer` does; cancel it and raise `late()` after `seconds`.

    An answer that resists being cancelled is left to itself: the limit holds all the same.
    """
    work = asyncio.create_task(answer)
    work.add_done_callback(_hear_out)
    limit = asyncio.create_task(clock.sleep(seconds))
    try:
        await asyncio.wait({work, limit}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise late()
    finally:
        work.cancel()
        limit.cancel()
        await asyncio.wait({work, limit}, timeout=0)


def _hear_out(work: "asyncio.Task[Any]") -> None:
    """Take an error that nobody waits for any more, so that the loop does not complain."""
    if not work.cancelled():
        work.exception()
