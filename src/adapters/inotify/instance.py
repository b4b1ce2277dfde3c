"""inotify-simple with types, which it lacks."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

from inotify_simple import INotify


class Event(NamedTuple):
    """Something that happened to a watched folder, or to the name in it that is told."""

    wd: int
    mask: int
    cookie: int
    name: str


class Instance(Protocol):
    """What we use of an inotify instance. Each method raises `OSError`."""

    def fileno(self) -> int:
        """Return the descriptor, readable when there are events."""
        ...

    def add_watch(self, path: str, mask: int) -> int:
        """Watch a folder and return the number of the watch: the same one for the same folder."""
        ...

    def rm_watch(self, wd: int) -> None:
        """End a watch."""
        ...

    def read(self, timeout: int) -> Sequence[Event]:
        """Take the events there are, waiting for none if `timeout` is 0."""
        ...

    def close(self) -> None:
        """Give the instance back to the kernel."""
        ...


def open_instance() -> Instance:
    """Return a new instance."""
    return cast("Instance", INotify(nonblocking=True))
