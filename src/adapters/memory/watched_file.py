"""A file of which nothing is known but that it changes."""

import asyncio
import itertools

from deviceplugin.adapters.memory.tasks import ended
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.watched_file import WatchedFile


class MemoryFile(WatchedFile):
    """Changes by `write`, `replace` and `remove`; each wakes the watcher, unless `deaf` is set.

    A deaf file is one whose events are lost: only a poll finds out.
    """

    def __init__(self, clock: Clock) -> None:
        self.deaf = False
        self._clock = clock
        self._identity: FileIdentity | None = None
        self._numbers = itertools.count(1)
        self._woken = asyncio.Event()
        self._closed = False

    def identity(self) -> FileIdentity | None:
        """Return which file is there now."""
        return self._identity

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

    def write(self) -> None:
        """Let it have other content, or be there."""
        number = next(self._numbers)
        inode = number if self._identity is None else self._identity.inode
        self._identity = FileIdentity(device=1, inode=inode, changed_ns=number)
        self.wake()

    def replace(self) -> None:
        """Put another file in its place, in one step."""
        number = next(self._numbers)
        self._identity = FileIdentity(device=1, inode=number, changed_ns=number)
        self.wake()

    def remove(self) -> None:
        """Let it be gone."""
        self._identity = None
        self.wake()

    def wake(self) -> None:
        """Let the watcher look, even where nothing changed."""
        if not self.deaf and not self._closed:
            self._woken.set()

    async def _wake_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._woken.set()
