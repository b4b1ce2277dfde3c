"""Reads what a configuration says under `resources`."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Final

import attrs
from yaml.nodes import MappingNode, Node

from deviceplugin.app.presets import presets
from deviceplugin.app.settings.conditions import read_alternatives
from deviceplugin.app.settings.document import compose
from deviceplugin.app.settings.health import HEALTH
from deviceplugin.app.settings.provision import parts
from deviceplugin.app.settings.reader import Reader, place
from deviceplugin.app.settings.shapes import (
    BOOLEAN,
    PERMISSIONS,
    RESOURCE,
    Schema,
    one_of,
)
from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import Provision
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES
from deviceplugin.domain.resources import ResourceName

ALTERNATIVES: Final = "alternatives"
"""The name of the schema of a list of alternatives."""
PRESET: Final = "preset"


PROVISION: Final = parts({"$ref": "#/$defs/alternative"})
"""What a resource may say of what a container gets; each is a part of its `Provision`."""


def _permissions(text: str) -> str:
    return DeviceNode("/dev/null", permissions=text).permissions


def _policy(text: str) -> str:
    if text not in POLICIES:
        raise InvalidValueError(f"{text!r} must be one of {', '.join(POLICIES)}")
    return text


@attrs.frozen(kw_only=True)
class Key:
    """One key of a resource: how it is read (a fault is noted), how it looks, what it means."""

    read: Callable[[Reader, Node], Any]
    schema: Schema
    help: str


def _parsed(parse: Callable[[str], str]) -> Callable[[Reader, Node], str | None]:
    return lambda reader, node: reader.parsed(node, parse)


KEYS: Final[Mapping[str, Key]] = MappingProxyType(
    {
        "match": Key(
            read=read_alternatives,
            schema={"$ref": f"#/$defs/{ALTERNATIVES}"},
            help="what belongs to the resource: a device that fits any of these",
        ),
        "exclude": Key(
            read=read_alternatives,
            schema={"$ref": f"#/$defs/{ALTERNATIVES}"},
            help="what does not belong to it, though it fits match",
        ),
        "exclude_in_use": Key(
            read=Reader.boolean,
            schema=BOOLEAN,
            help="true: what the host uses itself does not belong to it",
        ),
        "healthy_when": Key(
            read=read_alternatives,
            schema={"$ref": f"#/$defs/{ALTERNATIVES}"},
            help="a device is Unhealthy while it fits none of these",
        ),
        **{name: Key(read=read, schema=schema, help=text) for name, read, schema, text in HEALTH},
        **{
            name: Key(read=part.read, schema=part.schema, help=part.help)
            for name, part in PROVISION.items()
        },
        "permissions": Key(
            read=_parsed(_permissions),
            schema=PERMISSIONS,
            help="what a container may do with the nodes: letters of r, w and m (make the node)",
        ),
        "allocation_policy": Key(
            read=_parsed(_policy),
            schema=one_of([*POLICIES]),
            help="what the kubelet is told to prefer",
        ),
        "advertise_empty": Key(
            read=Reader.boolean,
            schema=BOOLEAN,
            help="false: the resource is not offered before its first device is found",
        ),
    }
)
"""What a resource may say beside its name; each is a part of a `ResourceRule`,
or of its `Provision`."""
NAME: Final[Schema] = {
    **RESOURCE,
    "description": "the resource's name, such as serial or example.com/serial",
}


def preset_schema() -> Schema:
    """Return how a preset is named."""
    return {
        **one_of([*presets()]),
        "description": "a shipped resource; other keys go before its own",
    }


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
    keys = _whole(reader, node)
    resource = (
        reader.parsed(keys["name"], partial(ResourceName.of, domain)) if "name" in keys else None
    )
    read = {name: key.read(reader, keys[name]) for name, key in KEYS.items() if name in keys}
    if resource is None or len(reader.faults) > before:
        return None
    provided = {PROVISION[name].field: value for name, value in read.items() if name in PROVISION}
    own = {name: value for name, value in read.items() if name not in PROVISION}
    return ResourceRule(resource=resource, provision=Provision(**provided), **own)


def _whole(reader: Reader, node: Node) -> Mapping[str, Node]:
    """Return the keys of a resource, with those of the preset that it names, if it does."""
    named = isinstance(node, MappingNode) and any(key.value == PRESET for key, _ in node.value)
    needed = [PRESET] if named else ["name", "match"]
    offered = [each for each in ("name", *KEYS, PRESET) if each not in needed]
    own = reader.mapping(node, required=needed, optional=offered)
    if not named:
        return own
    if "match" in own:
        reader.note(own["match"], "a preset has its own 'match': leave out one of them")
    name = reader.parsed(own[PRESET], _shipped) if PRESET in own else None
    whole: dict[str, Node] = {} if name is None else {**_keys_of(name)}
    return whole | {key: value for key, value in own.items() if key != PRESET}


def _shipped(name: str) -> str:
    shipped = presets()
    if name not in shipped:
        near = get_close_matches(name, shipped, 1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise InvalidValueError(f"no preset {name!r}: {meant}there are {', '.join(shipped)}")
    return name


@cache
def _keys_of(preset: str) -> Mapping[str, Node]:
    """Return what stands under each key of a preset's one resource, composed once."""
    reader = Reader(preset)
    root = compose(presets()[preset], preset)
    if root is None:
        raise InvalidValueError(f"preset {preset!r} is empty")
    keys = reader.mapping(root, required=["version", "resources"])
    (entry,) = reader.items(keys["resources"])
    return MappingProxyType(dict(reader.mapping(entry, optional=["name", *KEYS])))
