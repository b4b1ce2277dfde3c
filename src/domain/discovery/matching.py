"""Which devices make up a resource: rules, made of alternatives, made of conditions.

Evaluation is pure. A rule that cannot decide yet says what it needs to know; the scanner looks
that up, nothing else, and asks again. Conditions are tried in order of their cost, so most
candidates are ruled out by what their name and their place in sysfs tell.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Final, Protocol

import attrs

from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.candidates import Candidate, Fact, Kind, Seen
from deviceplugin.domain.discovery.expectations import AnyOf, Expectation
from deviceplugin.domain.discovery.globs import Glob, NodeGlob
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES
from deviceplugin.domain.resources import ResourceName

Verdict = bool | frozenset[Fact]
"""Whether a candidate is matched, or the facts that must be known first."""

_ORDER: Final = tuple(Kind)


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
        """What must be known of a candidate before this can be judged."""
        ...

    @abstractmethod
    def holds(self, candidate: Candidate) -> bool | None:
        """Say whether it holds; None as long as a fact that it needs is not known."""
        ...

    @abstractmethod
    def miss(self, candidate: Candidate) -> Miss:
        """Return why it does not hold."""
        ...


@attrs.frozen
class FactCondition(Condition):
    """One fact is as expected."""

    fact: Fact
    wanted: Expectation

    @property
    def facts(self) -> frozenset[Fact]:
        """The one fact."""
        return frozenset({self.fact})

    def holds(self, candidate: Candidate) -> bool | None:
        """Say whether the candidate's values are as wanted."""
        seen = self.fact.of(candidate)
        return None if seen is None else self.wanted.holds(seen)

    def miss(self, candidate: Candidate) -> Miss:
        """Return what was wanted and what was there."""
        return Miss(str(self.fact), str(self.wanted), self.fact.of(candidate) or ())

    def __str__(self) -> str:
        """Return the condition as a configuration has it."""
        return f"{self.fact}: {self.wanted}"


def demand(fact: Fact, *values: str) -> FactCondition:
    """Return the condition that a fact fits one of these globs. Raises `InvalidValueError`."""
    pattern = NodeGlob if fact.kind is Kind.NODE else Glob
    return FactCondition(fact, AnyOf([pattern(value) for value in values]))


def _by_cost(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(sorted(conditions, key=_cost))


def _cost(condition: Condition) -> int:
    return max(_ORDER.index(fact.kind) for fact in condition.facts)


@attrs.frozen
class Alternative:
    """Conditions that must all hold, cheapest first; at least one, else `InvalidValueError`."""

    conditions: tuple[Condition, ...] = attrs.field(converter=_by_cost)

    def __attrs_post_init__(self) -> None:
        """Refuse what would match every device of the machine."""
        if not self.conditions:
            raise InvalidValueError("needs at least one condition, or it would match every device")

    def verdict(self, candidate: Candidate) -> Verdict:
        """Say whether every condition holds, or what must be looked at next to tell."""
        for condition in self.conditions:
            holds = condition.holds(candidate)
            if holds is None:
                return frozenset(fact for fact in condition.facts if fact.of(candidate) is None)
            if not holds:
                return False
        return True

    def hurdle(self, candidate: Candidate) -> int:
        """Return the index of the first condition that does not hold (yet), else their number."""
        for index, condition in enumerate(self.conditions):
            if not condition.holds(candidate):
                return index
        return len(self.conditions)

    def expectation(self, kind: Kind) -> Expectation | None:
        """Return what is expected of a fact of this kind, if anything."""
        for each in self.conditions:
            if isinstance(each, FactCondition) and each.fact.kind is kind:
                return each.wanted
        return None

    def __str__(self) -> str:
        """Return the conditions on one line."""
        return ", ".join(map(str, self.conditions))


@attrs.frozen(kw_only=True)
class ResourceRule:
    """What makes up one resource, and how it is offered.

    - `permissions`: what a container may do with the nodes, letters of r, w and m;
    - `allocation_policy`: a name out of `preference.POLICIES`;
    - `advertise_empty`: serve the resource although nothing matches; else only once something did.

    Raises `InvalidValueError`.
    """

    resource: ResourceName
    match: tuple[Alternative, ...]
    permissions: str = "rw"
    allocation_policy: str = "none"
    advertise_empty: bool = True

    def __attrs_post_init__(self) -> None:
        """Refuse what could match nothing or be granted to nobody."""
        if not self.match:
            raise InvalidValueError("match: needs at least one entry")
        if self.allocation_policy not in POLICIES:
            allowed = ", ".join(POLICIES)
            raise InvalidValueError(
                f"allocation policy {self.allocation_policy!r}: must be one of {allowed}"
            )
        DeviceNode("/dev/null", permissions=self.permissions)

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes that may have to be read, paths relative to the device."""
        facts = (fact for each in self.match for one in each.conditions for fact in one.facts)
        return frozenset(fact.key for fact in facts if fact.kind is Kind.ATTRIBUTE)

    def verdict(self, candidate: Candidate) -> Verdict:
        """Say whether some alternative holds, or what must be looked at next to tell."""
        needed: frozenset[Fact] = frozenset()
        for each in self.match:
            verdict = each.verdict(candidate)
            if verdict is True:
                return True
            if verdict is not False:
                needed |= verdict
        return needed or False

    def matches(self, candidate: Candidate) -> bool:
        """Say whether some alternative holds, by what is known."""
        return self.verdict(candidate) is True

    def miss(self, candidate: Candidate) -> Miss | None:
        """Return None if some alternative holds, else why the one that came closest does not."""
        if self.matches(candidate):
            return None
        closest = max(self.match, key=lambda each: each.hurdle(candidate))
        return closest.conditions[closest.hurdle(candidate)].miss(candidate)
