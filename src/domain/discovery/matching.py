"""Which devices make up a resource: rules, made of alternatives, made of conditions.

Evaluation is pure, see `alternatives`.
"""

from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.alternatives import (
    Alternative,
    Verdict,
    some_may_hold,
    verdict_of,
)
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import FactCondition, Miss
from deviceplugin.domain.discovery.expectations import Exists
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.health import Probe
from deviceplugin.domain.discovery.provision import Provision
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES
from deviceplugin.domain.resources import ResourceName

MOST_LOOKS: Final = 1000
"""Looks that a rule can ask for before it believes them."""
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
    - `advertise_empty`: serve the resource although nothing matches; else only once something did;
    - `provision`: what else a container gets, and how many units are made.

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
    provision: Provision = attrs.field(factory=Provision)
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
        facts = [fact for each in alternatives for one in each.conditions for fact in one.facts]
        facts += self.provision.facts
        return frozenset(fact.key for fact in facts if fact.kind is Kind.ATTRIBUTE)

    @property
    def gives_one_path(self) -> bool:
        """Whether devices that it may match are all at one path of a container."""
        there = self.provision.container_path
        if there is None or not there.has_room_for_one:
            return False
        first, *more = self.match
        return bool(more) or not first.is_of_one

    @property
    def read_each_time(self) -> frozenset[str]:
        """The attributes that are read at each look: those that health depends on, too."""
        return self.changing.union(*(each.reads for each in self.healthy_when))

    def well(self, candidate: Candidate) -> Verdict:
        """Say whether `healthy_when` holds, or what must be looked at next to tell."""
        return verdict_of(self.healthy_when, candidate) if self.healthy_when else True

    def unmet(self, candidate: Candidate) -> tuple[Miss, ...]:
        """Return what of `healthy_when` does not hold, of the alternative that came closest."""
        if self.well(candidate) is True:
            return ()
        closest = max(self.healthy_when, key=lambda each: each.hurdle(candidate))
        return (closest.conditions[closest.hurdle(candidate)].miss(candidate),)

    def verdict(self, candidate: Candidate) -> Verdict:
        """Say whether an alternative holds and no exclusion, or what must be looked at next."""
        matched = verdict_of(self.match, candidate)
        if matched is not True or not self.exclusions:
            return matched
        # What may be one of those is left out: whoever excludes something does so for a reason.
        excluded = some_may_hold(self.exclusions, candidate)
        return not excluded if isinstance(excluded, bool) else excluded

    def doubt(self, candidate: Candidate) -> Alternative | None:
        """Return the exclusion by which a device is left out because nobody can tell."""
        if not self.exclusions or verdict_of(self.match, candidate) is not True:
            return None
        if verdict_of(self.exclusions, candidate) is True:
            return None
        return next((each for each in self.exclusions if each.may_hold(candidate) is True), None)

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
        ruled_out = max(self.exclusions, key=lambda each: each.may_hold(candidate) is True)
        seen = (value for each in ruled_out.conditions for value in each.miss(candidate).seen)
        return Miss("exclude", f"not [{ruled_out}]", tuple(seen))
