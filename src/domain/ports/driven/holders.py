"""Who knows which devices containers hold."""

from abc import abstractmethod
from typing import Protocol

from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings


class Holders(Protocol):
    """A source of knowledge about the containers of this node; asking changes nothing."""

    @abstractmethod
    async def holders(self, resource: ResourceName) -> Holdings:
        """Return which devices of `resource`, and of no other, containers hold.

        The answer is never older than the question. Raises `HoldersUnknownError`.
        """
        ...
