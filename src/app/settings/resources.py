"""Reads what a configuration says under `resources`."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from yaml.nodes import Node, SequenceNode

from deviceplugin.app.settings.reader import Reader, place
from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.candidates import Fact, Kind
from deviceplugin.domain.discovery.matching import Alternative, Condition, ResourceRule, demand
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES
from deviceplugin.domain.resources import ResourceName

_REQUIRED: Final = ("name", "match")
_OPTIONAL: Final = ("permissions", "allocation_policy", "advertise_empty")
_CONDITIONS: Final = tuple(kind.value for kind in Kind)


def read_resources(reader: Reader, node: Node, domain: str) -> tuple[ResourceRule, ...]:
    """Return the rules that are without fault; the faults of the others are noted."""
    found: dict[ResourceName, Node] = {}
    rules: list[ResourceRule] = []
    for entry in reader.items(node):
        rule = _rule(reader, entry, domain)
        if rule is None:
            continue
        if rule.resource in found:
            line = place(found[rule.resource]).line
            reader.note(entry, f"resource {rule.resource} is already described in line {line}")
            continue
        found[rule.resource] = entry
        rules.append(rule)
    return tuple(rules)


def _rule(reader: Reader, node: Node, domain: str) -> ResourceRule | None:
    before = len(reader.faults)
    keys = reader.mapping(node, required=_REQUIRED, optional=_OPTIONAL)
    resource = (
        reader.parsed(keys["name"], partial(ResourceName.of, domain)) if "name" in keys else None
    )
    match = _match(reader, keys["match"]) if "match" in keys else ()
    parts: dict[str, Any] = {}
    if "permissions" in keys:
        parts["permissions"] = reader.parsed(keys["permissions"], _permissions)
    if "allocation_policy" in keys:
        parts["allocation_policy"] = reader.parsed(keys["allocation_policy"], _policy)
    if "advertise_empty" in keys:
        parts["advertise_empty"] = reader.boolean(keys["advertise_empty"])
    if resource is None or len(reader.faults) > before:
        return None
    return ResourceRule(resource=resource, match=match, **parts)


def _permissions(text: str) -> str:
    return DeviceNode("/dev/null", permissions=text).permissions


def _policy(text: str) -> str:
    if text not in POLICIES:
        raise InvalidValueError(f"{text!r} must be one of {', '.join(POLICIES)}")
    return text


def _match(reader: Reader, node: Node) -> tuple[Alternative, ...]:
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one entry")
    alternatives = (_alternative(reader, entry) for entry in reader.items(node))
    return tuple(each for each in alternatives if each)


def _alternative(reader: Reader, node: Node) -> Alternative | None:
    before = len(reader.faults)
    keys = reader.mapping(node, optional=_CONDITIONS)
    conditions = [
        condition
        for key, value in keys.items()
        for condition in _conditions(reader, Kind(key), value)
    ]
    if len(reader.faults) > before:
        return None
    return reader.checked(node, tuple(conditions), Alternative)


def _conditions(reader: Reader, kind: Kind, node: Node) -> Iterator[Condition]:
    if kind is not Kind.ATTRIBUTE:
        yield from _condition(reader, Fact(kind), node)
        return
    for key, value in reader.pairs(node).values():
        fact = reader.parsed(key, partial(Fact, kind))
        if fact:
            yield from _condition(reader, fact, value)


def _condition(reader: Reader, fact: Fact, node: Node) -> Iterator[Condition]:
    """Yield the condition, if it is without fault: a text to fit, or a list to fit one of."""
    values: Sequence[Node] = reader.items(node) if isinstance(node, SequenceNode) else [node]
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one value")
    texts = [text for each in values if (text := _value(reader, fact, each)) is not None]
    if texts:
        yield demand(fact, *texts)


def _value(reader: Reader, fact: Fact, node: Node) -> str | None:
    text = reader.text(node)
    return text if reader.checked(node, text, partial(demand, fact)) else None
