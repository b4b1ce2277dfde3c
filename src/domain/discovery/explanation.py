"""Why a rule matches nothing."""

from collections.abc import Iterable
from typing import Final

import attrs

from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Seen
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.withheld import shown_value

_SHOWN: Final = 5
"""Values shown at most; the rest are counted."""


@attrs.frozen(kw_only=True)
class Ruling:
    """How one alternative came to nothing: the condition that ruled out the last candidates.

    `left` of all `candidates` had passed every condition before it; `seen` is what they had.
    """

    alternative: str
    candidates: int
    left: int
    condition: str
    seen: tuple[Seen, ...]

    def __str__(self) -> str:
        """Return one line for people."""
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
    )


def _listed(values: tuple[Seen, ...]) -> str:
    texts = sorted(" + ".join(map(shown_value, each)) or "nothing" for each in values)
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
