"""Reads what a configuration says under `with`: what comes along with each device."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from yaml.nodes import Node

from deviceplugin.app.settings.conditions import read_alternative
from deviceplugin.app.settings.reader import Reader
from deviceplugin.app.settings.shapes import (
    BOOLEAN,
    NODE_PATH_TEMPLATE,
    PERMISSIONS,
    Schema,
    described,
    listed,
    text_of,
)
from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.conditions import FactCondition, pattern
from deviceplugin.domain.discovery.expectations import AnyOf
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.provision import Companion, Relation, node_path_template

_NODE: Final = Fact(Kind.NODE)

RELATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "node": "a path below /dev",
        Relation.DEVICE.value: "any device of the machine that meets these conditions",
        Relation.SIBLINGS.value: "those of the same PCI function, USB device or other hardware",
        Relation.CHILDREN.value: "those that are below the device",
        Relation.IOMMU_GROUP.value: "those of the same IOMMU group, the group itself included",
    }
)
"""What comes along, by the word for its relation to the device."""

CONDITIONED: Final = tuple(each.value for each in Relation)
"""The relations that take conditions."""


def read_companion(reader: Reader, node: Node) -> Companion | None:
    """Return what comes along by one entry; None, and the faults noted, if it has any."""
    before = len(reader.faults)
    keys = reader.mapping(node, optional=(*RELATIONS, "optional", "container_path", "permissions"))
    words = [word for word in RELATIONS if word in keys]
    if len(words) != 1 and len(reader.faults) == before:
        reader.note(node, f"needs one of the keys {', '.join(RELATIONS)}, and only one")
    parts: dict[str, Any] = {}
    for word in words:
        parts["relation"] = Relation.DEVICE if word == "node" else Relation(word)
        parts["wanted"] = _read_wanted(reader, word, keys[word])
    if "optional" in keys:
        parts["optional"] = reader.boolean(keys["optional"])
    if "container_path" in keys:
        parts["container_path"] = reader.parsed(keys["container_path"], node_path_template)
    if "permissions" in keys:
        parts["permissions"] = reader.parsed(keys["permissions"], _permissions)
    if len(reader.faults) > before:
        return None
    return reader.checked(node, parts, lambda given: Companion(**given))


def _read_wanted(reader: Reader, word: str, node: Node) -> Alternative | None:
    if word == "node":
        path = reader.pattern(node, partial(pattern, _NODE))
        return Alternative((FactCondition(_NODE, AnyOf([path])),)) if path else None
    return read_alternative(reader, node)


def _permissions(text: str) -> str:
    return DeviceNode("/dev/null", permissions=text).permissions


def _keys(alternative: Schema) -> Mapping[str, Schema]:
    """Return how what comes along looks, by key."""
    wanted = dict.fromkeys(CONDITIONED, alternative)
    return {
        **{
            word: described(wanted.get(word, text_of(_NODE)), RELATIONS[word])
            for word in RELATIONS
        },
        "optional": described(BOOLEAN, "true: the device can be used without"),
        "container_path": described(NODE_PATH_TEMPLATE, "where the container has it"),
        "permissions": described(PERMISSIONS, "as of the resource, if left out"),
    }


def companions_schema(alternative: Schema) -> Schema:
    """Return how `with` looks, where conditions look like `alternative`."""
    return listed(
        {
            "type": "object",
            "properties": _keys(alternative),
            "additionalProperties": False,
            "oneOf": [{"required": [word]} for word in RELATIONS],
        }
    )
