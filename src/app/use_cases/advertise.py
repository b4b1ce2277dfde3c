"""Serve just the resources that the newest tree names."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Self

import attrs

from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.keep_registered import KeepRegistered
from deviceplugin.app.use_cases.retain_held import RetainHeld
from deviceplugin.app.use_cases.watch_kubelet import WatchKubelet
from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.devices import Health
from deviceplugin.domain.ending import OnExit
from deviceplugin.domain.events import InventoryChanged
from deviceplugin.domain.inventory import Inventory
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices, FrozenTree

LAST_WORD_SECONDS: Final = 1.0
"""How long the kubelet may take to read the last list of a resource that goes."""


@attrs.frozen
class _Served:
    board: Board
    keeper: KeepRegistered
    life: "asyncio.Task[None]"


class Advertise:
    """Opens a resource when a tree first names it, and retires it when one no longer does.

    The inventory of a retired resource is remembered, because a container may still hold its
    devices: if the resource comes back, so do they, Unhealthy unless they were found. One that
    was never opened here begins with what containers may hold since an earlier run of the plugin.
    """

    def __init__(  # noqa: PLR0913 - they go by name
        self,
        *,
        open_resource: Callable[[ResourceName, Board], DevicePlugin],
        keep: Callable[[DevicePlugin], KeepRegistered],
        watch_kubelet: WatchKubelet,
        retain_held: RetainHeld,
        clock: Clock,
        journal: Journal,
        on_exit: OnExit = OnExit.LEAVE,
    ) -> None:
        """Serve nothing yet."""
        self._open_resource = open_resource
        self._keep = keep
        self._watch_kubelet = watch_kubelet
        self._retain_held = retain_held
        self._releasing: asyncio.Task[None] | None = None
        self._clock = clock
        self._journal = journal
        self._on_exit = on_exit
        self._served: dict[ResourceName, _Served] = {}
        self._retiring: dict[ResourceName, asyncio.Task[None]] = {}
        self._remembered: dict[ResourceName, Inventory] = {}
        self._outdated: set[ResourceName] = set()
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        """Begin; resources that are opened live until the end of the context."""
        await self._tasks.__aenter__()
        self._watch_kubelet.prepare_by(self._retain_held.meet)
        self._releasing = self._tasks.create_task(
            self._retain_held.run(self._boards, self._publish)
        )
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Close every resource; without a last word, so that a plugin's restart makes no flap.

        Where that is wanted, the word comes first, of all at once. What failed has none.
        """
        if self._releasing is not None:
            self._releasing.cancel()
        if self._on_exit is OnExit.UNHEALTHY and failure[0] is None:
            for name in tuple(self._served):
                self._retire(name)
        for served in self._served.values():
            served.keeper.stop()
        await self._tasks.__aexit__(*failure)  # type: ignore[arg-type]

    async def __call__(self, tree: FrozenTree) -> None:
        """Make what is advertised follow `tree`, unless a device was given out meanwhile.

        Nothing is given out between the question whether the tree still counts and the first list
        that follows from it. What is given out from then on, the tree has.
        """
        await self._close_outdated(tree)
        if not self._retain_held.takes_all_into_account(tree):
            return
        for name in self._served.keys() - tree.resources.keys():
            self._retire(name)
        for name, served in self._served.items():
            self._post(name, served.board, tree.resources[name])
        known = self._served.keys() | self._remembered.keys()
        new = {name: found for name, found in tree.resources.items() if name not in known}
        self._remembered |= await self._retain_held.recall(new)
        if new and not self._retain_held.takes_all_into_account(tree):
            return
        for name, found in tree.resources.items():
            if name not in self._served:
                await self._open(name, found)

    def renew(self, names: Iterable[ResourceName]) -> None:
        """Open these anew with the next tree, if they are served: what they offer is outdated."""
        self._outdated |= self._served.keys() & set(names)

    def doubt(self) -> None:
        """Advertise all that is served as Unhealthy, until a tree confirms it."""
        for name, served in self._served.items():
            self._publish(name, served.board, served.board.inventory.doubt())

    def _boards(self) -> Mapping[ResourceName, Board]:
        return {name: served.board for name, served in self._served.items()}

    async def _open(self, name: ResourceName, found: Devices) -> None:
        if (retiring := self._retiring.pop(name, None)) is not None:
            await asyncio.wait({retiring})
        board = Board(self._remembered.pop(name), opened=self._retain_held.stream_opened)
        self._post(name, board, found)
        self._retain_held.notice(board.inventory)
        keeper = self._keep(self._open_resource(name, board))
        life = self._tasks.create_task(keeper.run(), name=f"{name}")
        self._served[name] = _Served(board, keeper, life)
        self._watch_kubelet.follow(keeper)

    def _post(self, name: ResourceName, board: Board, found: Devices) -> None:
        self._publish(name, board, board.inventory.observe(found))

    def _publish(self, name: ResourceName, board: Board, inventory: Inventory) -> None:
        older = board.inventory
        if inventory is older:
            return
        board.post(inventory)
        self._retain_held.notice(inventory)
        if inventory.generation == older.generation:
            return
        changes = inventory.changes_since(older)
        healthy = sum(info.health is Health.HEALTHY for info in inventory.devices.values())
        self._journal.record(
            InventoryChanged(
                resource=name,
                devices=len(inventory.devices),
                healthy=healthy,
                added=tuple(key.value for key in changes.added),
                updated=tuple(key.value for key in changes.updated),
                vanished=tuple(key.value for key in changes.vanished),
            )
        )

    async def _close_outdated(self, tree: FrozenTree) -> None:
        """Close them without a last word: their devices are there, and listed again at once."""
        outdated = self._outdated & self._served.keys() & tree.resources.keys()
        closing = [self._let_go(name) for name in outdated]
        self._outdated.clear()
        for served in closing:
            served.keeper.stop()
        if closing:
            await asyncio.wait({served.life for served in closing})

    def _let_go(self, name: ResourceName) -> _Served:
        served = self._served.pop(name)
        self._watch_kubelet.unfollow(served.keeper)
        self._remembered[name] = served.board.inventory
        return served

    def _retire(self, name: ResourceName) -> None:
        served = self._served[name]
        self._post(name, served.board, {})
        self._let_go(name)
        self._retiring[name] = self._tasks.create_task(self._say_last_word(name, served))

    async def _say_last_word(self, name: ResourceName, served: _Served) -> None:
        """Let the kubelet read that all is Unhealthy, then close: an empty list could harm it."""
        served.board.retire()
        try:
            await within(self._clock, LAST_WORD_SECONDS, served.board.read_out())
        except TimeoutError:
            pass
        finally:
            served.keeper.stop()
        await asyncio.wait({served.life})
        self._retiring.pop(name, None)
