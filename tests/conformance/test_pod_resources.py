"""Who holds what, as the real kubelet tells it on its other socket."""

from collections.abc import Generator
from contextlib import contextmanager

import grpc
import pytest
from tests.conformance.bare import WIDGET, devices
from tests.conformance.real import KUBELET_DIRECTORY
from tests.conformance.world import World, healthy_ids

from deviceplugin.adapters.kubelet.wire import podresources_pb2 as wire
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import PodResourcesListerStub
from deviceplugin.testing.kubelet import Container, Pod, PodAdmitted


@contextmanager
def _asking() -> Generator[PodResourcesListerStub]:
    target = f"unix:{KUBELET_DIRECTORY}/pod-resources/kubelet.sock"
    with grpc.insecure_channel(target) as channel:
        yield PodResourcesListerStub(channel)


def _holders() -> dict[tuple[str, str, str], list[tuple[str, tuple[int, ...]]]]:
    """Return (id, nodes) of each entry by namespace, pod and container."""
    with _asking() as stub:
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


def _allocatable() -> list[tuple[str, tuple[int, ...]]]:
    with _asking() as stub:
        answer = stub.GetAllocatableResources(wire.AllocatableResourcesRequest())
    assert {entry.resource_name for entry in answer.devices} <= {WIDGET}
    return sorted(map(_entry, answer.devices))


def test_holders_are_told_by_name(real_world: World) -> None:
    """By namespace, pod and container; also when the plugin is down or the kubelet starts anew."""
    kubelet, plugin = real_world.kubelet(), real_world.plugin()
    real_world.listed(kubelet, plugin, "a b")
    pod = Pod("p", [Container("main", {WIDGET: 2})], namespace="ns")
    assert isinstance(kubelet.admit(pod), PodAdmitted)
    expected = {("ns", "p", "main"): [("a", ()), ("b", ())]}
    assert _holders() == expected
    plugin.stop()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0)
    assert _holders() == expected
    kubelet.restart()
    assert _holders() == expected
    kubelet.remove(pod)
    assert _holders() == {}


def test_a_device_has_an_entry_for_each_of_its_nodes(real_world: World) -> None:
    """So ids must be put together again."""
    kubelet, plugin = real_world.kubelet(), real_world.plugin()
    plugin.send(*devices("a", nodes=[0, 1]), *devices("b"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2)
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 2})), PodAdmitted)
    expected = [("a", (0,)), ("a", (1,)), ("b", ())]
    assert _holders() == {("default", "p", "main"): expected}
    assert _allocatable() == expected


def test_allocatable_are_the_healthy_ones_held_or_not(real_world: World) -> None:
    """A device with a topology of no nodes is left out."""
    kubelet, plugin = real_world.kubelet(), real_world.plugin()
    plugin.send(*devices("a b"), *devices("c", health="Unhealthy"), *devices("d", nodes=[]))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == {"a", "b", "d"})
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
    assert _allocatable() == [("a", ()), ("b", ())]


def test_nobody_holds_a_device_while_it_is_being_allocated(real_world: World) -> None:
    """Asking from inside of Allocate is possible, and tells nothing yet."""
    kubelet, plugin = real_world.kubelet(), real_world.plugin()
    real_world.listed(kubelet, plugin, "a")
    seen = list[object]()
    grant = plugin.on_allocate

    def look(ids: list[str]) -> object:
        seen.append(_holders())
        return grant(ids)

    plugin.on_allocate = look  # type: ignore[assignment]
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
    assert seen == [{}]
    assert _holders() != {}


def test_who_asks_too_often_is_refused(real_world: World) -> None:
    """Ten at once, a hundred in a second, for all callers together."""
    real_world.kubelet()
    with _asking() as stub, pytest.raises(grpc.RpcError) as refused:
        _ask_often(stub)
    assert isinstance(refused.value, grpc.Call)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "rejected by rate limit" in (refused.value.details() or "")


def _ask_often(stub: PodResourcesListerStub) -> None:
    for _ in range(1000):
        stub.List(wire.ListPodResourcesRequest())
