"""What a rule wants a value to be like: one small class for each operator."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

import attrs

from deviceplugin.domain.discovery.candidates import Seen
from deviceplugin.domain.discovery.globs import Pattern
from deviceplugin.domain.errors import InvalidValueError


class Expectation(Protocol):
    """Judges the values of one fact. Its text is what a person reads as "wanted"."""

    @abstractmethod
    def holds(self, seen: Seen) -> bool:
        """Say whether the values are as wanted; there are none if the device has no such thing."""
        ...

    @property
    @abstractmethod
    def patterns(self) -> tuple[Pattern, ...] | None:
        """Patterns of which a value must fit one, if such a list can be given.

        A scanner looks at nothing else then.
        """
        ...


def _unique(values: Sequence[Pattern]) -> tuple[Pattern, ...]:
    return tuple(dict.fromkeys(values))


def _literal_texts(wanted: "AnyOf") -> frozenset[str]:
    return frozenset(pattern.text for pattern in wanted.patterns if pattern.literal)


def _true_globs(wanted: "AnyOf") -> tuple[Pattern, ...]:
    return tuple(pattern for pattern in wanted.patterns if not pattern.literal)


@attrs.frozen
class AnyOf(Expectation):
    """Some value fits one of the patterns. Raises `InvalidValueError` if there are none."""

    patterns: tuple[Pattern, ...] = attrs.field(converter=_unique)
    # Most candidates are judged by a literal: that is one look into a set.
    _literals: frozenset[str] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_literal_texts, takes_self=True)
    )
    _globs: tuple[Pattern, ...] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_true_globs, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what could never hold."""
        if not self.patterns:
            raise InvalidValueError("needs at least one value")

    def holds(self, seen: Seen) -> bool:
        """Say whether some value fits."""
        for value in seen:
            if value in self._literals:
                return True
            for glob in self._globs:
                if glob.fits(value):
                    return True
        return False

    def __str__(self) -> str:
        """Return the patterns, joined by "or"."""
        return " or ".join(pattern.text for pattern in self.patterns)
