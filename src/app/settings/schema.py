"""The JSON Schema of a configuration, made of the tables by which it is read.

What it refuses is refused when the file is read. A few faults that only reading finds pass it;
docs/configuration.md lists them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from deviceplugin.app.settings.conditions import (
    CONDITIONS,
    HARDWARE_MEANINGS,
    MEANINGS,
    OF_PARENTS,
)
from deviceplugin.app.settings.operators import OPERATORS, operators_of
from deviceplugin.app.settings.resources import ALTERNATIVES, KEYS, NAME, PRESET, preset_schema
from deviceplugin.app.settings.shapes import ATTRIBUTE, PROPERTY, Schema, listed, text_of
from deviceplugin.app.settings.values import OPTIONS
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PARENTS: Final = "parent"
_KEYED: Final = frozenset({Kind.ATTRIBUTE, Kind.PROPERTY, *HARDWARE})
"""Conditions that hold keys; one without any says nothing."""


def schema() -> Schema:
    """Return the schema of a whole file, of plain JSON values."""
    settings = {
        name: {**option.schema, "description": option.help} for name, option in OPTIONS.items()
    }
    return {
        "$schema": DIALECT,
        "title": "Configuration of deviceplugin",
        "type": "object",
        "properties": {
            "version": {"const": 1, "description": "the version of this language"},
            **settings,
            "resources": {
                "type": "array",
                "items": {"$ref": "#/$defs/resource"},
                "description": "what to offer; left out, it is the presets that need not be named",
            },
        },
        "required": ["version"],
        "additionalProperties": False,
        "$defs": {
            "resource": _resource(),
            ALTERNATIVES: listed({"$ref": "#/$defs/alternative"}),
            "alternative": _alternative(CONDITIONS),
            _PARENTS: _alternative(OF_PARENTS),
            **{_name(fact): _value(fact) for fact in _facts()},
        },
    }


def _resource() -> Schema:
    keys = {name: {**key.schema, "description": key.help} for name, key in KEYS.items()}
    return {
        "type": "object",
        "properties": {"name": NAME, PRESET: preset_schema(), **keys},
        "anyOf": [
            {"required": ["name", "match"], "properties": {PRESET: False}},
            {"required": [PRESET], "properties": {"match": False}},
        ],
        "additionalProperties": False,
    }


def _alternative(allowed: Sequence[str]) -> Schema:
    """Return the shape of conditions that must all hold, of which there must be one."""
    kinds = [Kind(name) for name in allowed]
    return {
        "type": "object",
        "properties": {
            kind.value: {**_condition(kind), "description": MEANINGS[kind]} for kind in kinds
        },
        "additionalProperties": False,
        "anyOf": [_says_something(kind) for kind in kinds],
    }


def _says_something(kind: Kind) -> Schema:
    rule: dict[str, Any] = {"required": [kind.value]}
    if kind in _KEYED:
        # Of what is no object, JSON Schema passes over this.
        rule["properties"] = {kind.value: {"minProperties": 1}}
    return rule


def _condition(kind: Kind) -> Schema:
    if kind is Kind.PARENT:
        entry = {"$ref": f"#/$defs/{_PARENTS}"}
        return {"anyOf": [entry, listed(entry)]}
    if kind in {Kind.ATTRIBUTE, Kind.PROPERTY}:
        return {
            "type": "object",
            "propertyNames": ATTRIBUTE if kind is Kind.ATTRIBUTE else PROPERTY,
            "additionalProperties": _ref(_facts_of(kind)[0]),
        }
    if kind in HARDWARE:
        keys = {
            name: {**_ref(Fact(kind, name)), "description": HARDWARE_MEANINGS[kind, name]}
            for name in HARDWARE[kind]
        }
        whole = {"type": "object", "properties": keys, "additionalProperties": False}
        return {"anyOf": [_ref(Fact(kind, HARDWARE[kind][0])), whole]}
    return _ref(Fact(kind))


def _facts() -> Iterable[Fact]:
    return (fact for kind in MEANINGS if kind is not Kind.PARENT for fact in _facts_of(kind))


def _facts_of(kind: Kind) -> Sequence[Fact]:
    """Return the facts of a kind; one stands for all attributes, and one for all properties."""
    if kind in {Kind.ATTRIBUTE, Kind.PROPERTY}:
        return [Fact(kind, "x")]
    return [Fact(kind, name) for name in HARDWARE.get(kind, ("",))]


def _name(fact: Fact) -> str:
    plain = fact.kind.value if fact.kind in {Kind.ATTRIBUTE, Kind.PROPERTY} else str(fact)
    return f"value of {plain}"


def _ref(fact: Fact) -> Mapping[str, str]:
    return {"$ref": f"#/$defs/{_name(fact).replace(' ', '%20')}"}


def _value(fact: Fact) -> Schema:
    """Return the shape of a value: a text, a list of texts, or operators."""
    text = text_of(fact)
    operators = {
        name: {**OPERATORS[name].schema(text), "description": OPERATORS[name].help}
        for name in operators_of(fact)
    }
    return {
        "anyOf": [
            text,
            listed(text),
            {
                "type": "object",
                "properties": operators,
                "additionalProperties": False,
                "minProperties": 1,
            },
        ]
    }
