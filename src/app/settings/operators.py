"""Reads what a value must be like: texts, lists, and mappings of operators."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

import attrs
from yaml.nodes import MappingNode, Node, SequenceNode

from deviceplugin.app.settings.reader import Reader
from deviceplugin.app.settings.shapes import (
    BOOLEAN,
    QUANTITY,
    REGEX,
    Schema,
    listed,
    one_or_listed,
)
from deviceplugin.domain.discovery.conditions import pattern
from deviceplugin.domain.discovery.expectations import (
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
from deviceplugin.domain.discovery.regexes import Regex

_RANGE_ENDS: Final = 2


def read_expectation(reader: Reader, fact: Fact, node: Node) -> Expectation | None:
    """Return what the values of a fact must be like; None, and the faults noted, if it has any."""
    read = _operators if isinstance(node, MappingNode) else _any_of
    return read(reader, fact, node)


def _any_of(reader: Reader, fact: Fact, node: Node) -> AnyOf | None:
    """Return the expectation of a text to fit, or of a list to fit one of."""
    patterns = _patterns(reader, fact, node)
    return AnyOf(patterns) if patterns else None


def _patterns(reader: Reader, fact: Fact, node: Node) -> list[Pattern]:
    values: Sequence[Node] = reader.items(node) if isinstance(node, SequenceNode) else [node]
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one value")
    found = (reader.pattern(each, partial(pattern, fact)) for each in values)
    return [each for each in found if each]


def _operators(reader: Reader, fact: Fact, node: Node) -> Expectation | None:
    """Return the expectation of a mapping of operators, all of which must hold."""
    before = len(reader.faults)
    keys = reader.mapping(node, optional=operators_of(fact))
    parts = [
        each for key, value in keys.items() if (each := OPERATORS[key].read(reader, fact, value))
    ]
    return None if len(reader.faults) > before else reader.checked(node, parts, AllOf)


def operators_of(fact: Fact) -> Sequence[str]:
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
    regex = reader.pattern(node, Regex)
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


@attrs.frozen(kw_only=True)
class Operator:
    """One operator: how it is read, how it looks where a text looks like this, what it means."""

    read: Callable[[Reader, Fact, Node], Expectation | None]
    schema: Callable[[Schema], Schema]
    help: str


def _always(schema: Schema) -> Callable[[Schema], Schema]:
    return lambda _: schema


_COMPARED: Final = {
    "gt": "a number greater than this",
    "ge": "a number that is at least this",
    "lt": "a number less than this",
    "le": "a number that is at most this",
}

OPERATORS: Final[Mapping[str, Operator]] = MappingProxyType(
    {
        "in": Operator(read=_in, schema=listed, help="the value fits one of these texts"),
        "not_in": Operator(
            read=_not_in,
            schema=listed,
            help="the value fits none of these texts, or the device has no such value",
        ),
        "glob": Operator(
            read=_any_of,
            schema=one_or_listed,
            help="the whole value fits this text with the wildcards *, ? and [...]",
        ),
        "regex": Operator(
            read=_regex,
            schema=_always(REGEX),
            help="the whole value fits this regular expression",
        ),
        "exists": Operator(
            read=_exists,
            schema=_always(BOOLEAN),
            help="true: the device has such a value, even an empty one; false: it has none",
        ),
        **{
            name: Operator(
                read=_compared(name), schema=_always(QUANTITY), help=f"the value is {text}"
            )
            for name, text in _COMPARED.items()
        },
        "range": Operator(
            read=_range,
            schema=_always({**listed(QUANTITY), "minItems": 2, "maxItems": 2}),
            help="the value is a number from the first to the second, both included",
        ),
    }
)
"""Each operator by its name."""
