"""Reads what a configuration says under `resources`."""

from functools import partial
from typing import Any, Final

from yaml.nodes import Node

from deviceplugin.app.settings.conditions import read_alternatives
from deviceplugin.app.settings.reader import Reader, place
from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES
from deviceplugin.domain.resources import ResourceName

_REQUIRED: Final = ("name", "match")
_OPTIONAL: Final = (
    "exclude",
    "exclude_in_use",
    "permissions",
    "allocation_policy",
    "advertise_empty",
)
_FLAGS: Final = ("exclude_in_use", "advertise_empty")


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
    parts: dict[str, Any] = {
        key: read_alternatives(reader, keys[key]) for key in ("match", "exclude") if key in keys
    }
    if "permissions" in keys:
        parts["permissions"] = reader.parsed(keys["permissions"], _permissions)
    if "allocation_policy" in keys:
        parts["allocation_policy"] = reader.parsed(keys["allocation_policy"], _policy)
    parts |= {key: reader.boolean(keys[key]) for key in _FLAGS if key in keys}
    if resource is None or len(reader.faults) > before:
        return None
    return ResourceRule(resource=resource, **parts)


def _permissions(text: str) -> str:
    return DeviceNode("/dev/null", permissions=text).permissions


def _policy(text: str) -> str:
    if text not in POLICIES:
        raise InvalidValueError(f"{text!r} must be one of {', '.join(POLICIES)}")
    return text
