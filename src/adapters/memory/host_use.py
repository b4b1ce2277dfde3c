"""A host that uses what it is told to use."""

from collections.abc import Mapping

from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.ports.driven.host_use import HostUse


class MemoryHostUse(HostUse):
    """Uses begin by `mount` and `route`, and end by `release`."""

    def __init__(self) -> None:
        self._disks: dict[NodeNumber, str] = {}
        self._interfaces: dict[str, str] = {}
        self._failure = ""

    def mount(self, number: NodeNumber, place: str) -> None:
        """Mount a block device somewhere, in the place of what it was used for."""
        self._disks[number] = f"mounted at {place}"

    def swap(self, number: NodeNumber) -> None:
        """Swap to a block device."""
        self._disks[number] = "used as swap space"

    def route(self, interface: str) -> None:
        """Let the default route lead by an interface."""
        self._interfaces[interface] = "the default route leads by it"

    def release(self) -> None:
        """End every use."""
        self._disks.clear()
        self._interfaces.clear()

    def fail(self, reason: str) -> None:
        """Let every look fail for this reason; an empty one ends that."""
        self._failure = reason

    def disks(self) -> Mapping[NodeNumber, str]:
        """Return what is mounted or swapped to."""
        self._check()
        return dict(self._disks)

    def interfaces(self) -> Mapping[str, str]:
        """Return by which interfaces default routes lead."""
        self._check()
        return dict(self._interfaces)

    def _check(self) -> None:
        if self._failure:
            raise ScanError(self._failure)
