"""The plugin directory, where kubelet.sock and our sockets come and go."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Final, Protocol

import attrs

from deviceplugin.domain.ports.driven.watched import Watched


@attrs.frozen
class FileIdentity:
    """Which file a name stands for: another file of the same name has another identity."""

    device: int
    inode: int
    changed_ns: int


@attrs.frozen(kw_only=True)
class Arrivals:
    """The sockets that came, whether or not they are still there.

    `names` are in the order in which they came. `missed`: whether some may have come unheard,
    though they were listened for.
    """

    names: tuple[str, ...] = ()
    missed: bool = False

    def after(self, name: str) -> Sequence[str]:
        """Return those that came after `name`: all, if that came before any of them."""
        return self.names[self.names.index(name) + 1 :] if name in self.names else self.names


NO_ARRIVALS: Final = Arrivals()


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

    @abstractmethod
    def arrivals(self) -> Arrivals:
        """Return which sockets came since the last call, or since the watching began.

        Those of a directory that is listened to beside this one, too, in one order with its own.
        Up to now: what came before this call is told by it. Where nothing is listened for, nothing
        is told, and nothing was missed.
        """
        ...
