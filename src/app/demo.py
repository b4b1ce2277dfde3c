"""The main job in a minute: this machine's devices, a simulated kubelet, what may befall them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

import attrs
from rich.console import Console
from rich.text import Text

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import ThreadWorker
from deviceplugin.adapters.system.signals import on_ending_signal
from deviceplugin.app.console import devices_table, table
from deviceplugin.app.manager import Manager
from deviceplugin.app.settings import Configuration, load
from deviceplugin.app.terminal import OwnTerminal
from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.conditions import demand
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import FrozenTree
from deviceplugin.testing.kubelet import Answer, FakeKubelet, Pod, PodRejected, ResourceView

PATIENCE: Final = 10.0
"""Seconds after which the demo gives up on what takes milliseconds."""
RESCAN: Final = "0.1"
"""Seconds between two looks: short, because nothing but a look tells that a terminal is gone."""

_Result = TypeVar("_Result")


async def _beside(work: Callable[[], _Result]) -> _Result:
    """Wait for the kubelet on a thread: the loop has a plugin to run.

    Not an executor's: an interrupt would wait for it.
    """
    return await ThreadWorker().run(work)


@attrs.frozen
class Demo:
    """Plays the main job on a console. Raises `TimeoutError` if something does not happen."""

    console: Console

    def run(self) -> None:
        """Play it to the end, and leave nothing behind.

        A signal that ends the process is a KeyboardInterrupt here.
        """
        with ExitStack() as stack:
            directory = stack.enter_context(TemporaryDirectory(prefix="deviceplugin-"))
            terminal = stack.enter_context(OwnTerminal())
            configuration = _configuration(directory, terminal)
            try:
                asyncio.run(self._until_signal(configuration, terminal))
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None

    async def _until_signal(self, configuration: Configuration, terminal: OwnTerminal) -> None:
        playing = asyncio.ensure_future(self._play(configuration, terminal))
        with on_ending_signal(lambda _: playing.cancel()):
            await playing

    async def _play(self, configuration: Configuration, terminal: OwnTerminal) -> None:
        directory = Path(configuration.settings.plugin_dir)
        manager = Manager.configured(configuration, journal=MemoryJournal())
        tree = await _beside(manager.look)
        self._say(
            "This machine's devices",
            "as the shipped presets find them in /sys, and a terminal of our own",
        )
        self.console.print(devices_table(tree.resources))
        kubelet = FakeKubelet(directory)
        async with _living(kubelet), _serving(manager):
            await self._register(kubelet, tree)
            await self._allocate(kubelet, tree)
            await self._restart(kubelet, tree)
            await self._vanish(kubelet, terminal, configuration)
            self._say("Stopping", "streams are closed and sockets removed")
        self._done(f"{_sockets(directory)} sockets left")

    async def _register(self, kubelet: FakeKubelet, tree: FrozenTree) -> None:
        self._say(
            "A simulated kubelet", f"Kubernetes {kubelet.profile.version}, at {kubelet.socket}"
        )
        seconds = await _all_listed(kubelet, tree)
        self._done(f"{len(tree.resources)} resources registered and listed in {_ms(seconds)}")

    async def _allocate(self, kubelet: FakeKubelet, tree: FrozenTree) -> None:
        name = _sample(tree)
        self._say("A pod asks", f"for one {name}")
        pod = Pod.asking("sample", {str(name): 1})
        begin = time.perf_counter()
        verdict = await _beside(lambda: kubelet.admit(pod))
        seconds = time.perf_counter() - begin
        if isinstance(verdict, PodRejected):
            raise TimeoutError(f"the pod was rejected: {verdict.message}")
        self._done(f"admitted in {_ms(seconds)}; its container would get")
        rows = _answer_rows(verdict.containers["main"].answer)
        self.console.print(table(("What", "In the container", "From the host"), rows))

    async def _restart(self, kubelet: FakeKubelet, tree: FrozenTree) -> None:
        self._say("The kubelet restarts", "it removes every socket and forgets every plugin")
        await _beside(kubelet.stop)
        begin = time.perf_counter()
        await _beside(kubelet.start)
        await _all_listed(kubelet, tree)
        self._done(f"all registered and listed again {_ms(time.perf_counter() - begin)} later")

    async def _vanish(
        self, kubelet: FakeKubelet, terminal: OwnTerminal, configuration: Configuration
    ) -> None:
        name = str(configuration.rules[-1].resource)
        self._say("A device vanishes", f"{terminal.path}, our own terminal, is closed")
        for change, health in (
            (terminal.vanish, Health.UNHEALTHY),
            (terminal.reappear, Health.HEALTHY),
        ):
            seconds = await _seen(kubelet, name, change, health)
            view = kubelet.resource(name)
            self._done(
                f"the kubelet sees it {health.value} after {_ms(seconds)}: "
                f"capacity {view.capacity}, allocatable {view.allocatable}"
            )

    def _say(self, what: str, more: str) -> None:
        self.console.print(Text.assemble("\n", (what, "bold cyan"), f": {more}"))

    def _done(self, what: str) -> None:
        self.console.print(Text.assemble(("  ✓ ", "green"), what))


def _answer_rows(answer: Answer) -> Iterator[Sequence[str]]:
    """Yield a row for each thing that a container would get, as a kubelet merged it."""
    for node in answer.devices:
        yield "device", f"{node.container_path} ({node.permissions})", node.host_path
    for mount in answer.mounts:
        mode = "read-only" if mount.read_only else "writable"
        yield "mount", f"{mount.container_path} ({mode})", mount.host_path
    for kind, values in (("environment", answer.envs), ("annotation", answer.annotations)):
        for key, value in values.items():
            yield kind, f"{key}={value}"
    for name in answer.cdi_devices:
        yield "CDI device", name


def _configuration(directory: str, terminal: OwnTerminal) -> Configuration:
    """Return the shipped configuration with one device more, which we can make vanish."""
    flags = {"plugin_dir": directory, "kubelet_root": directory, "rescan_seconds": RESCAN}
    shipped = load(None, {}, flags)
    rule = ResourceRule(
        resource=ResourceName(shipped.settings.domain, "terminal"),
        match=(Alternative([demand(Fact(Kind.NODE), terminal.path)]),),
    )
    return attrs.evolve(shipped, rules=(*shipped.rules, rule))


def _sockets(directory: Path) -> int:
    return len(list(directory.glob("dp-*.sock")))


def _sample(tree: FrozenTree) -> ResourceName:
    """Return a resource with a healthy device; the one that every Linux has, if it is there."""
    able = [
        name
        for name, devices in tree.resources.items()
        if any(info.health is Health.HEALTHY for info in devices.values())
    ]
    return next((name for name in able if name.name == "full"), able[0])


async def _all_listed(kubelet: FakeKubelet, tree: FrozenTree) -> float:
    """Return the seconds until the kubelet has the list of every resource."""
    begin = time.perf_counter()
    for name, devices in tree.resources.items():
        listed = partial(kubelet.await_resource, str(name), _has(len(devices)), PATIENCE)
        await _beside(listed)
    return time.perf_counter() - begin


def _has(devices: int) -> Callable[[ResourceView], bool]:
    return lambda seen: seen.streams > 0 and seen.capacity == devices


async def _seen(
    kubelet: FakeKubelet, name: str, change: Callable[[], None], health: Health
) -> float:
    wanted = 1 if health is Health.HEALTHY else 0
    begin = time.perf_counter()
    change()
    await _beside(
        lambda: kubelet.await_resource(name, lambda seen: seen.allocatable == wanted, PATIENCE)
    )
    return time.perf_counter() - begin


@asynccontextmanager
async def _serving(manager: Manager) -> AsyncGenerator[None]:
    serving = asyncio.create_task(manager.serve())
    try:
        yield
    finally:
        manager.stop()
        await serving


@asynccontextmanager
async def _living(kubelet: FakeKubelet) -> AsyncGenerator[None]:
    try:
        await _beside(kubelet.start)
        yield
    finally:
        await _beside(kubelet.stop)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
