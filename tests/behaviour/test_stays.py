"""What a pod holds is offered in no other way: to nobody else, however it comes to be known."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs
import pytest
from tests.support.stage import beside

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.settings import Configuration, Settings
from deviceplugin.domain.discovery.events import DeviceStaysHeld
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.timing import Release, Timing
from deviceplugin.testing.kubelet import (
    FakeKubelet,
    Pod,
    PodAdmitted,
    PodRejected,
    Profile,
    ResourceView,
)
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs

SER: Final = rule("example.com/ser", {"subsystem": "tty"})
GPS: Final = rule("example.com/gps", {"subsystem": "tty", "attributes": {"linked": "1"}})
OTHER: Final = rule("example.com/other", {"name": "ttyUSB2"})
NODES: Final = (("null", 3), ("zero", 5), ("full", 7))
"""Nodes of every machine, with their minor numbers, for the ports 1 to 3."""
ONE: Final = "0403:6001:A1-if00-ttyUSB"
TWINS: Final = tuple(f"0403:6001:0001-0000:00:14.0-usb-{port}-if00-ttyUSB" for port in (1, 2))
SOON: Final = 10.0
QUICK: Final = Timing(release=Release(apart=0.05))


@attrs.define(kw_only=True)
class Stage:
    """A machine with USB ports, a kubelet, and plugins that come and go."""

    kubelet: FakeKubelet
    hardware: FakeSysfs
    hub: FakeDevice
    journal: MemoryJournal = attrs.field(factory=MemoryJournal)
    manager: Manager | None = None

    def plug(self, port: int, serial: str) -> FakeDevice:
        """Plug an adapter into a port; return its serial port, which is a node that is there."""
        name, minor = NODES[port - 1]
        adapter = self.hardware.usb(
            f"1-{port}",
            below=self.hub,
            vendor="0403",
            product="6001",
            serial=serial,
            number=port + 1,
        )
        interface = self.hardware.usb_interface(adapter, driver="ftdi_sio")
        return self.hardware.child(
            f"ttyUSB{port}", subsystem="tty", below=interface, number=(1, minor), node=name
        )

    def unplug(self, port: int) -> None:
        """Let what is in a port be gone."""
        for each in self.hardware:
            if each.name == f"1-{port}":
                self.hardware.remove(each)

    def link(self, port: FakeDevice) -> None:
        """Let a serial port be what the other rule looks for, too."""
        self.hardware.write(f"{port.path}/linked", "1")

    def configuration(self, *rules: ResourceRule) -> Configuration:
        """Return what offers these."""
        settings = Settings(
            plugin_dir=str(self.kubelet.directory),
            kubelet_root=str(self.kubelet.directory.parent),
            sys_root=str(self.hardware.root),
            rescan_seconds="0.1",
        )
        changing = [attrs.evolve(each, changing=frozenset({"linked"})) for each in rules]
        return Configuration(settings=settings, rules=tuple(changing), source="a test")

    @asynccontextmanager
    async def serving(self, *rules: ResourceRule) -> AsyncGenerator[None]:
        """Run a plugin with these rules until the end of the context."""
        self.manager = Manager.configured(
            self.configuration(*rules), journal=self.journal, timing=QUICK
        )
        serving = asyncio.create_task(self.manager.serve())
        try:
            yield
        finally:
            self.manager.stop()
            await serving

    def reload(self, *rules: ResourceRule) -> None:
        """Let the plugin go by these rules."""
        assert self.manager is not None
        self.manager.reload(self.configuration(*rules))

    async def lists(self, name: str, listed: dict[str, bool]) -> None:
        """Return once the kubelet has just this list of a resource: what is healthy, by id."""

        def wanted(seen: ResourceView) -> bool:
            found = {key: device.healthy for key, device in seen.devices.items()}
            return seen.streams == 1 and found == listed

        full = f"example.com/{name}"
        await beside(lambda: self.kubelet.await_resource(full, wanted, SOON))

    async def gets(self, pod: str, name: str, size: int = 1) -> Pod:
        """Let a pod have devices of a resource; return it."""
        made = Pod.asking(pod, {f"example.com/{name}": size})
        assert isinstance(await beside(partial(self.kubelet.admit, made)), PodAdmitted)
        return made

    async def refuses(self, pod: str, name: str) -> None:
        """Let a pod ask in vain for a device of a resource.

        A kubelet that has had no list of it yet lets the pod run, with nothing.
        """
        made = Pod.asking(pod, {f"example.com/{name}": 1})
        verdict = await beside(partial(self.kubelet.admit, made))
        if not isinstance(verdict, PodRejected):
            assert [each.ids for each in verdict.containers.values()] == [{}]

    async def stays(self) -> DeviceStaysHeld:
        """Return the event that says that a device is kept from another resource."""
        return await asyncio.wait_for(self.journal.next(DeviceStaysHeld), SOON)


@asynccontextmanager
async def _stage(profile: Profile) -> AsyncGenerator[Stage]:
    with TemporaryDirectory(prefix="dp-") as directory:
        root = Path(directory)
        kubelet = FakeKubelet(root / "device-plugins", profile=profile)
        hardware = FakeSysfs(root)
        hub = hardware.usb_hub(1, below=hardware.pci("0000:00:14.0"))
        await beside(kubelet.start)
        try:
            yield Stage(kubelet=kubelet, hardware=hardware, hub=hub)
        finally:
            await beside(kubelet.stop)


async def test_a_device_that_is_given_out_before_its_link_is_there_is_not_given_out_again(
    profile: Profile,
) -> None:
    """The rule for the link comes first in the file, and the node came before the link."""
    async with _stage(profile) as stage, stage.serving(OTHER, GPS, SER):
        port = stage.plug(1, "A1")
        await stage.lists("ser", {ONE: True})
        pod = await stage.gets("first", "ser")
        stage.link(port)
        told = await stage.stays()
        assert str(told.resource) == "example.com/gps"
        assert told.reason == f"a container may hold it as {ONE} of example.com/ser"
        await stage.lists("ser", {ONE: True})
        await stage.lists("gps", {})
        await stage.refuses("second", "gps")
        stage.kubelet.remove(pod)
        stage.plug(2, "B2")
        await stage.lists("other", {ONE.replace("A1", "B2"): True})
        await stage.gets("whose start rewrites the checkpoint", "other")
        await stage.lists("gps", {ONE: True})
        await stage.gets("third", "gps")


async def test_a_device_that_nobody_has_goes_where_the_rules_put_it(profile: Profile) -> None:
    """A link that comes a moment later is no reason to keep it."""
    async with _stage(profile) as stage, stage.serving(GPS, SER):
        port = stage.plug(1, "A1")
        await stage.lists("ser", {ONE: True})
        stage.link(port)
        await stage.lists("gps", {ONE: True})
        assert stage.journal.of(DeviceStaysHeld) == ()


async def test_a_reload_that_changes_the_order_of_resources_takes_nothing_from_a_pod(
    profile: Profile,
) -> None:
    """Nor does one that leaves out the resource by which it is held."""
    async with _stage(profile) as stage, stage.serving(SER, GPS):
        stage.link(stage.plug(1, "A1"))
        await stage.lists("ser", {ONE: True})
        await stage.gets("first", "ser")
        stage.reload(GPS, SER)
        await stage.stays()
        await stage.lists("gps", {})
        await stage.lists("ser", {ONE: True})
        await stage.refuses("second", "gps")
        stage.reload(GPS)
        await beside(
            lambda: stage.kubelet.await_resource(
                "example.com/ser", lambda seen: seen.streams == 0, SOON
            )
        )
        await stage.lists("gps", {})
        await stage.refuses("third", "gps")


@pytest.mark.parametrize("gone", [1, 2])
async def test_a_twin_that_a_pod_holds_is_not_offered_under_a_shorter_id_after_a_restart(
    profile: Profile, gone: int
) -> None:
    """Though the other one, for which it has the longer id, is unplugged."""
    async with _stage(profile) as stage:
        stage.plug(1, "0001")
        stage.plug(2, "0001")
        async with stage.serving(SER):
            await stage.lists("ser", dict.fromkeys(TWINS, True))
            await stage.gets("both", "ser", 2)
            stage.unplug(gone)
            left = {key: number != gone for number, key in enumerate(TWINS, 1)}
            await stage.lists("ser", left)
        async with stage.serving(SER):
            await stage.lists("ser", left)
            await stage.refuses("third", "ser")


@pytest.mark.parametrize("heard", [True, False], ids=["heard", "unheard"])
async def test_after_a_restart_with_other_rules_what_a_pod_holds_is_offered_by_nobody_else(
    profile: Profile,
    heard: bool,  # noqa: FBT001
) -> None:
    """Whether the kubelet tells who holds it, or its checkpoint alone."""
    async with _stage(profile) as stage:
        stage.link(stage.plug(1, "A1"))
        async with stage.serving(SER):
            await stage.lists("ser", {ONE: True})
            await stage.gets("first", "ser")
        stage.kubelet.faults.pods_unheard = 0.0 if heard else 60.0
        for rules in ((GPS, SER), (GPS,)):
            async with stage.serving(*rules):
                await stage.stays()
                await stage.lists("gps", {})
                await stage.refuses("second", "gps")
