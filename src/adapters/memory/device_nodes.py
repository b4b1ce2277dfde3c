"""A host's /dev without a file system."""

import errno
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Final

import attrs

from deviceplugin.domain.discovery.globs import Glob, path_globs
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber

MAX_LINKS: Final = 40
"""Links after which a path leads nowhere, as in Linux."""

_ROOT: Final = "/dev"


@attrs.frozen
class _Link:
    target: str


class MemoryDeviceNodes(DeviceNodes):
    """Nodes, files and links that are there because they were added; folders follow from them."""

    def __init__(self) -> None:
        self._entries: dict[str, NodeNumber | _Link | None] = {}
        self._there: set[str] | None = None
        self._closed: set[str] = set()
        self._refused: dict[str, int] = {}

    def add_node(self, path: str, number: NodeNumber) -> None:
        """Let a device node be there."""
        self._there = None
        self._entries[path] = number

    def add_file(self, path: str) -> None:
        """Let a plain file be there."""
        self._there = None
        self._entries[path] = None

    def add_link(self, path: str, target: str) -> None:
        """Let a symbolic link be there."""
        self._there = None
        self._entries[path] = _Link(target)

    def close(self, path: str) -> None:
        """Let nobody look into a folder any more."""
        self._closed.add(path)

    def open(self, path: str) -> None:
        """Let everybody look into it again."""
        self._closed.remove(path)

    def remove(self, path: str) -> None:
        """Remove what was added."""
        self._there = None
        del self._entries[path]

    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path` stands for, through any link."""
        found = self._entries.get(self._followed(path) or "")
        return found if isinstance(found, NodeNumber) else None

    def resolve(self, path: str) -> str:
        """Return `path` with links resolved; as it is if it leads nowhere."""
        return self._followed(path) or path

    def matching(self, pattern: str) -> Iterable[str]:
        """Return the paths that match a glob, sorted."""
        globs = path_globs(_ROOT, pattern)
        found = [_ROOT] if globs else []
        for glob in globs:
            found = [f"{path}/{name}" for path in found for name in self._below(path, glob)]
        return sorted(found)

    def take_refusals(self) -> Mapping[str, int]:
        """Return the folders that were closed when they were looked into since the last time."""
        refused, self._refused = self._refused, {}
        return refused

    def _refuses(self, folder: str) -> bool:
        if folder in self._closed:
            self._refused[folder] = errno.EACCES
        return folder in self._closed

    def _below(self, path: str, glob: Glob) -> list[str]:
        folder = self._followed(path)
        if folder is None or self._refuses(folder):
            return []
        return [
            name
            for parent, _, name in (each.rpartition("/") for each in self._paths())
            if parent == folder and glob.fits(name)
            if name.startswith(".") <= glob.text.startswith(".")
        ]

    def _paths(self) -> set[str]:
        """Return every path that is there, folders included."""
        if self._there is None:
            self._there = {
                path
                for entry in self._entries
                for path in accumulate(entry.split("/"), "{}/{}".format)
            }
        return self._there

    def _followed(self, path: str) -> str | None:
        """Return where `path` leads to within /dev, or None."""
        there, links, folder = self._paths(), 0, ""
        parts = path.split("/")[::-1] if path.startswith("/") else []
        while parts:
            part = parts.pop()
            here = f"{folder}/{part}"
            found = self._entries.get(here)
            if part in {"", "."}:
                continue
            if part == "..":
                folder = _parent(folder)
            elif self._refuses(folder) or here not in there or links > MAX_LINKS:
                return None
            elif isinstance(found, _Link):
                links += 1
                folder = "" if found.target.startswith("/") else folder
                parts += found.target.split("/")[::-1]
            else:
                folder = here
        return folder or None


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
