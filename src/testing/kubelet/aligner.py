"""The topology manager's part of an admission: from which NUMA nodes a container gets devices."""

from collections.abc import Iterable, Mapping

import attrs

from deviceplugin.testing.kubelet.errors import KubeletPanicError, UnalignedError
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.numa import (
    Hint,
    Mask,
    Numa,
    NumaPolicy,
    VanishedDeviceError,
    affinity,
    hints,
)
from deviceplugin.testing.kubelet.pods import Want
from deviceplugin.testing.kubelet.table import Snapshot
from deviceplugin.testing.kubelet.values import Device


@attrs.frozen(kw_only=True)
class Aligner:
    """Makes hints from what the device manager knows, and merges them."""

    manager: DeviceManager
    numa: Numa
    panics_on_vanished_device: bool
    hints_idle_nodes: bool

    def mask(self, wants: Iterable[Want], reusable: Mapping[str, frozenset[str]]) -> Mask | None:
        """Return the nodes for a container's devices, None for any; raises `UnalignedError`.

        Raises `KubeletPanicError` where the kubelet dereferences nil: when the container holds a
        device that is no longer listed.
        """
        if self.numa.policy is NumaPolicy.NONE:
            return None
        try:
            offers = {w.resource: self._hints(w, reusable.get(w.resource)) for w in wants}
        except VanishedDeviceError as vanished:
            raise KubeletPanicError(f"no topology of vanished device {vanished}") from vanished
        best = affinity(self.numa, offers)
        if best is None:
            raise UnalignedError
        return best.mask

    def _hints(self, want: Want, reusable: frozenset[str] | None) -> list[Hint] | None:
        snapshot = self.manager.snapshot(want.resource) or Snapshot()
        if not snapshot.aligned:
            return None
        reusable = reusable or frozenset()
        held = self.manager.allocations.held(want)
        if held:
            possible = len(held) == want.size
            available, reusable = held, frozenset[str]()
        else:
            available = snapshot.healthy - self.manager.allocations.marked(want.resource)
            possible = len(available | reusable) >= want.size
        if not possible:
            return []
        return hints(
            devices=self._devices(snapshot, available | reusable),
            available=available,
            reusable=reusable,
            request=want.size,
            nodes=self._nodes(snapshot),
        )

    def _nodes(self, snapshot: Snapshot) -> tuple[int, ...]:
        """Return the nodes to combine: from 1.36 those that have devices, if any has."""
        if self.hints_idle_nodes:
            return self.numa.nodes
        used = {node for device in snapshot.devices.values() for node in device.nodes or ()}
        return tuple(node for node in self.numa.nodes if node in used) or self.numa.nodes

    def _devices(self, snapshot: Snapshot, asked: Iterable[str]) -> Mapping[str, Device]:
        if self.panics_on_vanished_device:
            return snapshot.devices
        return {id_: Device(id=id_) for id_ in asked} | dict(snapshot.devices)
