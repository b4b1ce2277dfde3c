"""The newest inventory of one resource, for any number of readers."""

import asyncio
from collections.abc import AsyncGenerator

from deviceplugin.domain.inventory import Inventory, Listing


class Board:
    """Holds one inventory; readers are told that there is a newer one, never handed a queue.

    So no list is lost that matters, nobody blocks, and a dead reader disturbs no other.
    """

    def __init__(self, inventory: Inventory | None = None) -> None:
        """Start with an inventory, empty if not given."""
        self._inventory = inventory or Inventory()
        self._readers: set[asyncio.Event] = set()
        self._retired = False
        self._unread = asyncio.Event()
        self._unread.set()

    @property
    def inventory(self) -> Inventory:
        """What is advertised now."""
        return self._inventory

    @property
    def readers(self) -> int:
        """How many streams are open."""
        return len(self._readers)

    def post(self, inventory: Inventory) -> None:
        """Advertise `inventory` from now on."""
        if inventory is not self._inventory:
            self._inventory = inventory
            self._wake()

    def retire(self) -> None:
        """Let each reader end after the newest list."""
        self._retired = True
        self._wake()

    async def read_out(self) -> None:
        """Return when no reader is left."""
        await self._unread.wait()

    async def listings(self) -> AsyncGenerator[Listing]:
        """Yield the list now, then each newer one that differs from the last one yielded."""
        news = asyncio.Event()
        self._readers.add(news)
        self._unread.clear()
        sent: Listing | None = None
        try:
            while True:
                news.clear()
                listing = self._inventory.listing
                if listing != sent:
                    sent = listing
                    yield listing
                elif self._retired:
                    return
                else:
                    await news.wait()
        finally:
            self._readers.discard(news)
            if not self._readers:
                self._unread.set()

    def _wake(self) -> None:
        for news in self._readers:
            news.set()
