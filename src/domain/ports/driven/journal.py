"""Where events go."""

from abc import abstractmethod
from typing import Protocol

from deviceplugin.domain.events import Event


class Journal(Protocol):
    """Takes note of what happened. Never raises, never blocks."""

    @abstractmethod
    def record(self, event: Event) -> None:
        """Take note of `event`."""
        ...
