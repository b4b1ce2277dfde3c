"""Our plugin, started anew: it lists what a pod holds, and no kubelet is harmed."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import attrs
import pytest
from tests.conformance.kubelets import Kubelet
from tests.conformance.world import World, healthy_ids
from tests.support.stage import NAMESPACE, SOON, WIDGET, Found, Puppet, beside

from deviceplugin import DeviceInfo, Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.events import DevicesReleased
from deviceplugin.domain.timing import Release, Timing
from deviceplugin.testing.contracts.law import eventually
from deviceplugin.testing.kubelet import (
    Container,
    Numa,
    NumaPolicy,
    Pod,
    PodAdmitted,
    PodRejected,
    ResourceView,
)

TWO_NODES = Numa(policy=NumaPolicy.RESTRICTED, nodes=(0, 1))
QUICK = Timing(release=Release(apart=0.02))
HERE, THERE = DeviceInfo(numa_nodes=[0]), DeviceInfo(numa_nodes=[1])


@attrs.frozen
class Plugin:
    """Our plugin at work beside a kubelet."""

    kubelet: Kubelet
    puppet: Puppet
    journal: MemoryJournal

    async def lists(self, *healthy: str, gone: int = 0) -> None:
        """Return once these can be had and so many others are listed, which cannot."""

        def wanted(seen: ResourceView) -> bool:
            return (
                seen.streams == 1
                and healthy_ids(seen) == set(healthy)
                and seen.capacity == len(healthy) + gone
            )

        await beside(lambda: self.kubelet.await_resource(WIDGET, wanted, SOON))

    async def released(self, *ids: str) -> None:
        """Return once these, and no others, were let go together."""
        await eventually(
            lambda: ids in {event.devices for event in self.journal.of(DevicesReleased)}
        )


@asynccontextmanager
async def plugin(world: World, kubelet: Kubelet, found: Found) -> AsyncGenerator[Plugin]:
    """Run our plugin, which finds these devices, until the end of the context."""
    puppet, journal = Puppet(), MemoryJournal()
    manager = Manager(
        NAMESPACE, puppet, plugin_dir=str(world.directory), journal=journal, timing=QUICK
    )
    puppet.show(**found)
    serving = asyncio.create_task(manager.serve())
    try:
        yield Plugin(kubelet, puppet, journal)
    finally:
        manager.stop()
        await serving


async def admitted(kubelet: Kubelet, pod: Pod) -> None:
    """Let the kubelet admit a pod."""
    verdict = await beside(lambda: kubelet.admit(pod))
    assert isinstance(verdict, PodAdmitted), verdict


@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
async def test_a_held_device_that_vanished_is_listed_by_the_next_plugin(
    world: World,
    together: bool,  # noqa: FBT001
) -> None:
    """Whether it starts alone or with the kubelet, which lives when it judges the pod again."""
    kubelet, pod = world.kubelet(numa=TWO_NODES), Pod.asking("p", {WIDGET: 1})
    async with plugin(world, kubelet, {"widget": {"x": HERE}}) as first:
        await first.lists("x")
        await admitted(kubelet, pod)
    if together:
        await beside(kubelet.crash)
    async with plugin(world, kubelet, {"widget": {"y": THERE}}) as second:
        if together:
            await beside(kubelet.start)
        for _ in range(3):
            await second.lists("y", gone=1)
            await beside(kubelet.restart)
        await second.lists("y", gone=1)
        assert isinstance(await beside(lambda: kubelet.admit(pod)), PodRejected)


async def test_a_device_is_let_go_when_the_kubelet_says_and_has_written_that_it_is_free(
    world: World,
) -> None:
    """Others that vanish show that looks are taken."""
    kubelet, pod = world.kubelet(), Pod.asking("p", {WIDGET: 1})
    async with plugin(world, kubelet, {"widget": {"x": HERE}}) as first:
        await first.lists("x")
        await admitted(kubelet, pod)
    found = {"a": THERE, "b": THERE, "c": THERE}
    async with plugin(world, kubelet, {"widget": found}) as second:
        await second.lists("a", "b", "c", gone=1)
        second.puppet.show(widget={"a": THERE, "b": THERE})
        await second.released("c")
        await beside(lambda: kubelet.remove(pod))
        second.puppet.show(widget={"a": THERE})
        await eventually(
            lambda: any("b" in event.devices for event in second.journal.of(DevicesReleased))
        )
        await admitted(kubelet, Pod.asking("q", {WIDGET: 1}))
        await second.lists("a")


async def test_what_an_ended_init_container_left_to_its_pod_is_held(world: World) -> None:
    """Only the checkpoint has it: the kubelet's own list leaves such containers out."""
    containers = [Container("init", {WIDGET: 2}, init=True), Container("main", {WIDGET: 1})]
    kubelet, pod = world.kubelet(numa=TWO_NODES), Pod("p", containers)
    async with plugin(world, kubelet, {"widget": {"a": HERE, "b": HERE}}) as first:
        await first.lists("a", "b")
        await admitted(kubelet, pod)
    async with plugin(world, kubelet, {"widget": {"y": THERE, "z": THERE}}) as second:
        await second.lists("y", "z", gone=2)
        second.puppet.show(widget={"y": THERE})
        await second.released("z")
        await second.lists("y", gone=2)
        for _ in range(2):
            await beside(kubelet.restart)
            await second.lists("y", gone=2)
            assert isinstance(await beside(lambda: kubelet.admit(pod)), PodRejected)
