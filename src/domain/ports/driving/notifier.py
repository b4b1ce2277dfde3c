"""What a scanner tells us."""

from abc import abstractmethod
from typing import Protocol

from deviceplugin.domain.tree import DeviceTree


class Notifier(Protocol):
    """Takes what a scan found. Safe to call from any thread; never blocks."""

    @abstractmethod
    def notify(self, tree: DeviceTree) -> None:
        """Advertise what `tree` holds now; only the newest tree counts.

        The tree is copied: the caller may change and reuse it. Raises `InvalidResourceNameError`
        for a type that makes no valid resource, `StoppedError` once the plugin has ended.
        """
        ...
