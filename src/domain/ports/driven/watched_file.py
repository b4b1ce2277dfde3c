"""A file that somebody else writes, such as a configuration, and when to read it again."""

from abc import abstractmethod
from typing import Protocol

from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.watched import Watched


class WatchedFile(Watched, Protocol):
    """Looks which file a path stands for, and notices when to look again; it reads nothing."""

    @abstractmethod
    def identity(self) -> FileIdentity | None:
        """Return which file is there now, through any link, in the state of its last change.

        So another file, and other content, have another identity. None where there is no regular
        file: what a pipe says can be read once only.
        """
        ...
