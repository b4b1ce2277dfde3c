"""Which sockets plugins_registry holds, by what the kernel tells of it."""

import os
from pathlib import Path
from typing import Final

from inotify_simple import flags

from deviceplugin.adapters.inotify.instance import Event, open_instance

_MASK: Final[int] = flags.CREATE | flags.MOVED_TO | flags.DELETE | flags.ONLYDIR


class RegistryFiles:
    """The sockets that ought to be registered: pluginwatcher and its desired state of the world.

    Each has a mark that changes with every creation, so that a new socket on an old path shows.
    What is renamed away stays, since the watcher takes no note of that. Names with a dot in front
    and what is no socket are passed over; folders are followed.
    """

    def __init__(self, directory: Path) -> None:
        """Make the directory, watch it and take in what is there; raises `OSError`."""
        self._folders: dict[int, str] = {}
        self._marks: dict[str, object] = {}
        directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        self._inotify = open_instance()
        try:
            self._walk(str(directory))
        except BaseException:
            self._inotify.close()
            raise

    @property
    def marks(self) -> dict[str, object]:
        """The mark of each socket, by path, as of the last `follow`."""
        return dict(self._marks)

    def follow(self) -> None:
        """Take in all that has happened since."""
        while events := self._inotify.read(timeout=0):
            for event in events:
                self._take(event)

    def close(self) -> None:
        """Watch no more."""
        self._inotify.close()

    def _take(self, event: Event) -> None:
        folder = self._folders.get(event.wd)
        if folder is None or not event.name:
            return
        path = os.path.join(folder, event.name)  # noqa: PTH118 - these paths are texts
        if event.mask & flags.DELETE:
            self._marks.pop(path, None)
        elif event.mask & (flags.CREATE | flags.MOVED_TO):
            self._created(path)

    def _created(self, path: str) -> None:
        at = Path(path)
        if at.name.startswith("."):
            return
        if at.is_dir():
            self._walk(path)
        elif at.is_socket():
            self._marks[path] = object()

    def _walk(self, folder: str) -> None:
        # The watch comes before the look: what is made between the two is told by both.
        self._folders[self._inotify.add_watch(folder, _MASK)] = folder
        for name in os.listdir(folder):  # noqa: PTH208 - these paths are texts
            self._created(os.path.join(folder, name))  # noqa: PTH118
