"""A plugin directory without a file system."""

import itertools

from deviceplugin.adapters.memory.waking import Waking
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import Arrivals, FileIdentity, PluginDirectory

_ITSELF = FileIdentity(0, 0, 0)
_NUMBERS = itertools.count(1)
"""Of all files of all directories, so that the newer of two can be told."""


class MemoryDirectory(Waking, PluginDirectory):
    """Names and identities; each change wakes the watcher, unless `deaf` is set.

    A deaf directory is one whose events are lost: only a poll finds out.
    """

    def __init__(self, clock: Clock, path: str = "/plugins") -> None:
        super().__init__(clock)
        self._path = path
        self._files: dict[str, FileIdentity] | None = {}
        self.listeners: list[MemoryDirectory] = [self]
        """Who hears what happens here, which those do who listen to it beside their own."""
        self._arrived: list[str] = []
        self._missed = False

    @property
    def path(self) -> str:
        """The directory, as configured."""
        return self._path

    def identity(self, name: str) -> FileIdentity | None:
        """Return which file `name` stands for now."""
        if self._files is None:
            return None
        return _ITSELF if name == "." else self._files.get(name)

    def arrivals(self) -> Arrivals:
        """Return which sockets came since the last call."""
        arrivals = Arrivals(names=tuple(self._arrived), missed=self._missed)
        self._arrived, self._missed = [], False
        return arrivals

    def heard_of(self, name: str) -> None:
        """Note that a file came, here or in a directory that is listened to."""
        if self.heard and not self.deaf and name.endswith(".sock") and name[0] != ".":
            self._arrived.append(name)

    def _told(self) -> None:
        for each in self.listeners:
            if not each.deaf:
                each.wake()

    def miss(self) -> None:
        """Lose what is not told yet, as a queue that runs over does."""
        self._arrived, self._missed = [], True
        self.wake()

    def names(self) -> tuple[str, ...]:
        """Return what is there, sorted."""
        return tuple(sorted(self._files or ()))

    def put(self, name: str) -> FileIdentity:
        """Make a file, in the place of one that has the name already."""
        if self._files is None:
            raise FileNotFoundError(f"no directory {self._path}")
        number = next(_NUMBERS)
        self._files[name] = FileIdentity(device=1, inode=number, changed_ns=number)
        for each in self.listeners:
            each.heard_of(name)
        self._told()
        return self._files[name]

    def remove(self, name: str) -> None:
        """Remove the file, which must be there."""
        if self._files is None or name not in self._files:
            raise FileNotFoundError(f"no file {self._path}/{name}")
        del self._files[name]
        self._told()

    def remove_directory(self) -> None:
        """Remove the directory with all that is in it."""
        self._files = None
        self._told()

    def make_directory(self) -> None:
        """Make the directory, empty, if it is missing."""
        if self._files is None:
            self._files = {}
            self._told()
