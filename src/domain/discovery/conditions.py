"""Single demands on a device, and what they say when they are not met."""

from abc import abstractmethod
from typing import Final, Protocol

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.expectations import AnyOf, Expectation, of_withheld
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind, Seen
from deviceplugin.domain.discovery.globs import Glob, NodeGlob, Pattern
from deviceplugin.domain.discovery.hardware import hardware_text
from deviceplugin.domain.discovery.unmatchable import unmatchable
from deviceplugin.domain.discovery.withheld import Withheld
from deviceplugin.domain.errors import InvalidValueError

_SHOWN: Final = 80


@attrs.frozen
class Miss:
    """Why a candidate is not matched: the first condition that did not hold, and what it met."""

    condition: str
    wanted: str
    seen: Seen

    def __str__(self) -> str:
        """Return one line for people."""
        seen = " and ".join(map(repr, self.seen)) or "nothing"
        return f"{self.condition}: wanted {self.wanted}, seen {seen}"


class Condition(Protocol):
    """One demand on a candidate. Its text is the line of the configuration that it stands for."""

    @property
    @abstractmethod
    def facts(self) -> frozenset[Fact]:
        """What must be known of any candidate before this can be judged."""
        ...

    @abstractmethod
    def missing(self, candidate: Candidate) -> frozenset[Fact]:
        """Return what must be looked at next to judge this candidate; nothing once it is known."""
        ...

    @abstractmethod
    def holds(self, candidate: Candidate) -> bool | None:
        """Say whether it holds; None as long as a fact that it needs is not known."""
        ...

    @abstractmethod
    def miss(self, candidate: Candidate) -> Miss:
        """Return why it does not hold."""
        ...

    def verdict(self, candidate: Candidate) -> bool | frozenset[Fact]:
        """Say whether it holds, or what must be looked at next to tell."""
        holds = self.holds(candidate)
        return self.missing(candidate) if holds is None else holds

    @abstractmethod
    def may_hold(self, candidate: Candidate) -> bool | frozenset[Fact]:
        """Say whether it holds for all that is known, or what must be looked at next to tell.

        Other than `verdict`, this is so, too, where something that it depends on cannot be read.
        """
        ...


@attrs.frozen
class FactCondition(Condition):
    """One fact is as expected."""

    fact: Fact
    wanted: Expectation
    _facts: frozenset[Fact] = attrs.field(
        init=False,
        eq=False,
        repr=False,
        default=attrs.Factory(lambda self: frozenset({self.fact}), takes_self=True),
    )

    @property
    def facts(self) -> frozenset[Fact]:
        """The one fact."""
        return self._facts

    def missing(self, candidate: Candidate) -> frozenset[Fact]:
        """Return the fact unless it is known."""
        return self.facts if self.fact.of(candidate) is None else frozenset()

    def holds(self, candidate: Candidate) -> bool | None:
        """Say whether the candidate's values are as wanted."""
        seen = self.fact.of(candidate)
        return None if seen is None else self._judged(seen) is True

    def miss(self, candidate: Candidate) -> Miss:
        """Return what was wanted and what was there."""
        return Miss(str(self.fact), str(self.wanted), self.fact.of(candidate) or ())

    def verdict(self, candidate: Candidate) -> bool | frozenset[Fact]:
        """Say whether the candidate's values are as wanted, or that they must be looked at."""
        seen = self.fact.of(candidate)
        return self._facts if seen is None else self._judged(seen) is True

    def may_hold(self, candidate: Candidate) -> bool | frozenset[Fact]:
        """Say whether the candidate's values may be as wanted, or that they must be looked at."""
        seen = self.fact.of(candidate)
        return self._facts if seen is None else self._judged(seen) is not False

    def _judged(self, seen: Seen) -> bool | None:
        """Say whether values are as wanted; None where that cannot be told."""
        if seen and isinstance(seen[0], Withheld):
            return of_withheld(self.wanted, seen[0])
        return self.wanted.holds(seen)

    def __str__(self) -> str:
        """Return the condition as a configuration has it."""
        return f"{self.fact}: {self.wanted}"


def pattern(fact: Fact, text: str) -> Pattern:
    """Return what a text means as a value of the fact: a glob. Raises `InvalidValueError`."""
    if fact.kind is Kind.NODE:
        return NodeGlob(text)
    if way_out := unmatchable(fact.kind, text):
        raise InvalidValueError(f"{fact.kind.value} {text[:_SHOWN]!r}: {way_out}")
    return Glob(hardware_text(fact, text) if fact.kind in HARDWARE else text)


def demand(fact: Fact, *values: str) -> FactCondition:
    """Return the condition that a fact fits one of these globs. Raises `InvalidValueError`."""
    return FactCondition(fact, AnyOf([pattern(fact, value) for value in values]))
