"""Keeps what a scan asks of the host, and answers as it did."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.ports.driven.host_use import HostUse
from deviceplugin.domain.recording.entries import Uses

_Key = TypeVar("_Key")


class NotedHostUse(HostUse):
    """Answers as another view of the host does; `uses` are its answers so far."""

    def __init__(self, host: HostUse) -> None:
        self._host = host
        self._disks: Mapping[NodeNumber, str] | None = None
        self._interfaces: Mapping[str, str] | None = None
        self._unknown: dict[str, str] = {}

    def disks(self) -> Mapping[NodeNumber, str]:
        """Return the block devices that are mounted or swapped to, each with what it is for."""
        self._disks = found = self._noted("disks", self._host.disks)
        return found

    def interfaces(self) -> Mapping[str, str]:
        """Return the network interfaces by which default routes lead, with what they are for."""
        self._interfaces = found = self._noted("interfaces", self._host.interfaces)
        return found

    def uses(self) -> Uses:
        """Return what was answered."""
        return Uses(disks=self._disks, interfaces=self._interfaces, unknown=dict(self._unknown))

    def _noted(self, question: str, ask: Callable[[], Mapping[_Key, str]]) -> Mapping[_Key, str]:
        try:
            return ask()
        except ScanError as error:
            self._unknown[question] = str(error)
            raise


class RecordedHostUse(HostUse):
    """A host as it was recorded. What was not asked then cannot be told now."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses

    def disks(self) -> Mapping[NodeNumber, str]:
        """Return the block devices that were mounted or swapped to."""
        return self._told("disks", self._uses.disks)

    def interfaces(self) -> Mapping[str, str]:
        """Return the network interfaces by which default routes led."""
        return self._told("interfaces", self._uses.interfaces)

    def _told(self, question: str, answer: Mapping[_Key, str] | None) -> Mapping[_Key, str]:
        if question in self._uses.unknown:
            raise ScanError(self._uses.unknown[question])
        if answer is None:
            raise ScanError(f"what the host uses was not recorded: {question}")
        return dict(answer)
