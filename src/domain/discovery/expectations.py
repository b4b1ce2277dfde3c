"""What a rule wants a value to be like: one small class for each operator."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import ge, gt, le, lt
from types import MappingProxyType
from typing import Final, Protocol

import attrs

from deviceplugin.domain.discovery.facts import Seen
from deviceplugin.domain.discovery.globs import Pattern
from deviceplugin.domain.discovery.quantities import quantity
from deviceplugin.domain.discovery.withheld import NO_TEXT, Withheld
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


@attrs.frozen
class NoneOf(Expectation):
    """No value fits any of the patterns: so, too, where there is no value at all.

    Raises `InvalidValueError` if there are no patterns.
    """

    unwanted: AnyOf = attrs.field(converter=AnyOf)

    @property
    def patterns(self) -> None:
        """What is not wanted does not tell where to look."""
        return

    def holds(self, seen: Seen) -> bool:
        """Say whether no value fits."""
        return not self.unwanted.holds(seen)

    def __str__(self) -> str:
        """Return the patterns with "not" before them."""
        return f"not {self.unwanted}"


@attrs.frozen
class Exists(Expectation):
    """There is a value, even an empty one; or, if not `wanted`, there is none."""

    wanted: bool = True

    @property
    def patterns(self) -> None:
        """Any value will do."""
        return

    def holds(self, seen: Seen) -> bool:
        """Say whether there is a value, or none."""
        return bool(seen) == self.wanted

    def __str__(self) -> str:
        """Return it in words."""
        return "any value" if self.wanted else "no value"


def of_withheld(wanted: Expectation, value: Withheld) -> bool | None:
    """Say whether a value that is there is as wanted, although it is not known.

    None: it may be or not.
    """
    if isinstance(wanted, Exists):
        return wanted.wanted
    if isinstance(wanted, AllOf):
        parts = [of_withheld(part, value) for part in wanted.parts]
        return False if False in parts else None if None in parts else True
    return wanted.holds(()) if value is NO_TEXT else None


COMPARISONS: Final[Mapping[str, Callable[[Fraction, Fraction], bool]]] = MappingProxyType(
    {"gt": gt, "ge": ge, "lt": lt, "le": le}
)
"""How two numbers can be compared, by the operator's name."""


@attrs.frozen
class Compared(Expectation):
    """Some value is a number, and greater or less than another; what is no number never is.

    Raises `InvalidValueError` for a limit that is no number.
    """

    operator: str = attrs.field(validator=attrs.validators.in_(COMPARISONS))
    limit: str
    _number: Fraction = attrs.field(
        init=False,
        eq=False,
        repr=False,
        default=attrs.Factory(lambda self: parsed_quantity(self.limit), takes_self=True),
    )

    @property
    def patterns(self) -> None:
        """No list of numbers is given."""
        return

    def holds(self, seen: Seen) -> bool:
        """Say whether some value compares so."""
        compare = COMPARISONS[self.operator]
        numbers = (quantity(value) for value in seen)
        return any(each is not None and compare(each, self._number) for each in numbers)

    def __str__(self) -> str:
        """Return the comparison in the words of a configuration."""
        return f"{self.operator} {self.limit}"


def parsed_quantity(text: str) -> Fraction:
    """Return the number that a text is. Raises `InvalidValueError`."""
    number = quantity(text)
    if number is None:
        raise InvalidValueError(f"{text[:80]!r} must be a number such as 5, 0.5 or 0x1f")
    return number


@attrs.frozen
class AllOf(Expectation):
    """Each of several expectations holds. Raises `InvalidValueError` if there are none."""

    parts: tuple[Expectation, ...] = attrs.field(converter=tuple[Expectation, ...])

    def __attrs_post_init__(self) -> None:
        """Refuse what would always hold."""
        if not self.parts:
            raise InvalidValueError("needs at least one operator")

    @property
    def patterns(self) -> tuple[Pattern, ...] | None:
        """The shortest list that a part has."""
        lists = [part.patterns for part in self.parts if part.patterns is not None]
        return min(lists, key=len, default=None)

    def holds(self, seen: Seen) -> bool:
        """Say whether each part holds."""
        return all(part.holds(seen) for part in self.parts)

    def __str__(self) -> str:
        """Return the parts, joined by "and"."""
        return " and ".join(map(str, self.parts))


def in_range(low: str, high: str) -> AllOf:
    """Return the expectation of a number from `low` to `high`, both included.

    Raises `InvalidValueError` for what is no number, or an empty range.
    """
    if parsed_quantity(low) > parsed_quantity(high):
        raise InvalidValueError(f"the range begins with {low}, which is more than {high}")
    return AllOf((Compared("ge", low), Compared("le", high)))
