"""The plugin directory, where kubelet.sock and our sockets come and go."""

from abc import abstractmethod
from typing import Protocol

import attrs


@attrs.frozen
class FileIdentity:
    """Which file a name stands for: another file of the same name has another identity."""

    device: int
    inode: int
    changed_ns: int


class PluginDirectory(Protocol):
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

    @property
    @abstractmethod
    def heard(self) -> bool:
        """Whether changes are heard; where they are not, only regular looks show them."""
        ...

    @abstractmethod
    async def changed(self, seconds: float) -> None:
        """Return once something may have changed since the last return, else after `seconds`.

        Only a hint, for one caller: an event may be missed or doubled, so the caller looks for
        itself.
        """
        ...

    @abstractmethod
    def wake(self) -> None:
        """Let the `changed` that is under way, or the next one, return as if something changed."""
        ...

    @abstractmethod
    def close(self) -> None:
        """Stop watching. Idempotent."""
        ...
