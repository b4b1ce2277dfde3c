"""Which container holds which devices: the kubelet's `podDevices` and `allocatedDevices`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import attrs

from deviceplugin.testing.kubelet.pods import Container, Pod, Want
from deviceplugin.testing.kubelet.watch import Watch

NO_NODE: Final = -1
"""The key of devices without topology, in memory and in the checkpoint."""


def _frozen(nodes: Mapping[int, Iterable[str]]) -> Mapping[int, tuple[str, ...]]:
    return {node: tuple(ids) for node, ids in nodes.items()}


@attrs.frozen(kw_only=True)
class Holding:
    """The devices of one resource that one container holds, and the answer it got for them.

    The answer is kept as it came over the wire and used again at each start of the container.
    """

    pod: str
    container: str
    resource: str
    nodes: Mapping[int, Sequence[str]] = attrs.field(converter=_frozen)
    answer: bytes

    @property
    def ids(self) -> frozenset[str]:
        """The device ids; one on two NUMA nodes is still one."""
        return frozenset(id_ for ids in self.nodes.values() for id_ in ids)


class Allocations:
    """All holdings of the node, and the ids that are marked as allocated.

    The marks are set while devices are chosen, before anybody holds them. So they can leak: only
    `restore` and `collect` bring them back in line with the holdings.
    """

    def __init__(self, watch: Watch, holdings: Iterable[Holding] = ()) -> None:
        """Begin with what a checkpoint remembers."""
        self._watch = watch
        self._holdings = {(h.pod, h.container, h.resource): h for h in holdings}
        self._marks: dict[str, set[str]] = {}
        self.restore()

    @property
    def all(self) -> tuple[Holding, ...]:
        """Every holding."""
        with self._watch.reading():
            return tuple(self._holdings.values())

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods that hold something, as far as holdings tell: their names are their uids."""
        wanted: dict[str, dict[str, dict[str, int]]] = {}
        for holding in self.all:
            limits = wanted.setdefault(holding.pod, {}).setdefault(holding.container, {})
            limits[holding.resource] = len(holding.ids)
        return tuple(
            Pod(uid, [Container(name, limits) for name, limits in containers.items()], uid=uid)
            for uid, containers in wanted.items()
        )

    def held(self, want: Want) -> frozenset[str] | None:
        """Return the ids that the container holds already; None if it was never given any."""
        with self._watch.reading():
            holding = self._holdings.get((want.pod, want.container, want.resource))
        return None if holding is None else holding.ids

    def of(self, pod: str, container: str) -> dict[str, Holding]:
        """Return what a container holds, by resource."""
        return {h.resource: h for h in self.all if (h.pod, h.container) == (pod, container)}

    def knows(self, resource: str) -> bool:
        """Tell whether any device of a resource was ever allocated."""
        with self._watch.reading():
            return resource in self._marks

    def marked(self, resource: str) -> frozenset[str]:
        """Return the ids of a resource that are not free."""
        with self._watch.reading():
            return frozenset(self._marks.get(resource, ()))

    def mark(self, resource: str, ids: Iterable[str]) -> None:
        """Mark ids as allocated."""
        with self._watch.changing():
            self._marks.setdefault(resource, set()).update(ids)

    def add(self, holding: Holding) -> None:
        """Let a container hold devices."""
        with self._watch.changing():
            self._holdings[holding.pod, holding.container, holding.resource] = holding

    def restore(self) -> None:
        """Mark what is held and nothing else."""
        with self._watch.changing():
            self._marks = {}
            for holding in self._holdings.values():
                self._marks.setdefault(holding.resource, set()).update(holding.ids)

    def collect(self, pods: Collection[str]) -> None:
        """Free what pods other than these hold (UpdateAllocatedDevices)."""
        with self._watch.changing():
            gone = [key for key in self._holdings if key[0] not in pods]
            for key in gone:
                del self._holdings[key]
            if gone:
                self.restore()
