"""Reads conditions on devices: what a configuration says under `match` and `exclude`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from deviceplugin.app.settings.reader import Reader
from deviceplugin.domain.discovery.conditions import Condition, FactCondition, pattern
from deviceplugin.domain.discovery.expectations import (
    COMPARISONS,
    AllOf,
    AnyOf,
    Compared,
    Exists,
    Expectation,
    NoneOf,
    in_range,
)
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind
from deviceplugin.domain.discovery.globs import Pattern
from deviceplugin.domain.discovery.matching import Alternative
from deviceplugin.domain.discovery.parents import KINDS, ParentCondition
from deviceplugin.domain.discovery.regexes import Regex

CONDITIONS: Final = tuple(kind.value for kind in Kind if kind is not Kind.USE)
_OF_PARENTS: Final = tuple(kind.value for kind in KINDS)
_RANGE_ENDS: Final = 2


def read_alternatives(
    reader: Reader, node: Node, allowed: Sequence[str] = CONDITIONS
) -> tuple[Alternative, ...]:
    """Return the alternatives of a list that are without fault; other faults are noted."""
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one entry")
    found = (_alternative(reader, entry, allowed) for entry in reader.items(node))
    return tuple(each for each in found if each)


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
        single = _alternative(reader, node, _OF_PARENTS)
        found = [single] if single else []
    else:
        found = [*read_alternatives(reader, node, _OF_PARENTS)]
    yield from map(ParentCondition, found)


def _condition(reader: Reader, fact: Fact, node: Node) -> Iterator[Condition]:
    """Yield the condition, if it is without fault."""
    read = _operators if isinstance(node, MappingNode) else _any_of
    wanted = read(reader, fact, node)
    if wanted:
        yield FactCondition(fact, wanted)


def _any_of(reader: Reader, fact: Fact, node: Node) -> AnyOf | None:
    """Return the expectation of a text to fit, or of a list to fit one of."""
    patterns = _patterns(reader, fact, node)
    return AnyOf(patterns) if patterns else None


def _patterns(reader: Reader, fact: Fact, node: Node) -> list[Pattern]:
    values: Sequence[Node] = reader.items(node) if isinstance(node, SequenceNode) else [node]
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one value")
    found = (reader.parsed(each, partial(pattern, fact)) for each in values)
    return [each for each in found if each]


def _operators(reader: Reader, fact: Fact, node: Node) -> Expectation | None:
    """Return the expectation of a mapping of operators, all of which must hold."""
    before = len(reader.faults)
    keys = reader.mapping(node, optional=_offered(fact))
    parts = [each for key, value in keys.items() if (each := OPERATORS[key](reader, fact, value))]
    return None if len(reader.faults) > before else reader.checked(node, parts, AllOf)


def _offered(fact: Fact) -> Sequence[str]:
    """Return the operators that make sense for a fact.

    Nodes are looked up by their patterns; ids of hardware are hexadecimal, without a sign of it.
    """
    if fact.kind is Kind.NODE:
        return ("in", "glob")
    if fact.kind in HARDWARE:
        return ("in", "not_in", "glob", "regex", "exists")
    return tuple(OPERATORS)


def _listed(reader: Reader, fact: Fact, node: Node) -> list[Pattern]:
    """Return the patterns of a list; that it is none is noted."""
    if isinstance(node, SequenceNode):
        return _patterns(reader, fact, node)
    reader.items(node)
    return []


def _in(reader: Reader, fact: Fact, node: Node) -> Expectation | None:
    patterns = _listed(reader, fact, node)
    return AnyOf(patterns) if patterns else None


def _not_in(reader: Reader, fact: Fact, node: Node) -> Expectation | None:
    patterns = _listed(reader, fact, node)
    return NoneOf(patterns) if patterns else None


def _regex(reader: Reader, _: Fact, node: Node) -> Expectation | None:
    regex = reader.parsed(node, Regex)
    return AnyOf([regex]) if regex else None


def _exists(reader: Reader, _: Fact, node: Node) -> Expectation | None:
    wanted = reader.boolean(node)
    return None if wanted is None else Exists(wanted)


def _compared(operator: str) -> Callable[[Reader, Fact, Node], Expectation | None]:
    def read(reader: Reader, _: Fact, node: Node) -> Expectation | None:
        return reader.checked(node, reader.quantity(node), partial(Compared, operator))

    return read


def _range(reader: Reader, _: Fact, node: Node) -> Expectation | None:
    ends = reader.items(node)
    if isinstance(node, SequenceNode) and len(ends) != _RANGE_ENDS:
        reader.note(node, "must be a list of two numbers, the least and the greatest: [1, 5]")
        return None
    numbers = [number for each in ends if (number := reader.quantity(each)) is not None]
    if len(numbers) != _RANGE_ENDS:
        return None
    return reader.checked(node, numbers, lambda pair: in_range(*pair))


OPERATORS: Final[Mapping[str, Callable[[Reader, Fact, Node], Expectation | None]]] = (
    MappingProxyType(
        {
            "in": _in,
            "not_in": _not_in,
            "glob": _any_of,
            "regex": _regex,
            "exists": _exists,
            **{operator: _compared(operator) for operator in COMPARISONS},
            "range": _range,
        }
    )
)
"""How each operator is read."""
