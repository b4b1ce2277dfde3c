"""Who holds what, as the kubelet tells it on its other socket."""

from collections.abc import Generator
from contextlib import contextmanager

import grpc
import pytest
from tests.conformance.bare import WIDGET, devices
from tests.conformance.world import World, healthy_ids

from deviceplugin.adapters.kubelet.wire import podresources_pb2 as wire
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import PodResourcesListerStub
from deviceplugin.testing.kubelet import Container, Pod, PodAdmitted


@contextmanager
def _asking(world: World) -> Generator[PodResourcesListerStub]:
    target = f"unix:{world.root}/pod-resources/kubelet.sock"
    with grpc.insecure_channel(target) as channel:
        yield PodResourcesListerStub(channel)


def _holders(world: World) -> dict[tuple[str, str, str], list[tuple[str, tuple[int, ...]]]]:
    """Return (id, nodes) of each entry by namespace, pod and container."""
    with _asking(world) as stub:
        answer = stub.List(wire.ListPodResourcesRequest())
    return {
        (pod.namespace, pod.name, container.name): sorted(map(_entry, container.devices))
        for pod in answer.pod_resources
        for container in pod.containers
        if container.devices
    }


def _entry(entry: wire.ContainerDevices) -> tuple[str, tuple[int, ...]]:
    (id_,) = entry.device_ids
    return id_, tuple(node.ID for node in entry.topology.nodes)


def _allocatable(world: World) -> list[tuple[str, tuple[int, ...]]]:
    with _asking(world) as stub:
        answer = stub.GetAllocatableResources(wire.AllocatableResourcesRequest())
    assert {entry.resource_name for entry in answer.devices} <= {WIDGET}
    return sorted(map(_entry, answer.devices))


def test_holders_are_told_by_name(world: World) -> None:
    """By namespace, pod and container; also when the plugin is down or the kubelet starts anew."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b")
    pod = Pod("p", [Container("main", {WIDGET: 2})], namespace="ns")
    assert isinstance(kubelet.admit(pod), PodAdmitted)
    expected = {("ns", "p", "main"): [("a", ()), ("b", ())]}
    assert _holders(world) == expected
    plugin.stop()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0)
    assert _holders(world) == expected
    kubelet.restart()
    assert _holders(world) == expected
    kubelet.remove(pod)
    assert _holders(world) == {}


def test_a_device_has_an_entry_for_each_of_its_nodes(world: World) -> None:
    """So ids must be put together again."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send(*devices("a", nodes=[0, 1]), *devices("b"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2)
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 2})), PodAdmitted)
    expected = [("a", (0,)), ("a", (1,)), ("b", ())]
    assert _holders(world) == {("default", "p", "main"): expected}
    assert _allocatable(world) == expected


def test_allocatable_are_the_healthy_ones_held_or_not(world: World) -> None:
    """A device with a topology of no nodes is left out."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send(*devices("a b"), *devices("c", health="Unhealthy"), *devices("d", nodes=[]))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == {"a", "b", "d"})
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
    assert _allocatable(world) == [("a", ()), ("b", ())]


def test_nobody_holds_a_device_while_it_is_being_allocated(world: World) -> None:
    """Asking from inside of Allocate is possible, and tells nothing yet."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a")
    seen = list[object]()
    grant = plugin.on_allocate

    def look(ids: list[str]) -> object:
        seen.append(_holders(world))
        return grant(ids)

    plugin.on_allocate = look  # type: ignore[assignment]
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
    assert seen == [{}]
    assert _holders(world) != {}


def test_who_asks_too_often_is_refused(world: World) -> None:
    """Ten at once, a hundred in a second, for all callers together."""
    world.kubelet()
    with _asking(world) as stub, pytest.raises(grpc.RpcError) as refused:
        _ask_often(stub)
    assert isinstance(refused.value, grpc.Call)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "rejected by rate limit" in (refused.value.details() or "")


def _ask_often(stub: PodResourcesListerStub) -> None:
    for _ in range(1000):
        stub.List(wire.ListPodResourcesRequest())
