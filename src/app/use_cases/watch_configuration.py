"""Read the configuration again when its file changed, or when somebody asks."""

import asyncio
from collections.abc import Callable
from typing import Final

from deviceplugin.app.settings import Configuration
from deviceplugin.app.use_cases.reload_configuration import ReloadConfiguration
from deviceplugin.domain.configuration_events import (
    ConfigurationRejected,
    ConfigurationRejectedAgain,
)
from deviceplugin.domain.errors import DevicePluginError, reason_of
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.watched_file import WatchedFile
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.timing import Rereading, until_next

MAX_FAULTS: Final = 20
"""Faults that one event names; the rest are counted."""


class WatchConfiguration:
    """Takes over each good configuration; one that cannot be used is told, and changes nothing.

    A writer may need several steps, in which the file is half written or not there. So it is read
    once it has been at rest for a moment, and is called bad after a longer one. Who asks is
    answered at once.
    """

    def __init__(  # noqa: PLR0913 - they go by name
        self,
        *,
        source: str,
        file: WatchedFile | None,
        reread: Callable[[], Configuration],
        reload: ReloadConfiguration,
        worker: Worker,
        clock: Clock,
        journal: Journal,
        timing: Rereading | None = None,
    ) -> None:
        """Look at nothing yet.

        `reread` reads and checks the whole, may block, and raises if it cannot be used. Without a
        `file` it is read when somebody asks.
        """
        self._source = source
        self._file = file
        self._reread = reread
        self._reload = reload
        self._worker = worker
        self._clock = clock
        self._journal = journal
        self._timing = timing or Rereading()
        self._asked = asyncio.Event()
        self._faults: tuple[str, ...] = ()
        self._failures = 0

    def ask(self) -> None:
        """Have it read at once. Call it in the loop, or before there is one."""
        self._asked.set()

    def close(self) -> None:
        """Stop watching the file."""
        if self._file is not None:
            self._file.close()

    async def run(self) -> None:
        """Watch until cancelled.

        It begins with a read: the file may have changed since the plugin was made from it.
        """
        read: FileIdentity | None = None
        while True:
            now = self._identity()
            if self._asked.is_set():
                self._asked.clear()
                await self._answer()
                read = now
            elif now == read:
                await self._wait(until_next(self._timing.poll, self._clock.now()))
            elif await self._is_done_with(now):
                read = now

    async def _answer(self) -> None:
        found = await self._read()
        if isinstance(found, tuple):
            self._reject(found, asked=True)
        else:
            self._take(found, asked=True)

    async def _is_done_with(self, now: FileIdentity | None) -> bool:
        """Read what is there now, if it stays; say whether that has had its consequence."""
        if not await self._rests(now, self._timing.settle):
            return False
        found = await self._read()
        if isinstance(found, tuple):
            if not await self._rests(now, self._timing.doubt):
                return False
            self._reject(found)
        elif self._identity() == now:
            self._take(found)
        else:
            return False
        return True

    async def _read(self) -> Configuration | tuple[str, ...]:
        """Return the configuration, or its faults."""
        try:
            return await self._worker.run(self._reread)
        except DevicePluginError as error:
            lines = str(error).splitlines() or [reason_of(error)]
        except Exception as error:  # noqa: BLE001 - whatever is in a file must not end a plugin
            lines = [f"{self._source}: {reason_of(error)}"]
        more = [f"and {len(lines) - MAX_FAULTS} more"] if len(lines) > MAX_FAULTS else []
        return (*lines[:MAX_FAULTS], *more)

    def _take(self, configuration: Configuration, *, asked: bool = False) -> None:
        try:
            self._reload(configuration, asked=asked or bool(self._failures))
        except DevicePluginError as error:
            self._reject((f"{self._source}: {error}",), asked=asked)
        else:
            self._failures, self._faults = 0, ()

    def _reject(self, faults: tuple[str, ...], *, asked: bool = False) -> None:
        self._failures += 1
        is_known, self._faults = faults == self._faults, faults
        kind = ConfigurationRejectedAgain if is_known and not asked else ConfigurationRejected
        self._journal.record(kind(source=self._source, faults=faults, failures=self._failures))

    def _identity(self) -> FileIdentity | None:
        return None if self._file is None else self._file.identity()

    async def _rests(self, now: FileIdentity | None, seconds: float) -> bool:
        """Say whether nothing changes, and nobody asks, for so long."""
        end = self._clock.now() + seconds
        while not self._asked.is_set() and self._identity() == now:
            left = end - self._clock.now()
            if left <= 0:
                return True
            await self._wait(left)
        return False

    async def _wait(self, seconds: float) -> None:
        """Return once the file may have changed, or somebody asks, else after `seconds`."""
        tasks: set[asyncio.Task[object]] = {asyncio.create_task(self._asked.wait())}
        if self._file is not None:
            tasks.add(asyncio.create_task(self._file.changed(seconds)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
