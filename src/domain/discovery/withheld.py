"""Values that are there and cannot be told: nobody may say that there is none.

Each is an empty text to whoever only wants something to show, and equal to nothing but itself.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Self, TypeVar, overload

_Other = TypeVar("_Other")


class Withheld(str):
    """A value that is there, but is not known; its representation says why, for people."""

    __slots__ = ("_why",)
    _why: str

    def __new__(cls, why: str) -> Self:
        """Return such a value, which is like no other one."""
        made = super().__new__(cls)
        made._why = why
        return made

    def __eq__(self, other: object) -> bool:
        """Say whether it is this one: no text of a rule is equal to it."""
        return self is other

    def __ne__(self, other: object) -> bool:
        """Say whether it is another one."""
        return self is not other

    def __hash__(self) -> int:
        """Return what tells it from the empty text."""
        return id(self)

    def __repr__(self) -> str:
        """Return what a person reads in the place of the value."""
        return self._why


UNREAD: Final = Withheld("what cannot be read")
"""It may be anything: we may not read it, or reading it failed."""
NO_TEXT: Final = Withheld("what is no text")
"""It has been read: no pattern fits it, and it is no number."""


class _Keys(dict[str, str]):
    """Keys of which none is known: there may be any."""

    @overload
    def get(self, key: str, default: None = None, /) -> str | None: ...
    @overload
    def get(self, key: str, default: str, /) -> str: ...
    @overload
    def get(self, key: str, default: _Other, /) -> str | _Other: ...
    def get(self, key: str, default: object = None, /) -> object:  # noqa: ARG002 - as dict has it
        """Return that it cannot be read."""
        return UNREAD


UNREAD_KEYS: Final[Mapping[str, str]] = MappingProxyType(_Keys())
"""Keys of a file that cannot be read."""


def shown_value(value: str) -> str:
    """Return a value as people are shown it."""
    return repr(value) if isinstance(value, Withheld) else value
