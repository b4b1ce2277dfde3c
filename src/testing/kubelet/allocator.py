"""How a container comes to hold devices: choose them, call Allocate, keep the answer."""

from collections.abc import Collection, Iterable, Mapping
from random import Random

import attrs

from deviceplugin.testing.kubelet.allocations import NO_NODE, Holding
from deviceplugin.testing.kubelet.chooser import Chooser
from deviceplugin.testing.kubelet.errors import AllocationError, KubeletPanicError
from deviceplugin.testing.kubelet.history import AllocateAsked, History
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.numa import Mask
from deviceplugin.testing.kubelet.pods import Want


@attrs.frozen(kw_only=True)
class Allocator:
    """Serves one container after the other; the caller sees to it that they take turns."""

    manager: DeviceManager
    history: History
    chance: Random
    panics_on_vanished_device: bool

    def allocate(
        self,
        wants: Collection[Want],
        mask: Mask | None,
        reusable: Mapping[str, frozenset[str]],
    ) -> None:
        """Give a container what it wants; raises `AllocationError` at the first that fails.

        One call for each resource, in random order as from a Go map. What other resources have
        already given is not taken back.
        """
        chooser = self._chooser
        asked = False
        for want in self.chance.sample(tuple(wants), len(wants)):
            ids = chooser.choose(want, mask, reusable.get(want.resource, frozenset()))
            if ids:
                self._call(want, ids)
                asked = True
        if asked:
            self.manager.write_checkpoint()

    def prefer(self, resource: str, size: int) -> frozenset[str]:
        """Return what the plugin prefers of the free devices; raises `AllocationError`."""
        return self._chooser.prefer(resource, size)

    @property
    def _chooser(self) -> Chooser:
        return Chooser(manager=self.manager, history=self.history, chance=self.chance)

    def _call(self, want: Want, ids: frozenset[str]) -> None:
        answer = self._answer(want, self.chance.sample(sorted(ids), len(ids)))
        holding = Holding(
            pod=want.pod,
            container=want.container,
            resource=want.resource,
            nodes=self._by_node(want.resource, ids),
            answer=answer,
        )
        self.manager.allocations.add(holding)

    def _answer(self, want: Want, ids: Iterable[str]) -> bytes:
        ids = tuple(ids)
        try:
            link = self.manager.link(want.resource)
            self.history.add(
                AllocateAsked(resource=want.resource, container=want.container, ids=ids),
            )
            answer = link.allocate(ids)
        except AllocationError:
            self.manager.allocations.restore()
            raise
        if answer is None:  # and nothing is restored: the kubelet leaks these devices
            # The kubelet ends this text with the answer, which is empty.
            raise AllocationError("no containers return in allocation response ")
        return answer

    def _by_node(self, resource: str, ids: Iterable[str]) -> Mapping[int, list[str]]:
        nodes: dict[int, list[str]] = {}
        for id_ in sorted(ids):
            for node in self._nodes(resource, id_) or (NO_NODE,):
                nodes.setdefault(node, []).append(id_)
        return nodes

    def _nodes(self, resource: str, id_: str) -> tuple[int, ...] | None:
        """Look the device up as it is now, after the call."""
        snapshot = self.manager.snapshot(resource)
        device = snapshot.devices.get(id_) if snapshot else None
        if device is not None:
            return device.nodes
        if self.panics_on_vanished_device:
            raise KubeletPanicError(f"no topology of vanished device {id_}")
        return None
