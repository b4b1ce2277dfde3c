"""Bounded reads below one root, which never leave it and never raise: /sys is full of odd entries.

An attribute can fail with anything at any time: its device goes away, the driver answers EIO, it
is for root alone. So a failure means "nothing there", noted if a person may want to know.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from typing import Final

from deviceplugin.domain.scan_events import DirectoryUnreadable, EntryUnreadable

PAGE: Final = 4096
"""No attribute that is text is longer: the kernel has one page for each."""

_GONE: Final = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO, errno.EISDIR, errno.EINVAL}
)
"""Answers of what is not there, or not any more, or of another sort: nothing to tell anybody."""
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


_Unreadable = DirectoryUnreadable | EntryUnreadable


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
        self._directories: dict[str, str | None] = {}
        self.notes: list[_Unreadable] = []

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
        if path not in self._directories:
            self._directories[path] = self._resolved(path, os.path.isdir, DirectoryUnreadable)
        return self._directories[path]

    def device(self, entry: str) -> str | None:
        """Return the directory below /devices that a link stands for; None if there is none."""
        target = self.link(entry)
        if target is None:
            return None
        path = self._pointed(entry, target) or self._resolved(entry, os.path.isdir)
        if path is None or not path.startswith("/devices/"):
            self.note(entry, f"leads to no device: {printable(target)}")
            return None
        self._directories[path] = path
        return path

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

        None if it is not there, cannot be read, is too long or no text.
        """
        data = self.data(path)
        if data is None:
            return None
        try:
            text = data.decode().rstrip(" \t\n\r\v\f\0")
        except UnicodeDecodeError:
            text = "\0"
        if len(data) > PAGE or "\0" in text:
            self.note(path, "holds no text, or too much of it")
            return None
        return text

    def data(self, path: str) -> bytes | None:
        """Return what a file begins with; None if it is not there or cannot be read."""
        directory, _, name = path.rpartition("/")
        real = self.directory(directory)
        return None if real is None else self._page(f"{real}/{name}", path)

    def note(self, path: str, reason: str) -> None:
        """Remember what is odd about an entry."""
        self.notes.append(EntryUnreadable(path=printable(path), reason=reason))

    def _page(self, real: str, path: str) -> bytes | None:
        """Return what the file at `real` begins with, through a link if there is one."""
        try:
            return self._read(self._root + real)
        except OSError as error:
            if error.errno != errno.ELOOP:
                self._failed(EntryUnreadable, path, error)
                return None
        linked = self._resolved(path, os.path.isfile, EntryUnreadable)
        return None if linked in {None, real} else self._page(linked or "", path)

    def _pointed(self, entry: str, target: str) -> str | None:
        """Return what a link of the kernel's sort points at: a real directory, by a relative path.

        Its parent is resolved once for all devices below it, which saves most of the work.
        """
        if target.startswith("/"):
            return None
        parent, _, name = os.path.normpath(f"{entry}/../{target}").rpartition("/")
        real = self.directory(parent)
        if real is None:
            return None
        try:
            mode = os.lstat(f"{self._root}{real}/{name}").st_mode
        except OSError:
            return None
        return f"{real}/{name}" if stat.S_ISDIR(mode) else None

    def _resolved(
        self,
        path: str,
        is_right: Callable[[str], bool],
        kind: type[_Unreadable] | None = None,
    ) -> str | None:
        try:
            real = os.path.realpath(self._root + path, strict=True)
        except OSError as error:
            if kind:
                self._failed(kind, path, error)
            return None
        inside = real.startswith(f"{self._root}/")
        return real.removeprefix(self._root) if inside and is_right(real) else None

    def _failed(self, kind: type[_Unreadable], path: str, error: OSError) -> None:
        if error.errno not in _GONE:
            reason = os.strerror(error.errno) if error.errno else str(error)
            self.notes.append(kind(path=printable(path), reason=reason))


def printable(text: str) -> str:
    """Return text that can be shown and sent: whatever cannot is escaped."""
    return text if text.isprintable() else ascii(text)[1:-1]
