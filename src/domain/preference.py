"""Allocation policies: which of the free devices a container had better get.

A policy is a pure function. It never sees input that makes no sense: `preferred` answers that with
an empty preference, because the kubelet then chooses by itself, while an error would fail the pod.
"""

import heapq
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.sharing import Order, fullest_first, in_turn
from deviceplugin.domain.tree import Devices

_text: Final = attrgetter("value")


def _sorted(ids: Iterable[DeviceId]) -> tuple[DeviceId, ...]:
    return tuple(sorted(ids, key=_text))


@attrs.frozen(kw_only=True)
class Wish:
    """What the kubelet wants to know for one container.

    `available` holds `must_include`; `size` is the whole need, what must be included counted. No
    id is named twice.
    """

    available: tuple[DeviceId, ...]
    must_include: tuple[DeviceId, ...] = ()
    size: int

    def makes_sense(self) -> bool:
        """Say whether it is a wish that an answer of exactly `size` devices can meet."""
        free, musts = set(self.available), set(self.must_include)
        unique = len(free) == len(self.available) and len(musts) == len(self.must_include)
        return unique and musts <= free and len(musts) <= self.size <= len(free)

    def is_met_by(self, chosen: Collection[DeviceId]) -> bool:
        """Say whether this is what was wished for: `size` distinct ids of the right ones."""
        ids = set(chosen)
        distinct = len(ids) == len(chosen) == self.size
        return distinct and set(self.must_include) <= ids <= set(self.available)

    def only_answer(self) -> tuple[DeviceId, ...] | None:
        """Return the answer that needs no choice, sorted; None where there is one to be made."""
        if not self.makes_sense():
            return ()
        if self.size == len(self.available):
            return _sorted(self.available)
        return _sorted(self.must_include) if self.size == len(self.must_include) else None


Policy = Callable[[Wish, Devices], tuple[DeviceId, ...]]
"""From a wish that makes sense, and what is known of devices, to exactly `size` distinct ids."""

_UNKNOWN: Final = DeviceInfo()


def preferred(policy: Policy, wish: Wish, devices: Devices) -> tuple[DeviceId, ...]:
    """Return the policy's choice, sorted: `size` distinct ids, none for a senseless wish."""
    answer = wish.only_answer()
    return _sorted(policy(wish, devices)) if answer is None else answer


def packed(wish: Wish, devices: Devices) -> tuple[DeviceId, ...]:
    """Use as few NUMA nodes as possible and few parents on them; leave the large groups whole.

    Of shares, use up those of a device before those of another one.
    """
    pick = _Pick(wish, devices, fullest_first)
    for numa, parent in pick.begun():
        pick.take(numa, parent, pick.missing)
    groups = pick.groups(pick.fewest_numas())
    while pick.missing:
        tightest = bisect_left(groups, (min(pick.missing, groups[-1][0]),))
        _, numa, parent = groups.pop(tightest)
        pick.take(numa, parent, pick.missing)
    return pick.chosen


def spread(wish: Wish, devices: Devices) -> tuple[DeviceId, ...]:
    """Part the devices evenly: over NUMA nodes first, then over parents, then over shared devices.

    A shared device counts as used by whoever has its other shares.
    """
    pick = _Pick(wish, devices, in_turn)
    heaps = {numa: pick.loads(numa) for numa in pick.numas()}
    for heap in heaps.values():
        heapq.heapify(heap)
    while pick.missing:
        numa = min(pick.numas(), key=pick.load)
        taken, negative_free, parent = heapq.heappop(heaps[numa])
        pick.take(numa, parent, 1)
        if negative_free < -1:
            heapq.heappush(heaps[numa], (taken + 1, negative_free + 1, parent))
    return pick.chosen


POLICIES: Final[Mapping[str, Policy | None]] = MappingProxyType(
    {"none": None, "packed": packed, "spread": spread}
)
"""Policies by their name in a configuration; `none`: the kubelet is not offered the call."""

_Numa = tuple[int, ...]


class _Pick:
    """A choice in the making: what is free by NUMA nodes and parent, what was taken whence.

    A device without a parent is its own, and one is the parent of its shares. All loops over
    single devices are in here, and there are few, because a node may have ten thousand of them and
    the kubelet waits.
    """

    def __init__(self, wish: Wish, devices: Devices, order: Order) -> None:
        self._size = wish.size
        self._chosen: list[DeviceId] = []
        self._free: dict[_Numa, dict[str, list[DeviceId]]] = defaultdict(lambda: defaultdict(list))
        self._taken: Counter[tuple[_Numa, str]] = Counter()
        self._numa_taken: Counter[_Numa] = Counter()
        self._numa_free: Counter[_Numa] = Counter()
        musts = set(wish.must_include)
        for key in reversed(order(set(wish.available), musts, devices)):
            info = devices.get(key, _UNKNOWN)
            parent = info.parent or f"\0{info.share_of or key.value}"
            if key in musts:
                self._count(key, info.numa_nodes, parent)
            else:
                self._free[info.numa_nodes][parent].append(key)
                self._numa_free[info.numa_nodes] += 1

    @property
    def missing(self) -> int:
        """How many devices are still to be chosen."""
        return self._size - len(self._chosen)

    @property
    def chosen(self) -> tuple[DeviceId, ...]:
        """What has been chosen."""
        return tuple(self._chosen)

    def begun(self) -> Sequence[tuple[_Numa, str]]:
        """Groups of which something is taken already."""
        return sorted(self._taken)

    def numas(self) -> Sequence[_Numa]:
        """Sets of NUMA nodes that still have something free."""
        return [numa for numa, count in self._numa_free.items() if count]

    def fewest_numas(self) -> Sequence[_Numa]:
        """Sets of NUMA nodes that are begun, and the fewest others that it takes to fill up.

        Of several that would do as the last: the one with fewest parents, then the tightest.
        """
        chosen = [numa for numa in self.numas() if self._numa_taken[numa]]
        others = [numa for numa in self.numas() if not self._numa_taken[numa]]
        short = self.missing - sum(self._numa_free[numa] for numa in chosen)
        while short > 0:
            best = min(others, key=lambda numa: self._cost(numa, chosen, short))
            others.remove(best)
            chosen.append(best)
            short -= self._numa_free[best]
        return chosen

    def _cost(self, numa: _Numa, chosen: Sequence[_Numa], short: int) -> tuple[int, int, _Numa]:
        free = self._numa_free[numa]
        if free < short:
            return (self._size + 1, -free, numa)
        return (self._parents((*chosen, numa)), free, numa)

    def _parents(self, numas: Iterable[_Numa]) -> int:
        """How many parents it takes to fill up from these NUMA nodes, at least."""
        filled = accumulate(size for size, _, _ in reversed(self.groups(numas)))
        return 1 + sum(1 for each in filled if each < self.missing)

    def load(self, numa: _Numa) -> tuple[int, _Numa]:
        """Order NUMA nodes for spreading: the least taken from first."""
        return (self._numa_taken[numa], numa)

    def groups(self, numas: Iterable[_Numa]) -> list[tuple[int, _Numa, str]]:
        """Number of free devices, NUMA nodes and parent, sorted."""
        return sorted(
            (len(free), numa, parent)
            for numa in numas
            for parent, free in self._free[numa].items()
            if free
        )

    def loads(self, numa: _Numa) -> list[tuple[int, int, str]]:
        """Number taken, negative number of free devices, and parent."""
        return [
            (self._taken[numa, parent], -len(free), parent)
            for parent, free in self._free[numa].items()
        ]

    def take(self, numa: _Numa, parent: str, count: int) -> None:
        """Choose up to `count` devices of the group, the first of their order."""
        free = self._free[numa][parent]
        for _ in range(min(count, len(free))):
            self._count(free.pop(), numa, parent)
            self._numa_free[numa] -= 1

    def _count(self, key: DeviceId, numa: _Numa, parent: str) -> None:
        self._chosen.append(key)
        self._numa_taken[numa] += 1
        self._taken[numa, parent] += 1
