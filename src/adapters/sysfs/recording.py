"""Keeps what a scan asks of /sys, and answers as it did."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from deviceplugin.adapters.sysfs.directories import MAX_LINKS
from deviceplugin.adapters.sysfs.files import Files, read_page
from deviceplugin.domain.recording.entries import Directory, Entry, File, Link

_ALWAYS: Final = "/devices"
"""By it a sysfs is known."""


class Questions:
    """What readers were asked, by path; `reader` makes one for a root, as a scanner wants it."""

    def __init__(self) -> None:
        self.listed: set[str] = set()
        self.read: set[str] = set()
        self.met: set[str] = {_ALWAYS}

    def reader(self, root: str) -> Files:
        """Return a reader that answers as any other does, and keeps what it is asked."""
        return _NotingFiles(root, self)


class _NotingFiles(Files):
    def __init__(self, root: str, asked: Questions) -> None:
        super().__init__(root)
        self._asked = asked

    def names(self, directory: str) -> tuple[str, ...]:
        self._asked.listed.add(directory)
        return super().names(directory)

    def entries(self, directory: str) -> None:
        """Let each name be asked for: what is not asked for is not recorded."""

    def directory(self, path: str) -> str | None:
        self._asked.met.add(path)
        return super().directory(path)

    def device(self, entry: str) -> str | None:
        self._asked.met.add(entry)
        return super().device(entry)

    def link(self, path: str) -> str | None:
        self._asked.met.add(path)
        return super().link(path)

    def has(self, path: str) -> bool:
        self._asked.met.add(path)
        return super().has(path)

    def data(self, path: str) -> bytes | None:
        self._asked.read.add(path)
        return super().data(path)


def taken(root: str, asked: Questions) -> Mapping[str, Entry]:
    """Return what the answers to these questions need of a root, by paths below it.

    It is looked at once more: what changed since the scan is taken as it is now.
    """
    take = _Take(os.path.realpath(root).rstrip("/"))
    for path in sorted(asked.met):
        take.reach(path)
    for path in sorted(asked.listed):
        take.listing(path)
    for path in sorted(asked.read):
        take.content(path)
    return take.entries


def beside(
    root: str, entries: Mapping[str, Entry], names: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield path and text of the files of these names in directories of devices, read or not."""
    real = os.path.realpath(root).rstrip("/")
    for path, entry in entries.items():
        if isinstance(entry, Directory) and path.startswith("/devices/"):
            with suppress(OSError):
                for name in sorted(names.intersection(os.listdir(f"{real}{path}"))):  # noqa: PTH208
                    with suppress(OSError):
                        data = read_page(f"{real}{path}/{name}")
                        yield f"{path}/{name}", data.decode("latin-1")


def replaying(failures: Mapping[str, str]) -> Callable[[str], Files]:
    """Return what makes a reader of a recorded root that fails where the scan had failed.

    `failures` are names of errors by path below the root.
    """

    def reader(root: str) -> Files:
        real = os.path.realpath(root).rstrip("/")

        def check(path: str) -> None:
            name = failures.get(path.removeprefix(real))
            if name is not None:
                number = getattr(errno, name, errno.EIO)
                raise OSError(number, os.strerror(number))

        def read(path: str) -> bytes:
            check(path)
            return read_page(path)

        def listdir(path: str) -> Iterable[str]:
            check(path)
            return os.listdir(path)  # noqa: PTH208 - as `Files` does

        return Files(root, read=read, listdir=listdir)

    return reader


class _Take:
    """Takes over one path after the other; never from outside of the root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.entries: dict[str, Entry] = {}

    def reach(self, path: str) -> str | None:
        """Take all that leads to a path, through links; return where it is, None if nowhere."""
        here, ahead, links = "", path.split("/")[::-1], 0
        while ahead:
            part = ahead.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                if not here:
                    return None
                here = here.rpartition("/")[0]
                continue
            here = f"{here}/{part}"
            entry = self._at(here)
            if isinstance(entry, Link):
                links += 1
                if links > MAX_LINKS or entry.target.startswith("/"):
                    return None
                here = here.rpartition("/")[0]
                ahead += entry.target.split("/")[::-1]
            elif entry is None or (ahead and not isinstance(entry, Directory)):
                return None
        return here

    def listing(self, path: str) -> None:
        """Take the names in a directory, with what each is."""
        here = self.reach(path)
        if not isinstance(self.entries.get(here or ""), Directory):
            return
        try:
            names = os.listdir(f"{self._root}{here}")  # noqa: PTH208 - as `Files` does
        except OSError as error:
            self.entries[here or ""] = Directory(failure=_name(error))
            return
        for name in names:
            self._at(f"{here}/{name}")

    def content(self, path: str) -> None:
        """Take what a file begins with."""
        here = self.reach(path)
        if not isinstance(self.entries.get(here or ""), File):
            return
        try:
            self.entries[here or ""] = File(read_page(f"{self._root}{here}"))
        except OSError as error:
            self.entries[here or ""] = File(failure=_name(error))

    def _at(self, path: str) -> Entry | None:
        if path not in self.entries:
            try:
                self.entries[path] = self._found(f"{self._root}{path}")
            except OSError:
                return None
        return self.entries[path]

    def _found(self, place: str) -> Entry:
        mode = os.lstat(place).st_mode
        if stat.S_ISLNK(mode):
            return Link(os.readlink(place))  # noqa: PTH115 - text, as it is written
        return Directory() if stat.S_ISDIR(mode) else File()


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or errno.EIO, "EIO")
