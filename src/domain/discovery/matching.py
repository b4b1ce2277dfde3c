"""Which devices make up a resource: rules, made of alternatives, made of conditions.

Evaluation is pure, see `alternatives`.
"""

from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.alternatives import Alternative, Verdict, verdict_of
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import FactCondition, Miss
from deviceplugin.domain.discovery.expectations import Exists
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.health import Probe
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES
from deviceplugin.domain.resources import ResourceName

<<<<<<< HEAD
=======
Verdict = bool | frozenset[Fact]
"""Whether a candidate is matched, or the facts that must be known first."""

MOST_LOOKS: Final = 1000
"""Looks that a rule can ask for before it believes them."""
_ORDER: Final = tuple(Kind)


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
                return condition.missing(candidate)
            if not holds:
                return False
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

    def __str__(self) -> str:
        """Return the conditions on one line."""
        return ", ".join(map(str, self.conditions))


def _verdict(alternatives: Iterable[Alternative], candidate: Candidate) -> Verdict:
    """Say whether some alternative holds, or what must be looked at next to tell."""
    needed: frozenset[Fact] = frozenset()
    for each in alternatives:
        verdict = each.verdict(candidate)
        if verdict is True:
            return True
        if verdict is not False:
            needed |= verdict
    return needed or False


>>>>>>> c0336ea (health)
_IN_USE: Final = Alternative((FactCondition(Fact(Kind.USE), Exists()),))
"""What the host uses itself."""


def _exclusions(rule: "ResourceRule") -> tuple[Alternative, ...]:
    return (*rule.exclude, _IN_USE) if rule.exclude_in_use else rule.exclude


@attrs.frozen(kw_only=True)
class ResourceRule:
    """What makes up one resource, and how it is offered.

    - `match`: a device must fit one of these;
    - `exclude`: and none of these; nor, with `exclude_in_use`, be used by the host itself;
    - `healthy_when`: it is Healthy only while one of these holds, if there are any; and as long as
      its `probe`, if there is one, says so;
    - `unhealthy_after`, `healthy_after`: so many looks in a row must agree before it is believed;
    - `changing`: attributes that may change while the device stays the same, read at each look;
    - `permissions`: what a container may do with the nodes, letters of r, w and m;
    - `allocation_policy`: a name out of `preference.POLICIES`;
    - `advertise_empty`: serve the resource although nothing matches; else only once something did.

    Raises `InvalidValueError`.
    """

    resource: ResourceName
    match: tuple[Alternative, ...]
    exclude: tuple[Alternative, ...] = ()
    exclude_in_use: bool = False
    healthy_when: tuple[Alternative, ...] = ()
    probe: Probe | None = None
    unhealthy_after: int = 1
    healthy_after: int = 1
    changing: frozenset[str] = frozenset()
    permissions: str = "rw"
    allocation_policy: str = "none"
    advertise_empty: bool = True
    exclusions: tuple[Alternative, ...] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_exclusions, takes_self=True)
    )
    """All that rules a device out."""

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
        for looks in (self.unhealthy_after, self.healthy_after):
            if not 1 <= looks <= MOST_LOOKS:
                raise InvalidValueError(f"{looks} must be a number of looks, 1 to {MOST_LOOKS}")

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes of a device that may have to be read, paths relative to it."""
        alternatives = (*self.match, *self.exclusions)
        facts = (fact for each in alternatives for one in each.conditions for fact in one.facts)
        return frozenset(fact.key for fact in facts if fact.kind is Kind.ATTRIBUTE)

    @property
    def read_each_time(self) -> frozenset[str]:
        """The attributes that are read at each look: those that health depends on, too."""
        return self.changing.union(*(each.reads for each in self.healthy_when))

    def well(self, candidate: Candidate) -> Verdict:
        """Say whether `healthy_when` holds, or what must be looked at next to tell."""
        return _verdict(self.healthy_when, candidate) if self.healthy_when else True

    def unmet(self, candidate: Candidate) -> tuple[Miss, ...]:
        """Return what of `healthy_when` does not hold, of the alternative that came closest."""
        if self.well(candidate) is True:
            return ()
        closest = max(self.healthy_when, key=lambda each: each.hurdle(candidate))
        return (closest.conditions[closest.hurdle(candidate)].miss(candidate),)

    def verdict(self, candidate: Candidate) -> Verdict:
        """Say whether an alternative holds and no exclusion, or what must be looked at next."""
        matched = verdict_of(self.match, candidate)
        if matched is not True:
            return matched
        excluded = verdict_of(self.exclusions, candidate)
        return not excluded if isinstance(excluded, bool) else excluded

    def matches(self, candidate: Candidate) -> bool:
        """Say whether the device is one of the resource's, by what is known."""
        return self.verdict(candidate) is True

    def miss(self, candidate: Candidate) -> Miss | None:
        """Return None if it matches, else why the alternative that came closest does not.

        Of what is excluded it is the exclusion, with what was seen of each of its conditions.
        """
        if self.matches(candidate):
            return None
        closest = max(self.match, key=lambda each: each.hurdle(candidate))
        hurdle = closest.hurdle(candidate)
        if hurdle < len(closest.conditions):
            return closest.conditions[hurdle].miss(candidate)
        ruled_out = max(self.exclusions, key=lambda each: each.verdict(candidate) is True)
        seen = (value for each in ruled_out.conditions for value in each.miss(candidate).seen)
        return Miss("exclude", f"not [{ruled_out}]", tuple(seen))
