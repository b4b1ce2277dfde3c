"""Which devices a container is given: the kubelet's checks, and the plugin's say."""

from random import Random

import attrs

from deviceplugin.testing.kubelet.choice import Choice, Pool, Prefer
from deviceplugin.testing.kubelet.errors import AllocationError
from deviceplugin.testing.kubelet.history import History, PreferenceAsked
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.numa import Mask
from deviceplugin.testing.kubelet.pods import Want
from deviceplugin.testing.kubelet.table import Snapshot


@attrs.frozen(kw_only=True)
class Chooser:
    """Chooses devices and marks them as allocated (devicesToAllocate)."""

    manager: DeviceManager
    history: History
    chance: Random

    def choose(self, want: Want, mask: Mask | None, reusable: frozenset[str]) -> frozenset[str]:
        """Return the ids to call Allocate for; none if the container holds them already.

        Raises `AllocationError`; what had been marked by then stays marked.
        """
        held = self.manager.allocations.held(want)
        if held is not None and len(held) != want.size:
            raise AllocationError(
                f'pod "{want.pod}" container "{want.container}" changed request for resource '
                f'"{want.resource}" from {len(held)} to {want.size}',
            )
        snapshot = self._usable(want.resource, held or frozenset())
        if held is not None or want.size == 0:
            return frozenset()
        choice = Choice(want.resource, want.size, self.chance)
        try:
            choice.reuse(reusable)
            choice.complete(self._pool(want.resource, snapshot, mask), self._prefer(want.resource))
        finally:
            self.manager.allocations.mark(want.resource, choice.taken)
        return frozenset(choice.taken)

    def prefer(self, resource: str, size: int) -> frozenset[str]:
        """Ask the plugin about the free devices and take none; raises `AllocationError`."""
        options = self.manager.options(resource)
        if options is None or not options.preferred:
            raise AllocationError(f"{resource} does not offer GetPreferredAllocation")
        pool = self._pool(resource, self._usable(resource, frozenset()), None)
        return self._prefer(resource)(pool.free, frozenset(), size)

    def _usable(self, resource: str, held: frozenset[str]) -> Snapshot:
        snapshot = self.manager.snapshot(resource)
        if snapshot is None:
            raise AllocationError(f"cannot allocate unregistered device {resource}")
        if not snapshot.healthy:
            problem = "no healthy devices present"
        elif not held <= snapshot.healthy:
            problem = "previously allocated devices are no longer healthy"
        else:
            return snapshot
        raise AllocationError(f"{problem}; cannot allocate unhealthy devices {resource}")

    def _pool(self, resource: str, snapshot: Snapshot, mask: Mask | None) -> Pool:
        free = snapshot.healthy - self.manager.allocations.marked(resource)
        return Pool.sort(free, snapshot.devices, mask)

    def _prefer(self, resource: str) -> Prefer:
        def prefer(
            available: frozenset[str],
            must_include: frozenset[str],
            size: int,
        ) -> frozenset[str]:
            options = self.manager.options(resource)
            if options is None or not options.preferred:
                return frozenset()
            self.history.add(
                PreferenceAsked(
                    resource=resource,
                    available=available,
                    must_include=must_include,
                    size=size,
                ),
            )
            link = self.manager.link(resource)
            return frozenset(link.prefer(available, must_include, size))

        return prefer
