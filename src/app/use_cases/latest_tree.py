"""Where scanners hand in what they found: a slot for the newest tree."""

import asyncio
import threading

from deviceplugin.domain.errors import StoppedError
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.tree import DeviceTree, FrozenTree, tree_of


class LatestTree(Notifier):
    """Takes trees from any thread, keeps the newest, wakes the loop. Handing in never waits."""

    def __init__(self, namespace: str) -> None:
        """Belong to the running loop."""
        self._namespace = namespace
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._tree: FrozenTree | None = None
        self._handed_in: FrozenTree | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def notify(self, tree: DeviceTree) -> None:
        """Check and freeze the tree in the caller's thread, then let the loop have it."""
        frozen = tree_of(tree).freeze(self._namespace)
        if self._stopped:
            raise StoppedError("the plugin has ended; return from scan")
        with self._lock:
            is_awaited, self._handed_in = self._handed_in is not None, frozen
        if is_awaited:
            return
        try:
            self._loop.call_soon_threadsafe(self._put)
        except RuntimeError as closed:
            self._handed_in = None
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

    def _put(self) -> None:
        """Take what was handed in since the last time: a scanner that floods us costs one tree."""
        with self._lock:
            self._tree, self._handed_in = self._handed_in, None
        self._news.set()
