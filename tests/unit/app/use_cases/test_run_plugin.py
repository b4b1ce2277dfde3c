"""A plugin runs until its scan returns or it is stopped, cancelled or broken; then it is gone."""

import asyncio
from typing import TYPE_CHECKING, Self

import pytest

from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET
from deviceplugin.domain.devices import DeviceInfo
from deviceplugin.domain.errors import StoppedError
from deviceplugin.domain.events import ScanDoubted, ScanFailed, ScanRecovered
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Registrar, Registration
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.routes import Route
from deviceplugin.domain.tree import DeviceTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.app.use_cases.conftest import Machine

YELLOW = ResourceName("color.example", "yellow")


def tree(*ids: str) -> DeviceTree:
    """Return a tree with these yellow devices."""
    made = DeviceTree()
    made.add_type("yellow")
    for key in ids:
        made.add_device("yellow", key, DeviceInfo())
    return made


class Told(Scanner):
    """A scanner that a test tells what to do; each call of `scan` does the next thing told."""

    def __init__(self) -> None:
        self.notifier: Notifier | None = None
        self._todo: asyncio.Queue[Callable[[Notifier], None] | None] = asyncio.Queue()

    async def scan(self, notifier: Notifier, /) -> None:
        """Do what is told, until told to return."""
        self.notifier = notifier
        while (do := await self._todo.get()) is not None:
            do(notifier)

    def find(self, *ids: str) -> None:
        """Hand in a tree."""
        self._todo.put_nowait(lambda notifier: notifier.notify(tree(*ids)))

    def find_no_type(self) -> None:
        """Hand in a tree that names nothing."""
        self._todo.put_nowait(lambda notifier: notifier.notify(DeviceTree()))

    def fail(self) -> None:
        """Raise."""

        def fail(_: Notifier) -> None:
            raise OSError("no /sys")

        self._todo.put_nowait(fail)

    def finish(self) -> None:
        """Return."""
        self._todo.put_nowait(None)


class Running:
    """A plugin that runs on a machine with a kubelet."""

    def __init__(self, here: "Machine") -> None:
        self.here = here
        self.scanner = Told()
        self.plugin = here.plugin(self.scanner, directories={Route.REGISTER: here.directory})

    async def __aenter__(self) -> Self:
        self.tasks = asyncio.all_tasks()
        self.running = asyncio.create_task(self.plugin())
        await self.here.start_kubelet()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.running.cancel()
        await asyncio.wait({self.running})
        await self.here.kubelet.stop()

    async def find(self, *ids: str) -> None:
        """Let the scan find devices, and everything that follows at once."""
        self.scanner.find(*ids)
        await self.here.clock.settle()

    async def is_gone(self) -> bool:
        """Say whether nothing of the plugin is left, once it has ended."""
        await self.here.kubelet.stop()
        await self.here.clock.settle()
        assert self.running.done()
        assert self.scanner.notifier is not None
        with pytest.raises(StoppedError):
            self.scanner.notifier.notify(tree())
        left = asyncio.all_tasks() - self.tasks - {self.running}
        return (self.here.sockets, self.here.kubelet.host.served, left) == ((), (), set())


async def test_what_the_scan_finds_is_advertised_and_nothing_before(
    machine: "type[Machine]",
) -> None:
    async with Running(machine()) as it:
        await it.here.clock.advance(10)
        assert it.here.registrations == 0
        await it.find("a")
        assert it.here.kubelet.allocatable(YELLOW) == 1
        await it.find("a", "b")
        assert it.here.kubelet.allocatable(YELLOW) == 2


async def test_no_device_at_first_is_a_resource_all_the_same(machine: "type[Machine]") -> None:
    """A pod that asks for it waits, and gets one when it is plugged in."""
    async with Running(machine()) as it:
        await it.find()
        assert it.here.kubelet.devices(YELLOW) == ()
        await it.here.clock.advance(60)
        await it.find("a")
        assert it.here.kubelet.allocatable(YELLOW) == 1
        assert it.here.registrations == 1


async def test_a_registration_does_not_wait_for_the_next_scan(machine: "type[Machine]") -> None:
    """What was known is listed again as soon as a kubelet is back."""
    async with Running(machine()) as it:
        await it.find("a")
        await it.here.clock.advance(60)
        await it.here.kubelet.restart()
        await it.here.clock.settle()
        assert it.here.kubelet.allocatable(YELLOW) == 1


async def test_a_scan_that_fails_leaves_what_was_found_in_force_and_streams_open(
    machine: "type[Machine]",
) -> None:
    async with Running(machine()) as it:
        await it.find("a")
        it.scanner.fail()
        await it.here.clock.advance(59)
        assert it.here.kubelet.allocatable(YELLOW) == 1
        assert len(it.here.journal.of(ScanFailed)) == 1
        await it.here.clock.advance(1)
        assert it.here.kubelet.allocatable(YELLOW) == 0
        assert len(it.here.journal.of(ScanDoubted)) == 1
        await it.find("a")
        assert it.here.kubelet.allocatable(YELLOW) == 1
        assert len(it.here.journal.of(ScanRecovered)) == 1
        assert it.here.registrations == 1


async def test_a_scan_that_returns_ends_the_plugin(machine: "type[Machine]") -> None:
    async with Running(machine()) as it:
        await it.find("a")
        it.scanner.finish()
        await it.running
        assert await it.is_gone()


async def test_the_last_tree_of_a_scan_that_returns_at_once_does_no_harm(
    machine: "type[Machine]",
) -> None:
    async with Running(machine()) as it:
        it.scanner.find("a")
        it.scanner.finish()
        await it.running
        assert await it.is_gone()


async def test_stop_ends_the_plugin(machine: "type[Machine]") -> None:
    async with Running(machine()) as it:
        await it.find("a")
        it.plugin.stop()
        it.plugin.stop()
        await it.running
        assert await it.is_gone()


async def test_stop_ends_a_plugin_that_has_found_nothing_yet(machine: "type[Machine]") -> None:
    async with Running(machine()) as it:
        it.plugin.stop()
        await it.running
        assert await it.is_gone()


async def test_being_cancelled_ends_the_plugin(machine: "type[Machine]") -> None:
    async with Running(machine()) as it:
        await it.find("a", "b")
        it.running.cancel()
        await asyncio.wait({it.running})
        assert it.running.cancelled()
        assert await it.is_gone()


async def test_being_cancelled_while_a_resource_goes_ends_the_plugin(
    machine: "type[Machine]",
) -> None:
    async with Running(machine()) as it:
        await it.find("a")
        it.here.host.may_close.clear()
        it.scanner.find_no_type()
        await it.here.clock.settle()
        it.running.cancel()
        await it.here.clock.settle()
        it.here.host.may_close.set()
        await asyncio.wait({it.running})
        assert await it.is_gone()


class BrokenDirectory(MemoryDirectory):
    """A directory that can no longer be looked at, in a way that no port allows."""

    broken = False

    def identity(self, name: str) -> FileIdentity | None:
        """Return what is there, or fail."""
        if self.broken and name == KUBELET_SOCKET:
            raise ZeroDivisionError(name)
        return super().identity(name)


async def test_a_watch_that_breaks_ends_the_plugin_with_its_error(
    machine: "type[Machine]",
) -> None:
    here = machine(directory=BrokenDirectory)
    async with Running(here) as it:
        await it.find("a")
        here.directory.broken = True  # type: ignore[attr-defined]
        await asyncio.wait({asyncio.ensure_future(here.clock.advance(2)), it.running})
        with pytest.raises(ExceptionGroup) as raised:
            it.running.result()
        assert raised.group_contains(ZeroDivisionError)
        assert await it.is_gone()


async def test_a_resource_that_breaks_ends_the_plugin_with_its_error(
    machine: "type[Machine]",
) -> None:
    class Broken(Registrar):
        async def reachable(self) -> bool:
            return True

        async def register(self, registration: Registration, seconds: float) -> None:
            raise ZeroDivisionError(f"{registration} within {seconds}")

    async with Running(machine(registrar=Broken())) as it:
        await it.find("a")
        await asyncio.wait({it.running})
        with pytest.raises(ExceptionGroup) as raised:
            it.running.result()
        assert raised.group_contains(ZeroDivisionError)
        assert await it.is_gone()


@pytest.mark.parametrize("way", ["stop", "cancel", "return"])
async def test_the_directory_is_no_longer_watched_however_it_ended(
    machine: "type[Machine]", way: str
) -> None:
    closed: list[bool] = []

    class Directory(MemoryDirectory):
        def close(self) -> None:
            closed.append(True)
            super().close()

    async with Running(machine(directory=Directory)) as it:
        ends: dict[str, Callable[[], object]] = {
            "stop": it.plugin.stop,
            "cancel": it.running.cancel,
            "return": it.scanner.finish,
        }
        ends[way]()
        await asyncio.wait({it.running})
        assert closed
