"""The entries of a recorded tree: what was read below /sys and /dev, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

import attrs

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber


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


def node_text(number: NodeNumber) -> str:
    """Return what stands in the file that takes the place of a device node: `char 188:0`."""
    return f"{number.kind} {number.major}:{number.minor}"


def parsed_node(text: str) -> NodeNumber | None:
    """Return the device node whose place a file with this text takes; None if it takes none's."""
    found = _NODE.fullmatch(text)
    if found is None:
        return None
    kind: Literal["block", "char"] = "block" if found[1] == "block" else "char"
    return NodeNumber(kind, int(found[2]), int(found[3]))


Entry = Directory | Link | File | NodeNumber
"""What can be at a path; a number stands for a device node."""

_DIRECTORY: Final = Directory()
_NODE: Final = re.compile(r"(char|block) ([0-9]{1,9}):([0-9]{1,9})\s*", re.ASCII)


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


@attrs.frozen(kw_only=True)
class Uses:
    """What the host said that it uses: block devices, and network interfaces.

    None: nobody asked. `unknown` says why it could not tell, by the name of the question.
    """

    disks: Mapping[NodeNumber, str] | None = None
    interfaces: Mapping[str, str] | None = None
    unknown: Mapping[str, str] = attrs.field(factory=dict[str, str])


@attrs.frozen
class Recording:
    """Entries by path; a path begins with "/" and leads through directories only.

    A file that others are below is a directory; one that is not given is added. `uses` are the
    host's. Raises `InvalidValueError` for a path that could lead elsewhere than into the tree.
    """

    entries: Mapping[str, Entry] = attrs.field(converter=_with_parents)
    uses: Uses = attrs.field(factory=Uses, kw_only=True)

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
