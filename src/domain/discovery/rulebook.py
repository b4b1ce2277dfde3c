"""All rules of a configuration together: where to look, and who gets a device."""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum

import attrs

from deviceplugin.domain.discovery.alternatives import (
    Alternative,
    Conditions,
    Verdict,
    left_open,
    verdict_of_all,
)
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True)
class Scope:
    """Where the devices that rules may match can be found.

    `subsystems` by name, in any subsystem if `everywhere`, and at paths or globs below /dev.
    """

    subsystems: frozenset[str] = frozenset()
    everywhere: bool = False
    nodes: frozenset[str] = frozenset()

    def __or__(self, other: "Scope") -> "Scope":
        """Return where the devices of both can be found."""
        return Scope(
            subsystems=self.subsystems | other.subsystems,
            everywhere=self.everywhere or other.everywhere,
            nodes=self.nodes | other.nodes,
        )


def _nodes(alternative: Alternative) -> frozenset[str]:
    """Return the paths below /dev that an alternative asks for."""
    node = alternative.expectation(Kind.NODE)
    patterns = node.patterns if node else None
    return frozenset(pattern.text for pattern in patterns or ())


def _scope(alternative: Alternative) -> Scope:
    """Return the narrowest place that holds all devices of an alternative."""
    if nodes := _nodes(alternative):
        return Scope(nodes=nodes)
    subsystem = alternative.expectation(Kind.SUBSYSTEM)
    if subsystem and subsystem.patterns and all(each.literal for each in subsystem.patterns):
        return Scope(subsystems=frozenset(pattern.text for pattern in subsystem.patterns))
    return Scope(everywhere=True)


def _admits(alternative: Alternative, subsystem: str) -> bool:
    wanted = alternative.expectation(Kind.SUBSYSTEM)
    return wanted is None or wanted.holds((subsystem,) if subsystem else ())


Learn = Callable[[Candidate, frozenset[Fact]], Candidate]
"""Looks these facts up, and returns a candidate of which they are known."""


def lacking(candidate: Candidate, facts: frozenset[Fact]) -> Candidate:
    """Return the candidate that has none of these facts: of which all there is is known."""
    own = [fact for fact in facts if not fact.level]
    attributes = {fact.key: None for fact in own if fact.kind is Kind.ATTRIBUTE}
    hardware = {str(fact): None for fact in own if fact.kind in HARDWARE}
    return attrs.evolve(
        candidate,
        driver=candidate.driver or "",
        attributes={**attributes, **candidate.attributes},
        hardware={**hardware, **candidate.hardware},
        properties=candidate.properties or {},
        parents=tuple(_lacking_above(candidate, facts)),
        uses=candidate.uses or (),
    )


def _lacking_above(candidate: Candidate, facts: frozenset[Fact]) -> Iterator[Candidate]:
    for level, parent in enumerate(candidate.parents or (), 1):
        missing = frozenset(fact.above(0) for fact in facts if fact.level == level)
        yield lacking(parent, missing) if missing else parent


@attrs.frozen
class Sighting:
    """A candidate and the rules that match it, in their order: the first one gets the device.

    `fits` are the companions that it may be, of devices of a resource: their numbers in its rule.
    """

    candidate: Candidate
    claims: tuple[ResourceRule, ...]
    fits: tuple[tuple[ResourceName, int], ...] = ()


_Open = tuple[ResourceRule, tuple[Conditions, ...]]
"""A rule, and what of its alternatives the subsystem of a device leaves open."""
_Wanted = tuple[tuple[tuple[ResourceName, int], Alternative], ...]
"""Companions by resource and number, each with what it must be like."""


class OnConflict(Enum):
    """What is to be done about a device that several resources claim."""

    FIRST = "first"
    """The first one in the file gets it; the others are told."""
    ERROR = "error"
    """Nobody gets it until the rules are mended."""


class Rulebook:
    """Rules in the order of their file: a device goes to the first one that matches.

    Raises `InvalidValueError` if two are about one resource.
    """

    def __init__(
        self,
        rules: Iterable[ResourceRule] = (),
        *,
        on_conflict: OnConflict = OnConflict.FIRST,
    ) -> None:
        self._rules = tuple(rules)
        self.on_conflict = on_conflict
        names = [rule.resource for rule in self._rules]
        if len(set(names)) != len(names):
            raise InvalidValueError("each resource may have only one rule")
        self._relates = any(rule.provision.relates for rule in self._rules)
        self._alone: dict[ResourceName, tuple[ResourceRule, ...]] = {
            rule.resource: (rule,) for rule in self._rules
        }
        self._by_subsystem: dict[str, tuple[_Open, ...]] = {}
        self._guests_by_subsystem: dict[str, _Wanted] = {}

    def __iter__(self) -> Iterator[ResourceRule]:
        """Go through the rules in order."""
        return iter(self._rules)

    @property
    def changing(self) -> frozenset[str]:
        """The names of files that some rule says may change while a device stays the same."""
        read = frozenset[str]().union(*(rule.read_each_time for rule in self._rules))
        return frozenset(key.rpartition("/")[2] for key in read)

    @property
    def scope(self) -> Scope:
        """Where to look."""
        scope = Scope()
        for rule in self._rules:
            for alternative in rule.match:
                scope |= _scope(alternative)
            for alternative in (*rule.exclude, *rule.healthy_when):
                scope |= Scope(nodes=_nodes(alternative))
            for companion in rule.provision.companions:
                scope |= _scope(companion.wanted)
        return scope

    @property
    def relates(self) -> bool:
        """Whether it matters what devices have in common: their hardware or IOMMU group."""
        return self._relates

    def about(self, subsystem: str) -> tuple[ResourceRule, ...]:
        """Return the rules that may match a device of the subsystem, in order."""
        return tuple(rule for rule, _ in self._open(subsystem))

    def _open(self, subsystem: str) -> "tuple[_Open, ...]":
        """Return these rules, each with what else must hold."""
        if subsystem not in self._by_subsystem:
            several = ((rule, left_open(rule.match, subsystem)) for rule in self._rules)
            self._by_subsystem[subsystem] = tuple(each for each in several if each[1])
        return self._by_subsystem[subsystem]

    def concerns(self, subsystem: str) -> bool:
        """Say whether a device of the subsystem may match a rule, or come along by one."""
        return bool(self.about(subsystem) or self._companions(subsystem))

    def judge(self, candidate: Candidate, learn: Learn) -> Sighting:
        """Return the candidate, with all that rules had to learn of it, and those that match."""
        claims: tuple[ResourceRule, ...] = ()
        for rule, conditions in self._open(candidate.subsystem):
            verdict = verdict_of_all(conditions, candidate)
            while verdict is not True and verdict is not False:
                candidate = learn(candidate, verdict)
                verdict = verdict_of_all(conditions, candidate)
            if verdict and rule.exclusions:
                candidate, verdict = _decided(rule.verdict, candidate, learn)
            if verdict:
                claims += self._alone[rule.resource]
                if rule.healthy_when:
                    candidate, _ = _decided(rule.well, candidate, learn)
                facts = rule.provision.facts
                missing = facts and frozenset(fact for fact in facts if fact.of(candidate) is None)
                candidate = learn(candidate, missing) if missing else candidate
        companions = self._companions(candidate.subsystem)
        if not companions:
            return Sighting(candidate, claims)
        fits: list[tuple[ResourceName, int]] = []
        for fit, wanted in companions:
            candidate, matches = _decided(wanted.verdict, candidate, learn)
            if matches:
                fits.append(fit)
        return Sighting(candidate, claims, tuple(fits))

    def _companions(self, subsystem: str) -> _Wanted:
        """Return the companions that a device of the subsystem may be."""
        if subsystem not in self._guests_by_subsystem:
            self._guests_by_subsystem[subsystem] = tuple(
                ((rule.resource, number), companion.wanted)
                for rule in self._rules
                for number, companion in enumerate(rule.provision.companions)
                if _admits(companion.wanted, subsystem)
            )
        return self._guests_by_subsystem[subsystem]


def _decided(
    verdict_on: Callable[[Candidate], Verdict], candidate: Candidate, learn: Learn
) -> tuple[Candidate, bool]:
    """Return a verdict, and the candidate with all that had to be learnt for it."""
    verdict = verdict_on(candidate)
    while verdict is not True and verdict is not False:
        candidate = learn(candidate, verdict)
        verdict = verdict_on(candidate)
    return candidate, verdict
