"""A plugins_registry without sockets: who serves in it waits to be found."""

import asyncio

import attrs

from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.host import Company, MemoryHost, MemoryIncarnation
from deviceplugin.adapters.memory.tasks import ended
from deviceplugin.domain.errors import (
    KubeletUnreachableError,
    RegistrationRefusedError,
    RegistrationUnclearError,
    SocketLostError,
)
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.kubelet import Host, Registrar, Registration
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin
from deviceplugin.domain.resources import ResourceName


@attrs.define(eq=False)
class _Introduction:
    """What was said between a server and the kubelet that found it; `error` empty if accepted."""

    resource: ResourceName
    asked: bool = False
    error: str = ""
    told: asyncio.Event = attrs.field(factory=asyncio.Event)


class MemoryRegistry(Host, Registrar):
    """Serves in a `MemoryDirectory`; a test finds what is served with `ask` and `tell`."""

    def __init__(
        self, directory: MemoryDirectory, clock: Clock, *, company: Company | None = None
    ) -> None:
        self.host = MemoryHost(directory, company)
        """The servers that can be dialled."""
        self._directory = directory
        self._clock = clock
        self._introductions: dict[str, _Introduction] = {}

    async def serve(self, plugin: DevicePlugin) -> MemoryIncarnation:
        """Return once `plugin` can be found."""
        served = await self.host.serve(plugin)
        self._introductions[served.endpoint] = _Introduction(plugin.resource)
        return served

    async def reachable(self) -> bool:
        """Return whether there is a directory to be found in."""
        return self._directory.identity(".") is not None

    async def register(self, registration: Registration, seconds: float) -> None:
        """Return when somebody has found and accepted the server."""
        introduction = self._introductions.get(registration.endpoint)
        if introduction is None or self._directory.identity(registration.endpoint) is None:
            raise SocketLostError(f"no file {self._directory.path}/{registration.endpoint}")
        if not await self._is_told(introduction, seconds):
            if introduction.asked:
                raise RegistrationUnclearError(f"the kubelet said nothing within {seconds:g} s")
            raise KubeletUnreachableError(f"no kubelet came within {seconds:g} s")
        if introduction.error:
            raise RegistrationRefusedError(f"the kubelet refused: {introduction.error}")

    # What a kubelet that looks there does.

    def ask(self, endpoint: str) -> ResourceName:
        """Ask a server who it is."""
        introduction = self._introductions[endpoint]
        introduction.asked = True
        return introduction.resource

    def tell(self, endpoint: str, error: str = "") -> None:
        """Tell it how its registration went."""
        introduction = self._introductions[endpoint]
        introduction.error = error
        introduction.told.set()

    async def _is_told(self, introduction: _Introduction, seconds: float) -> bool:
        if introduction.told.is_set():
            return True
        telling = asyncio.create_task(introduction.told.wait())
        timer = asyncio.create_task(self._clock.sleep(seconds))
        try:
            await asyncio.wait({telling, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await ended(telling, timer)
        return introduction.told.is_set()
