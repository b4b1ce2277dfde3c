"""A file that others write, watched in the event loop."""

import os
import stat

from deviceplugin.adapters.inotify.followed import FollowedPath
from deviceplugin.adapters.inotify.instance import reason
from deviceplugin.adapters.inotify.watches import ITSELF, Watches
from deviceplugin.domain.events import WatchDegraded
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.watched_file import WatchedFile


class InotifyFile(FollowedPath, WatchedFile):
    """Hears that a file was written, replaced or removed, or a link to it re-pointed.

    The folder is watched rather than the file: most writers put a new one in its place, as
    Kubernetes does with the link ..data of a ConfigMap. Without inotify, which is recorded once,
    the caller's interval is a poll.
    """

    def __init__(self, path: str, *, clock: Clock, journal: Journal) -> None:
        super().__init__(
            path,
            clock=clock,
            watches=lambda: Watches(ITSELF),
            degraded=lambda error: journal.record(
                WatchDegraded(reason=f"{path}: {reason(error)}")
            ),
        )

    def identity(self) -> FileIdentity | None:
        """Return which file is there now; the time of its last change tells its states apart."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - text in, as in the directory
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return FileIdentity(found.st_dev, found.st_ino, found.st_ctime_ns)
