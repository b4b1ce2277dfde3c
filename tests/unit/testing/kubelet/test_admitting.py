"""Allocate: what a plugin is asked when a pod is admitted, and what becomes of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.testing.kubelet import (
    AllocateAsked,
    Container,
    FakeKubelet,
    KubeletPanicError,
    ListReceived,
    Pod,
    PodAdmitted,
    PodRejected,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing, MakePlugin

    from deviceplugin.testing.kubelet import Verdict

WIDGET = "example.com/widget"
GADGET = "example.com/gadget"
PATIENCE = 20.0


@pytest.fixture
def three(kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing) -> BarePlugin:
    """Give the test a registered plugin with three devices."""
    plugin.send(*listing("a", "b", "c"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 3, PATIENCE)
    return plugin


def asking(count: int) -> Pod:
    """Return a pod that asks for so many widgets."""
    return Pod.asking("p", {WIDGET: count})


def ids_of(verdict: Verdict, container: str = "main") -> frozenset[str]:
    """Return the widgets that a container was given."""
    assert isinstance(verdict, PodAdmitted), verdict
    return verdict.containers[container].ids[WIDGET]


def message_of(verdict: Verdict) -> str:
    """Return why a pod was rejected at admission."""
    assert isinstance(verdict, PodRejected), verdict
    assert verdict.reason == "UnexpectedAdmissionError"
    return verdict.message


def asked_ids(plugin: BarePlugin) -> list[list[str]]:
    """Return the ids of each Allocate, which must be of one container request each."""
    requests = [call.request for call in plugin.calls("Allocate")]
    assert all(len(request.container_requests) == 1 for request in requests)
    return [list(request.container_requests[0].devices_ids) for request in requests]


class TestTheCall:
    """What Allocate looks like."""

    def test_one_call_for_each_container(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """The repeated field of the request is never used for two containers."""
        pod = Pod("p", [Container("one", {WIDGET: 1}), Container("two", {WIDGET: 2})])
        verdict = kubelet.admit(pod)
        first, second = asked_ids(three)
        assert set(first) == ids_of(verdict, "one")
        assert set(second) == ids_of(verdict, "two")
        assert set(first) | set(second) == {"a", "b", "c"}

    def test_one_call_for_each_resource(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
        make_plugin: MakePlugin,
        listing: Listing,
    ) -> None:
        """Each plugin is asked about its own; which one first is chance."""
        other = make_plugin("gadget.sock", GADGET)
        other.send(*listing("x"))
        other.register()
        kubelet.await_resource(GADGET, lambda seen: seen.allocatable == 1, PATIENCE)
        firsts: set[str] = set()
        for _ in range(20):
            pod = Pod.asking("p", {WIDGET: 1, GADGET: 1})
            asked = len(kubelet.history.of(AllocateAsked))
            assert isinstance(kubelet.admit(pod), PodAdmitted)
            firsts.add(kubelet.history.of(AllocateAsked)[asked].resource)
            kubelet.remove(pod)
        assert firsts == {WIDGET, GADGET}
        assert len(three.calls("Allocate")) == len(other.calls("Allocate")) == 20

    def test_ids_come_in_any_order(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """The order of the ids means nothing."""
        for _ in range(20):
            pod = asking(3)
            kubelet.admit(pod)
            kubelet.remove(pod)
        assert len({tuple(ids) for ids in asked_ids(three)}) > 1

    def test_it_has_no_deadline(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """Neither Allocate nor GetPreferredAllocation is limited in time."""
        three.options.get_preferred_allocation_available = True
        kubelet.cut_stream(WIDGET)
        kubelet.await_resource(WIDGET, lambda seen: seen.stopped, PATIENCE)
        three.register()
        kubelet.history.await_count(ListReceived, 2, timeout=PATIENCE)
        kubelet.admit(asking(1))
        calls = three.calls("Allocate") + three.calls("GetPreferredAllocation")
        assert [call.seconds_left for call in calls] == [None, None]

    def test_a_hung_one_blocks_every_other_pod(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
        in_thread: Callable[..., Future[Verdict]],
    ) -> None:
        """Pods are admitted one at a time: also one that asks for nothing has to wait."""
        gate = three.hold_allocate()
        hung = in_thread(kubelet.admit, asking(1))
        three.await_calls("Allocate", 1)
        others = [in_thread(kubelet.admit, pod) for pod in (asking(1), Pod("plain", []))]
        with pytest.raises(TimeoutError):
            others[1].result(0.2)
        assert len(three.calls("Allocate")) == 1
        gate.set()
        for pending in (hung, *others):
            assert isinstance(pending.result(PATIENCE), PodAdmitted)

    def test_nothing_is_ever_given_back(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """When a pod ends its devices are free for the next admission, and no call tells so."""
        pod = asking(3)
        kubelet.admit(pod)
        kubelet.remove(pod)
        assert kubelet.resource(WIDGET).allocated == {"a", "b", "c"}
        assert ids_of(kubelet.admit(asking(3))) == {"a", "b", "c"}
        methods = {"GetDevicePluginOptions": 1, "ListAndWatch": 1, "Allocate": 2}
        assert {method: len(three.calls(method)) for method in methods} == methods

    def test_only_the_first_answer_counts(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """Further container responses are ignored."""
        three.on_allocate = lambda _: pb.AllocateResponse(
            container_responses=[
                pb.ContainerAllocateResponse(envs={"N": "1"}),
                pb.ContainerAllocateResponse(envs={"N": "2", "M": "2"}),
            ],
        )
        verdict = kubelet.admit(asking(1))
        assert isinstance(verdict, PodAdmitted)
        assert verdict.containers["main"].answer.envs == {"N": "1"}


class TestFailure:
    """A pod that cannot have its devices has failed for good."""

    def test_too_few_are_an_error_without_a_call(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
    ) -> None:
        """The text tells how many were wanted and how many there are."""
        kubelet.admit(asking(1))
        assert message_of(kubelet.admit(asking(3))) == (
            "Allocate failed due to requested number of devices unavailable for "
            "example.com/widget. Requested: 3, Available: 2, which is unexpected"
        )
        assert len(three.calls("Allocate")) == 1

    def test_no_healthy_device_is_an_error(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
        listing: Listing,
    ) -> None:
        """Also when there is no device at all."""
        three.send()
        kubelet.await_resource(WIDGET, lambda seen: seen.capacity == 0, PATIENCE)
        expected = "no healthy devices present; cannot allocate unhealthy devices"
        assert expected in message_of(kubelet.admit(asking(1)))
        three.send(*listing("a", health="Unhealthy"))
        kubelet.await_resource(WIDGET, lambda seen: seen.capacity == 1, PATIENCE)
        assert expected in message_of(kubelet.admit(asking(1)))

    def test_an_error_of_the_plugin_goes_into_the_pod(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
    ) -> None:
        """Its text is embedded, nothing is tried again, and the devices are free."""
        three.on_allocate = _broken
        assert message_of(kubelet.admit(asking(3))) == (
            "Allocate failed due to rpc error: code = Internal desc = broken, which is unexpected"
        )
        assert len(three.calls("Allocate")) == 1
        assert kubelet.resource(WIDGET).allocated == frozenset()

    def test_no_answer_is_an_error_and_leaks(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
    ) -> None:
        """Without a container response the pod fails, and its devices are gone until a restart."""
        three.on_allocate = lambda _: pb.AllocateResponse()
        assert "no containers return in allocation response" in message_of(
            kubelet.admit(asking(2))
        )
        assert len(kubelet.resource(WIDGET).allocated) == 2
        assert "Requested: 2, Available: 1" in message_of(kubelet.admit(asking(2)))

    def test_a_huge_answer_is_an_error(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """Answers above 4 MiB are not taken."""
        three.on_allocate = lambda _: pb.AllocateResponse(
            container_responses=[pb.ContainerAllocateResponse(envs={"N": "x" * (4 << 20)})],
        )
        assert "code = ResourceExhausted" in message_of(kubelet.admit(asking(1)))

    def test_a_lost_plugin_is_an_error(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """After the end of the stream there is nothing healthy to give."""
        three.stop()
        kubelet.await_resource(WIDGET, lambda seen: seen.stopped, PATIENCE)
        assert "no healthy devices present" in message_of(kubelet.admit(asking(1)))

    def test_what_other_containers_got_is_held_until_the_next_admission(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
    ) -> None:
        """The plugin may have been asked for a pod that never runs; nothing takes that back."""
        pod = Pod("p", [Container("one", {WIDGET: 1}), Container("two", {WIDGET: 3})])
        assert "Requested: 3, Available: 2" in message_of(kubelet.admit(pod))
        assert len(three.calls("Allocate")) == 1
        assert len(kubelet.resource(WIDGET).allocated) == 1
        assert ids_of(kubelet.admit(asking(3))) == {"a", "b", "c"}


class TestPodsThatComeAgain:
    """The same pod is admitted once more, as after a restart of the kubelet."""

    def test_it_keeps_what_it_holds(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """The plugin is not called, the answer is the kept one."""
        three.on_allocate = lambda _: pb.AllocateResponse(
            container_responses=[pb.ContainerAllocateResponse(envs={"N": "1"})],
        )
        pod = asking(2)
        first = kubelet.admit(pod)
        assert kubelet.admit(pod) == first
        assert len(three.calls("Allocate")) == 1

    def test_it_fails_if_a_device_is_ill_now(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
        listing: Listing,
    ) -> None:
        """A held device that is unhealthy, or not listed any more, rejects the pod."""
        pod = asking(3)
        kubelet.admit(pod)
        three.send(*listing("a", "b"))
        kubelet.await_resource(WIDGET, lambda seen: seen.capacity == 2, PATIENCE)
        assert message_of(kubelet.admit(pod)) == (
            "Allocate failed due to previously allocated devices are no longer healthy; "
            "cannot allocate unhealthy devices example.com/widget, which is unexpected"
        )

    def test_it_cannot_change_what_it_wants(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """A container that holds devices must ask for as many again."""
        kubelet.admit(Pod("p", [Container("main", {WIDGET: 1})], uid="u"))
        again = kubelet.admit(Pod("p", [Container("main", {WIDGET: 2})], uid="u"))
        assert f'changed request for resource "{WIDGET}" from 1 to 2' in message_of(again)
        assert three.calls("Allocate")


class TestWhatChangesMeanwhile:
    """The table is not locked while a plugin is asked."""

    def test_a_device_that_vanishes_during_allocate_kills_the_kubelet(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
        listing: Listing,
    ) -> None:
        """Its topology is looked up after the answer, and is nil by then; 1.28 finds it empty."""

        def vanish(_: pb.AllocateRequest) -> pb.AllocateResponse:
            three.send(*listing("z"))
            kubelet.await_resource(WIDGET, lambda seen: "z" in seen.devices, PATIENCE)
            return pb.AllocateResponse(container_responses=[pb.ContainerAllocateResponse()])

        three.on_allocate = vanish
        if kubelet.profile.version == "1.28":
            assert len(ids_of(kubelet.admit(asking(1)))) == 1
            return
        with pytest.raises(KubeletPanicError):
            kubelet.admit(asking(1))
        assert not kubelet.running

    def test_a_device_that_falls_ill_during_allocate_is_given_all_the_same(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
        listing: Listing,
    ) -> None:
        """Health is checked before the call only."""

        def fall_ill(_: pb.AllocateRequest) -> pb.AllocateResponse:
            three.send(*listing("a", "b", "c", health="Unhealthy"))
            kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0, PATIENCE)
            return pb.AllocateResponse(container_responses=[pb.ContainerAllocateResponse()])

        three.on_allocate = fall_ill
        assert len(ids_of(kubelet.admit(asking(1)))) == 1


class TestInitContainers:
    """Containers that run before the others."""

    def test_what_a_finished_one_held_is_used_again(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
    ) -> None:
        """Allocate comes twice for the same ids, the init container's first."""
        init = Container("init", {WIDGET: 2}, init=True)
        verdict = kubelet.admit(Pod("p", [Container("main", {WIDGET: 2}), init]))
        first, second = asked_ids(three)
        assert set(first) == set(second) == ids_of(verdict) == ids_of(verdict, "init")

    def test_a_sidecar_keeps_its_own(self, kubelet: FakeKubelet, three: BarePlugin) -> None:
        """A restartable init container runs on, so others get other devices; not so in 1.28."""
        sidecar = Container("side", {WIDGET: 1}, init=True, restartable=True)
        verdict = kubelet.admit(Pod("p", [sidecar, Container("main", {WIDGET: 2})]))
        shared = ids_of(verdict) & ids_of(verdict, "side")
        assert len(shared) == (1 if kubelet.profile.version == "1.28" else 0)
        assert len(three.calls("Allocate")) == 2


def _broken(_: object) -> pb.AllocateResponse:
    raise RuntimeError("broken")


class TestSeveralResourcesInOneContainer:
    """How answers of different plugins are put together."""

    @pytest.fixture
    def clashing(
        self,
        kubelet: FakeKubelet,
        three: BarePlugin,
        make_plugin: MakePlugin,
        listing: Listing,
    ) -> None:
        """Let two plugins answer with clashing names."""
        other = make_plugin("gadget.sock", GADGET)
        other.send(*listing("x", "y", "z"))
        other.register()
        kubelet.await_resource(GADGET, lambda seen: seen.allocatable == 3, PATIENCE)
        three.on_allocate = lambda _: _clashing("widget")
        other.on_allocate = lambda _: _clashing("gadget")

    @pytest.mark.usefixtures("clashing")
    def test_one_of_them_wins_by_chance(self, kubelet: FakeKubelet) -> None:
        """Of a clash whole answers win, over many pods each of them.

        CDI names are kept once; 1.28 keeps none.
        """
        winners: set[str] = set()
        for _ in range(20):
            pod = Pod.asking("p", {WIDGET: 1, GADGET: 1})
            verdict = kubelet.admit(pod)
            assert isinstance(verdict, PodAdmitted)
            answer = verdict.containers["main"].answer
            (device,), (mount,) = answer.devices, answer.mounts
            names = {answer.envs["N"], answer.annotations["k"], device.host_path, mount.host_path}
            assert len(names) == 1
            winners |= names
            cdi = ["a/b=gadget", "a/b=same", "a/b=widget"]
            assert sorted(answer.cdi_devices) == (cdi if kubelet.profile.version != "1.28" else [])
            kubelet.remove(pod)
        assert winners == {"widget", "gadget"}


def _clashing(name: str) -> pb.AllocateResponse:
    answer = pb.ContainerAllocateResponse(
        envs={"N": name},
        annotations={"k": name},
        devices=[pb.DeviceSpec(container_path="/dev/x", host_path=name, permissions="rw")],
        mounts=[pb.Mount(container_path="/m", host_path=name)],
        cdi_devices=[pb.CDIDevice(name="a/b=same"), pb.CDIDevice(name=f"a/b={name}")],
    )
    return pb.AllocateResponse(container_responses=[answer])
