"""The kubelet's half of a plugins_registry in memory: it finds, asks, lists and tells."""

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from deviceplugin.adapters.memory.host import MemoryIncarnation
from deviceplugin.adapters.memory.registry import MemoryRegistry
from deviceplugin.domain.resources import ResourceName

if TYPE_CHECKING:
    from deviceplugin.domain.inventory import Listing


class Finder:
    """Looks when it is told to; whom it has found it never looks at again, as the real one."""

    def __init__(self, registry: MemoryRegistry) -> None:
        self.refusals: list[str] = []
        """What the next ones that are found are told."""
        self.found: list[ResourceName] = []
        self.lists: dict[ResourceName, Listing] = {}
        self._registry = registry
        self._known: set[MemoryIncarnation] = set()
        self._streams: dict[MemoryIncarnation, asyncio.Task[None]] = {}

    def look(self) -> None:
        """Find what is new."""
        for served in self._registry.host.served:
            if served not in self._known and self._registry.host.dial(served.endpoint) is served:
                self._known.add(served)
                self._take(served)

    def streams(self, resource: ResourceName) -> int:
        """Return how many streams of a resource are open."""
        return sum(served.plugin.resource == resource for served in self._streams)

    async def cut(self) -> None:
        """Lose every connection."""
        tasks = tuple(self._streams.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def restart(self) -> None:
        """Die and start again: what is there is found anew at the next look."""
        await self.cut()
        self._known.clear()

    def _take(self, served: MemoryIncarnation) -> None:
        resource = self._registry.ask(served.endpoint)
        if self.refusals:
            self._registry.tell(served.endpoint, self.refusals.pop(0))
            return
        self.found.append(resource)
        stream = asyncio.create_task(self._listen(served, resource))
        self._streams[served] = stream
        stream.add_done_callback(lambda _: self._streams.pop(served))
        self._registry.tell(served.endpoint)

    async def _listen(self, served: MemoryIncarnation, resource: ResourceName) -> None:
        try:
            async with aclosing(served.listings()) as listings:
                async for listing in listings:
                    self.lists[resource] = listing
        except ConnectionError:
            pass
