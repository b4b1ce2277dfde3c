"""What the host itself does with its devices."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Protocol

from deviceplugin.domain.ports.driven.device_nodes import NodeNumber


class HostUse(Protocol):
    """Looks at the mounts, the swap space and the routes of the host, whoever runs us.

    Each raises `ScanError` if it cannot be told: that is not the same as no use.
    """

    @abstractmethod
    def disks(self) -> Mapping[NodeNumber, str]:
        """Return the block devices that are mounted or swapped to, each with what it is for."""
        ...

    @abstractmethod
    def interfaces(self) -> Mapping[str, str]:
        """Return the network interfaces by which default routes lead, each with what it is for."""
        ...
