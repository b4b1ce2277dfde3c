"""Where a snapshot of the devices comes from."""

from abc import abstractmethod
from typing import Protocol

from deviceplugin.domain.tree import DeviceTree


class DeviceSource(Protocol):
    """Looks at the hardware once per call; a look has no side effects and may block."""

    @abstractmethod
    def scan(self) -> DeviceTree:
        """Return what is there now.

        One odd entry never hides a good one. Raises `ScanError` if nothing can be said at all,
        which is not the same as finding nothing.
        """
        ...
