"""Blocking calls, made where they stand."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from deviceplugin.domain.ports.driven.worker import Worker

_Result = TypeVar("_Result")


class InlineWorker(Worker):
    """Makes each call in the event loop: no thread, so a test is the same each time.

    A call that blocks therefore blocks the loop, and can't be left to itself.
    """

    async def run(self, call: Callable[[], _Result]) -> _Result:
        """Return or raise what `call` does, after others had a turn."""
        await asyncio.sleep(0)
        return call()
