"""Who knows which devices containers hold."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Protocol

from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings


class Holders(Protocol):
    """A source of knowledge about the containers of this node; asking changes nothing."""

    @abstractmethod
    async def holders(self, resource: ResourceName) -> Holdings:
        """Return which devices of `resource`, and of no other, containers hold.

        The answer is never older than the question. It names as many as a list has room for
        (`domain.room`), and how many more there are. Raises `HoldersUnknownError`.
        """
        ...

    @abstractmethod
    async def all_holders(self) -> Mapping[ResourceName, Holdings]:
        """Return the same of each resource of which containers hold a device, whoever offers it.

        Raises `HoldersUnknownError`.
        """
        ...
