"""The topology manager: hints from devices, and a policy that merges them.

All its policies, in scope `container` and without other hint providers. A mask is the set of NUMA
nodes that its bits stand for.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import reduce
from itertools import combinations, product
from typing import Final, TypeAlias

import attrs

from deviceplugin.testing.kubelet.values import Device

Mask: TypeAlias = frozenset[int]
"""NUMA nodes."""


class NumaPolicy(Enum):
    """What becomes of a container whose devices do not fit together."""

    NONE = "none"
    """No hint is asked for, every container passes."""
    BEST_EFFORT = "best-effort"
    """Every container passes, from the nodes that fit best."""
    RESTRICTED = "restricted"
    """Only what spans no more nodes than it must."""
    SINGLE_NODE = "single-numa-node"
    """Only what fits on one node."""


@attrs.frozen(kw_only=True)
class Numa:
    """The machine's NUMA nodes and the kubelet's topologyManagerPolicy."""

    policy: NumaPolicy = attrs.field(default=NumaPolicy.NONE, converter=NumaPolicy)
    nodes: tuple[int, ...] = (0,)


ONE_NODE: Final = Numa()
"""A machine where topology is of no matter."""


@attrs.frozen
class Hint:
    """Nodes that would do; None stands for any."""

    mask: Mask | None
    preferred: bool


class VanishedDeviceError(LookupError):
    """A device is asked about that the table has lost: a nil pointer in the kubelet."""


def hints(
    *,
    devices: Mapping[str, Device],
    available: Collection[str],
    reusable: Collection[str],
    request: int,
    nodes: Sequence[int],
) -> list[Hint]:
    """Return each mask with enough devices; the smallest that could ever do are preferred.

    generateDeviceTopologyHints. A device without topology fits no mask, nor does one on nodes that
    the machine lacks (-1, 99): if no other is there, the list is empty and strict policies reject.
    """
    smallest = len(nodes)
    masks: list[Mask] = []
    for mask in _masks(nodes):
        if sum(1 for device in devices.values() if _on(device, mask)) >= request:
            smallest = min(smallest, len(mask))
        if _matching(devices, available, reusable, mask) >= request:
            masks.append(mask)
    return [Hint(mask, len(mask) == smallest) for mask in masks]


def _masks(nodes: Sequence[int]) -> Iterator[Mask]:
    for size in range(1, len(nodes) + 1):
        yield from map(frozenset, combinations(nodes, size))


def _matching(
    devices: Mapping[str, Device],
    available: Collection[str],
    reusable: Collection[str],
    mask: Mask,
) -> int:
    kept = [_lookup(devices, id_) for id_ in reusable]
    kept = [device for device in kept if device.nodes is not None]
    if not all(_on(device, mask) for device in kept):
        return -1
    return len(kept) + sum(1 for id_ in available if _on(_lookup(devices, id_), mask))


def _lookup(devices: Mapping[str, Device], id_: str) -> Device:
    if id_ not in devices:
        raise VanishedDeviceError(id_)
    return devices[id_]


def _on(device: Device, mask: Mask) -> bool:
    return not mask.isdisjoint(device.nodes or ())


def affinity(numa: Numa, wanted: Mapping[str, list[Hint] | None]) -> Hint | None:
    """Return the best common hint of a container's resources, or None to reject the container.

    A resource whose hints are None has no preference; one with an empty list fits nowhere. Where
    no common hint is left, best effort takes all nodes of the machine.
    """
    offers = [_offer(of_resource) for of_resource in wanted.values()]
    if numa.policy is NumaPolicy.SINGLE_NODE:
        offers = [[hint for hint in offer if _single(hint)] for offer in offers]
    everywhere = frozenset(numa.nodes)
    merged = [_merge(everywhere, choice) for choice in product(*offers)]
    contest = _Contest(max(map(_narrowest, offers), default=0))
    fitting = (hint for hint in merged if hint.mask)
    best = reduce(contest.winner, fitting, Hint(frozenset(), preferred=False))
    if numa.policy is NumaPolicy.BEST_EFFORT:
        return best if best.mask else Hint(everywhere, preferred=False)
    if not best.preferred:
        return None
    if numa.policy is NumaPolicy.SINGLE_NODE and best.mask == everywhere:
        return Hint(None, preferred=True)
    return best


def _offer(of_resource: list[Hint] | None) -> list[Hint]:
    if of_resource is None:
        return [Hint(None, preferred=True)]
    return of_resource or [Hint(None, preferred=False)]


def _single(hint: Hint) -> bool:
    return hint.preferred and (hint.mask is None or len(hint.mask) == 1)


def _merge(everywhere: Mask, choice: Iterable[Hint]) -> Hint:
    choice = tuple(choice)
    masks = [hint.mask for hint in choice if hint.mask is not None]
    agreed = all(hint.preferred for hint in choice) and len(set(masks)) <= 1
    return Hint(everywhere.intersection(*masks), agreed)


def _narrowest(offer: Iterable[Hint]) -> int:
    return min((len(hint.mask) for hint in offer if hint.mask is not None), default=0)


@attrs.frozen
class _Contest:
    """Which of two merged hints is better (HintMerger.compare); of equal ones the first."""

    enough: int
    """How many nodes the most demanding resource needs at least: without preference, the nearest
    number that is not above it is best."""

    def winner(self, current: Hint, candidate: Hint) -> Hint:
        if not current.mask:
            return candidate
        if current.preferred != candidate.preferred:
            return current if current.preferred else candidate
        return min(current, candidate, key=self._rank)

    def _rank(self, hint: Hint) -> tuple[int, int, int]:
        mask = hint.mask or frozenset[int]()
        width, value = len(mask), sum(1 << node for node in mask)
        if hint.preferred:
            return (0, width, value)
        return (max(0, width - self.enough), max(0, self.enough - width), value)
