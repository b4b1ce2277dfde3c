"""Conditions that must all hold, and lists of which one must.

Evaluation is pure. What cannot be decided yet says what it needs to know; the scanner looks that
up, nothing else, and asks again. Conditions are tried in order of their cost, so most candidates
are ruled out by what their name and their place in sysfs tell.
"""

from collections.abc import Iterable
from typing import Final

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import Condition, FactCondition
from deviceplugin.domain.discovery.expectations import Expectation
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.errors import InvalidValueError

Verdict = bool | frozenset[Fact]
"""Whether a candidate is matched, or the facts that must be known first."""

_ORDER: Final = tuple(Kind)
_SUBSYSTEM: Final = Fact(Kind.SUBSYSTEM)


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
        return verdict_of_all((self.conditions,), candidate)

    def may_hold(self, candidate: Candidate) -> Verdict:
        """Say whether every condition holds for all that is known, as `Condition.may_hold`."""
        for condition in self.conditions:
            verdict = condition.may_hold(candidate)
            if verdict is not True:
                return verdict
        return True

    @property
    def reads(self) -> frozenset[str]:
        """The attributes that it may read, of the device or one that it is below."""
        own = (fact for each in self.conditions for fact in each.facts)
        keys = frozenset(fact.key for fact in own if fact.kind is Kind.ATTRIBUTE)
        inner = (getattr(each, "wanted", None) for each in self.conditions)
        return keys.union(*(each.reads for each in inner if isinstance(each, Alternative)))

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

    @property
    def is_of_one(self) -> bool:
        """Whether a single device can fit: one that is asked for by its very name or node."""
        wanted = (self.expectation(kind) for kind in (Kind.NAME, Kind.NODE))
        lists = (each.patterns for each in wanted if each)
        return any(found and len(found) == 1 and found[0].literal for found in lists)

    def __str__(self) -> str:
        """Return the conditions on one line."""
        return ", ".join(map(str, self.conditions))


Conditions = tuple[Condition, ...]


def left_open(alternatives: Iterable[Alternative], subsystem: str) -> tuple[Conditions, ...]:
    """Return the conditions of each alternative that its device's subsystem leaves open.

    An alternative that it rules out is left out.
    """
    seen = (subsystem,) if subsystem else ()
    found: list[Conditions] = []
    for each in alternatives:
        told = [one for one in each.conditions if isinstance(one, FactCondition)]
        told = [one for one in told if one.fact == _SUBSYSTEM]
        if all(one.wanted.holds(seen) for one in told):
            found.append(tuple(one for one in each.conditions if one not in told))
    return tuple(found)


def verdict_of_all(several: Iterable[Conditions], candidate: Candidate) -> Verdict:
    """Say whether all conditions of some hold, or what must be looked at next to tell."""
    needed: frozenset[Fact] = frozenset()
    for conditions in several:
        verdict: Verdict = True
        for each in conditions:
            verdict = each.verdict(candidate)
            if verdict is not True:
                break
        if verdict is True:
            return True
        if verdict is not False:
            needed = needed | verdict if needed else verdict
    return needed or False


def verdict_of(alternatives: Iterable[Alternative], candidate: Candidate) -> Verdict:
    """Say whether some alternative holds, or what must be looked at next to tell."""
    return verdict_of_all((each.conditions for each in alternatives), candidate)


def some_may_hold(alternatives: Iterable[Alternative], candidate: Candidate) -> Verdict:
    """Say whether some alternative holds for all that is known, as `Condition.may_hold`."""
    needed: frozenset[Fact] = frozenset()
    for each in alternatives:
        verdict = each.may_hold(candidate)
        if verdict is True:
            return True
        if verdict is not False:
            needed |= verdict
    return needed or False
