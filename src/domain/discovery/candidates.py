"""What a scanner sees of one device."""

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, Literal

import attrs

from deviceplugin.domain.errors import InvalidValueError


@attrs.frozen(kw_only=True)
class Node:
    """A device node: its path on the host, what it stands for, and whether it is really there."""

    path: str
    kind: Literal["char", "block"] = "char"
    number: str
    present: bool = True

    @property
    def device(self) -> str:
        """What it stands for: nodes of one device are one device, wherever they are."""
        return f"{self.kind} {self.number}"


@attrs.frozen(kw_only=True)
class Candidate:
    """A device that a rule may match, with what is known of it so far.

    Its name, subsystem, path below /sys, and the paths below /dev by which rules ask for it are
    always known. The driver (its own or its nearest ancestor's) and the attributes (text of sysfs
    files, by path relative to the device) are looked at when a rule needs them; the rest is added
    once one matches. A device that sysfs does not show has no devpath.
    """

    name: str
    subsystem: str = ""
    devpath: str = ""
    paths: tuple[str, ...] = ()
    driver: str | None = None
    """None: nobody has looked yet; empty: it has none."""
    attributes: Mapping[str, str | None] = attrs.field(factory=dict[str, str | None])
    """Those looked at; None: it has none of that name, or none that can be read."""
    node: Node | None = None
    numa_nodes: tuple[int, ...] = ()
    numa_unknown: str = ""
    """Why there are no NUMA nodes."""
    parent: str = ""

    @property
    def identity(self) -> str:
        """What tells it from every other candidate of one scan."""
        return self.devpath or (self.node.path if self.node else "") or "".join(self.paths[:1])


class Kind(Enum):
    """What a rule may ask about; in this order, the cheapest first, whatever a file's order is."""

    SUBSYSTEM = "subsystem"
    NAME = "name"
    DEVPATH = "devpath"
    NODE = "node"
    DRIVER = "driver"
    ATTRIBUTE = "attributes"


Seen = tuple[str, ...]
"""The values that a device has of one fact: mostly one, none if it has no such thing."""


def _known(value: str | None) -> Seen | None:
    if value is None:
        return None
    return (value,) if value else ()


_SEEN: Final[Mapping[Kind, Callable[[Candidate], Seen | None]]] = MappingProxyType(
    {
        Kind.SUBSYSTEM: lambda candidate: _known(candidate.subsystem),
        Kind.NAME: lambda candidate: _known(candidate.name),
        Kind.DEVPATH: lambda candidate: _known(candidate.devpath),
        Kind.NODE: lambda candidate: candidate.paths,
        Kind.DRIVER: lambda candidate: _known(candidate.driver),
    }
)
"""How to see the facts that have no key."""


@attrs.frozen
class Fact:
    """One thing about a device that a rule may ask for; `key` tells attributes apart.

    Raises `InvalidValueError` for an attribute that is no path below the device.
    """

    kind: Kind
    key: str = ""

    def __attrs_post_init__(self) -> None:
        """Refuse paths that lead out of the device."""
        if self.kind is Kind.ATTRIBUTE and {"", ".", ".."} & set(self.key.split("/")):
            raise InvalidValueError(
                f"attribute {self.key!r}: must be a file below the device, such as serial or "
                "device/vendor, without '..'"
            )

    def of(self, candidate: Candidate) -> Seen | None:
        """Return what the candidate has of it; None if nobody has looked yet."""
        if self.kind is not Kind.ATTRIBUTE:
            return _SEEN[self.kind](candidate)
        if self.key not in candidate.attributes:
            return None
        value = candidate.attributes[self.key]
        return () if value is None else (value,)

    def __str__(self) -> str:
        """Return it as a configuration names it."""
        return f"{self.kind.value}.{self.key}" if self.key else self.kind.value
