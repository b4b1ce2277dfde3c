"""A node in virtual time: a kubelet, a plugin directory, and resources that are kept registered.

Its registrar holds, in every test that uses it, what must be true of each Register.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Self

import attrs
import pytest
from tests.support.finder import Finder

from deviceplugin.adapters.memory.clock import FixedChance, ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.holders import MemoryHolders
from deviceplugin.adapters.memory.host import Company
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET, MemoryKubelet
from deviceplugin.adapters.memory.registry import MemoryRegistry
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.advertise import Advertise
from deviceplugin.app.use_cases.ask_holders import AskHolders
from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.keep_registered import KeepRegistered
from deviceplugin.app.use_cases.known_holds import KnownHolds
from deviceplugin.app.use_cases.retain_held import RetainHeld
from deviceplugin.app.use_cases.run_plugin import RunPlugin
from deviceplugin.app.use_cases.scan import RunScanner
from deviceplugin.app.use_cases.serve_devices import OpenResource
from deviceplugin.app.use_cases.watch_configuration import WatchConfiguration
from deviceplugin.app.use_cases.watch_kubelet import WatchKubelet
from deviceplugin.app.use_cases.world import Way, World
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.ending import OnExit
from deviceplugin.domain.errors import KubeletUnreachableError
from deviceplugin.domain.inventory import Inventory, Listing
from deviceplugin.domain.phases import Signal
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import (
    NO_ARRIVALS,
    Arrivals,
    FileIdentity,
    PluginDirectory,
)
from deviceplugin.domain.ports.driven.kubelet import (
    Host,
    Incarnation,
    Registrar,
    Registration,
    Successor,
)
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.ports.driving.device_plugin import AdvertisesDevices, DevicePlugin
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.routes import Kubelet, RegistrationMode, Route
from deviceplugin.domain.timing import Timing

TIMING = Timing()
WIDGET = ResourceName("example.com", "widget")


class ClosableDevices(AdvertisesDevices):
    """Open no stream once their server is closed, as nobody can connect to a closed socket."""

    def __init__(self, inner: AdvertisesDevices) -> None:
        self.closed = False
        self._inner = inner

    async def watch(self) -> AsyncGenerator[Listing]:
        """Yield what the inner ones do."""
        if self.closed:
            raise ConnectionRefusedError
        async with aclosing(self._inner.watch()) as listings:
            async for listing in listings:
                yield listing

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Return what the inner ones do."""
        return await self._inner.allocate(ids)


class GatedIncarnation(Incarnation):
    """A server that closes when it may."""

    def __init__(
        self, inner: Incarnation, devices: ClosableDevices, may_close: asyncio.Event
    ) -> None:
        self._inner = inner
        self._devices = devices
        self._may_close = may_close

    @property
    def endpoint(self) -> str:
        """The inner one's."""
        return self._inner.endpoint

    @property
    def identity(self) -> FileIdentity:
        """The inner one's."""
        return self._inner.identity

    def successor(self, arrivals: Arrivals = NO_ARRIVALS) -> Successor:
        """Ask the inner one."""
        return self._inner.successor(arrivals)

    async def close(self) -> None:
        """Close the inner one once it may close."""
        await self._may_close.wait()
        self._devices.closed = True
        await self._inner.close()


class GatedHost(Host):
    """Serves when it may, and notes when and what; who gives up waits until it may close."""

    def __init__(self, inner: MemoryKubelet, clock: Clock) -> None:
        self.may_serve, self.may_close = asyncio.Event(), asyncio.Event()
        self.may_serve.set()
        self.may_close.set()
        self.times: list[float] = []
        self.plugins: list[DevicePlugin] = []
        self._inner = inner
        self._clock = clock

    async def serve(self, plugin: DevicePlugin) -> Incarnation:
        """Serve in the kubelet's memory."""
        self.times.append(self._clock.now())
        self.plugins.append(plugin)
        try:
            await self.may_serve.wait()
        except asyncio.CancelledError:
            await self.may_close.wait()
            raise
        devices = ClosableDevices(plugin.devices)
        served = await self._inner.serve(attrs.evolve(plugin, devices=devices))
        return GatedIncarnation(served, devices, self.may_close)


class StrictRegistrar(Registrar):
    """Passes each Register on, and fails the test if it must never have been sent."""

    def __init__(self, kubelet: MemoryKubelet, clock: Clock) -> None:
        self.times: list[float] = []
        self.endpoints: list[str] = []
        """Of each Register that may have reached a kubelet."""
        self.deaf = False
        self.may_look = asyncio.Event()
        self.may_look.set()
        self._kubelet = kubelet
        self._clock = clock
        self._under_way: set[ResourceName] = set()

    async def reachable(self) -> bool:
        """Ask the kubelet, once it may."""
        await self.may_look.wait()
        return await self._kubelet.reachable() and not self.deaf

    async def register(self, registration: Registration, seconds: float) -> None:
        """Register with the kubelet."""
        resource, endpoint = registration.resource, registration.endpoint
        served = [
            each.endpoint for each in self._kubelet.host.served if each.plugin.resource == resource
        ]
        assert resource not in self._under_way, "a Register while another one is under way"
        assert endpoint not in self.endpoints, "a second Register on one socket"
        assert served == [endpoint], "a Register while an older server is there"
        can_be_dialled = self._kubelet.host.dial(endpoint) is not None
        before = len(self._kubelet.registrations)
        self._under_way.add(resource)
        self.times.append(self._clock.now())
        self.endpoints.append(endpoint)
        try:
            await self._kubelet.register(registration, seconds)
        except KubeletUnreachableError:
            self.endpoints.remove(endpoint)
            raise
        finally:
            self._under_way.discard(resource)
            was_sent = registration in self._kubelet.registrations[before:]
            assert can_be_dialled or not was_sent, "a Register without a served socket"


class Machine:
    """A machine with a plugin directory, and a kubelet that is not running yet.

    And a plugins_registry, which is used in the modes that do.
    """

    def __init__(
        self,
        *,
        directory: Callable[[Clock], MemoryDirectory] = MemoryDirectory,
        registrar: Registrar | None = None,
        mode: RegistrationMode = RegistrationMode.REGISTER,
    ) -> None:
        self.clock = ManualClock()
        self.journal = MemoryJournal()
        self.directory = directory(self.clock)
        company = Company()
        self.kubelet = MemoryKubelet(self.directory, self.clock, company=company)
        self.host = GatedHost(self.kubelet, self.clock)
        self.registrar = StrictRegistrar(self.kubelet, self.clock)
        self.holders = MemoryHolders()
        self.hints = MemoryHolders(complete=False)
        self.holds = KnownHolds()
        self.looks = 0
        self.retain = RetainHeld(
            ask_holders=AskHolders(
                (self.holders, self.hints),
                clock=self.clock,
                seconds=TIMING.release.answer,
                journal=self.journal,
            ),
            holds=self.holds,
            look_again=self.look_again,
            clock=self.clock,
            timing=TIMING.release,
            journal=self.journal,
        )
        self.registry_directory = MemoryDirectory(self.clock, path="/registry")
        self.registry = MemoryRegistry(self.registry_directory, self.clock, company=company)
        self.registry_directory.listeners.append(self.directory)
        self.directory.listeners.append(self.registry_directory)
        self.finder = Finder(self.registry)
        ways = {
            Route.REGISTER: Way(
                host=self.host,
                registrar=registrar or self.registrar,
                directory=self.directory,
            ),
            Route.WATCHER: Way(
                host=self.registry, registrar=self.registry, directory=self.registry_directory
            ),
        }
        used = [Route.REGISTER] if mode is RegistrationMode.REGISTER else list(Route)
        self.watch = WatchKubelet(
            {route: ways[route].directory for route in used},
            self.clock,
            self.journal,
            mode=mode,
            timing=TIMING,
        )
        self.world = World(
            ways={route: ways[route] for route in used},
            clock=self.clock,
            chance=FixedChance(0.5),
            timing=TIMING,
            journal=self.journal,
        )

    def open(self, resource: ResourceName, board: Board) -> DevicePlugin:
        """Return what a kubelet may ask about a resource."""
        open_resource = OpenResource(
            author=None,
            journal=self.journal,
            code=AuthorCode(worker=InlineWorker(), clock=self.clock, seconds=10.0),
            look_again=lambda: None,
            policy_of=lambda _: None,
            give_out=self.holds.give_out,
        )
        return open_resource(resource, board)

    def look_again(self) -> None:
        """Count how often a look was asked for."""
        self.looks += 1

    def keep(self, plugin: DevicePlugin) -> KeepRegistered:
        """Return what keeps a resource registered here."""
        return KeepRegistered(plugin, self.world)

    def plugin(
        self,
        scanner: Scanner,
        *,
        directories: Mapping[Route, PluginDirectory],
        watch_configuration: WatchConfiguration | None = None,
    ) -> RunPlugin:
        """Return a whole plugin on this machine."""
        return RunPlugin(
            namespace="color.example",
            run_scanner=RunScanner(
                scanner=scanner,
                worker=InlineWorker(),
                clock=self.clock,
                chance=FixedChance(0.5),
                journal=self.journal,
            ),
            advertise=self.advertise(),
            watch_kubelet=self.watch,
            directories=directories,
            watch_configuration=watch_configuration,
        )

    def advertise(self, on_exit: OnExit = OnExit.LEAVE) -> Advertise:
        """Return what makes the advertised follow a tree here."""
        return Advertise(
            open_resource=self.open,
            keep=self.keep,
            watch_kubelet=self.watch,
            retain_held=self.retain,
            clock=self.clock,
            journal=self.journal,
            on_exit=on_exit,
        )

    async def start_kubelet(self) -> None:
        """Let a kubelet start, and everything that follows at once."""
        self.kubelet.start()
        await self.clock.settle()

    @property
    def sockets(self) -> tuple[str, ...]:
        """The names of our sockets in the directory."""
        return tuple(name for name in self.directory.names() if name != KUBELET_SOCKET)

    @property
    def registrations(self) -> int:
        """How many Registers reached a kubelet."""
        return len(self.kubelet.registrations)

    def kinds(self) -> list[str]:
        """Return the kinds of all events so far."""
        return [type(event).__name__ for event in self.journal.events]


class Node(Machine):
    """A machine with one resource on a board.

    As a context it keeps the resource registered; in the end it stops, and nothing may be left.
    """

    def __init__(
        self,
        *,
        watched: bool = True,
        directory: Callable[[Clock], MemoryDirectory] = MemoryDirectory,
        registrar: Registrar | None = None,
        mode: RegistrationMode = RegistrationMode.REGISTER,
    ) -> None:
        super().__init__(directory=directory, registrar=registrar, mode=mode)
        self.board = Board(Inventory().observe(dict.fromkeys(map(DeviceId, "ab"), DeviceInfo())))
        self.keeper = self.keep(self.open(WIDGET, self.board))
        self._watched = watched

    async def __aenter__(self) -> Self:
        self.keeping = asyncio.create_task(self.keeper.run())
        self._tasks = {self.keeping}
        if self._watched:
            self.watch.follow(self.keeper)
            self._tasks.add(asyncio.create_task(self.watch.run()))
        await self.clock.settle()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.host.may_serve.set()
        self.host.may_close.set()
        self.keeper.stop()
        await self.clock.settle()
        ended = self.keeping.done()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        await self.kubelet.stop()
        await self.finder.cut()
        if kind is None:
            assert ended, f"does not stop in {self.keeper.phase}"
            if not self.keeping.cancelled():
                self.keeping.result()
            assert self.sockets == (), "sockets left behind"
            assert self.kubelet.host.served == (), "servers left behind"
            assert self.registry.host.served == (), "servers left behind to be found"

    def appeared(self, identity: FileIdentity) -> None:
        """Tell the resource of a kubelet."""
        self.keeper.kubelet_moved(Signal.KUBELET_APPEARED, Kubelet(Route.REGISTER, identity))

    def vanished(self) -> None:
        """Tell the resource that there is none."""
        self.keeper.kubelet_moved(Signal.KUBELET_VANISHED, None)

    async def kubelet_answers(self, times: int) -> None:
        """Let time pass until the kubelet has answered that many Registers."""
        while self.registrations < times:
            await self.clock.advance(5)

    async def looked_at(self) -> None:
        """Let a second pass, and whoever looks into plugins_registry look."""
        await self.clock.advance(1)
        self.finder.look()
        await self.clock.settle()

    def is_found(self) -> bool:
        """Say whether the kubelet has found us: one stream, with the full list."""
        return (
            self.finder.streams(WIDGET) == 1
            and self.finder.lists[WIDGET] == self.board.inventory.listing
            and len(self.registry.host.served) == 1
            and self.sockets == ()
        )

    async def remove_own_socket(self) -> None:
        """Let somebody remove our socket."""
        (socket,) = self.sockets
        self.directory.remove(socket)
        await self.clock.settle()

    def is_well(self) -> bool:
        """Say whether a kubelet has exactly one stream, with the full list of what is served."""
        return (
            self.kubelet.streams(WIDGET) == 1
            and self.kubelet.devices(WIDGET) == self.board.inventory.listing
            and len(self.sockets) == 1
        )


@pytest.fixture(scope="session")
def machine() -> type[Machine]:
    """Return the class: a test says what its machine is like."""
    return Machine


@pytest.fixture(scope="session")
def node() -> type[Node]:
    """Return the class: a test says what its node is like."""
    return Node
