"""Reads what a configuration says of a resource's health."""

import json
from collections.abc import Callable
from typing import Any, Final

from yaml.nodes import Node, SequenceNode

from deviceplugin.app.settings.reader import Reader
from deviceplugin.app.settings.shapes import (
    ABSOLUTE,
    ARGUMENT,
    ATTRIBUTE,
    Schema,
    anchored,
    listed,
    one_or_listed,
)
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.health import LONGEST, SHORTEST, Probe, probe_seconds
from deviceplugin.domain.discovery.matching import MOST_LOOKS
from deviceplugin.domain.errors import InvalidValueError

_SECONDS: Final = ("interval", "timeout")
_BLANKS: Final = " \t\n\r\f\v"
_PROGRAM: Final[Schema] = {"type": "string", "pattern": anchored(r"/[^ \t\n\r\f\v\x00]*")}
_SHOWN: Final = 160
"""What is longer is not written out as a list."""
_DURATION: Final[Schema] = {"type": "number", "minimum": SHORTEST, "maximum": LONGEST}
_LOOKS: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": MOST_LOOKS}
_PROBE: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "command": {
            "description": "run without a shell: it ends with 0 while the device is well",
            "anyOf": [_PROGRAM, {**listed(ARGUMENT), "prefixItems": [ABSOLUTE]}],
        },
        "file": {"description": "its text is 'healthy' while the device is well", **ABSOLUTE},
        "interval": {"description": "seconds from one question to the next", **_DURATION},
        "timeout": {"description": "seconds that an answer may take", **_DURATION},
    },
    "oneOf": [{"required": ["command"]}, {"required": ["file"]}],
}


def _read_probe(reader: Reader, node: Node) -> Probe | None:
    before = len(reader.faults)
    keys = reader.mapping(node, optional=("command", "file", *_SECONDS))
    parts: dict[str, Any] = {}
    if "command" in keys:
        parts["command"] = _read_command(reader, keys["command"])
    if "file" in keys:
        parts["file"] = reader.text(keys["file"])
    for key in _SECONDS:
        if key in keys:
            parts[key] = reader.checked(keys[key], reader.number(keys[key]), _seconds)
    if len(reader.faults) > before:
        return None
    return reader.checked(node, parts, lambda given: Probe(**given))


def _read_command(reader: Reader, node: Node) -> tuple[str, ...]:
    """Return a program and what it is told; a single text is the program's path."""
    if isinstance(node, SequenceNode):
        texts = [reader.text(each) for each in reader.items(node)]
    else:
        texts = [reader.parsed(node, _program)]
    return tuple(text for text in texts if text is not None)


def _program(text: str) -> str:
    """Return a path that is no command line, which nobody would take apart."""
    if any(each in text for each in _BLANKS):
        listed_out = f", as in {json.dumps(text.split())}" if len(text) <= _SHOWN else ""
        raise InvalidValueError(
            "command: no shell takes a text apart at its blanks: write a list, the program first"
            f"{listed_out}"
        )
    return text


def _seconds(text: str) -> float:
    return probe_seconds(float(text))


def _read_looks(reader: Reader, node: Node) -> int | None:
    return reader.checked(node, reader.whole_number(node), _looks)


def _read_changing(reader: Reader, node: Node) -> frozenset[str]:
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one entry")
    names = [reader.parsed(each, _attribute) for each in _texts(reader, node)]
    return frozenset(name for name in names if name)


def _texts(reader: Reader, node: Node) -> list[Node]:
    """Return the entries of a list; a single text is a list of one."""
    return list(reader.items(node)) if isinstance(node, SequenceNode) else [node]


def _attribute(text: str) -> str:
    return Fact(Kind.ATTRIBUTE, text).key


def _looks(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_LOOKS:
        raise InvalidValueError(f"{text!r} must be a number of looks, 1 to {MOST_LOOKS}")
    return int(text)


HEALTH: Final[tuple[tuple[str, Callable[[Reader, Node], Any], Schema, str], ...]] = (
    ("probe", _read_probe, _PROBE, "who is asked, beyond sysfs, whether a device is well"),
    ("unhealthy_after", _read_looks, _LOOKS, "looks in a row before Unhealthy is believed"),
    ("healthy_after", _read_looks, _LOOKS, "looks in a row before Healthy is believed"),
    (
        "changing",
        _read_changing,
        one_or_listed({"type": "string", **ATTRIBUTE}),
        "attributes that may change while a device stays the same: they are read at each look",
    ),
)
"""Each key with how it is read, how it looks and what it means."""
