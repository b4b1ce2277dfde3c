"""Conditions on the devices that a device is below, as with ATTRS in a rule of udev."""

from collections.abc import Callable

import attrs

from deviceplugin.domain.discovery.alternatives import Alternative, Verdict
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import Condition, Miss
from deviceplugin.domain.discovery.facts import Fact, Kind

KINDS = (Kind.SUBSYSTEM, Kind.NAME, Kind.DEVPATH, Kind.DRIVER, Kind.PROPERTY, Kind.ATTRIBUTE)
"""What can be asked about a parent. Its driver is its own, not one that it is below."""


@attrs.frozen
class ParentCondition(Condition):
    """Some device that the candidate is below meets all of these conditions, itself alone.

    They are looked at from the nearest on, and no further than needed.
    """

    wanted: Alternative

    @property
    def facts(self) -> frozenset[Fact]:
        """Which devices these are."""
        return frozenset({Fact(Kind.PARENT)})

    def missing(self, candidate: Candidate) -> frozenset[Fact]:
        """Return what must be known of the nearest parent that is not judged yet."""
        verdict = self._judged(candidate, self.wanted.verdict)
        return frozenset() if isinstance(verdict, bool) else verdict

    def holds(self, candidate: Candidate) -> bool | None:
        """Say whether some parent is as wanted."""
        verdict = self._judged(candidate, self.wanted.verdict)
        return verdict if isinstance(verdict, bool) else None

    def may_hold(self, candidate: Candidate) -> Verdict:
        """Say whether some parent may be as wanted, for all that is known."""
        return self._judged(candidate, self.wanted.may_hold)

    def _judged(self, candidate: Candidate, judge: Callable[[Candidate], Verdict]) -> Verdict:
        """Say whether some parent passes, or what must be known of the nearest not judged yet."""
        if candidate.parents is None:
            return self.facts
        for level, parent in enumerate(candidate.parents, 1):
            verdict = judge(parent)
            if verdict is True:
                return True
            if verdict is not False:
                return frozenset(fact.above(level) for fact in verdict)
        return False

    def miss(self, candidate: Candidate) -> Miss:
        """Return what the parent that came closest has, or all there are if none came close."""
        parents = candidate.parents or ()
        closest = max(parents, key=self.wanted.hurdle, default=None)
        if closest is None or not (hurdle := self.wanted.hurdle(closest)):
            return Miss("parents", str(self.wanted), tuple(each.name for each in parents))
        miss = self.wanted.conditions[hurdle % len(self.wanted.conditions)].miss(closest)
        return Miss(f"parents.{miss.condition}", miss.wanted, miss.seen)

    def __str__(self) -> str:
        """Return the condition as a configuration has it."""
        return f"parents: {{{self.wanted}}}"
