"""What is wrong with a configuration: all of it at once, each with its place."""

from collections.abc import Iterable

import attrs

from deviceplugin.domain.errors import InvalidValueError


@attrs.frozen
class Place:
    """A line and a column of a file, both counted from 1."""

    line: int
    column: int


@attrs.frozen(kw_only=True)
class Fault:
    """One thing that is wrong: the file, variable or flag, the place in a file, and what to do."""

    source: str
    text: str
    place: Place | None = None

    def __str__(self) -> str:
        """Return `file:line:column: text`, as compilers write it and editors jump to it."""
        where = f":{self.place.line}:{self.place.column}" if self.place else ""
        return f"{self.source}{where}: {self.text}"


class InvalidConfigurationError(InvalidValueError):
    """A configuration that cannot be used; the message has a line for each of its `faults`."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Remember the faults, in the order of the file."""
        self.faults = tuple(sorted(faults, key=_order))
        super().__init__("\n".join(map(str, self.faults)))


def _order(fault: Fault) -> tuple[int, int]:
    return (fault.place.line, fault.place.column) if fault.place else (0, 0)
