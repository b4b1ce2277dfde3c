"""A path that is followed, through links, as the kernel tells of changes on the way."""

import asyncio
from collections.abc import Callable, Sequence

from deviceplugin.adapters.inotify.watches import Watches
from deviceplugin.domain.ports.driven.clock import Clock


class FollowedPath:
    """Hears of changes through inotify, with one instance, no thread, and no task between calls.

    It listens from its construction on: the kernel keeps what happens until the first `changed`,
    and between any two. It follows the path anew at the end of each `changed`, before the caller
    looks again; so whatever changes after a look is heard.

    Without inotify, or without `watches`, `changed` only waits, so that the caller's interval is a
    poll; `degraded` is told once why there is no inotify, and it is tried again after each wait.

    What happens at the paths `beside` it is heard in the same way, as far as it can be: whether
    every change is heard is said of the path alone.
    """

    def __init__(
        self,
        path: str,
        *,
        clock: Clock,
        watches: Callable[[], Watches | None],
        degraded: Callable[[OSError], None],
        beside: Sequence[str] = (),
    ) -> None:
        self._path = path
        self._beside = beside
        self._clock = clock
        self._open = watches
        self._tell = degraded
        self._woken = asyncio.Event()
        self._watches: Watches | None = None
        self._listening: asyncio.AbstractEventLoop | None = None
        self._degraded = False
        self._closed = False
        self._cover()

    @property
    def path(self) -> str:
        """The path, as configured."""
        return self._path

    @property
    def heard(self) -> bool:
        """Whether every change is heard that inotify can tell."""
        return self._watches is not None and self._watches.complete

    async def changed(self, seconds: float) -> None:
        """Return as soon as what the path stands for may have changed, else after `seconds`."""
        waking = asyncio.create_task(self._wake_after(seconds))
        self._listen()
        try:
            await self._woken.wait()
        finally:
            self._deafen()
            waking.cancel()
            await asyncio.wait({waking})
        # Not before: a call that is cancelled while it ends must leave the wake to the next one.
        self._woken.clear()
        self._cover()

    def wake(self) -> None:
        """Let the `changed` that is under way, or the next one, return."""
        if not self._closed:
            self._woken.set()

    def close(self) -> None:
        """Stop watching; a `changed` that is under way returns, later ones only wait."""
        if not self._closed:
            self._closed = True
            self._release()
            self._woken.set()

    def _cover(self) -> None:
        """Watch what the path means now."""
        if self._closed:
            return
        try:
            self._watches = self._watches or self._open()
            if self._watches is not None:
                self._watches.cover(self._path, self._beside)
        except OSError as error:
            self._degrade(error)
        else:
            self._degraded = False

    def _degrade(self, error: OSError) -> None:
        self._release()
        if not self._degraded:
            self._degraded = True
            self._tell(error)

    def _listen(self) -> None:
        if self._watches is not None:
            self._listening = asyncio.get_running_loop()
            self._listening.add_reader(self._watches.fileno(), self._hear, self._watches)

    def _deafen(self) -> None:
        if self._listening is not None and self._watches is not None:
            self._listening.remove_reader(self._watches.fileno())
        self._listening = None

    def _hear(self, watches: Watches) -> None:
        try:
            if watches.heard():
                self._woken.set()
        except OSError as error:
            self._degrade(error)
            self._woken.set()

    def _release(self) -> None:
        self._deafen()
        if self._watches is not None:
            self._watches.close()
            self._watches = None

    async def _wake_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._woken.set()
