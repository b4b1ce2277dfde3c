"""Reads what a configuration says a container gets beside the nodes of what matches."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

import attrs
from yaml.nodes import Node, SequenceNode

from deviceplugin.app.settings.companions import companions_schema, read_companion
from deviceplugin.app.settings.reader import Reader
from deviceplugin.app.settings.shapes import (
    BOOLEAN,
    ENV_NAME,
    GROUP_BY,
    NODE_PATH_TEMPLATE,
    PATH_TEMPLATE,
    TEMPLATE,
    Schema,
    anchored,
    described,
    listed,
)
from deviceplugin.domain.discovery.provision import (
    GroupBy,
    MountRule,
    node_path_template,
    path_template,
)
from deviceplugin.domain.discovery.templates import Template, Use
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.sharing import MAX_SHARES

MAX_LIMIT: Final = 100_000
MAX_SEPARATOR: Final = 8
NO_SEPARATOR: Final = "none"
"""Values are not joined: a container gets devices that agree, or none."""
_Entry = TypeVar("_Entry")


def _entries(
    reader: Reader, node: Node, read: Callable[[Reader, Node], _Entry | None]
) -> tuple[_Entry, ...]:
    """Return the entries of a list that are without fault; one at least."""
    if isinstance(node, SequenceNode) and not node.value:
        reader.note(node, "needs at least one entry")
    found = (read(reader, each) for each in reader.items(node))
    return tuple(each for each in found if each is not None)


def _read_mount(reader: Reader, node: Node) -> MountRule | None:
    before = len(reader.faults)
    keys = reader.mapping(node, required=["host_path"], optional=["container_path", "read_only"])
    parts: dict[str, Any] = {
        name: reader.parsed(keys[name], path_template)
        for name in ("host_path", "container_path")
        if name in keys
    }
    if "read_only" in keys:
        parts["read_only"] = reader.boolean(keys["read_only"])
    return None if len(reader.faults) > before else MountRule(**parts)


def _read_pairs(use: Use, reader: Reader, node: Node) -> tuple[tuple[Template, Template], ...]:
    """Return names, each of this use, with values."""
    found: list[tuple[Template, Template]] = []
    for key, value in reader.pairs(node).values():
        name = reader.parsed(key, partial(_named, use))
        text = reader.parsed(value, Template)
        if name is not None and text is not None:
            found.append((name, text))
    return tuple(found)


def _named(use: Use, text: str) -> Template:
    if not text:
        raise InvalidValueError("must have a name")
    return Template(text, use)


def _separator(text: str) -> str | None:
    if text == NO_SEPARATOR:
        return None
    if not 1 <= len(text) <= MAX_SEPARATOR or not text.isprintable():
        raise InvalidValueError(
            f"{text!r} must be 1 to {MAX_SEPARATOR} printable characters, or {NO_SEPARATOR}"
        )
    return text


def _whole(most: int, reader: Reader, node: Node) -> int | None:
    return reader.checked(node, reader.whole_number(node), partial(_number, most))


def _number(most: int, text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise InvalidValueError(f"{text!r} must be a whole number from 1 to {most}")
    return int(text)


_MOUNTS: Final[Schema] = listed(
    {
        "type": "object",
        "properties": {
            "host_path": described(PATH_TEMPLATE, "a file or directory of the host"),
            "container_path": described(PATH_TEMPLATE, "where the container has it"),
            "read_only": described(BOOLEAN, "false: the container may write to it"),
        },
        "required": ["host_path"],
        "additionalProperties": False,
    }
)
_SEPARATOR: Final[Schema] = {
    "type": "string",
    "maxLength": MAX_SEPARATOR,
    "pattern": anchored(r"[^\x00-\x1f\x7f-\x9f]+"),
}
_ANNOTATION: Final[Schema] = {**TEMPLATE, "minLength": 1}


def _texts(name: Schema) -> Schema:
    return {"type": "object", "propertyNames": name, "additionalProperties": TEMPLATE}


def _integer(most: int) -> Schema:
    return {"type": "integer", "minimum": 1, "maximum": most}


@attrs.frozen(kw_only=True)
class Part:
    """One key: the field of a `Provision` that it is, how it is read and looks, what it means."""

    field: str
    read: Callable[[Reader, Node], Any]
    schema: Schema
    help: str


def parts(alternative: Schema) -> Mapping[str, Part]:
    """Return each key that says what a container gets; conditions look like `alternative`."""
    return {
        "with": Part(
            field="companions",
            read=lambda reader, node: _entries(reader, node, read_companion),
            schema=companions_schema(alternative),
            help="what comes along with each device: other nodes",
        ),
        "container_path": Part(
            field="container_path",
            read=lambda reader, node: reader.parsed(node, node_path_template),
            schema=NODE_PATH_TEMPLATE,
            help="where the container has the node; with a / at its end it is the directory",
        ),
        "mounts": Part(
            field="mounts",
            read=lambda reader, node: _entries(reader, node, _read_mount),
            schema=_MOUNTS,
            help="files and directories of the host that the container sees",
        ),
        "env": Part(
            field="envs",
            read=partial(_read_pairs, Use.NAME),
            schema=_texts(ENV_NAME),
            help="environment variables, with facts such as {node} in their places",
        ),
        "env_separator": Part(
            field="env_separator",
            read=lambda reader, node: reader.parsed(node, _separator),
            schema=_SEPARATOR,
            help="what joins the values that several devices have for one variable, or none",
        ),
        "annotations": Part(
            field="annotations",
            read=partial(_read_pairs, Use.VALUE),
            schema=_texts(_ANNOTATION),
            help="annotations for the container runtime, with facts in their places, too",
        ),
        "group_by": Part(
            field="group_by",
            read=lambda reader, node: reader.parsed(node, GroupBy),
            schema=GROUP_BY,
            help="devices that have this in common are one unit",
        ),
        "count": Part(
            field="count",
            read=partial(_whole, MAX_SHARES),
            schema=_integer(MAX_SHARES),
            help="how many containers may have one device",
        ),
        "limit": Part(
            field="limit",
            read=partial(_whole, MAX_LIMIT),
            schema=_integer(MAX_LIMIT),
            help="how many devices are offered at most",
        ),
    }
