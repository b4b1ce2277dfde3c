"""One question for all who want the same answer, none of whom gets one older than their wish."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs

from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.ports.driven.clock import Clock

_Answer = TypeVar("_Answer")


@attrs.frozen
class _Outcome(Generic[_Answer]):
    """What came of the question of this number: an answer, or else a reason why there is none."""

    number: int
    answer: _Answer | None
    failure: HoldersUnknownError | None = None


class Fresh(Generic[_Answer]):
    """Asks once for all who came before the question was put, at most every `interval` seconds.

    Who comes later waits for the next one: its answer may know what they did before they came.
    Who gives up leaves the question to the others.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[_Answer]], *, clock: Clock, interval: float = 0.0
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._interval = interval
        self._turn = asyncio.Lock()
        self._put = 0
        self._put_at: float | None = None
        self._last: _Outcome[_Answer] | None = None

    async def __call__(self) -> _Answer:
        """Return an answer to a question that is put from now on, or raise why there is none."""
        known = self._put
        async with self._turn:
            last = self._last
            if last is None or last.number <= known:
                last = self._last = await self._asked()
        if last.failure is not None:
            # Each gets an error of their own: one that is raised again and again only grows.
            raise HoldersUnknownError(str(last.failure)) from last.failure
        assert last.answer is not None  # noqa: S101 - there is one or the other
        return last.answer

    async def _asked(self) -> _Outcome[_Answer]:
        # Also for none: all that come in this pass of the loop are then in time.
        await self._clock.sleep(self._rest())
        self._put += 1
        self._put_at = self._clock.now()
        number = self._put
        try:
            return _Outcome(number, await self._ask())
        except HoldersUnknownError as error:
            return _Outcome(number, None, error)

    def _rest(self) -> float:
        if self._put_at is None:
            return 0.0
        return max(0.0, self._put_at + self._interval - self._clock.now())
