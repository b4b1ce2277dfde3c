"""Plugins made of snapshots and of a configuration: what they are told reaches the kubelet."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc.aio
import pytest
from tests.support.stage import WIDGET, beside

from deviceplugin import DeviceInfo, DeviceTree, Manager
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub
from deviceplugin.app.settings import load
from deviceplugin.testing.kubelet import (
    FakeKubelet,
    Pod,
    PodAdmitted,
    PodRejected,
    PreferenceAsked,
    Profile,
)
from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs

NULL = """
version: 1
domain: example.com
resources:
  - name: widget
    match: [{node: [/dev/null, /dev/zero, /dev/full]}]
    permissions: r
    allocation_policy: POLICY
"""


class Snapshots:
    """Finds what it is given."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids

    def scan(self) -> DeviceTree:
        """Return it."""
        tree = DeviceTree()
        for key in self.ids:
            tree.add_device("widget", key, DeviceInfo())
        return tree


@asynccontextmanager
async def _serving(manager: Manager, kubelet: FakeKubelet) -> AsyncGenerator[None]:
    await beside(kubelet.start)
    serving = asyncio.create_task(manager.serve())
    try:
        yield
    finally:
        manager.stop()
        await serving
        await beside(kubelet.stop)


async def test_a_request_for_what_is_gone_makes_a_source_look_at_once(
    tmp_path: Path, profile: Profile
) -> None:
    """Not only at the next regular look, which here would be in an hour."""
    source = Snapshots("a", "b")
    kubelet = FakeKubelet(tmp_path, profile=profile)
    manager = Manager.of_source(
        "example.com", source, plugin_dir=str(tmp_path), rescan_seconds=3600
    )
    async with _serving(manager, kubelet):
        await beside(lambda: kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2))
        source.ids = ("a", "c")
        endpoint = kubelet.resource(WIDGET).endpoint
        await _ask_for_what_never_was(tmp_path / str(endpoint))
        seen = await beside(
            lambda: kubelet.await_resource(WIDGET, lambda seen: seen.capacity == 3)
        )
        assert {key for key, device in seen.devices.items() if device.healthy} == {"a", "c"}


async def _ask_for_what_never_was(endpoint: Path) -> None:
    async with grpc.aio.insecure_channel(f"unix:{endpoint}") as channel:
        container = wire.ContainerAllocateRequest(devices_ids=["z"])
        with pytest.raises(grpc.aio.AioRpcError):
            await DevicePluginStub(channel).Allocate(
                wire.AllocateRequest(container_requests=[container])
            )


@pytest.mark.parametrize("policy", ["none", "packed"])
async def test_what_a_configuration_says_of_a_resource_holds(
    tmp_path: Path, profile: Profile, policy: str
) -> None:
    """Its nodes, their permissions and the policy that is offered."""
    file, plugins = tmp_path / "plugin.yaml", tmp_path / "plugins"
    file.write_text(NULL.replace("POLICY", policy))
    configuration = load(str(file), {}, {"plugin_dir": str(plugins)})
    kubelet = FakeKubelet(plugins, profile=profile)
    async with _serving(Manager.configured(configuration), kubelet):
        seen = await beside(
            lambda: kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 3)
        )
        assert seen.options is not None
        assert seen.options.preferred == (policy == "packed")
        verdict = await beside(lambda: kubelet.admit(Pod.asking("p", {WIDGET: 2})))
        assert not isinstance(verdict, PodRejected)
        assert {node.permissions for node in verdict.containers["main"].answer.devices} == {"r"}
        assert bool(kubelet.history.of(PreferenceAsked)) == (policy == "packed")


PORTS = """
version: 1
domain: example.com
rescan_seconds: 0.1
resources:
  - name: widget
    match: [{subsystem: tty}]
"""


async def test_a_device_that_is_plugged_in_elsewhere_is_the_same_with_another_node(
    tmp_path: Path, profile: Profile
) -> None:
    """Unhealthy while it is out, Healthy again under its id, and the next pod gets the new node.

    Its nodes are those that every machine has; that they are a port's is what sysfs says here.
    """
    sysfs = FakeSysfs(tmp_path / "machine")
    hub = sysfs.usb_hub(1, below=sysfs.pci("0000:00:14.0"))

    def plugged(port: int, name: str, node: str, minor: int) -> FakeDevice:
        usb = sysfs.usb(f"1-{port}", below=hub, number=port, serial="A1")
        tty = sysfs.usb_interface(usb)
        sysfs.child(name, subsystem="tty", below=tty, number=(1, minor), node=node)
        return usb

    usb = plugged(2, "ttyUSB0", "null", 3)
    file, plugins = tmp_path / "plugin.yaml", tmp_path / "plugins"
    file.write_text(PORTS)
    flags = {"plugin_dir": str(plugins), "sys_root": str(sysfs.root)}
    kubelet = FakeKubelet(plugins, profile=profile)

    async def given(name: str) -> list[str]:
        pod = Pod.asking(name, {WIDGET: 1})
        verdict = await beside(lambda: kubelet.admit(pod))
        assert isinstance(verdict, PodAdmitted), verdict
        kubelet.remove(pod)
        return [node.host_path for node in verdict.containers["main"].answer.devices]

    async def sees(allocatable: int) -> list[str]:
        seen = await beside(
            lambda: kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == allocatable)
        )
        return list(seen.devices)

    async with _serving(Manager.configured(load(str(file), {}, flags)), kubelet):
        ids = await sees(1)
        assert len(ids) == 1
        assert await given("p") == ["/dev/null"]
        sysfs.remove(usb)
        assert await sees(0) == ids
        plugged(3, "ttyUSB1", "zero", 5)
        assert await sees(1) == ids
        assert await given("q") == ["/dev/zero"]
