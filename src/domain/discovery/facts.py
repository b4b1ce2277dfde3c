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


_See = Callable[[Candidate], Seen | None]


def _known(value: str | None) -> Seen | None:
    if value is None:
        return None
    return (value,) if value else ()


_SEEN: Final[Mapping[Kind, _See]] = MappingProxyType(
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


def _text(fact: "Fact") -> str:
    return f"{fact.kind.value}.{fact.key}" if fact.key else fact.kind.value


def _see(fact: "Fact") -> _See:
    """Return how to see a fact: found out once, for there are many candidates."""
    if fact.level:
        there, index = fact.above(0), fact.level - 1
        return lambda candidate: (
            None if candidate.parents is None else there.of(candidate.parents[index])
        )
    if fact.kind is Kind.PROPERTY:
        return _in_mapping(lambda candidate: candidate.properties, fact.key, is_whole=True)
    if fact.kind is Kind.ATTRIBUTE:
        return _in_mapping(lambda candidate: candidate.attributes, fact.key)
    if fact.kind in HARDWARE:
        return _in_mapping(lambda candidate: candidate.hardware, fact.text)
    return _SEEN[fact.kind]


def _in_mapping(
    mapping_of: Callable[[Candidate], Mapping[str, str | None] | None],
    key: str,
    *,
    is_whole: bool = False,
) -> _See:
    """Return how to see what a mapping has under a key; what a whole one lacks is not there."""

    def see(candidate: Candidate) -> Seen | None:
        mapping = mapping_of(candidate)
        if mapping is None or not (is_whole or key in mapping):
            return None
        value = mapping.get(key)
        return () if value is None else (value,)

    return see


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
    text: str = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_text, takes_self=True)
    )
    """As a configuration names it."""
    of: _See = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_see, takes_self=True)
    )
    """Returns what a candidate has of it; None if nobody has looked yet."""

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

    def above(self, level: int) -> "Fact":
        """Return the same fact of the device `level` above."""
        return attrs.evolve(self, level=level)

    def __str__(self) -> str:
        """Return it as a configuration names it."""
        return self.text
