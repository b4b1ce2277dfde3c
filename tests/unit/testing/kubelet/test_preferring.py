"""GetPreferredAllocation: when it is called, with what, and what its answer is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deviceplugin.testing.kubelet import (
    Container,
    FakeKubelet,
    Pod,
    PodAdmitted,
    PodRejected,
    PreferenceAsked,
)

if TYPE_CHECKING:
    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing

    from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
    from deviceplugin.testing.kubelet import Verdict

WIDGET = "example.com/widget"
PATIENCE = 20.0


@pytest.fixture
def choosy(kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing) -> BarePlugin:
    """Give the test a registered plugin that offers its preference among four devices."""
    plugin.options.get_preferred_allocation_available = True
    plugin.send(*listing("a", "b", "c", "d"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 4, PATIENCE)
    return plugin


def ids_of(verdict: Verdict) -> frozenset[str]:
    """Return the widgets that the main container was given."""
    assert isinstance(verdict, PodAdmitted), verdict
    return verdict.containers["main"].ids[WIDGET]


def asked(plugin: BarePlugin) -> list[pb.ContainerPreferredAllocationRequest]:
    """Return what the plugin was asked, which must be about one container each time."""
    requests = [call.request for call in plugin.calls("GetPreferredAllocation")]
    assert all(len(request.container_requests) == 1 for request in requests)
    return [request.container_requests[0] for request in requests]


def test_without_the_option_it_is_never_called(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    listing: Listing,
) -> None:
    """A plugin that does not offer it is not asked."""
    plugin.send(*listing("a", "b"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, PATIENCE)
    kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert plugin.calls("GetPreferredAllocation") == []


def test_the_preferred_ones_are_given(kubelet: FakeKubelet, choosy: BarePlugin) -> None:
    """A good answer is followed."""
    choosy.on_prefer = lambda _: ["b", "d"]
    assert ids_of(kubelet.admit(Pod.asking("p", {WIDGET: 2}))) == {"b", "d"}
    (request,) = asked(choosy)
    assert sorted(request.available_deviceIDs) == ["a", "b", "c", "d"]
    assert list(request.must_include_deviceIDs) == []
    assert request.allocation_size == 2
    (record,) = kubelet.history.of(PreferenceAsked)
    assert (record.available, record.size) == (frozenset("abcd"), 2)


def test_it_is_called_even_without_a_choice(kubelet: FakeKubelet, choosy: BarePlugin) -> None:
    """Without topology also when all that is free is needed."""
    kubelet.admit(Pod.asking("p", {WIDGET: 4}))
    assert len(asked(choosy)) == 1


def test_allocated_devices_are_not_offered(kubelet: FakeKubelet, choosy: BarePlugin) -> None:
    """Available are the healthy ones that nobody holds."""
    held = ids_of(kubelet.admit(Pod.asking("p", {WIDGET: 1})))
    kubelet.admit(Pod.asking("q", {WIDGET: 1}))
    assert set(asked(choosy)[1].available_deviceIDs) == frozenset("abcd") - held


def test_what_init_containers_left_must_be_included(
    kubelet: FakeKubelet,
    choosy: BarePlugin,
) -> None:
    """Reused devices are in both sets, the size is the whole need."""
    init = Container("init", {WIDGET: 1}, init=True)
    verdict = kubelet.admit(Pod("p", [init, Container("main", {WIDGET: 2})]))
    assert isinstance(verdict, PodAdmitted)
    left = verdict.containers["init"].ids[WIDGET]
    request = asked(choosy)[1]
    assert set(request.must_include_deviceIDs) == left
    assert set(request.available_deviceIDs) == set("abcd")
    assert request.allocation_size == 2
    assert left < ids_of(verdict)


@pytest.mark.parametrize(
    ("answer", "certain"),
    [
        ([], set[str]()),
        (["b"], {"b"}),
        (["b", "b", "b"], {"b"}),
        (["zzz", "b"], {"b"}),
        (["a", "b", "c", "d"], set[str]()),
    ],
    ids=["empty", "short", "repeated", "foreign", "long"],
)
def test_a_bad_answer_is_made_good(
    kubelet: FakeKubelet,
    choosy: BarePlugin,
    answer: list[str],
    certain: set[str],
) -> None:
    """Unknown and repeated ids drop out, short answers are filled up, long ones cut."""
    choosy.on_prefer = lambda _: answer
    given = ids_of(kubelet.admit(Pod.asking("p", {WIDGET: 2})))
    assert len(given) == 2
    assert certain <= given


def test_an_error_fails_the_pod(kubelet: FakeKubelet, choosy: BarePlugin) -> None:
    """There is no falling back: Allocate is not called."""

    def broken(_: object) -> list[str]:
        raise RuntimeError("broken")

    choosy.on_prefer = broken
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert isinstance(verdict, PodRejected)
    assert verdict.message == (
        "Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: "
        "rpc error: code = Internal desc = broken, which is unexpected"
    )
    assert choosy.calls("Allocate") == []
