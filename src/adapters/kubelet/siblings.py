"""Other servers of the same resource, such as a newer instance's of the plugin."""

import os
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import attrs

from deviceplugin.adapters.kubelet.sockets import SocketDirectory, connect_error
from deviceplugin.domain.ports.driven.directory import NO_ARRIVALS, Arrivals, FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Successor

FRESH_SECONDS: Final = 1.0
"""How long a look serves, while the directory is as it was: all resources ask at one time."""

_Made = tuple[str, int]
"""A socket's path, and when it was made."""


@attrs.define
class Siblings:
    """Who else serves there, told by the names that this package gives its sockets.

    Or in a directory `beside` it: a newer instance may have taken another way to the kubelet.
    """

    directory: SocketDirectory
    beside: Sequence[SocketDirectory] = ()
    _now: Callable[[], float] = time.monotonic
    _looked: float = attrs.field(default=float("-inf"), init=False)
    _changed: Sequence[int] = attrs.field(default=(), init=False)
    _made: Mapping[str, Sequence[_Made]] = attrs.field(
        factory=dict[str, Sequence[_Made]], init=False
    )
    _alive: dict[str, tuple[float, bool]] = attrs.field(
        factory=dict[str, tuple[float, bool]], init=False
    )

    def newer_than(
        self, name: str, identity: FileIdentity, arrivals: Arrivals = NO_ARRIVALS
    ) -> Successor:
        """Return what there is of servers of the same resource that were made later."""
        self._look()
        part, ours = self.directory.resource_part(name), self.directory.text(name)
        newer = [
            other
            for other, made in self._made.get(part, ())
            if other != ours and made > identity.changed_ns
        ]
        if any(map(self._is_alive, newer)):
            return Successor.ALIVE
        if newer:
            return Successor.DEAD
        gone = arrivals.missed or self._came(name, arrivals)
        return Successor.GONE if gone else Successor.NONE

    def _came(self, name: str, arrivals: Arrivals) -> bool:
        """Say whether a server of the resource came after the one whose socket has that name."""
        # A hundred resources make a hundred sockets, and each looks at all of those names.
        part = self.directory.resource_part(name)
        return any(each.startswith(part) for each in arrivals.after(name))

    def _look(self) -> None:
        places = (self.directory, *self.beside)
        changed = [_changed(place.path) for place in places]
        if changed != self._changed or self._now() - self._looked >= FRESH_SECONDS:
            self._looked, self._changed = self._now(), changed
            self._made = _sockets_in(places)
            there = {path for made in self._made.values() for path, _ in made}
            self._alive = {path: each for path, each in self._alive.items() if path in there}

    def _is_alive(self, path: str) -> bool:
        asked, alive = self._alive.get(path, (float("-inf"), False))
        if self._now() - asked >= FRESH_SECONDS:
            alive = not connect_error(path)
            self._alive[path] = (self._now(), alive)
        return alive


def _changed(directory: str) -> int:
    """Return when something in the directory changed; -1 if that cannot be told."""
    try:
        # A hundred resources at once notice what a `Path` costs.
        return os.stat(directory).st_mtime_ns  # noqa: PTH116
    except OSError:
        return -1


def _sockets_in(places: Iterable[SocketDirectory]) -> Mapping[str, Sequence[_Made]]:
    """Return the sockets of each resource; what cannot be looked at is left out."""
    sockets: defaultdict[str, list[_Made]] = defaultdict(list)
    for place in places:
        # What went meanwhile is looked at again with the next look.
        with suppress(OSError), os.scandir(place.path) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISSOCK(status.st_mode):
                    made = (place.text(entry.name), status.st_ctime_ns)
                    sockets[place.resource_part(entry.name)].append(made)
    return sockets
