"""Which resource gets which device: each goes to the first rule that matches, and to no other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True)
class Skip:
    """A candidate that a rule matches and yet does not get."""

    resource: ResourceName
    device: str
    reason: str


@attrs.frozen(kw_only=True, eq=False)
class Assortment:
    """What each resource gets, if anything, and what was passed over."""

    found: Mapping[ResourceName, tuple[Candidate, ...]]
    skips: tuple[Skip, ...]


def assort(rules: Rulebook, sightings: Iterable[Sighting]) -> Assortment:
    """Hand out the candidates; the order in which they were seen does not matter."""
    order = {rule.resource: index for index, rule in enumerate(rules)}
    claimed = [each for each in sightings if each.claims]
    claimed.sort(key=lambda each: (order[each.claims[0].resource], each.candidate.identity))
    hand = _Hand()
    for each in claimed:
        hand.out(each.claims, each.candidate)
    return hand.dealt()


class _Hand:
    """An assortment in the making."""

    def __init__(self) -> None:
        self._found: dict[ResourceName, list[Candidate]] = defaultdict(list)
        self._skips: list[Skip] = []
        self._owners: dict[str, ResourceName] = {}

    def out(self, claims: tuple[ResourceRule, ...], candidate: Candidate) -> None:
        """Give the candidate to the first of the rules that claim it."""
        device = candidate.node.device if candidate.node else ""
        for rule in claims:
            fault = self._fault(candidate.node)
            if fault:
                skip = Skip(resource=rule.resource, device=shown(candidate), reason=fault)
                self._skips.append(skip)
            else:
                self._found[rule.resource].append(candidate)
                self._owners[device] = rule.resource

    def dealt(self) -> Assortment:
        """Return the whole."""
        found = {resource: tuple(each) for resource, each in self._found.items()}
        return Assortment(found=MappingProxyType(found), skips=tuple(self._skips))

    def _fault(self, node: Node | None) -> str:
        """Return why no container can be given the node now, or nothing."""
        if node is None:
            return "it has no device node"
        if not node.path.isprintable():
            return "the name of its device node is not printable text"
        owner = self._owners.get(node.device)
        return f"its device node already belongs to {owner}" if owner else ""


def shown(candidate: Candidate) -> str:
    """Return what people know the candidate by."""
    text = candidate.identity
    return text if text.isprintable() else ascii(text)[1:-1]
