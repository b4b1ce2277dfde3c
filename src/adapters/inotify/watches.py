"""One inotify instance, and what it watches for the sake of one path."""

import errno
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import attrs
from inotify_simple import flags

from deviceplugin.adapters.inotify.instance import Event, open_instance
from deviceplugin.adapters.inotify.places import places
from deviceplugin.domain.ports.driven.directory import Arrivals

_MASK: Final[int] = (
    flags.CREATE
    | flags.DELETE
    | flags.MOVED_FROM
    # A file that is renamed into place sends no CREATE.
    | flags.MOVED_TO
    | flags.DELETE_SELF
    | flags.MOVE_SELF
    | flags.ONLYDIR
)
"""What each watch tells of. One mask for all, since one folder may be watched for two reasons."""

_CAME: Final[int] = flags.CREATE | flags.MOVED_TO
_ANY_SOCKET: Final = "*.sock"


@attrs.frozen(kw_only=True)
class Interest:
    """What matters besides the names that decide what a path means.

    `sockets`: those in the directory that it leads to. `content`: what is written under one of the
    names, told when the writer closes it.
    """

    sockets: bool = False
    content: bool = False


SOCKETS: Final = Interest(sockets=True)
"""Of a path that leads to a directory."""
ITSELF: Final = Interest(content=True)
"""Of a path that leads to a file."""
_EXHAUSTED: Final = frozenset({errno.ENOSPC, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


class Watches:
    """Hears of what may change what a path leads to.

    Three kinds of names matter: sockets, if the path leads to a directory of them; its own name in
    its parent, because a removed directory says nothing itself while a socket of ours in it is
    open; and each link on the way, because one that is re-pointed says nothing at all. All else is
    noise.

    Raises `OSError` where the kernel has no instance, or no watch, left to give.
    """

    def __init__(self, interest: Interest) -> None:
        self._inotify = open_instance()
        self._sockets = interest.sockets
        self._mask = _MASK | flags.CLOSE_WRITE if interest.content else _MASK
        self._wanted: dict[int, set[str]] = {}
        self._arrived: list[str] = []
        self._missed = False
        self.complete = False
        """Whether all that may change what the path means is watched."""

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is something to hear."""
        return self._inotify.fileno()

    def cover(self, path: str, beside: Sequence[str] = ()) -> None:
        """Watch what `path` means now, the paths `beside` it as far as they go, and nothing else.

        The kernel knows a folder that is watched already and gives it the same watch again. So no
        event is lost where nothing moved, and nothing need be compared here.
        """
        wanted: dict[int, set[str]] = defaultdict(set)
        self.complete = self._want(path, wanted)
        for each in beside:
            self._want(each, wanted)
        for stale in self._wanted.keys() - wanted.keys():
            # The kernel may have ended it by itself.
            with suppress(OSError):
                self._inotify.rm_watch(stale)
        self._wanted = dict(wanted)

    def heard(self) -> bool:
        """Take all that there is to hear; say whether any of it matters."""
        matters = False
        for event in self._inotify.read(timeout=0):
            if self._matters(event):
                matters = True
                self._note(event)
        return matters

    def take_arrivals(self) -> Arrivals:
        """Return which sockets came, of those heard of; forget them."""
        arrivals = Arrivals(names=tuple(self._arrived), missed=self._missed)
        self._arrived, self._missed = [], False
        return arrivals

    def close(self) -> None:
        """Give the instance back."""
        self._inotify.close()

    def _want(self, path: str, wanted: dict[int, set[str]]) -> bool:
        """Watch what `path` means now, noting what; return whether all of it is watched."""
        now = places(path)
        # The directory comes last: if it is replaced after this, its parent is watched already.
        inside = ((now.directory, _ANY_SOCKET),) if self._sockets and now.directory else ()
        complete = True
        for folder, name in (*now.names, *inside):
            watch = self._watch(folder)
            if watch is None:
                complete = False
            else:
                wanted[watch].add(name)
        return complete

    def _watch(self, folder: str) -> int | None:
        try:
            return self._inotify.add_watch(folder, self._mask)
        except OSError as error:
            if error.errno in _EXHAUSTED:
                raise
            # It is gone again, no folder, or not ours to read: a poll has to do.
            return None

    def _note(self, event: Event) -> None:
        if event.mask & flags.Q_OVERFLOW:
            self._missed = True
        elif event.mask & _CAME and _ANY_SOCKET in self._wanted[event.wd]:
            self._arrived += [event.name] if _is_socket(event.name) else ()

    def _matters(self, event: Event) -> bool:
        if event.mask & flags.Q_OVERFLOW:
            return True
        wanted = self._wanted.get(event.wd)
        if wanted is None:
            # What is not watched any more, such as the end of a watch that we ended.
            return False
        # No name: the folder itself was removed, moved or unmounted, or its watch has ended.
        return (
            not event.name
            or event.name in wanted
            or (_ANY_SOCKET in wanted and _is_socket(event.name))
        )


def _is_socket(name: str) -> bool:
    return name.endswith(".sock") and not name.startswith(".")
