"""What wakes a watcher that has no file system: a test, or time."""

import asyncio

from deviceplugin.adapters.memory.tasks import ended
from deviceplugin.domain.ports.driven.clock import Clock


class Waking:
    """Each `wake` ends a `changed`, or the next one; each change is one, unless `deaf` is set.

    To be deaf is to lose the events: only a poll finds out. It is not known, unless `heard` is set
    to false as well.
    """

    def __init__(self, clock: Clock) -> None:
        self.deaf = False
        self._heard = True
        self._clock = clock
        self._woken = asyncio.Event()
        self._closed = False

    @property
    def heard(self) -> bool:
        """Whether changes are heard, as far as is known."""
        return self._heard and not self._closed

    @heard.setter
    def heard(self, heard: bool) -> None:
        self._heard = heard

    async def changed(self, seconds: float) -> None:
        """Return at the next change, or after `seconds`."""
        waking = asyncio.create_task(self._wake_after(seconds))
        try:
            await self._woken.wait()
        finally:
            await ended(waking)
        # Not before: a call that is cancelled while it ends must leave the wake to the next one.
        self._woken.clear()

    def close(self) -> None:
        """Let a `changed` that is under way return; later ones only wait."""
        if not self._closed:
            self._closed = True
            self._woken.set()

    def wake(self) -> None:
        """Let the watcher look, even where nothing changed."""
        if not self._closed:
            self._woken.set()

    def _told(self) -> None:
        if not self.deaf:
            self.wake()

    async def _wake_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._woken.set()
