"""Time and chance, injected so that tests own both."""

from abc import abstractmethod
from typing import Protocol


class Clock(Protocol):
    """Time that only grows."""

    @abstractmethod
    def now(self) -> float:
        """Return seconds since some fixed moment."""
        ...

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed; at once, but not before others ran, for none."""
        ...


class Chance(Protocol):
    """Randomness."""

    @abstractmethod
    def fraction(self) -> float:
        """Return a number in [0, 1)."""
        ...
