"""What values look like, in the words of JSON Schema: beside each way to read one.

A pattern here never refuses what is read; where no pattern can tell, the reader alone does. They
are written for the dialect that JSON Schema means (ECMA-262), in words that Python takes alike.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.globs import MAX_PATTERN
from deviceplugin.domain.discovery.regexes import MAX_REGEX
from deviceplugin.domain.discovery.templates import MAX_TEMPLATE
from deviceplugin.domain.resources import MAX_DOMAIN, MAX_NAME

Schema = Mapping[str, Any]
"""A part of a JSON Schema."""

_END: Final = r"$(?![\s\S])"  # Python's $ alone would let a newline pass
_PART: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DOMAIN: Final = rf"(?!requests\.)(?![^/]*kubernetes\.io(?![^/])){_PART}(\.{_PART})*"
_NAME: Final = "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_HEX_GLOB: Final = r"[0-9a-fA-F*?\[\]!-]*[*?\[][0-9a-fA-F*?\[\]!-]*"
_PREFIX: Final = "(0[xX])?"
_CONTROLS: Final = r"\x00-\x1f\x7f-\x9f"
_STEP: Final = rf"(?!\.{{1,2}}(/|{_END}))[^/]+"
_BELOW: Final = rf"{_STEP}(/{_STEP})*"
"""A path below a device: no part is empty, "." or ".."."""
_PLACE_STEP: Final = rf"(?!\.{{1,2}}[/|}}])[^/{{}}|{_CONTROLS}]+"
_NUMBER: Final = r"-?(0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32}(\.[0-9]{1,32})?)"

DOMAIN: Final[Schema] = {"pattern": f"^{_DOMAIN}{_END}", "maxLength": MAX_DOMAIN}
RESOURCE: Final[Schema] = {
    "type": "string",
    "pattern": rf"^((?=[^/]{{1,{MAX_DOMAIN}}}/){_DOMAIN}/)?"
    rf"(?=[^/]{{1,{MAX_NAME}}}{_END}){_NAME}{_END}",
}
PATH: Final[Schema] = {"type": "string", "pattern": rf"^/[^{_CONTROLS}]*{_END}"}
PERMISSIONS: Final[Schema] = {
    "type": "string",
    "pattern": rf"^(?![\s\S]*([\s\S])[\s\S]*\1)[rwm]+{_END}",
}
ABSOLUTE: Final[Schema] = {"type": "string", "pattern": rf"^/[^\x00]*{_END}"}
"""A path with places for what a probe is told."""
ARGUMENT: Final[Schema] = {"type": "string", "pattern": rf"^[^\x00]*{_END}"}
"""What a command is given."""
REGEX: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": MAX_REGEX}
BOOLEAN: Final[Schema] = {"type": "boolean"}
QUANTITY: Final[Schema] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": rf"^\s*{_NUMBER}\s*{_END}"}]
}
ATTRIBUTE: Final[Schema] = {"pattern": rf"^{_BELOW}{_END}"}
"""Of the key of an attribute: a path below the device."""
PROPERTY: Final[Schema] = {"pattern": rf"^[A-Za-z0-9_.:-]{{1,255}}{_END}"}
"""Of the key of a property."""

_GLOB: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": MAX_PATTERN}
_NODE: Final[Schema] = {
    **_GLOB,
    "pattern": rf"^(?![\s\S]*\*\*)/dev(/(?!\.{{1,2}}(/|{_END}))[^/]+)+{_END}",
}
_DEVPATH: Final[Schema] = {**_GLOB, "pattern": rf"^(?!/sys(/|{_END}))[/*?\[]"}
_BARE: Final[Schema] = {**_GLOB, "pattern": rf"^[^/\[]*(\[|{_END})"}
"""Of what is no path, as far as its first bracket."""
_PAIR: Final[Schema] = {
    **_GLOB,
    "pattern": rf"^\s*{_PREFIX}([0-9a-fA-F]{{4}}|{_HEX_GLOB}):"
    rf"{_PREFIX}([0-9a-fA-F]{{4}}|{_HEX_GLOB})\s*{_END}",
}
_CLASS: Final[Schema] = {
    **_GLOB,
    "pattern": rf"^\s*{_PREFIX}([0-9a-fA-F]{{6}}|{_HEX_GLOB})\s*{_END}",
}
_INTERFACE: Final[Schema] = {
    "type": "string",
    "maxLength": MAX_PATTERN,
    "pattern": rf"^\s*{_PREFIX}([0-9a-fA-F]{{0,2}}|{_HEX_GLOB})\s*{_END}",
}
_TEXTS: Final[Mapping[tuple[Kind, str], Schema]] = MappingProxyType(
    {
        (Kind.SUBSYSTEM, ""): _BARE,
        (Kind.NAME, ""): _BARE,
        (Kind.DRIVER, ""): _BARE,
        (Kind.NODE, ""): _NODE,
        (Kind.DEVPATH, ""): _DEVPATH,
        (Kind.PCI, "id"): _PAIR,
        (Kind.PCI, "subsystem"): _PAIR,
        (Kind.PCI, "class"): _CLASS,
        (Kind.USB, "id"): _PAIR,
        (Kind.USB, "interface"): _INTERFACE,
    }
)


_FACT: Final = (
    "id|name|node|container_path|subsystem|driver|devpath|parent|numa_node"
    r"|pci\.(id|subsystem|class)|usb\.(id|serial|interface)"
    rf"|attributes\.{_PLACE_STEP}(/{_PLACE_STEP})*|properties\.[A-Za-z0-9_.:-]{{1,255}}"
)
_PLACE: Final = rf"\{{({_FACT})(\|[^{{}}{_CONTROLS}]*)?\}}"
_TEMPLATE: Final = rf"([^{{}}{_CONTROLS}]|\{{\{{|\}}\}}|{_PLACE})*{_END}"
TEMPLATE: Final[Schema] = {
    "type": "string",
    "maxLength": MAX_TEMPLATE,
    "pattern": f"^{_TEMPLATE}",
}
"""A text with places for facts of a device."""
_INSIDE: Final = rf"(?!([\s\S]*/)?\.{{1,2}}(/|{_END}))"
PATH_TEMPLATE: Final[Schema] = {
    "type": "string",
    "maxLength": MAX_TEMPLATE,
    "pattern": rf"^{_INSIDE}(?=/|\{{(node|devpath|container_path)[|}}]){_TEMPLATE}",
}
NODE_PATH_TEMPLATE: Final[Schema] = {
    "type": "string",
    "maxLength": MAX_TEMPLATE,
    "pattern": rf"^{_INSIDE}(?![\s\S]*\{{container_path[|}}])"
    rf"(?=/|\{{(node|devpath)[|}}]){_TEMPLATE}",
}
"""Where a container has a node: of which container_path is no fact yet."""
ENV_NAME: Final[Schema] = {
    "maxLength": MAX_TEMPLATE,
    "pattern": rf"^(?![0-9])([A-Za-z0-9_]|{_PLACE})+{_END}",
}
"""Of the name of an environment variable, with places for facts."""
GROUP_BY: Final[Schema] = {
    "type": "string",
    "pattern": "^(hardware|iommu_group|pci\\.(id|subsystem|class)|usb\\.(id|serial|interface)"
    rf"|attributes\.{_BELOW}|properties\.[A-Za-z0-9_.:-]{{1,255}}){_END}",
}


def anchored(pattern: str) -> str:
    """Return a pattern that a whole text has to fit."""
    return f"^{pattern}{_END}"


def text_of(fact: Fact) -> Schema:
    """Return what a text to fit a fact looks like."""
    return _TEXTS.get((fact.kind, fact.key), _GLOB)


def described(schema: Schema, text: str) -> Schema:
    """Return a shape with what it means."""
    return {**schema, "description": text}


def one_of(values: Sequence[str]) -> Schema:
    """Return the shape of a word out of these."""
    return {"type": "string", "enum": list(values)}


def listed(items: Schema) -> Schema:
    """Return the shape of a list that has at least one of these."""
    return {"type": "array", "items": items, "minItems": 1}


def one_or_listed(item: Schema) -> Schema:
    """Return the shape of one of these, or of a list of them."""
    return {"anyOf": [item, listed(item)]}
