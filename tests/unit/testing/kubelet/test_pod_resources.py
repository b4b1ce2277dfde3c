"""Who holds what, told on a socket of its own below the kubelet's root."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

import attrs
import grpc
import pytest
from tests.unit.testing.kubelet.conftest import PATIENCE, WIDGET

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.adapters.kubelet.wire import podresources_pb2 as wire
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import PodResourcesListerStub
from deviceplugin.testing.kubelet import (
    Container,
    FakeKubelet,
    Limits,
    Pod,
    PodAdmitted,
    PodRejected,
    Profile,
    Unserved,
)
from deviceplugin.testing.kubelet.rate import Rate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing

Entries: TypeAlias = list[tuple[str, tuple[int, ...]]]


@contextmanager
def asking(kubelet: FakeKubelet) -> Generator[PodResourcesListerStub]:
    fresh = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(f"unix:{kubelet.pod_resources}", options=fresh) as channel:
        yield PodResourcesListerStub(channel)


def entries(devices: Iterable[wire.ContainerDevices]) -> Entries:
    """Return (id, nodes) of each entry; each has one id, and one node at most."""
    made: Entries = []
    for entry in devices:
        (id_,) = entry.device_ids
        made.append((id_, tuple(node.ID for node in entry.topology.nodes)))
        assert entry.resource_name == WIDGET
    return sorted(made)


def of_pod(pod: wire.PodResources) -> dict[str, Entries]:
    return {each.name: entries(each.devices) for each in pod.containers}


def listed(kubelet: FakeKubelet) -> dict[tuple[str, str], dict[str, Entries]]:
    """Return the entries by pod and container."""
    with asking(kubelet) as stub:
        answer = stub.List(wire.ListPodResourcesRequest(), timeout=PATIENCE)
    return {(pod.namespace, pod.name): of_pod(pod) for pod in answer.pod_resources}


def allocatable(kubelet: FakeKubelet) -> Entries:
    with asking(kubelet) as stub:
        asked = wire.AllocatableResourcesRequest()
        return entries(stub.GetAllocatableResources(asked, timeout=PATIENCE).devices)


def got(kubelet: FakeKubelet, name: str, namespace: str = "default") -> dict[str, Entries]:
    with asking(kubelet) as stub:
        asked = wire.GetPodResourcesRequest(pod_name=name, pod_namespace=namespace)
        return of_pod(stub.Get(asked, timeout=PATIENCE).pod_resources)


@pytest.fixture
def plugin(kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing) -> BarePlugin:
    """Give the test a registered plugin with three devices."""
    plugin.send(*listing("a", "b", "c"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 3, PATIENCE)
    return plugin


def relist(kubelet: FakeKubelet, plugin: BarePlugin, *devices: pb.Device) -> None:
    plugin.send(*devices)
    ids = {each.ID for each in devices}
    kubelet.await_resource(WIDGET, lambda seen: set(seen.devices) == ids, PATIENCE)


def test_holders_are_told_by_name(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """By namespace, pod and container; with the plugin down, and when the kubelet starts anew."""
    pod = Pod("p", [Container("main", {WIDGET: 2}), Container("idle")], namespace="ns")
    verdict = kubelet.admit(pod)
    assert isinstance(verdict, PodAdmitted)
    ids = verdict.containers["main"].ids[WIDGET]
    expected = {("ns", "p"): {"main": [(id_, ()) for id_ in sorted(ids)], "idle": []}}
    assert listed(kubelet) == expected
    plugin.stop()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0, PATIENCE)
    assert listed(kubelet) == expected
    kubelet.restart()
    assert listed(kubelet) == expected
    kubelet.remove(pod)
    assert listed(kubelet) == {}


def test_pods_of_an_earlier_process_are_told_by_uid(
    kubelet: FakeKubelet, plugin: BarePlugin
) -> None:
    """The checkpoint tells no name; but who holds is not forgotten."""
    pod = Pod.asking("p", {WIDGET: 3})
    kubelet.admit(pod)
    kubelet.stop()
    plugin.stop()
    with FakeKubelet(kubelet.directory, profile=kubelet.profile) as other:
        assert listed(other) == {("default", pod.uid): {"main": [(i, ()) for i in "abc"]}}


def test_pods_of_an_earlier_process_are_known_before_anybody_can_ask(
    kubelet: FakeKubelet, plugin: BarePlugin, in_thread: Callable[..., Future[None]]
) -> None:
    """The first question frees what unknown pods hold."""
    pod = Pod.asking("p", {WIDGET: 3})
    kubelet.admit(pod)
    kubelet.stop()
    plugin.stop()
    kubelet.socket.unlink()
    other = FakeKubelet(kubelet.directory, profile=kubelet.profile)
    other.faults.bind_to_listen = 3600
    starting = in_thread(other.start)
    try:
        while not kubelet.socket.is_socket():
            time.sleep(0.005)
        assert [each.uid for each in other.pods] == [pod.uid]
    finally:
        other.stop()
    starting.result(PATIENCE)


def test_a_device_has_an_entry_for_each_of_its_nodes(
    kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing
) -> None:
    """So ids must be put together again; a device without topology has one entry without."""
    relist(kubelet, plugin, *listing("a", nodes=[0, 1]), *listing("b"))
    kubelet.admit(Pod.asking("p", {WIDGET: 2}))
    expected: Entries = [("a", (0,)), ("a", (1,)), ("b", ())]
    assert listed(kubelet) == {("default", "p"): {"main": expected}}
    assert allocatable(kubelet) == expected


def test_allocatable_are_the_healthy_ones_held_or_not(
    kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing
) -> None:
    """A device with a topology of no nodes is left out, though pods can have it."""
    relist(
        kubelet,
        plugin,
        *listing("a", "b"),
        *listing("c", health="Unhealthy"),
        *listing("d", nodes=[]),
    )
    kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert allocatable(kubelet) == [("a", ()), ("b", ())]
    plugin.stop()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0, PATIENCE)
    assert allocatable(kubelet) == []


def test_nobody_holds_a_device_while_it_is_being_allocated(
    kubelet: FakeKubelet, plugin: BarePlugin
) -> None:
    """Asking from inside of Allocate is possible: the pod is there, and has nothing yet."""
    seen: list[object] = []

    def look(_: pb.AllocateRequest) -> pb.AllocateResponse:
        seen.append(listed(kubelet))
        return pb.AllocateResponse(container_responses=[pb.ContainerAllocateResponse()])

    plugin.on_allocate = look
    kubelet.admit(Pod.asking("p", {WIDGET: 3}))
    assert seen == [{("default", "p"): {"main": []}}]
    assert listed(kubelet) == {("default", "p"): {"main": [("a", ()), ("b", ()), ("c", ())]}}


def test_who_holds_a_device_is_known_before_its_container_starts(
    kubelet: FakeKubelet, plugin: BarePlugin
) -> None:
    """Asking from inside of PreStartContainer tells it."""
    seen: list[object] = []
    plugin.options = pb.DevicePluginOptions(pre_start_required=True)
    kubelet.restart()
    plugin.stop()
    plugin.serve().register()
    kubelet.await_resource(WIDGET, lambda view: view.allocatable == 3, PATIENCE)
    plugin.on_pre_start = lambda _: seen.append(listed(kubelet))
    pod = Pod.asking("p", {WIDGET: 3})
    kubelet.admit(pod)
    kubelet.start_container(pod, "main")
    assert seen == [{("default", "p"): {"main": [("a", ()), ("b", ()), ("c", ())]}}]


def test_a_pod_that_was_refused_is_not_told(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """It has failed for good and holds nothing."""
    del plugin
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 4})), PodRejected)
    assert listed(kubelet) == {}


def test_init_containers_are_not_told_but_side_cars(
    kubelet: FakeKubelet, plugin: BarePlugin, profile: Profile
) -> None:
    """1.28 leaves side-cars out as well."""
    del plugin
    pod = Pod(
        "p",
        [
            Container("init", {WIDGET: 1}, init=True),
            Container("side", {WIDGET: 1}, init=True, restartable=True),
            Container("main", {WIDGET: 1}),
        ],
    )
    kubelet.admit(pod)
    shown = ["side", "main"] if profile.version != "1.28" else ["main"]
    assert list(listed(kubelet)["default", "p"]) == shown


def test_one_pod_can_be_asked_for_from_1_34_on(
    kubelet: FakeKubelet, plugin: BarePlugin, profile: Profile
) -> None:
    """A feature gate keeps it shut before; nobody knows a pod that is not there."""
    del plugin
    kubelet.admit(Pod.asking("p", {WIDGET: 3}))
    if profile.version == "1.28":
        with pytest.raises(grpc.RpcError, match="PodResources API Get method disabled"):
            got(kubelet, "p")
        return
    assert got(kubelet, "p") == {"main": [("a", ()), ("b", ()), ("c", ())]}
    with pytest.raises(grpc.RpcError, match="pod p in namespace elsewhere not found") as caught:
        got(kubelet, "p", "elsewhere")
    assert caught.value.code() is grpc.StatusCode.UNKNOWN


class TestTheRate:
    """All callers and all methods share it."""

    @pytest.fixture
    def kubelet(self, directory: Path, profile: Profile) -> Iterator[FakeKubelet]:
        """Let no token come in during the test."""
        limits = Limits(pod_resources_rate=0)
        with FakeKubelet(directory, profile=profile, limits=limits) as kubelet:
            yield kubelet

    def test_the_eleventh_call_at_once_is_refused(self, kubelet: FakeKubelet) -> None:
        for number in range(10):
            assert (listed(kubelet) if number % 2 else allocatable(kubelet)) in ({}, [])
        with pytest.raises(grpc.RpcError, match="rejected by rate limit") as caught:
            listed(kubelet)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        kubelet.restart()
        assert listed(kubelet) == {}

    def test_tokens_come_in_steadily_up_to_the_burst(self) -> None:
        clock = [0.0]
        rate = Rate(100, 10, lambda: clock[0])
        assert [rate.allows() for _ in range(11)] == [True] * 10 + [False]
        clock[0] = 0.025
        assert [rate.allows() for _ in range(3)] == [True, True, False]
        clock[0] = 60
        assert [rate.allows() for _ in range(11)] == [True] * 10 + [False]


def test_a_kubelet_that_has_not_heard_of_its_pods_tells_of_none(
    kubelet: FakeKubelet, plugin: BarePlugin
) -> None:
    """After a start, pods come from elsewhere: until then it seems that nobody holds anything."""
    kubelet.admit(Pod.asking("p", {WIDGET: 3}))
    kubelet.faults.pods_unheard = 3600
    kubelet.restart()
    assert listed(kubelet) == {}
    plugin.stop()
    plugin.serve().register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 3, PATIENCE)
    assert listed(kubelet) == {}
    kubelet.faults.pods_unheard = 0
    assert listed(kubelet) == {("default", "p"): {"main": [("a", ()), ("b", ()), ("c", ())]}}


def test_the_dead_leave_their_socket(kubelet: FakeKubelet) -> None:
    """Nobody answers there; the next life takes the path over."""
    kubelet.stop()
    assert kubelet.pod_resources.is_socket()
    with pytest.raises(grpc.RpcError) as caught:
        listed(kubelet)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    kubelet.start()
    assert listed(kubelet) == {}


@pytest.mark.parametrize(
    ("name", "root", "expected"),
    [("device-plugins", None, "."), ("plugins", None, "plugins"), ("plugins", "root", "root")],
)
def test_where_the_root_is(name: str, root: str | None, expected: str) -> None:
    """Told; else the parent of a directory with the usual name, or the directory itself."""
    with TemporaryDirectory(prefix="fk-") as path:
        told = None if root is None else Path(path, root)
        kubelet = FakeKubelet(Path(path, name), root=told)
        assert kubelet.root == Path(path, expected)
        with kubelet:
            assert kubelet.pod_resources == kubelet.root / "pod-resources" / "kubelet.sock"
            assert kubelet.registry == kubelet.root / "plugins_registry"
            assert listed(kubelet) == {}


def test_a_socket_that_cannot_be_is_done_without(tmp_path: Path) -> None:
    """As where the path is too long: the kubelet says so and goes on."""
    root = tmp_path / ("x" * 100)
    with TemporaryDirectory(prefix="fk-") as path, FakeKubelet(path, root=root) as kubelet:
        (record,) = kubelet.history.of(Unserved)
        assert attrs.asdict(record)["part"] == "pod-resources"
        assert kubelet.running
