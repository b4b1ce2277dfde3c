"""A word that stands for one of a few things."""

from enum import Enum
from typing import TypeVar

from deviceplugin.domain.errors import InvalidValueError

_Choice = TypeVar("_Choice", bound=Enum)


def choice_of(kind: type[_Choice], option: str, text: object) -> _Choice:
    """Return what `text` stands for; raises `InvalidValueError` that names option and words."""
    try:
        return kind(text)
    except ValueError:
        allowed = ", ".join(each.value for each in kind)
        raise InvalidValueError(f"{option} {text!r}: must be one of {allowed}") from None
