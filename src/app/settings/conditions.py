"""Reads conditions on devices: what a configuration says under `match` and `exclude`."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from deviceplugin.app.settings.operators import OPERATORS, read_expectation
from deviceplugin.app.settings.reader import Reader
from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.conditions import Condition, FactCondition
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind
from deviceplugin.domain.discovery.parents import KINDS, ParentCondition

MEANINGS: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        Kind.SUBSYSTEM: "the class or bus that the device belongs to, such as tty",
        Kind.NAME: "its name in sysfs, such as ttyUSB0",
        Kind.DEVPATH: "its path below /sys",
        Kind.NODE: "a path below /dev that leads to it, links of udev included",
        Kind.DRIVER: "the driver bound to it, or to the nearest device above it that has one",
        Kind.PROPERTY: "keys of its uevent file, such as PRODUCT",
        Kind.PCI: "the PCI function that it is, or is part of: 'vendor:device', or keys",
        Kind.USB: "the USB device that it is, or is part of: 'vendor:product', or keys",
        Kind.ATTRIBUTE: "sysfs files of it, by a path such as serial or device/vendor",
        Kind.PARENT: "conditions on a device that it is below; each entry is met by one of them",
    }
)
"""What each condition looks at."""
HARDWARE_MEANINGS: Final[Mapping[tuple[Kind, str], str]] = MappingProxyType(
    {
        (Kind.PCI, "id"): "vendor and device of the function, such as '8086:56c0'",
        (Kind.PCI, "subsystem"): "vendor and device of its board",
        (Kind.PCI, "class"): "class of six hexadecimal digits, such as '030000'",
        (Kind.USB, "id"): "vendor and product, such as '10c4:ea60'",
        (Kind.USB, "serial"): "serial number",
        (Kind.USB, "interface"): "number of the interface, such as '01'",
    }
)
"""What each key of hardware looks at."""
CONDITIONS: Final = tuple(kind.value for kind in MEANINGS)
OF_PARENTS: Final = tuple(kind.value for kind in KINDS)
"""The conditions of `parents`."""


def read_alternatives(
    reader: Reader, node: Node, allowed: Sequence[str] = CONDITIONS
) -> tuple[Alternative, ...]:
    """Return the alternatives of a list that are without fault; other faults are noted."""
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one entry")
    found = (_alternative(reader, entry, allowed) for entry in reader.items(node))
    return tuple(each for each in found if each)


def read_alternative(reader: Reader, node: Node) -> Alternative | None:
    """Return the conditions of one mapping; None, and the faults noted, if it has any."""
    return _alternative(reader, node, CONDITIONS)


def _alternative(reader: Reader, node: Node, allowed: Sequence[str]) -> Alternative | None:
    before = len(reader.faults)
    keys = reader.mapping(node, optional=allowed)
    conditions = [
        condition
        for key, value in keys.items()
        for condition in _conditions(reader, Kind(key), value)
    ]
    if len(reader.faults) > before:
        return None
    return reader.checked(node, tuple(conditions), Alternative)


def _conditions(reader: Reader, kind: Kind, node: Node) -> Iterator[Condition]:
    if kind is Kind.PARENT:
        yield from _parents(reader, node)
    elif kind in {Kind.ATTRIBUTE, Kind.PROPERTY}:
        for key, value in reader.pairs(node).values():
            fact = reader.parsed(key, partial(Fact, kind))
            if fact:
                yield from _condition(reader, fact, value)
    elif kind in HARDWARE and isinstance(node, MappingNode) and not _is_operators(node):
        for name, value in reader.mapping(node, optional=HARDWARE[kind]).items():
            yield from _condition(reader, Fact(kind, name), value)
    elif kind in HARDWARE:
        yield from _condition(reader, Fact(kind, HARDWARE[kind][0]), node)
    else:
        yield from _condition(reader, Fact(kind), node)


def _is_operators(node: MappingNode) -> bool:
    return any(isinstance(key, ScalarNode) and key.value in OPERATORS for key, _ in node.value)


def _parents(reader: Reader, node: Node) -> Iterator[Condition]:
    """Yield a condition for each entry: some parent must meet all of what it says."""
    if isinstance(node, MappingNode):
        single = _alternative(reader, node, OF_PARENTS)
        found = [single] if single else []
    else:
        found = [*read_alternatives(reader, node, OF_PARENTS)]
    yield from map(ParentCondition, found)


def _condition(reader: Reader, fact: Fact, node: Node) -> Iterator[Condition]:
    """Yield the condition, if it is without fault."""
    wanted = read_expectation(reader, fact, node)
    if wanted:
        yield FactCondition(fact, wanted)
