"""Where a snapshot of the devices comes from."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol

from deviceplugin.domain.tree import DeviceTree

if TYPE_CHECKING:
    # A source that knows nothing of rules does without their memory.
    from deviceplugin.domain.discovery.rulebook import Rulebook


class DeviceSource(Protocol):
    """Looks at the hardware once per call; a look has no side effects and may block."""

    @abstractmethod
    def scan(self) -> DeviceTree:
        """Return what is there now.

        One odd entry never hides a good one. Raises `ScanError` if nothing can be said at all,
        which is not the same as finding nothing.
        """
        ...


class RuledSource(DeviceSource, Protocol):
    """Finds devices by rules, others of which may take their place while it is in use.

    Told what containers may hold, it lets a device that is held keep its resource and its id for
    as long, or offers it in no way at all; a tree says what it took into account.
    """

    @abstractmethod
    def follow(self, rules: "Rulebook") -> None:
        """Go by these rules from the next look on; one that is under way keeps to its own.

        Any thread may call it. A resource whose rule goes is not offered any more; one whose rule
        changed or came is judged anew; of all others nothing is forgotten.
        """
        ...
