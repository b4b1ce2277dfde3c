"""What is done about devices that several resources claim, where that is an error.

Such a device is given to none of them, and nothing else suffers: neither the other devices of
those resources nor what comes and goes meanwhile.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import attrs

from deviceplugin.domain.discovery.assortment import Assortment, Skip, assort, shown
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.fronts import fronts_of
from deviceplugin.domain.discovery.guests import Guests
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook, Sighting
from deviceplugin.domain.discovery.staying import Stays
from deviceplugin.domain.discovery.wholes import is_part_of_one
from deviceplugin.domain.resources import ResourceName


def dealt_out(
    rules: Rulebook, seen: Sequence[Sighting], guests: Guests, staying: Stays
) -> tuple[Assortment, tuple[Skip, ...]]:
    """Return who gets what, and which devices nobody gets because several resources claim them.

    Of a conflict of two, such as a disk and its partition, neither is given. Of each device that
    is withheld there is a reason for every resource that claims it; those that are contested are
    of the resources that would not have got it anyway.
    """
    dealt = assort(rules, seen, guests, staying)
    if rules.on_conflict is not OnConflict.ERROR:
        return dealt, ()
    disputed: list[Skip] = []
    withheld: list[Candidate] = []
    rule_of = {rule.resource: rule for rule in rules}
    at = {each.candidate.identity: each.candidate for each in seen}
    # One that is withheld still hides the view of it that has no node.
    fronts = fronts_of(rules, seen)
    while contested := [each for each in dealt.skips if each.is_contested]:
        rivals = {
            skip: frozenset(_rivals(at[skip.place], skip.resource, dealt, rule_of, guests))
            for skip in contested
        }
        barred = {skip.place for skip in contested}.union(*rivals.values())
        disputed += contested
        disputed += (
            each for each in dealt.skips if each.place in barred and not each.is_contested
        )
        disputed += _lost(dealt, rivals)
        withheld += (at[place] for place in sorted(barred))
        seen = [each for each in seen if each.candidate.identity not in barred]
        dealt = assort(rules, seen, guests, staying, fronts)
    return attrs.evolve(dealt, withheld=tuple(withheld)), tuple(disputed)


def _lost(dealt: Assortment, rivals: Mapping[Skip, frozenset[str]]) -> Iterator[Skip]:
    """Yield why those that would have had the devices do not get them either."""
    by_place: dict[str, list[Skip]] = defaultdict(list)
    for skip, places in rivals.items():
        for place in {skip.place, *places}:
            by_place[place].append(skip)
    for resource, candidates in dealt.found.items():
        for candidate in candidates:
            others = [
                each for each in by_place.get(candidate.identity, ()) if each.resource != resource
            ]
            if others:
                reason = " and ".join(dict.fromkeys(_claim(candidate, each) for each in others))
                device, place = shown(candidate), candidate.identity
                yield Skip(resource=resource, device=device, reason=reason, place=place)


def _claim(candidate: Candidate, other: Skip) -> str:
    """Return what another resource claims, because of which one is lost."""
    if other.place == candidate.identity:
        return f"{other.resource} claims it, too"
    return f"{other.resource} claims {other.device}, which cannot be had beside it"


def _rivals(
    candidate: Candidate,
    claimant: ResourceName,
    dealt: Assortment,
    rule_of: Mapping[ResourceName, ResourceRule],
    guests: Guests,
) -> Iterator[str]:
    """Yield the devices of other resources because of which one cannot be had."""
    for owner, found in dealt.found.items():
        if owner == claimant:
            continue
        rule = rule_of[owner]
        for each in found:
            along = (
                guest
                for number, companion in enumerate(rule.provision.companions)
                if companion.takes
                for guest in guests.of(rule, number, each)
                if dealt.owner(guest, owner) is None
            )
            if any(is_part_of_one(candidate, other) for other in (each, *along)):
                yield each.identity
