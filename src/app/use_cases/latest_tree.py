"""Where scanners hand in what they found: a slot for the newest tree."""

import asyncio

from deviceplugin.domain.errors import StoppedError
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.tree import DeviceTree, FrozenTree


class LatestTree(Notifier):
    """Takes trees from any thread, keeps the newest, wakes the loop. Handing in never waits."""

    def __init__(self, namespace: str) -> None:
        """Belong to the running loop."""
        self._namespace = namespace
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._tree: FrozenTree | None = None
        self._stopped = False
        self._count = 0

    @property
    def count(self) -> int:
        """How many trees have been handed in."""
        return self._count

    def notify(self, tree: DeviceTree) -> None:
        """Check and freeze the tree in the caller's thread, then let the loop have it."""
        frozen = tree.freeze(self._namespace)
        if self._stopped:
            raise StoppedError("the plugin has ended; return from scan")
        self._tree = frozen
        self._count += 1
        try:
            self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError as closed:
            raise StoppedError("the plugin's event loop has ended; return from scan") from closed

    def stop(self) -> None:
        """Refuse every further tree, so that scanners end."""
        self._stopped = True

    def take(self) -> FrozenTree | None:
        """Return the newest tree that has not been taken yet."""
        tree, self._tree = self._tree, None
        return tree

    async def next(self) -> FrozenTree:
        """Return the newest tree that has not been taken yet, as soon as there is one."""
        while (tree := self.take()) is None:
            self._news.clear()
            if self._tree is None:
                await self._news.wait()
        return tree
