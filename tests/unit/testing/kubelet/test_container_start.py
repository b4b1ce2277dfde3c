"""PreStartContainer, and what a container is made with."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import grpc
import pytest

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.testing.kubelet import (
    ContainerStartError,
    FakeKubelet,
    Limits,
    ListReceived,
    Pod,
    PodAdmitted,
    PreStartAsked,
    StreamOpened,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing

    from deviceplugin.testing.kubelet import Profile

WIDGET = "example.com/widget"
PATIENCE = 20.0


@pytest.fixture
def careful(kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing) -> BarePlugin:
    """Give the test a registered plugin with two devices that must be told before each start."""
    plugin.options.pre_start_required = True
    plugin.send(*listing("a", "b"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, PATIENCE)
    return plugin


@pytest.fixture
def pod(kubelet: FakeKubelet, careful: BarePlugin) -> Pod:
    """Give the test an admitted pod with both devices."""
    careful.on_allocate = lambda _: pb.AllocateResponse(
        container_responses=[pb.ContainerAllocateResponse(envs={"N": "1"})],
    )
    pod = Pod.asking("p", {WIDGET: 2})
    assert isinstance(kubelet.admit(pod), PodAdmitted)
    return pod


def test_it_is_called_at_every_start(
    kubelet: FakeKubelet,
    careful: BarePlugin,
    pod: Pod,
) -> None:
    """Each time with all ids of the container, while Allocate was called once."""
    grants = [kubelet.start_container(pod, "main") for _ in range(3)]
    assert [grant.answer.envs for grant in grants] == [{"N": "1"}] * 3
    requests = [call.request for call in careful.calls("PreStartContainer")]
    assert [set(request.devices_ids) for request in requests] == [{"a", "b"}] * 3
    assert len(careful.calls("Allocate")) == 1
    assert len(kubelet.history.of(PreStartAsked)) == 3


def test_it_is_not_called_at_admission(careful: BarePlugin, pod: Pod) -> None:
    """A pod that is admitted has not started yet."""
    assert pod.containers
    assert careful.calls("PreStartContainer") == []


def test_it_has_thirty_seconds(kubelet: FakeKubelet, careful: BarePlugin, pod: Pod) -> None:
    """The only call of the kubelet with a deadline of its own."""
    kubelet.start_container(pod, "main")
    (call,) = careful.calls("PreStartContainer")
    assert call.seconds_left is not None
    assert 20 < call.seconds_left < 31  # gRPC rounds up


def test_an_error_is_not_final(kubelet: FakeKubelet, careful: BarePlugin, pod: Pod) -> None:
    """The container is not made; the next try may succeed."""

    def fail(context: grpc.ServicerContext) -> None:
        context.abort(grpc.StatusCode.INTERNAL, "not yet")

    careful.on_pre_start = fail
    with pytest.raises(ContainerStartError, match="Internal desc = not yet"):
        kubelet.start_container(pod, "main")
    careful.on_pre_start = lambda _: None
    assert kubelet.start_container(pod, "main").ids == {WIDGET: frozenset({"a", "b"})}


def test_a_stopped_plugin_is_an_error(
    kubelet: FakeKubelet,
    careful: BarePlugin,
    pod: Pod,
) -> None:
    """As long as the plugin is gone, its containers do not start."""
    careful.stop()
    kubelet.await_resource(WIDGET, lambda seen: seen.stopped, PATIENCE)
    with pytest.raises(ContainerStartError, match="has been stopped"):
        kubelet.start_container(pod, "main")


def test_after_a_restart_it_is_skipped(
    kubelet: FakeKubelet,
    careful: BarePlugin,
    pod: Pod,
) -> None:
    """Until the plugin registers again, nobody knows that it wants to be told."""
    kubelet.restart()
    assert kubelet.start_container(pod, "main").answer.envs == {"N": "1"}
    assert careful.calls("PreStartContainer") == []
    careful.stop()
    careful.serve().register()
    kubelet.history.await_count(ListReceived, 2, timeout=PATIENCE)
    kubelet.start_container(pod, "main")
    assert len(careful.calls("PreStartContainer")) == 1


def test_without_the_option_it_is_never_called(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    listing: Listing,
) -> None:
    """A plugin that does not want it is left alone."""
    plugin.send(*listing("a"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
    pod = Pod.asking("p", {WIDGET: 1})
    kubelet.admit(pod)
    kubelet.start_container(pod, "main")
    assert plugin.calls("PreStartContainer") == []


def test_what_was_unknown_at_admission_is_allocated_now(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    listing: Listing,
) -> None:
    """A pod that was admitted before the first list gets its devices when it starts."""
    plugin.register()
    kubelet.history.await_count(StreamOpened, 1, timeout=PATIENCE)
    pod = Pod.asking("p", {WIDGET: 1})
    kubelet.admit(pod)
    plugin.send(*listing("a"))
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
    assert kubelet.start_container(pod, "main").ids == {WIDGET: frozenset({"a"})}


def test_a_hung_one_ends_with_the_limit(
    directory: Path,
    profile: Profile,
    plugin: BarePlugin,
    listing: Listing,
) -> None:
    """The kubelet does not wait longer than its limit."""
    with FakeKubelet(directory, profile=profile, limits=Limits(pre_start=0.2)) as kubelet:
        plugin.stop()
        plugin.options.pre_start_required = True
        plugin.send(*listing("a"))
        plugin.serve().register()
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        pod = Pod.asking("p", {WIDGET: 1})
        kubelet.admit(pod)
        gate = Event()
        plugin.on_pre_start = lambda _: gate.wait(PATIENCE)
        with pytest.raises(ContainerStartError, match="DeadlineExceeded"):
            kubelet.start_container(pod, "main")
        gate.set()
