"""What tells that the hardware may have changed, so that a look need not wait for its turn."""

from abc import abstractmethod
from typing import Final, Protocol, Self

import attrs

MOST_NAMED: Final = 1000
"""Paths that one change names at most; where there are more, everything may have changed."""


@attrs.frozen(kw_only=True)
class Change:
    """What may be otherwise than it was, or everything.

    `paths` name devices, as below /sys, and device nodes, from /dev on.
    """

    paths: frozenset[str] = frozenset()
    everything: bool = False

    def __or__(self, other: Self) -> "Change":
        """Return both in one: what is known of it never grows beyond a bound."""
        paths = self.paths | other.paths
        if self.everything or other.everything or len(paths) > MOST_NAMED:
            return Change(everything=True)
        return Change(paths=paths)

    def __bool__(self) -> bool:
        """Say whether anything may have changed at all."""
        return self.everything or bool(self.paths)


class Hotplug(Protocol):
    """Hears of changes from its making on; only a hint, since one may be missed or doubled."""

    @property
    @abstractmethod
    def heard(self) -> bool:
        """Whether changes are heard; where they are not, only regular looks show them."""
        ...

    @abstractmethod
    async def changed(self) -> Change:
        """Return what may have changed since the last return, once there is something.

        For one caller. What happens between two calls is told by the second, and a call that is
        cancelled takes nothing with it. While nothing is heard it waits, and tries anew at each
        call.
        """
        ...

    @abstractmethod
    def close(self) -> None:
        """Stop listening; a call that is under way waits on. Idempotent."""
        ...
