"""The entries of a recorded tree: what was read below /sys and /dev, and nothing else."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

import attrs

from deviceplugin.domain.errors import InvalidValueError


@attrs.frozen
class Directory:
    """A directory; `failure` is the name of the error that listing it met, such as EACCES."""

    failure: str = ""


@attrs.frozen
class Link:
    """A symbolic link with this text."""

    target: str


@attrs.frozen
class File:
    """A file's beginning; `failure` is the name of the error that reading it met."""

    data: bytes = b""
    failure: str = ""


@attrs.frozen
class Node:
    """A device node. Its text is what stands in the file that takes its place."""

    kind: Literal["char", "block"]
    major: int
    minor: int

    def __str__(self) -> str:
        """Return `char 188:0`."""
        return f"{self.kind} {self.major}:{self.minor}"


Entry = Directory | Link | File | Node

_DIRECTORY: Final = Directory()


def _with_parents(given: Mapping[str, Entry]) -> Mapping[str, Entry]:
    """Return the entries in the order of their paths, each directory before what is in it."""
    entries = dict(given)
    for path in given:
        for parent in _parents(path):
            if isinstance(entries.setdefault(parent, _DIRECTORY), File):
                entries[parent] = _DIRECTORY
    return MappingProxyType(dict(sorted(entries.items())))


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


@attrs.frozen
class Recording:
    """Entries by path; a path begins with "/" and leads through directories only.

    A file that others are below is a directory; one that is not given is added. Raises
    `InvalidValueError` for a path that could lead elsewhere than into the tree.
    """

    entries: Mapping[str, Entry] = attrs.field(converter=_with_parents)

    def __attrs_post_init__(self) -> None:
        """Refuse what could be written outside of the tree."""
        for path in self.entries:
            first, *parts = path.split("/")
            if first or not parts or {"", ".", ".."} & {*parts} or "\0" in path:
                raise InvalidValueError(f"{path!r} must be an absolute path without '..'")
            for parent in _parents(path):
                if not isinstance(self.entries[parent], Directory):
                    raise InvalidValueError(f"{path!r} leads through what is no directory")

    @property
    def failures(self) -> Mapping[str, str]:
        """The names of errors that were met, by path."""
        return {
            path: entry.failure
            for path, entry in self.entries.items()
            if isinstance(entry, File | Directory) and entry.failure
        }
