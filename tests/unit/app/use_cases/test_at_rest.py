"""What a plugin at rest wakes up for: next to nothing, as long as it hears of every change."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from deviceplugin.adapters.memory.hotplug import MemoryHotplug
from deviceplugin.adapters.memory.prober import MemoryProber
from deviceplugin.adapters.memory.watched_file import MemoryFile
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.settings import Configuration, Settings
from deviceplugin.app.use_cases.keep_probing import KeepProbing
from deviceplugin.app.use_cases.poll_source import PollSource
from deviceplugin.app.use_cases.reload_configuration import ReloadConfiguration
from deviceplugin.app.use_cases.watch_configuration import WatchConfiguration
from deviceplugin.domain.devices import DeviceInfo
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.routes import RegistrationMode
from deviceplugin.domain.tree import DeviceTree

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Machine

HOUR = 3600.0
RESOURCES = 10


class Still(DeviceSource):
    """Finds the same devices, time after time."""

    def scan(self) -> DeviceTree:
        """Return them."""
        tree = DeviceTree()
        for number in range(RESOURCES):
            tree.add_device(f"r{number}", "dev0", DeviceInfo())
        return tree


def _nothing(*_: object) -> None:
    """Do nothing."""


@asynccontextmanager
async def at_rest(here: "Machine", *, listening: bool = True) -> AsyncGenerator[None]:
    """Run a whole plugin that is registered and has been left alone for a while."""
    poll = PollSource(
        Still(),
        worker=InlineWorker(),
        clock=here.clock,
        journal=here.journal,
        seconds=None,
        hotplugs=[
            MemoryHotplug(deaf=not listening),
            KeepProbing(MemoryProber(), clock=here.clock),
        ],
    )
    configuration = Configuration(settings=Settings(), rules=(), source="plugin.yaml")
    reload = ReloadConfiguration(
        configuration=configuration,
        follow=_nothing,
        policies={},
        renew=_nothing,
        every=_nothing,
        look_again=_nothing,
        journal=here.journal,
    )
    plugin = here.plugin(
        poll,
        directories=here.world.directories,
        watch_configuration=WatchConfiguration(
            source="plugin.yaml",
            file=MemoryFile(here.clock),
            reread=lambda: configuration,
            reload=reload,
            worker=InlineWorker(),
            clock=here.clock,
            journal=here.journal,
        ),
    )
    running = asyncio.create_task(plugin())
    await here.start_kubelet()
    await here.clock.advance(100)
    assert len(here.kubelet.host.served) == RESOURCES
    here.clock.alarms.clear()
    try:
        yield
    finally:
        plugin.stop()
        await running


@pytest.mark.parametrize("mode", [RegistrationMode.REGISTER, RegistrationMode.AUTO])
async def test_whatever_is_looked_at_then_is_looked_at_together(
    machine: "type[Machine]", mode: RegistrationMode
) -> None:
    """The kubelet, our sockets, the hardware and the configuration: twice a minute, all at once.

    So the machine wakes once for all of them, however many resources there are.
    """
    here = machine(mode=mode)
    async with at_rest(here):
        await here.clock.advance(HOUR)
        moments = set(here.clock.alarms)
        assert 0 < len(moments) <= HOUR / 30
        assert len(here.clock.alarms) <= 3 * len(moments)


async def test_a_plugin_that_hears_nothing_looks_each_second(machine: "type[Machine]") -> None:
    here = machine()
    async with at_rest(here):
        here.directory.heard = False
        here.directory.wake()
        await here.clock.advance(HOUR)
        assert len(set(here.clock.alarms)) >= HOUR


async def test_a_newer_instance_ends_the_rest(machine: "type[Machine]") -> None:
    """It may go without a sign, and leave us forgotten."""
    here = machine()
    async with at_rest(here):
        newer = await here.kubelet.host.serve(here.kubelet.host.served[0].plugin)
        await here.clock.advance(100)
        here.directory.deaf = True
        await newer.close()
        await here.clock.advance(4)
        assert here.registrations == RESOURCES + 1


@pytest.mark.parametrize("away", [0.5, 10.0])
async def test_a_stream_that_ends_ends_the_rest(machine: "type[Machine]", *, away: float) -> None:
    """What no event told is then found within a second.

    Also when the resources themselves have come to look for a kubelet every few seconds only.
    """
    here = machine()
    async with at_rest(here):
        here.directory.deaf = True
        await here.kubelet.stop()
        await here.clock.advance(away)
        here.kubelet.start()
        await here.clock.advance(1.5)
        assert len(here.kubelet.host.served) == RESOURCES
        assert here.registrations == 2 * RESOURCES
