"""A plugin that says what a test tells it to say."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, Health
from deviceplugin.domain.inventory import ListedDevice, Listing
from deviceplugin.domain.ports.driving.device_plugin import (
    AdvertisesDevices,
    DevicePlugin,
    PrefersDevices,
    PreparesContainers,
)
from deviceplugin.domain.preference import Wish
from deviceplugin.domain.resources import ResourceName


def listing(*ids: str) -> Listing:
    """Return a list of healthy devices."""
    return tuple(ListedDevice(DeviceId(each), Health.HEALTHY) for each in ids)


class ScriptedPlugin(AdvertisesDevices, PrefersDevices, PreparesContainers):
    """Answers with what its attributes hold, or raises `failure`; notes what it was `asked`."""

    def __init__(self, resource: str = "example.com/widget") -> None:
        self.resource = ResourceName.parse(resource)
        self.grant = Grant()
        self.choice: tuple[DeviceId, ...] = ()
        self.failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[object] = []
        self.readers = 0
        self._listing = listing("a", "b")
        self._retired = False
        self._turn = asyncio.Event()

    def front(self, *, preference: bool = True, preparation: bool = True) -> DevicePlugin:
        """Return the plugin as a host serves it, with these powers."""
        return DevicePlugin(
            resource=self.resource,
            devices=self,
            preference=self if preference else None,
            preparation=self if preparation else None,
        )

    def show(self, newer: Listing) -> None:
        """Let every reader have a newer list."""
        self._listing = newer
        self._wake()

    def retire(self) -> None:
        """Let every stream end after its last list."""
        self._retired = True
        self._wake()

    async def watch(self) -> AsyncGenerator[Listing]:
        """Yield the list, then each newer one."""
        self.readers += 1
        try:
            yield (shown := self._listing)
            while True:
                if shown != self._listing:
                    yield (shown := self._listing)
                elif self._retired:
                    return
                else:
                    await self._turn.wait()
        finally:
            self.readers -= 1

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Return the grant."""
        await self._ask(tuple(ids))
        return self.grant

    async def prefer(self, wish: Wish) -> Sequence[DeviceId]:
        """Return the choice."""
        await self._ask(wish)
        return self.choice

    async def prepare(self, ids: Sequence[DeviceId]) -> None:
        """Do nothing."""
        await self._ask(tuple(ids))

    async def _ask(self, question: object) -> None:
        self.asked.append(question)
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure

    def _wake(self) -> None:
        turn, self._turn = self._turn, asyncio.Event()
        turn.set()
