"""How an event reads: a name and facts, on one line.

Names and keys are promises: people search for them and raise alarms on them. They follow from the
domain's classes, and a test holds the list, so that renaming a class is seen for what it is.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, cast

import attrs

from deviceplugin.domain.events import Event

Fact = str | int | float | bool | tuple[str, ...]
"""A value that each format has a way to show."""

SHOWN: Final = 16
"""Members of a long fact that a line shows; it ends with the number of the others."""

_PLAIN: Final = re.compile(r'[^\s"=]+')


def facts(event: Event) -> Mapping[str, Fact]:
    """Return what the event carries, in its own order."""
    return {each.name: _fact(getattr(event, each.name)) for each in attrs.fields(type(event))}


def line(name: str, known: Mapping[str, Fact]) -> str:
    """Return `name key=value key=value`; a value that is no plain word is quoted as in JSON."""
    return " ".join([name, *(f"{key}={_shown(value)}" for key, value in known.items())])


def _fact(value: object) -> Fact:
    if isinstance(value, tuple):
        return tuple(map(str, cast("tuple[object, ...]", value)))
    return value if isinstance(value, str | int | float) else str(value)


def _shown(value: Fact) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        rest = [f"+{len(value) - SHOWN}"] if len(value) > SHOWN else []
        value = ",".join([*value[:SHOWN], *rest])
    return _quoted(str(value))


def _quoted(text: str) -> str:
    if text.isprintable():
        return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
    return json.dumps(text)
