"""What the laws of a plugin directory need of the world around it."""

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Protocol

from deviceplugin.domain.ports.driven.directory import PluginDirectory


class DirectoryWorld(Protocol):
    """A directory, existing and empty at first, and the power to change what is in it."""

    @property
    @abstractmethod
    def directory(self) -> PluginDirectory:
        """The directory under test."""
        ...

    @abstractmethod
    def appear(self, name: str) -> None:
        """Make a file that is not there."""
        ...

    @abstractmethod
    def appear_beside(self, name: str) -> None:
        """Make a file in a directory that is listened to beside this one: made, if need be."""
        ...

    @abstractmethod
    def vanish(self, name: str) -> None:
        """Remove a file that is there."""
        ...

    @abstractmethod
    def replace(self, name: str) -> None:
        """Put another file in the place of the one there is, in one step."""
        ...

    @abstractmethod
    def open_socket(self, name: str) -> AbstractContextManager[object]:
        """Listen on a socket in the directory."""
        ...

    @abstractmethod
    def remove_directory(self) -> None:
        """Remove the directory with all that is in it."""
        ...

    @abstractmethod
    def make_directory(self) -> None:
        """Make the directory again, empty."""
        ...

    @abstractmethod
    def repoint(self) -> None:
        """Let the link that the configured path is lead to another directory, which is empty."""
        ...

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Let virtual time pass; where time is real, nothing need be done."""
        ...
