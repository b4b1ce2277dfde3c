"""Which devices a container gets: the kubelet's `devicesToAllocate`, from the checks on."""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import TypeAlias

import attrs

from deviceplugin.testing.kubelet.allocations import NO_NODE
from deviceplugin.testing.kubelet.errors import AllocationError
from deviceplugin.testing.kubelet.numa import Mask
from deviceplugin.testing.kubelet.values import Device

Prefer: TypeAlias = Callable[[frozenset[str], frozenset[str], int], frozenset[str]]
"""Asks the plugin which of (available, must include, size) it prefers."""


@attrs.frozen(kw_only=True)
class Pool:
    """The free devices of a resource, sorted by what the topology manager wants."""

    aligned: frozenset[str] = frozenset()
    unaligned: frozenset[str] = frozenset()
    unbound: frozenset[str] = frozenset()

    @property
    def free(self) -> frozenset[str]:
        """All of them."""
        return self.aligned | self.unaligned | self.unbound

    @classmethod
    def sort(
        cls,
        free: Iterable[str],
        devices: Mapping[str, Device],
        mask: Mask | None,
    ) -> "Pool":
        """Sort `free` by `mask`; without one, or without any topology, none is aligned.

        filterByAffinity: of the nodes of a device the best one counts, and node -1 is none.
        """
        free = frozenset(free)
        if mask is None or not any(device.has_topology for device in devices.values()):
            return cls(unbound=free)
        nodes = {id_: frozenset(devices[id_].nodes or ()) - {NO_NODE} for id_ in free}
        aligned = frozenset(id_ for id_ in free if nodes[id_] & mask)
        unaligned = frozenset(id_ for id_ in free if nodes[id_]) - aligned
        return cls(aligned=aligned, unaligned=unaligned, unbound=free - aligned - unaligned)


class Choice:
    """Takes devices one by one until there are enough.

    `taken` is marked as allocated by the caller even when choosing fails half-way: the kubelet
    leaks them too, until the next cleaning up.
    """

    def __init__(self, resource: str, size: int, chance: Random) -> None:
        """Choose `size` devices of `resource`."""
        self._resource = resource
        self._size = size
        self._chance = chance
        self.taken: set[str] = set()

    @property
    def missing(self) -> int:
        """How many are still to be taken."""
        return self._size - len(self.taken)

    def reuse(self, ids: Iterable[str]) -> None:
        """Take devices of finished init containers first."""
        self._take(ids)

    def complete(self, pool: Pool, prefer: Prefer) -> None:
        """Take the rest out of `pool`; raises `AllocationError`.

        The plugin has a say when more aligned devices are there than needed, or when other ones
        have to fill up; never about devices that are taken anyhow.
        """
        if not self.missing:
            return
        if len(pool.free) < self.missing:
            message = (
                f"requested number of devices unavailable for {self._resource}. "
                f"Requested: {self.missing}, Available: {len(pool.free)}"
            )
            raise AllocationError(message)
        if self.missing < len(pool.aligned):
            self._with_say(pool.aligned, prefer, [pool.aligned])
        else:
            self._take(pool.aligned)
            if self.missing:
                self._with_say(pool.free, prefer, [pool.unaligned, pool.unbound])

    def _with_say(
        self,
        candidates: frozenset[str],
        prefer: Prefer,
        rest: Iterable[frozenset[str]],
    ) -> None:
        taken = frozenset(self.taken)
        self._take(prefer(candidates | taken, taken, self._size) & candidates)
        for ids in rest:
            self._take(ids)

    def _take(self, ids: Iterable[str]) -> None:
        rest = sorted(set(ids) - self.taken)
        self.taken.update(self._chance.sample(rest, min(self.missing, len(rest))))
