"""A device that anybody may make and end: a pseudo-terminal."""

import os
from typing import Self

import attrs


@attrs.define
class OwnTerminal:
    """A pseudo-terminal whose node /dev/pts/N comes and goes at our word: a context manager."""

    path: str = attrs.field(default="", init=False)
    _ends: tuple[int, ...] = attrs.field(default=(), init=False)

    def __enter__(self) -> Self:
        """Make it."""
        self._ends = os.openpty()
        self.path = os.ttyname(self._ends[1])
        return self

    def __exit__(self, *failure: object) -> None:
        """End it."""
        self.vanish()

    def vanish(self) -> None:
        """Close it; the kernel removes the node."""
        for end in self._ends:
            os.close(end)
        self._ends = ()

    def reappear(self) -> None:
        """Make one of the same name: the kernel gives the lowest free number, so take those."""
        taken: list[tuple[int, int]] = []
        while not os.path.exists(self.path):  # noqa: PTH110 - a name, not a place to work in
            taken.append(os.openpty())
        for ends in taken:
            if os.ttyname(ends[1]) == self.path:
                self._ends = ends
            else:
                for end in ends:
                    os.close(end)
