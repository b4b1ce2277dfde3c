"""When what containers hold is asked anew, of all resources at once."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.timing import until_next

SOON: Final = 1.0
"""Seconds from what makes an answer doubtful to the question, unless `apart` is less."""


class AskAnew:
    """Asks whenever the last answer may not be the whole truth any more.

    - Soon after a kubelet opened a stream: of what it gave out until then, another instance may
      have been asked. All streams that are opened until the question share it.
    - Again and again while somebody cannot answer: soon, then after twice as long each time, up
      to `apart`. In that case also before a kubelet is met: its first list has to name what is
      held.

    Otherwise nothing wakes up.
    """

    def __init__(
        self, ask: Callable[[], Coroutine[Any, Any, bool]], *, clock: Clock, apart: float
    ) -> None:
        """Ask nothing yet; `ask` returns whether everybody could answer."""
        self._ask = ask
        self._clock = clock
        self._apart = apart
        self._soon = min(SOON, apart)
        self._due = asyncio.Event()
        self._sure = True

    def stream_opened(self) -> None:
        """Take note that a kubelet wants to know what there is of a resource."""
        self._due.set()

    def doubt(self) -> None:
        """Take note that somebody could not answer."""
        self._sure = False
        self._due.set()

    async def meet(self) -> None:
        """Return when a kubelet may be told of our resources: at once, unless somebody is unsure.

        Then there is a question first, for no longer than those may take who are asked.
        """
        if not self._sure:
            await self._question()

    async def run(self) -> None:
        """Ask, again and again. Does not return."""
        pause = self._soon
        while True:
            await self._until_due(pause)
            if self._due.is_set():
                await self._clock.sleep(self._soon)
                self._due.clear()
                pause = self._soon
            else:
                pause = min(2 * pause, self._apart)
            await self._question()

    async def _until_due(self, pause: float) -> None:
        if self._sure:
            await self._due.wait()
            return
        if pause >= self._apart:
            pause = until_next(pause, self._clock.now())
        with suppress(TimeoutError):
            await within(self._clock, pause, self._due.wait())

    async def _question(self) -> None:
        answered = await self._ask()
        self._sure = answered and not self._due.is_set()
