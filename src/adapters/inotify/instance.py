"""inotify-simple with types, which it lacks."""

import errno
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol, cast

from inotify_simple import INotify

_REMEDIES: Final[Mapping[int | None, str]] = {
    errno.EMFILE: "raise fs.inotify.max_user_instances (or this process's limit of open files)",
    errno.ENFILE: "raise fs.file-max",
    errno.ENOSPC: "raise fs.inotify.max_user_watches",
    errno.ENOSYS: "this kernel has no inotify",
}


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


def reason(error: OSError) -> str:
    """Return what failed, and what a person can do about it."""
    name = errno.errorcode.get(error.errno or 0, "an error")
    remedy = _REMEDIES.get(error.errno, "see inotify(7)")
    return f"inotify: {name} (errno {error.errno}, {error.strerror}): {remedy}"
