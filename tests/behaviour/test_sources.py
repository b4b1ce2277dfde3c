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
from deviceplugin.testing.kubelet import FakeKubelet, Pod, PodRejected, PreferenceAsked, Profile

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
