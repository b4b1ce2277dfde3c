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

    def notify(self, tree: DeviceTree) -> None:
        """Check and freeze the tree in the caller's thread, then let the loop have it."""
        frozen = tree.freeze(self._namespace)
        if self._stopped:
            raise StoppedError("the plugin has ended; return from scan")
        try:
            self._loop.call_soon_threadsafe(self._put, frozen)
        except RuntimeError as closed:
            raise StoppedError("the plugin's event loop has ended; return from scan") from closed

    def stop(self) -> None:
        """Refuse every further tree, so that scanners end."""
        self._stopped = True

    async def next(self) -> FrozenTree:
        """Return the newest tree that has not been returned yet, as soon as there is one."""
        while self._tree is None:
            self._news.clear()
            await self._news.wait()
        tree, self._tree = self._tree, None
        return tree

    def _put(self, tree: FrozenTree) -> None:
        """Change the slot in the loop alone, so that no lock is needed."""
        self._tree = tree
        self._news.set()
