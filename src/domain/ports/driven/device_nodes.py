"""The device nodes below the host's /dev."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

import attrs


@attrs.frozen
class NodeNumber:
    """What a device node stands for."""

    kind: Literal["char", "block"]
    major: int
    minor: int


class DeviceNodes(Protocol):
    """Looks at device nodes by the path the host gives them, such as /dev/kvm."""

    @abstractmethod
    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path`, through any link, stands for; None if it is none."""
        ...

    @abstractmethod
    def resolve(self, path: str) -> str:
        """Return `path` with links resolved, as the host names it; itself if it leads nowhere."""
        ...

    @abstractmethod
    def matching(self, pattern: str) -> Iterable[str]:
        """Return the host paths that match a glob whose wildcards never cross a '/', sorted."""
        ...

    @abstractmethod
    def take_refusals(self) -> Mapping[str, int]:
        """Return the directories that could not be looked into since this was asked last.

        By the host's path, without links, each with the number of the error (errno). What is in
        them was answered as if it were not there. One that is not there is not among them.
        """
        ...
