"""A kubelet without sockets, for tests in virtual time."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from deviceplugin.adapters.memory.desk import Desk, Fault, Trouble
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.host import Company, MemoryHost
from deviceplugin.adapters.memory.sessions import Session, Sessions
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, Health
from deviceplugin.domain.errors import (
    KubeletForbiddenError,
    KubeletUnreachableError,
    RegistrationRefusedError,
    SocketLostError,
)
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Host, Incarnation, Registrar, Registration
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin, Options
from deviceplugin.domain.preference import Wish
from deviceplugin.domain.resources import ResourceName

KUBELET_SOCKET = "kubelet.sock"


class MemoryKubelet(Host, Registrar):
    """Does what kubelets up to 1.36 do, in the order in which they do it.

    It knows one server per resource, the last that registered, and when an older one's stream
    ends it ends the newer one's too. It isn't running at first. Leaving it as a context stops it.
    """

    def __init__(
        self,
        directory: MemoryDirectory,
        clock: Clock,
        *,
        dial_seconds: float = 10.0,
        company: Company | None = None,
    ) -> None:
        self.host = MemoryHost(directory, company)
        """The servers that can be dialled."""
        self.answers_first = False
        """Whether the answer to Register comes before the stream; both happen."""
        self.forbidden = False
        """Whether the system lets nobody connect."""
        self.registrations: list[Registration] = []
        """Each Register that came, whatever became of it, over all restarts."""
        self._directory = directory
        self._clock = clock
        self._dial_seconds = dial_seconds
        self._socket: FileIdentity | None = None
        self._desk = Desk(clock)
        self._changed = asyncio.Event()
        self._sessions = Sessions(self._changed.set)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    # What we ask of it.

    async def serve(self, plugin: DevicePlugin) -> Incarnation:
        """Return once `plugin` can be dialled."""
        return await self.host.serve(plugin)

    async def reachable(self) -> bool:
        """Return whether it listens, as far as one may know."""
        return self.forbidden or self._listens()

    async def register(self, registration: Registration, seconds: float) -> None:
        """Return when the registration is accepted; whatever else happens is in time too."""
        if self.forbidden:
            raise KubeletForbiddenError(f"{KUBELET_SOCKET}: connect: Permission denied")
        if not self._listens():
            raise KubeletUnreachableError(
                f"nobody listens on {self._directory.path}/{KUBELET_SOCKET}"
            )
        if self._directory.identity(registration.endpoint) is None:
            raise SocketLostError(f"no file {self._directory.path}/{registration.endpoint}")
        answered = asyncio.Event()
        if not self.answers_first:
            answered.set()
        self.registrations.append(registration)
        self._changed.set()
        try:
            await self._desk.handle(partial(self._connect, registration, answered), seconds)
        finally:
            answered.set()

    # What happens to it.

    def start(self, *, listening: bool = True) -> None:
        """Remove all sockets, make a new kubelet.sock and, if `listening`, answer on it."""
        self._socket = None
        for name in self._directory.names():
            if name.endswith(".sock"):
                self._directory.remove(name)
        self._directory.put(KUBELET_SOCKET)
        if listening:
            self.listen()

    def listen(self) -> None:
        """Answer on the kubelet.sock that is there."""
        self._socket = self._file()

    async def stop(self) -> None:
        """Die: calls and streams end, what was known is forgotten, all files stay."""
        self._socket = None
        await self._desk.shut()
        await self._sessions.forget()

    async def restart(self) -> None:
        """Die and start again at once."""
        await self.stop()
        self.start()

    async def cut_stream(self, resource: ResourceName) -> None:
        """End the resource's streams, as a lost connection does."""
        await self._sessions.cut(resource)

    def refuse_next(self, times: int = 1, *, reason: str = "the kubelet says no") -> None:
        """Answer the next Registers with an error."""
        self._desk.faults.extend([Fault(trouble=Trouble.REFUSED, reason=reason)] * times)

    def lose_next(self, times: int = 1, *, completing: bool = False) -> None:
        """Break the connection of the next Registers before the answer; complete them or not."""
        self._desk.faults.extend([Fault(trouble=Trouble.LOST, completing=completing)] * times)

    def hang_next(self, times: int = 1, *, completing: bool = False) -> None:
        """Never answer the next Registers; complete them or not."""
        self._desk.faults.extend(
            [Fault(trouble=Trouble.UNANSWERED, completing=completing)] * times
        )

    # What it asks of plugins.

    async def allocate(self, resource: ResourceName, ids: Sequence[DeviceId]) -> Grant:
        """Ask the registered server for what a container gets."""
        return await self._session(resource).server.allocate(ids)

    async def prefer(self, resource: ResourceName, wish: Wish) -> Sequence[DeviceId]:
        """Ask the registered server which devices a container had better get."""
        return await self._session(resource).server.prefer(wish)

    async def prepare(self, resource: ResourceName, ids: Sequence[DeviceId]) -> None:
        """Ask the registered server to make devices ready."""
        await self._session(resource).server.prepare(ids)

    # What it knows.

    def options(self, resource: ResourceName) -> Options | None:
        """Return what the resource's server answered when it registered."""
        session = self._sessions.get(resource)
        return None if session is None else session.options

    def devices(self, resource: ResourceName) -> Listing | None:
        """Return the list in force, all Unhealthy once its stream has ended; None before any."""
        session = self._sessions.get(resource)
        return None if session is None else session.devices

    def allocatable(self, resource: ResourceName) -> int:
        """Return how many devices may be handed out."""
        return sum(each.health is Health.HEALTHY for each in self.devices(resource) or ())

    def listings(self, resource: ResourceName) -> tuple[Listing, ...]:
        """Return every list that came through the resource's last stream."""
        session = self._sessions.get(resource)
        return () if session is None else tuple(session.listings)

    def streams(self, resource: ResourceName) -> int:
        """Return how many streams of the resource are open."""
        return self._sessions.streams(resource)

    async def until(self, holds: Callable[[], object]) -> None:
        """Return as soon as `holds` is true; asks at each change of what is known."""
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    # Within.

    def _session(self, resource: ResourceName) -> Session:
        session = self._sessions.get(resource)
        if session is None or not session.connected:
            raise LookupError(f"cannot allocate unregistered device {resource}")
        return session

    def _listens(self) -> bool:
        return self._socket is not None and self._socket == self._file()

    def _file(self) -> FileIdentity | None:
        return self._directory.identity(KUBELET_SOCKET)

    async def _connect(self, registration: Registration, answered: asyncio.Event) -> None:
        """Dial back and ask for the options, then take the server for the resource's."""
        server = self.host.dial(registration.endpoint)
        if server is None:
            await self._clock.sleep(self._dial_seconds)
            raise RegistrationRefusedError(
                "failed to dial device plugin: context deadline exceeded"
            )
        try:
            options = await server.options()
        except ConnectionError as error:
            raise RegistrationRefusedError(
                f"failed to get device plugin options: {error}"
            ) from error
        self._sessions.open(Session(registration.resource, server, options), answered)
