"""Keeps what a scan asks of /dev."""

import errno
import os
from collections.abc import Iterable, Mapping

from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber
from deviceplugin.domain.recording.entries import Directory, Entry, File, Link


class NotedNodes(DeviceNodes):
    """Answers as another view of device nodes does; `entries` is what its answers need."""

    def __init__(self, nodes: DeviceNodes) -> None:
        self._nodes = nodes
        self._asked: set[str] = set()
        self._matched: set[str] = set()
        self._refused: dict[str, int] = {}

    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path`, through any link, stands for; None if it is none."""
        self._asked.add(path)
        return self._nodes.number(path)

    def resolve(self, path: str) -> str:
        """Return `path` with links resolved."""
        self._asked.add(path)
        return self._nodes.resolve(path)

    def matching(self, pattern: str) -> Iterable[str]:
        """Return the host paths that match a glob."""
        found = tuple(self._nodes.matching(pattern))
        self._matched.update(found)
        return found

    def take_refusals(self) -> Mapping[str, int]:
        """Return the directories that could not be looked into since this was asked last."""
        refused = self._nodes.take_refusals()
        self._refused.update(refused)
        return refused

    def entries(self) -> Mapping[str, Entry]:
        """Return the nodes, links and files behind all answers so far, by path: /dev/kvm.

        A way through several links is one link; what matched and is no node is a file. A directory
        that could not be looked into fails again.
        """
        found: dict[str, Entry] = {}
        for path in sorted(self._asked | self._matched):
            if path.startswith("/dev/") and os.path.normpath(path) == path:
                self._take(path, found)
        self.take_refusals()
        for folder, number in self._refused.items():
            found[folder] = Directory(failure=errno.errorcode.get(number, "EIO"))
        return {
            path: entry
            for path, entry in found.items()
            if not any(isinstance(found.get(above), Link) for above in _above(path))
        }

    def _take(self, path: str, found: dict[str, Entry]) -> None:
        number, real = self._nodes.number(path), self._nodes.resolve(path)
        if number is not None:
            found[real] = number
        elif path in self._matched:
            found.setdefault(real, File())
        if real != path and (number is not None or path in self._matched):
            found[path] = Link(os.path.relpath(real, os.path.dirname(path)))  # noqa: PTH120 - text


def _above(path: str) -> Iterable[str]:
    while path := path.rpartition("/")[0]:
        yield path
