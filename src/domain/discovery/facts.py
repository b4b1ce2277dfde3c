"""What a rule may ask about a device."""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.errors import InvalidValueError

Seen = tuple[str, ...]
"""The values that a device has of one fact: mostly one, none if it has no such thing."""


class Kind(Enum):
    """Sorts of facts; in this order, the cheapest first, whatever a file's order is."""

    SUBSYSTEM = "subsystem"
    NAME = "name"
    DEVPATH = "devpath"
    NODE = "node"
    DRIVER = "driver"
    PROPERTY = "properties"
    PCI = "pci"
    USB = "usb"
    ATTRIBUTE = "attributes"
    PARENT = "parents"
    USE = "in_use"


HARDWARE: Final[Mapping[Kind, tuple[str, ...]]] = MappingProxyType(
    {Kind.PCI: ("id", "subsystem", "class"), Kind.USB: ("id", "serial", "interface")}
)
"""The keys of what a device is as hardware; the first one is meant where none is said."""

_PROPERTY: Final = re.compile(r"[A-Za-z0-9_.:-]{1,255}")


def _known(value: str | None) -> Seen | None:
    if value is None:
        return None
    return (value,) if value else ()


def _value_of(values: Mapping[str, str | None], key: str) -> Seen | None:
    if key not in values:
        return None
    value = values[key]
    return () if value is None else (value,)


_SEEN: Final[Mapping[Kind, Callable[[Candidate], Seen | None]]] = MappingProxyType(
    {
        Kind.SUBSYSTEM: lambda candidate: _known(candidate.subsystem),
        Kind.NAME: lambda candidate: _known(candidate.name),
        Kind.DEVPATH: lambda candidate: _known(candidate.devpath),
        Kind.NODE: lambda candidate: candidate.paths,
        Kind.DRIVER: lambda candidate: _known(candidate.driver),
        Kind.USE: lambda candidate: candidate.uses,
        Kind.PARENT: lambda candidate: (
            None if candidate.parents is None else tuple(each.name for each in candidate.parents)
        ),
    }
)
"""How to see the facts that have no key."""


@attrs.frozen
class Fact:
    """One thing about a device that a rule may ask for.

    `key` tells attributes, properties and parts of hardware apart. `level` is 0 for the device
    itself, 1 for the nearest device that it is below, and so on. Raises `InvalidValueError` for an
    attribute that is no path below the device, and for keys that nothing can have.
    """

    kind: Kind
    key: str = ""
    level: int = 0

    def __attrs_post_init__(self) -> None:
        """Refuse paths that lead out of the device."""
        if self.kind is Kind.ATTRIBUTE and {"", ".", ".."} & set(self.key.split("/")):
            raise InvalidValueError(
                f"attribute {self.key!r}: must be a file below the device, such as serial or "
                "device/vendor, without '..'"
            )
        if self.kind is Kind.PROPERTY and not _PROPERTY.fullmatch(self.key):
            raise InvalidValueError(
                f"property {self.key!r}: must be a key of the device's uevent file, such as "
                "PRODUCT or MODALIAS"
            )
        if self.kind in HARDWARE and self.key not in HARDWARE[self.kind]:
            allowed = ", ".join(HARDWARE[self.kind])
            raise InvalidValueError(f"{self.kind.value} {self.key!r}: must be one of {allowed}")

    def of(self, candidate: Candidate) -> Seen | None:
        """Return what the candidate has of it; None if nobody has looked yet."""
        if self.level:
            above = candidate.parents
            return None if above is None else attrs.evolve(self, level=0).of(above[self.level - 1])
        if self.kind is Kind.ATTRIBUTE:
            return _value_of(candidate.attributes, self.key)
        if self.kind is Kind.PROPERTY:
            found = candidate.properties
            return None if found is None else _value_of({self.key: found.get(self.key)}, self.key)
        if self.kind in HARDWARE:
            return _value_of(candidate.hardware, str(self))
        return _SEEN[self.kind](candidate)

    def above(self, level: int) -> "Fact":
        """Return the same fact of the device `level` above."""
        return attrs.evolve(self, level=level)

    def __str__(self) -> str:
        """Return it as a configuration names it."""
        return f"{self.kind.value}.{self.key}" if self.key else self.kind.value
