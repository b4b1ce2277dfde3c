"""The plugin directory, watched in the event loop."""

import os
from collections.abc import Sequence

import attrs

from deviceplugin.adapters.inotify.followed import FollowedPath
from deviceplugin.adapters.inotify.instance import reason
from deviceplugin.adapters.inotify.watches import SOCKETS, Watches
from deviceplugin.domain.events import WatchDegraded
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import (
    NO_ARRIVALS,
    Arrivals,
    FileIdentity,
    PluginDirectory,
)
from deviceplugin.domain.ports.driven.journal import Journal


class InotifyDirectory(FollowedPath, PluginDirectory):
    """Hears of changes of a directory, and of the files in it that end in .sock.

    Also of those in the directories `beside` it, such as another way's to the kubelet.

    Without inotify, which is recorded once, the caller's interval is a poll.
    """

    def __init__(
        self,
        path: str,
        *,
        clock: Clock,
        journal: Journal,
        listening: bool = True,
        beside: Sequence[str] = (),
    ) -> None:
        """Listen, unless somebody only wants to look, and lets time pass in between."""
        self._missed = False
        self._journal = journal
        super().__init__(
            path,
            clock=clock,
            watches=lambda: Watches(SOCKETS) if listening else None,
            degraded=self._went_deaf,
            beside=beside,
        )

    def identity(self, name: str) -> FileIdentity | None:
        """Return which file `name` stands for now, through any link."""
        try:
            # No Path: a hundred resources look after their sockets at each event.
            found = os.stat(f"{self._path}/{name}")  # noqa: PTH116
        except (OSError, ValueError):
            return None
        return FileIdentity(found.st_dev, found.st_ino, found.st_ctime_ns)

    def arrivals(self) -> Arrivals:
        """Return which sockets came since the last call, those not read yet among them."""
        if self._watches is not None:
            self._hear(self._watches)
        heard = NO_ARRIVALS if self._watches is None else self._watches.take_arrivals()
        missed, self._missed = self._missed or heard.missed, False
        return attrs.evolve(heard, missed=True) if missed else heard

    def _went_deaf(self, error: OSError) -> None:
        self._missed = True
        self._journal.record(WatchDegraded(reason=reason(error)))
