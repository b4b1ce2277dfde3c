"""The newest inventory of one resource, for any number of readers."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from itertools import count
from typing import Final

from deviceplugin.domain.inventory import Inventory, Listing

_AUDIENCES: Final = count(1)


class Board:
    """Holds one inventory; readers are told that there is a newer one, never handed a queue.

    So no list is lost that matters, nobody blocks, and a dead reader disturbs no other.
    """

    def __init__(
        self, inventory: Inventory | None = None, *, opened: Callable[[], None] | None = None
    ) -> None:
        """Start with an inventory, empty if not given; `opened` is called for each new reader."""
        self._inventory = inventory or Inventory()
        self._opened = opened
        self._readers: dict[asyncio.Event, Listing | None] = {}
        self._audience = next(_AUDIENCES)
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

    @property
    def audience(self) -> int:
        """A number that changes whenever a stream opens or ends, on whichever board."""
        return self._audience

    @property
    def is_read(self) -> bool:
        """Whether there are streams, and each has been sent the newest list."""
        newest = self._inventory.listing
        return bool(self._readers) and all(sent == newest for sent in self._readers.values())

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
        self._readers[news] = None
        if self._opened is not None:
            self._opened()
        self._audience = next(_AUDIENCES)
        self._unread.clear()
        sent: Listing | None = None
        try:
            while True:
                news.clear()
                listing = self._inventory.listing
                if listing != sent:
                    sent = listing
                    yield listing
                    self._readers[news] = listing
                elif self._retired:
                    return
                else:
                    await news.wait()
        finally:
            del self._readers[news]
            self._audience = next(_AUDIENCES)
            if not self._readers:
                self._unread.set()

    def _wake(self) -> None:
        for news in self._readers:
            news.set()
