"""How a law about coroutines becomes a test that any runner can call."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from deviceplugin.testing.loop import run

BOUND = 10.0
"""Seconds of real time within which what must happen soon has happened, on a busy machine too."""

_World = TypeVar("_World")
_Result = TypeVar("_Result")


def law(statement: Callable[[Any, _World], Coroutine[Any, Any, None]]) -> Callable[[Any], None]:
    """Make a test of a method that states a law about a world.

    The test enters `self.world()` in the loop that all tests share and awaits the statement there.
    """

    async def within(suite: Any) -> None:  # noqa: ANN401 - any class with a `world`
        async with suite.world() as world:
            await statement(suite, world)

    def test(self: Any) -> None:  # noqa: ANN401
        run(within(self))

    # Not functools.wraps: pytest would follow `__wrapped__` and take the world for a fixture.
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(test, name, getattr(statement, name))
    return test


async def soon(promise: Coroutine[Any, Any, _Result]) -> _Result:
    """Return what `promise` does; raise `TimeoutError` if it takes longer than the bound."""
    async with asyncio.timeout(BOUND):
        return await promise


async def eventually(holds: Callable[[], object]) -> None:
    """Return once `holds` is true; raise `TimeoutError` if it isn't within the bound."""
    async with asyncio.timeout(BOUND):
        while not holds():  # noqa: ASYNC110
            # A thread or a process may bring it about, which no event of the loop tells of.
            await asyncio.sleep(0.001)
