"""How each device fares with each resource: the answer to "why not mine?"."""

from collections.abc import Container, Iterable, Mapping, Sequence
from enum import Enum

import attrs

from deviceplugin.domain.discovery.arrangement import Arrangement, arrange
from deviceplugin.domain.discovery.assortment import shown
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import Miss
from deviceplugin.domain.discovery.health import ailments
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.units import grouped as units_of
from deviceplugin.domain.resources import ResourceName


class Outcome(Enum):
    """What became of a device; the value is a word for people."""

    OFFERED = "offered"
    COMPANION = "comes along"
    REFUSED = "matched, not offered"
    RULED_OUT = "ruled out"


@attrs.frozen(kw_only=True)
class Finding:
    """How one device fares with one resource.

    `miss` is the first condition that ruled it out, of the alternative that came closest, and
    `passed` how many held before; `reason` is why a device that matches is not offered, why one
    that is offered cannot be used, or with which devices one comes along.
    """

    resource: ResourceName
    candidate: Candidate
    outcome: Outcome
    miss: Miss | None = None
    passed: int = 0
    reason: str = ""
    lead: str = ""
    """What tells the first device of its unit from all others, if it is offered."""
    is_disputed: bool = False
    """Whether nobody gets it because several resources claim it."""

    def __str__(self) -> str:
        """Return why, or that there is nothing to ask why about."""
        return str(self.miss) if self.miss else self.reason or self.outcome.value


def findings(rules: Rulebook, sightings: Iterable[Sighting]) -> tuple[Finding, ...]:
    """Return a finding for each rule and device, in the order of the rules, then of the devices.

    Whatever the rules need to know of a device must be known. Who made the sightings may have had
    more rules, to see more: what those match is nobody's for that.
    """
    asked = {rule.resource for rule in rules}
    seen = sorted(
        (_by_rules_of(asked, each) for each in sightings),
        key=lambda each: each.candidate.identity,
    )
    found = arrange(rules, seen)
    refused = _refused(rules, seen, found)
    disputed = {(skip.resource, skip.place) for skip in found.disputed}
    offered = {
        (rule.resource, candidate.identity): (
            "; ".join((*each.troubles, *ailments(candidate, rule.unmet(candidate), None))),
            each.unit.lead.identity,
        )
        for rule in rules
        for each in found.offers.get(rule.resource, ())
        for candidate in each.unit.members
    }
    along = _along(found)

    def finding(rule: ResourceRule, sighting: Sighting) -> Finding:
        candidate, resource = sighting.candidate, rule.resource
        taken = offered.get((resource, candidate.identity))
        if taken is not None:
            return Finding(
                resource=resource,
                candidate=candidate,
                outcome=Outcome.OFFERED,
                reason=taken[0],
                lead=taken[1],
            )
        reason = refused.get((resource, candidate.identity), "")
        hosts = along.get((resource, candidate.identity))
        if hosts:
            alone = f"; not offered alone: {reason}" if reason else ""
            outcome, reason = Outcome.COMPANION, f"comes along with {', '.join(hosts)}{alone}"
            return Finding(resource=resource, candidate=candidate, outcome=outcome, reason=reason)
        if reason:
            return Finding(
                resource=resource,
                candidate=candidate,
                outcome=Outcome.REFUSED,
                reason=reason,
                is_disputed=(resource, candidate.identity) in disputed,
            )
        return Finding(
            resource=resource,
            candidate=candidate,
            outcome=Outcome.RULED_OUT,
            miss=rule.miss(candidate),
            passed=max(each.hurdle(candidate) for each in rule.match),
        )

    return tuple(finding(rule, each) for rule in rules for each in seen)


def _by_rules_of(resources: Container[ResourceName], sighting: Sighting) -> Sighting:
    """Return a sighting as if only the rules of these resources had been asked."""
    claims, fits = sighting.claims, sighting.fits
    return Sighting(
        sighting.candidate,
        tuple(rule for rule in claims if rule.resource in resources),
        tuple(fit for fit in fits if fit[0] in resources),
    )


def _refused(
    rules: Rulebook, seen: Sequence[Sighting], found: Arrangement
) -> Mapping[tuple[ResourceName, str], str]:
    """Return why devices that match are not offered; what is said of a group is so of all."""
    disputed = [
        attrs.evolve(skip, reason=f"{skip.reason}, so that nobody gets it")
        for skip in found.disputed
    ]
    skips = (*found.skips, *disputed)
    reasons = {(skip.resource, skip.place): skip.reason for skip in skips if skip.place}
    of_units = {(skip.resource, skip.device): skip.reason for skip in skips if not skip.place}
    for rule in rules if of_units else ():
        dealt = (
            each.candidate
            for each in seen
            if rule in each.claims and (rule.resource, each.candidate.identity) not in reasons
        )
        for members, _ in units_of(rule, dealt):
            reason = of_units.get((rule.resource, shown(members[0])))
            if reason is not None:
                reasons.update({(rule.resource, each.identity): reason for each in members})
    return reasons


def _along(found: Arrangement) -> Mapping[tuple[ResourceName, str], Sequence[str]]:
    """Return the names of the devices that each companion comes along with, by resource."""
    hosts: dict[tuple[ResourceName, str], list[str]] = {}
    for resource, offers in found.offers.items():
        for each in offers:
            for _, guest in each.unit.companions:
                hosts.setdefault((resource, guest.identity), []).append(each.unit.lead.name)
    return hosts


@attrs.frozen(kw_only=True)
class Group:
    """Devices that one condition ruled out."""

    condition: str
    wanted: str
    findings: tuple[Finding, ...]


def grouped(ruled_out: Sequence[Finding]) -> tuple[Group, ...]:
    """Return those that were ruled out by what ruled them out, those that came closest first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for each in ruled_out:
        if each.miss is not None:
            groups.setdefault((each.miss.condition, each.miss.wanted), []).append(each)
    made = [
        Group(condition=condition, wanted=wanted, findings=tuple(members))
        for (condition, wanted), members in groups.items()
    ]
    return tuple(sorted(made, key=_distance))


def _distance(group: Group) -> tuple[int, int, str]:
    closest = max(each.passed for each in group.findings)
    return -closest, len(group.findings), group.condition
