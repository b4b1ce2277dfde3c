"""The plugin directory, where kubelet.sock and our sockets come and go."""

from abc import abstractmethod
from typing import Protocol

import attrs

from deviceplugin.domain.ports.driven.watched import Watched


@attrs.frozen
class FileIdentity:
    """Which file a name stands for: another file of the same name has another identity."""

    device: int
    inode: int
    changed_ns: int


class PluginDirectory(Watched, Protocol):
    """Looks at files in the plugin directory and notices when to look again."""

    @property
    @abstractmethod
    def path(self) -> str:
        """The directory, as configured."""
        ...

    @abstractmethod
    def identity(self, name: str) -> FileIdentity | None:
        """Return which file `name` stands for now, through any link; None where there is none.

        `.` is the directory itself.
        """
        ...
