"""Texts with places for facts of a device: "/dev/serial/{usb.serial|port}".

What stands in a place comes from hardware, and so from whoever made it: it is never looked at for
places, and what could end a line, a path or a name is replaced. Nothing of a template is code.
"""

import re
from collections.abc import Callable
from enum import Enum
from typing import Final

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind
from deviceplugin.domain.discovery.withheld import Withheld
from deviceplugin.domain.errors import InvalidValueError

MAX_TEMPLATE: Final = 1024
MAX_FILLED: Final = 4096
"""Letters of a filled template: a path has no more."""

_PLACE: Final = re.compile(r"\{\{|\}\}|\{([^{}|]*)(\|[^{}]*)?\}|[{}]")
_ODD_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_]")
_KEYED: Final = frozenset({Kind.ATTRIBUTE, Kind.PROPERTY, *HARDWARE})


class Own(Enum):
    """Facts of a device beside those that rules can ask for."""

    ID = "id"
    NAME = "name"
    NODE = "node"
    CONTAINER_PATH = "container_path"
    SUBSYSTEM = "subsystem"
    DRIVER = "driver"
    DEVPATH = "devpath"
    PARENT = "parent"
    NUMA_NODE = "numa_node"


_PATHS: Final = frozenset({Own.NODE, Own.CONTAINER_PATH, Own.DEVPATH})
"""Facts that are paths."""


class Use(Enum):
    """What a filled template is, which says what it may hold."""

    VALUE = "value"
    """Any text on one line."""
    NAME = "name"
    """Of an environment variable: letters, digits and _."""
    PATH = "path"
    """Absolute, and no fact leads out of the directory that it stands in."""


@attrs.frozen
class Place:
    """A place for a fact, and what stands there if the device has no such thing."""

    fact: Own | Fact
    otherwise: str | None = None

    def __str__(self) -> str:
        """Return it as a configuration has it."""
        name = self.fact.value if isinstance(self.fact, Own) else str(self.fact)
        return "{" + name + ("" if self.otherwise is None else f"|{self.otherwise}") + "}"


def _parts(template: "Template") -> tuple[str | Place, ...]:
    if len(template.text) > MAX_TEMPLATE:
        raise InvalidValueError(f"must not be longer than {MAX_TEMPLATE} letters")
    parts: list[str | Place] = []
    end = 0
    for found in _PLACE.finditer(template.text):
        parts.append(template.text[end : found.start()])
        end = found.end()
        whole = found[0]
        if whole in {"{{", "}}"}:
            parts.append(whole[0])
        elif whole in {"{", "}"}:
            raise InvalidValueError(
                f"{template.text!r}: {whole!r} opens or closes no place such as {{name}}; "
                f"write {whole * 2!r} for the sign itself"
            )
        else:
            parts.append(Place(_fact(found[1]), found[2] and found[2][1:]))
    return tuple(filter(None, (*parts, template.text[end:])))


def _fact(name: str) -> Own | Fact:
    for own in Own:
        if own.value == name:
            return own
    kind, dot, key = name.partition(".")
    for each in _KEYED:
        if each.value == kind and dot:
            return Fact(each, key)
    plain = ", ".join(own.value for own in Own)
    raise InvalidValueError(
        f"there is no fact {name!r}: there are {plain}, attributes.FILE, properties.KEY, "
        + ", ".join(f"{kind.value}.{key}" for kind in HARDWARE for key in HARDWARE[kind])
    )


@attrs.frozen
class Template:
    """A text with places in braces; a doubled brace is the sign itself.

    Raises `InvalidValueError` for a place of no fact, and for what could never be of that `use`.
    """

    text: str
    use: Use = Use.VALUE
    parts: tuple[str | Place, ...] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_parts, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what could never be of use."""
        own = "".join(part for part in self.parts if isinstance(part, str))
        if not self.text.isprintable():
            raise InvalidValueError(f"{self.text!r}: must be printable text on one line")
        if self.use is Use.PATH and not self._is_absolute():
            raise InvalidValueError(f"{self.text!r}: must be an absolute path without '..'")
        if self.use is Use.NAME and (
            not self.text or _ODD_IN_NAME.search(own) or self.text[0].isdecimal()
        ):
            raise InvalidValueError(
                f"{self.text!r}: must be the name of an environment variable: letters, digits and "
                "_, with no digit first"
            )

    @property
    def facts(self) -> frozenset[Fact]:
        """What must be looked up of a device to fill it."""
        return frozenset(
            part.fact
            for part in self.parts
            if isinstance(part, Place) and isinstance(part.fact, Fact)
        )

    @property
    def has_room_for_one(self) -> bool:
        """Whether it is one path for all devices: no directory, and without a fact."""
        return self.is_fixed and not self.text.endswith("/")

    @property
    def is_fixed(self) -> bool:
        """Whether it is the same for every device."""
        return not any(isinstance(part, Place) for part in self.parts)

    def fill(self, value_of: Callable[[Own | Fact], str | None]) -> str:
        """Return the text with the facts in their places.

        Raises `InvalidValueError` if the device lacks one and nothing is to stand there instead.
        """
        text = "".join(
            part if isinstance(part, str) else self._filled(part, value_of) for part in self.parts
        )
        if len(text) > MAX_FILLED:
            raise InvalidValueError(f"{self.text!r} comes to more than {MAX_FILLED} letters")
        if self.use is Use.PATH and (not text.startswith("/") or _leads_out(text)):
            raise InvalidValueError(f"{self.text!r} comes to {text!r}, which is no absolute path")
        if self.use is Use.NAME and text[0].isdecimal():
            return f"_{text}"
        return text

    def _filled(self, place: Place, value_of: Callable[[Own | Fact], str | None]) -> str:
        value = value_of(place.fact) or place.otherwise
        if value is None:
            name = str(place).strip("{}")
            raise InvalidValueError(
                f"{self.text!r}: the device has no {name}; say what else is meant: {{{name}|none}}"
            )
        plain = "".join(letter if letter.isprintable() else "_" for letter in value)
        if self.use is Use.NAME:
            return _ODD_IN_NAME.sub("_", plain)
        if self.use is Use.PATH and place.fact not in _PATHS:
            return plain.replace("/", "_")
        return plain

    def _is_absolute(self) -> bool:
        first = self.parts[0] if self.parts else ""
        if isinstance(first, Place):
            return first.fact in _PATHS and not _leads_out(self.text)
        return first.startswith("/") and not _leads_out(self.text)

    def __str__(self) -> str:
        """Return it as a configuration has it."""
        return self.text


def _leads_out(path: str) -> bool:
    return bool({".", ".."} & set(path.split("/")))


def facts_of(
    candidate: Candidate, *, device_id: str, container_path: str
) -> Callable[[Own | Fact], str | None]:
    """Return what tells the facts of a device; None of what it does not have."""
    own = {
        Own.ID: device_id,
        Own.NAME: candidate.name,
        Own.NODE: candidate.node.path if candidate.node else "",
        Own.CONTAINER_PATH: container_path,
        Own.SUBSYSTEM: candidate.subsystem,
        Own.DRIVER: candidate.driver,
        Own.DEVPATH: candidate.devpath,
        Own.PARENT: candidate.parent,
        Own.NUMA_NODE: ",".join(map(str, candidate.numa_nodes)),
    }

    def value_of(fact: Own | Fact) -> str | None:
        if isinstance(fact, Own):
            return own[fact] or None
        value = next(iter(fact.of(candidate) or ()), None)
        return None if isinstance(value, Withheld) else value

    return value_of
