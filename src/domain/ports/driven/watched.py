"""Something that others change, and when to look at it again."""

from abc import abstractmethod
from typing import Protocol


class Watched(Protocol):
    """Notices when to look again; what there is to see, its own port says."""

    @property
    @abstractmethod
    def heard(self) -> bool:
        """Whether changes are heard; where they are not, only regular looks show them."""
        ...

    @abstractmethod
    async def changed(self, seconds: float) -> None:
        """Return once something may have changed since the last return, else after `seconds`.

        Only a hint, for one caller: an event may be missed or doubled, so the caller looks for
        itself. A change in place of a file is told when its writer closes it.
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
