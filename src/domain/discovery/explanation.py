"""Why a rule matches nothing."""

from collections.abc import Iterable
from typing import Final

import attrs

from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import FactCondition
from deviceplugin.domain.discovery.facts import Kind, Seen
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.withheld import shown_value

_SHOWN: Final = 5
"""Values shown at most; the rest are counted."""
_NO_SUBSYSTEM: Final = "there is no such hardware, or the kernel module for it is not loaded"
_NO_NODE: Final = "a node or link that is not there, or is none of a device, matches nothing"
_NO_LINK: Final = (
    "such links are made by the host's udev, once the device is there; in a container, mount the "
    "host's /dev to see them"
)


@attrs.frozen(kw_only=True)
class Ruling:
    """How one alternative came to nothing: the condition that ruled out the last candidates.

    `left` of all `candidates` had passed every condition before it; `seen` is what they had.
    `absent` says so if the machine has nothing of the sort at all.
    """

    alternative: str
    candidates: int
    left: int
    condition: str
    seen: tuple[Seen, ...]
    absent: str = ""

    def __str__(self) -> str:
        """Return one line for people."""
        if self.absent:
            return f"[{self.alternative}]: {self.absent}"
        if not self.candidates:
            return f"[{self.alternative}]: there is nothing to choose from"
        return (
            f"[{self.alternative}]: {self.left} of {self.candidates} left, "
            f"then [{self.condition}] met only {_listed(self.seen)}"
        )


def explain(rule: ResourceRule, candidates: Iterable[Candidate]) -> tuple[Ruling, ...]:
    """Return for each alternative what ruled out the last candidates; nothing if one matches."""
    everyone = tuple(candidates)
    if any(rule.matches(each) for each in everyone):
        return ()
    return tuple(_ruling(rule, alternative, everyone) for alternative in rule.match)


def absence(alternative: Alternative, candidates: Iterable[Candidate]) -> str:
    """Return what the machine has nothing of, and the way out; nothing if there is something.

    All devices of the subsystem, or at the nodes, that the alternative asks for are candidates.
    """
    told = [each for each in alternative.conditions if isinstance(each, FactCondition)]
    for kind in (Kind.NODE, Kind.SUBSYSTEM):
        for condition in (each for each in told if each.fact.kind is kind):
            if any(condition.holds(candidate) for candidate in candidates):
                return ""
            if kind is Kind.SUBSYSTEM:
                return f"sysfs shows no device of [{condition}]: {_NO_SUBSYSTEM}"
            hint = _NO_LINK if "/by-" in str(condition.wanted) else _NO_NODE
            return f"no device is at [{condition}]: {hint}"
    return ""


def _ruling(
    rule: ResourceRule, alternative: Alternative, candidates: tuple[Candidate, ...]
) -> Ruling:
    hurdles = [alternative.hurdle(candidate) for candidate in candidates]
    furthest = max(hurdles, default=0)
    last = [each for each, hurdle in zip(candidates, hurdles, strict=True) if hurdle == furthest]
    if furthest == len(alternative.conditions):
        misses = [miss for each in last if (miss := rule.miss(each))]
        condition = " or ".join(
            dict.fromkeys(f"{each.condition}: {each.wanted}" for each in misses)
        )
    else:
        misses = [alternative.conditions[furthest].miss(each) for each in last]
        condition = str(alternative.conditions[furthest])
    return Ruling(
        alternative=str(alternative),
        candidates=len(candidates),
        left=len(last),
        condition=condition,
        seen=tuple(dict.fromkeys(miss.seen for miss in misses)),
        absent=absence(alternative, candidates),
    )


def _listed(values: tuple[Seen, ...]) -> str:
    texts = sorted(" + ".join(map(shown_value, each)) or "nothing" for each in values)
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
