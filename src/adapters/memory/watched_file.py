"""A file of which nothing is known but that it changes."""

import itertools

from deviceplugin.adapters.memory.waking import Waking
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.watched_file import WatchedFile


class MemoryFile(Waking, WatchedFile):
    """Changes by `write`, `replace` and `remove`; each wakes the watcher, unless `deaf` is set.

    A deaf file is one whose events are lost: only a poll finds out.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._identity: FileIdentity | None = None
        self._numbers = itertools.count(1)

    def identity(self) -> FileIdentity | None:
        """Return which file is there now."""
        return self._identity

    def write(self) -> None:
        """Let it have other content, or be there."""
        number = next(self._numbers)
        inode = number if self._identity is None else self._identity.inode
        self._identity = FileIdentity(device=1, inode=inode, changed_ns=number)
        self._told()

    def replace(self) -> None:
        """Put another file in its place, in one step."""
        number = next(self._numbers)
        self._identity = FileIdentity(device=1, inode=number, changed_ns=number)
        self._told()

    def remove(self) -> None:
        """Let it be gone."""
        self._identity = None
        self._told()
