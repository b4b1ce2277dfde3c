"""Parts of a device as an author's code gives them.

What a type checker would have refused is refused while the author's own line is on the stack, by
`InvalidDeviceError`.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from deviceplugin.domain.errors import InvalidDeviceError

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_UNSENDABLE: Final = re.compile("[\0\ud800-\udfff]")
"""NUL, which ends a text in the kernel, and what a file name that isn't UTF-8 is decoded to."""

_Value = TypeVar("_Value")


def a_text(part: str, value: object) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise InvalidDeviceError(part, value, f"must be text, not {type(value).__name__}")


def sendable(part: str, value: object) -> None:
    """Refuse what neither a message nor a program's environment can hold."""
    if not isinstance(value, str) or _UNSENDABLE.search(value):
        raise InvalidDeviceError(part, value, "must be text in UTF-8 without NUL")


def absolute(part: str, path: str) -> None:
    """Refuse what is no absolute path."""
    sendable(part, path)
    if not path.startswith("/"):
        raise InvalidDeviceError(part, path, "must be an absolute path")


def named(part: str, pairs: Mapping[str, str]) -> None:
    """Refuse pairs without a name, and what cannot be sent."""
    for name, value in pairs.items():
        sendable(part, name)
        sendable(f"value of {part} {name}", value)
        if not name:
            raise InvalidDeviceError(part, name, "must have a name")


def one(part: str, kind: type, value: object) -> None:
    """Refuse what is of another kind."""
    if not isinstance(value, kind):
        raise InvalidDeviceError(part, value, f"must be a {kind.__name__}")


def several(part: str, kind: type[_Value], values: Iterable[_Value]) -> tuple[_Value, ...]:
    """Return what is given of a kind, each once, in its order."""
    if isinstance(values, tuple) and not values:
        return ()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        rule = f"must be a list or a tuple, of one {kind.__name__} or more"
        raise InvalidDeviceError(part, values, rule)
    found = tuple(values)
    for value in found:
        one(part, kind, value)
    return tuple(dict.fromkeys(found)) if len(found) > 1 else found


def frozen_mapping(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return a read-only copy, sorted by key, that later changes of `values` cannot reach."""
    if not values:
        return _NOTHING
    if not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidDeviceError("mapping", values, "must be a dict of names and values")
    for name in values:
        a_text("name", name)
    return MappingProxyType(dict(sorted(values.items())))
