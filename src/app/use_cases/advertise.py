"""Serve just the resources that the newest tree names."""

import asyncio
from collections.abc import Callable
from typing import Final, Self

import attrs

from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.keep_registered import KeepRegistered
from deviceplugin.app.use_cases.watch_kubelet import WatchKubelet
from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.devices import Health
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
    devices: if the resource comes back, so do they, Unhealthy unless they were found.
    """

    def __init__(
        self,
        *,
        open_resource: Callable[[ResourceName, Board], DevicePlugin],
        keep: Callable[[DevicePlugin], KeepRegistered],
        watch_kubelet: WatchKubelet,
        clock: Clock,
        journal: Journal,
    ) -> None:
        """Serve nothing yet."""
        self._open_resource = open_resource
        self._keep = keep
        self._watch_kubelet = watch_kubelet
        self._clock = clock
        self._journal = journal
        self._served: dict[ResourceName, _Served] = {}
        self._retiring: dict[ResourceName, asyncio.Task[None]] = {}
        self._retired: dict[ResourceName, Inventory] = {}
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        """Begin; resources that are opened live until the end of the context."""
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Close every resource without a last word, so that a plugin's restart makes no flap."""
        for served in self._served.values():
            served.keeper.stop()
        await self._tasks.__aexit__(*failure)  # type: ignore[arg-type]

    async def __call__(self, tree: FrozenTree) -> None:
        """Make what is advertised follow `tree`."""
        for name, found in tree.resources.items():
            if name in self._served:
                self._post(name, self._served[name].board, found)
            else:
                await self._open(name, found)
        for name in self._served.keys() - tree.resources.keys():
            self._retire(name)

    def doubt(self) -> None:
        """Advertise all that is served as Unhealthy, until a tree confirms it."""
        for name, served in self._served.items():
            self._publish(name, served.board, served.board.inventory.doubt())

    async def _open(self, name: ResourceName, found: Devices) -> None:
        if (retiring := self._retiring.pop(name, None)) is not None:
            await asyncio.wait({retiring})
        board = Board(self._retired.pop(name, Inventory()))
        self._post(name, board, found)
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

    def _retire(self, name: ResourceName) -> None:
        served = self._served.pop(name)
        self._watch_kubelet.unfollow(served.keeper)
        self._post(name, served.board, {})
        self._retired[name] = served.board.inventory
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
