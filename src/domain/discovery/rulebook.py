"""All rules of a configuration together: where to look, and who gets a device."""

from collections.abc import Callable, Iterable, Iterator

import attrs

from deviceplugin.domain.discovery.candidates import Candidate, Fact, Kind
from deviceplugin.domain.discovery.matching import Alternative, ResourceRule
from deviceplugin.domain.errors import InvalidValueError


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


def _scope(alternative: Alternative) -> Scope:
    """Return the narrowest place that holds all devices of an alternative."""
    node = alternative.expectation(Kind.NODE)
    if node and node.patterns is not None:
        return Scope(nodes=frozenset(pattern.text for pattern in node.patterns))
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
    unknown = {fact.key: None for fact in facts if fact.kind is Kind.ATTRIBUTE}
    return attrs.evolve(
        candidate,
        driver=candidate.driver or "",
        attributes={**candidate.attributes, **unknown},
    )


@attrs.frozen
class Sighting:
    """A candidate and the rules that match it, in their order: the first one gets the device."""

    candidate: Candidate
    claims: tuple[ResourceRule, ...]


class Rulebook:
    """Rules in the order of their file: a device goes to the first one that matches.

    Raises `InvalidValueError` if two are about one resource.
    """

    def __init__(self, rules: Iterable[ResourceRule] = ()) -> None:
        self._rules = tuple(rules)
        names = [rule.resource for rule in self._rules]
        if len(set(names)) != len(names):
            raise InvalidValueError("each resource may have only one rule")
        self._by_subsystem: dict[str, tuple[ResourceRule, ...]] = {}

    def __iter__(self) -> Iterator[ResourceRule]:
        """Go through the rules in order."""
        return iter(self._rules)

    @property
    def scope(self) -> Scope:
        """Where to look."""
        scope = Scope()
        for rule in self._rules:
            for alternative in rule.match:
                scope |= _scope(alternative)
        return scope

    def about(self, subsystem: str) -> tuple[ResourceRule, ...]:
        """Return the rules that may match a device of the subsystem, in order."""
        if subsystem not in self._by_subsystem:
            self._by_subsystem[subsystem] = tuple(
                rule
                for rule in self._rules
                if any(_admits(alternative, subsystem) for alternative in rule.match)
            )
        return self._by_subsystem[subsystem]

    def judge(self, candidate: Candidate, learn: Learn) -> Sighting:
        """Return the candidate, with all that rules had to learn of it, and those that match."""
        claims: list[ResourceRule] = []
        for rule in self.about(candidate.subsystem):
            verdict = rule.verdict(candidate)
            while not isinstance(verdict, bool):
                candidate = learn(candidate, verdict)
                verdict = rule.verdict(candidate)
            if verdict:
                claims.append(rule)
        return Sighting(candidate, tuple(claims))
