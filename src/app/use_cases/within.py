"""Wait, but not for ever, by the clock that was injected."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from deviceplugin.domain.ports.driven.clock import Clock

_Result = TypeVar("_Result")


async def within(clock: Clock, seconds: float, answer: Awaitable[_Result]) -> _Result:
    """Return or raise what `answer` does; cancel it and raise `TimeoutError` after `seconds`."""
    work = asyncio.ensure_future(answer)
    limit = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({work, limit}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise TimeoutError
    finally:
        work.cancel()
        limit.cancel()
        await asyncio.wait({work, limit})
