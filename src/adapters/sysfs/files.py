"""Bounded reads below one root, which never leave it and never raise: /sys is full of odd entries.

An attribute can fail with anything at any time: its device goes away, the driver answers EIO, it
is for root alone. So a failure means "nothing there", noted if a person may want to know.
"""

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from deviceplugin.adapters.sysfs.directories import MAX_LINKS, Directories
from deviceplugin.domain.discovery.events import (
    DirectoryUnreadable,
    EntryForbidden,
    EntryUnreadable,
)
from deviceplugin.domain.discovery.withheld import NO_TEXT, UNREAD

PAGE: Final = 4096
"""No attribute that is text is longer: the kernel has one page for each."""

_GONE: Final = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO, errno.EISDIR, errno.EINVAL}
)
"""Answers of what is not there, or not any more, or of another sort: nothing to tell anybody."""
_FORBIDDEN: Final = frozenset({errno.EACCES, errno.EPERM})
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


def read_page(path: str) -> bytes:
    """Return the beginning of a file: one byte more than a page at most.

    The file itself must not be a link (ELOOP). It does not block, whatever the file is. Paths are
    text here: making a `Path` takes as long as reading the file.
    """
    handle = os.open(path, _FLAGS)
    try:
        return os.read(handle, PAGE + 1)
    finally:
        os.close(handle)


Unreadable = DirectoryUnreadable | EntryUnreadable
Identity = tuple[int, int, int]
"""File system, inode and time of the last change of a directory.

sysfs never gives an inode to two things (on 64 bits, since Linux 5.5); other file systems do, and
there the time tells. In sysfs a time may change for nothing, which costs one more look.
"""


class Files:
    """What is below a root, by paths that begin with "/". For one scan, since it remembers.

    `read` and `listdir` are how the outside is looked at.
    """

    def __init__(
        self,
        root: str,
        *,
        read: Callable[[str], bytes] = read_page,
        listdir: Callable[[str], Iterable[str]] = os.listdir,
    ) -> None:
        self._root = os.path.realpath(root).rstrip("/")
        self._read = read
        self._listdir = listdir
        self._directories = Directories(self._root)
        self.known = self._directories.known
        """Paths without links of directories. Whoever looks at one himself may add it."""
        self.notes: list[Unreadable] = []

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names in a directory, sorted; none if it is not there or not in the root."""
        real = self.directory(directory)
        if real is None:
            return ()
        try:
            return tuple(sorted(self._listdir(self._root + real)))
        except OSError as error:
            self._failed(DirectoryUnreadable, directory, error)
            return ()

    def directory(self, path: str) -> str | None:
        """Return a directory's path without links; None if it is not there or not in the root."""
        try:
            return self._directories.resolve(path)
        except OSError as error:
            self._failed(DirectoryUnreadable, path, error)
            return None

    def device(self, entry: str) -> str | None:
        """Return the directory below /devices that a link stands for; None if there is none.

        The link itself is in a directory whose path has no links.
        """
        target = self.link(entry)
        if target is None:
            return None
        noted = len(self.notes)
        path = self._followed(entry.rpartition("/")[0], target)
        if len(self.notes) > noted:
            return None
        if path is None or not path.startswith("/devices/"):
            self.note(entry, f"leads to no device: {printable(target)}")
            return None
        return path

    def entries(self, directory: str) -> Collection[str] | None:
        """Return the names in a directory without links, to know what need not be asked for.

        None if each has to be asked for.
        """
        try:
            return frozenset(self._listdir(self._root + directory))
        except OSError:
            return None

    def identity(self, path: str) -> Identity | None:
        """Return which directory is at `path`, itself without links; None if there is none."""
        try:
            found = os.lstat(self._root + path)
        except OSError:
            return None
        if not stat.S_ISDIR(found.st_mode):
            return None
        return found.st_dev, found.st_ino, found.st_ctime_ns

    def numbers(self, directory: str) -> Mapping[str, int]:
        """Return the inode of each entry of a directory without links: those of links themselves.

        Nothing if it cannot be listed.
        """
        try:
            with os.scandir(self._root + directory) as entries:
                return {entry.name: entry.inode() for entry in entries}
        except OSError:
            return {}

    def link(self, path: str) -> str | None:
        """Return where a link points, as it is written; None if there is no link."""
        try:
            return os.readlink(self._root + path)  # noqa: PTH115 - see read_page
        except OSError:
            return None

    def has(self, path: str) -> bool:
        """Say whether there is anything of that name."""
        return os.path.lexists(self._root + path)

    def text(self, path: str) -> str | None:
        """Return a file's text, without white space and NULs at its end.

        None if it is not there; `UNREAD` if it cannot be read or is too long, `NO_TEXT` if it is
        none.
        """
        noted = len(self.notes)
        data = self.data(path)
        if data is None:
            return None if len(self.notes) == noted else UNREAD
        try:
            text = data.decode().rstrip(" \t\n\r\v\f\0")
        except UnicodeDecodeError:
            text = "\0"
        if len(data) > PAGE or "\0" in text:
            self.note(path, "holds no text, or too much of it")
            return NO_TEXT if "\0" in text else UNREAD
        return text

    def data(self, path: str) -> bytes | None:
        """Return what a file begins with; None if it is not there or cannot be read."""
        directory, _, name = path.rpartition("/")
        real = directory if directory in self.known else self.directory(directory)
        if real is None:
            return None
        try:
            return self._read(f"{self._root}{real}/{name}")
        except OSError as error:
            return self._page(real, name, path, error)

    def refused(self, directories: Mapping[str, int]) -> None:
        """Note directories beside the root that could not be looked into, with their errors."""
        for path, number in directories.items():
            reason = os.strerror(number)
            self.notes.append(DirectoryUnreadable(path=printable(path), reason=reason))

    def note(self, path: str, reason: str) -> None:
        """Remember what is odd about an entry."""
        self.notes.append(EntryUnreadable(path=printable(path), reason=reason))

    def _page(self, directory: str, name: str, path: str, error: OSError) -> bytes | None:
        """Return what a file in a real directory begins with that failed so, if it is a link."""
        here: str | None = directory
        for _ in range(MAX_LINKS):
            if error.errno != errno.ELOOP:
                self._failed(EntryUnreadable, path, error)
                return None
            target = self.link(f"{here}/{name}") or "/"
            name = target.rpartition("/")[2]
            here = self._followed(here or "", target.removesuffix(name))
            if here is None:
                return None
            try:
                return self._read(f"{self._root}{here}/{name}")
            except OSError as further:
                error = further
        return None

    def _followed(self, here: str, target: str) -> str | None:
        """Return what a link in a directory leads to; None if that is no directory in the root."""
        try:
            return None if target.startswith("/") else self._directories.follow(here, target)
        except OSError as error:
            if error.errno in _FORBIDDEN:
                # What may not be entered is named, once for all that is in it.
                closed = str(error.filename or "").removeprefix(self._root).rpartition("/")[0]
                self._failed(DirectoryUnreadable, closed or here, error)
            return None

    def _failed(self, kind: type[Unreadable], path: str, error: OSError) -> None:
        if error.errno not in _GONE:
            if kind is EntryUnreadable and error.errno in _FORBIDDEN:
                kind = EntryForbidden
            reason = os.strerror(error.errno) if error.errno else str(error)
            self.notes.append(kind(path=printable(path), reason=reason))


def printable(text: str) -> str:
    """Return text that can be shown and sent: whatever cannot is escaped."""
    return text if text.isprintable() else ascii(text)[1:-1]
