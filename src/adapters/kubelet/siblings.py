"""Other servers of the same resource in a directory, such as a newer instance's of the plugin."""

import os
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from deviceplugin.adapters.kubelet.sockets import SocketDirectory, connect_error
from deviceplugin.domain.ports.driven.directory import NO_ARRIVALS, Arrivals, FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Successor

FRESH_SECONDS: Final = 1.0
"""How long a look serves, while the directory is as it was: all resources ask at one time."""

_Made = tuple[str, int]
"""A socket's name, and when it was made."""


@attrs.define
class Siblings:
    """Who else serves there, told by the names that this package gives its sockets."""

    directory: SocketDirectory
    _now: Callable[[], float] = time.monotonic
    _looked: float = attrs.field(default=float("-inf"), init=False)
    _changed: int = attrs.field(default=-1, init=False)
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
        part = self.directory.resource_part(name)
        newer = [
            other
            for other, made in self._made.get(part, ())
            if other != name and made > identity.changed_ns
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
        # A hundred resources at once notice what a `Path` costs.
        try:
            changed = os.stat(self.directory.path).st_mtime_ns  # noqa: PTH116
        except OSError:
            changed = -1
        if changed != self._changed or self._now() - self._looked >= FRESH_SECONDS:
            self._looked, self._changed = self._now(), changed
            self._made = _sockets_in(self.directory.path, self.directory.resource_part)
            there = {name for made in self._made.values() for name, _ in made}
            self._alive = {name: each for name, each in self._alive.items() if name in there}

    def _is_alive(self, name: str) -> bool:
        asked, alive = self._alive.get(name, (float("-inf"), False))
        if self._now() - asked >= FRESH_SECONDS:
            alive = not connect_error(self.directory.text(name))
            self._alive[name] = (self._now(), alive)
        return alive


def _sockets_in(directory: str, part_of: Callable[[str], str]) -> Mapping[str, Sequence[_Made]]:
    """Return the sockets of each resource; what cannot be looked at is left out."""
    sockets: defaultdict[str, list[_Made]] = defaultdict(list)
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISSOCK(status.st_mode):
                    sockets[part_of(entry.name)].append((entry.name, status.st_ctime_ns))
    except OSError:
        pass  # what went meanwhile is looked at again with the next look
    return sockets
