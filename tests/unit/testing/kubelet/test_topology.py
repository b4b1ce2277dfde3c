"""NUMA nodes, as far as a plugin can reject pods or kill kubelets by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.testing.kubelet.conftest import only

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.testing.kubelet import (
    Container,
    FakeKubelet,
    KubeletPanicError,
    Numa,
    NumaPolicy,
    Pod,
    PodAdmitted,
    PodRejected,
    Profile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing, MakePlugin


WIDGET = "example.com/widget"
GADGET = "example.com/gadget"
PATIENCE = 20.0

strict = pytest.mark.parametrize("policy", [NumaPolicy.RESTRICTED, NumaPolicy.SINGLE_NODE])


@pytest.fixture(params=[NumaPolicy.RESTRICTED])
def policy(request: pytest.FixtureRequest) -> NumaPolicy:
    """Use a strict policy unless the test says otherwise."""
    chosen: NumaPolicy = request.param
    return chosen


@pytest.fixture
def kubelet(directory: Path, profile: Profile, policy: NumaPolicy) -> Iterator[FakeKubelet]:
    """Give the test a kubelet on a machine of two nodes."""
    numa = Numa(policy=policy, nodes=(0, 1))
    with FakeKubelet(directory, profile=profile, numa=numa) as running:
        yield running


@pytest.fixture
def plugin_with(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
) -> Callable[[list[pb.Device]], BarePlugin]:
    """Let the test register a plugin with these devices."""

    def register(devices: list[pb.Device]) -> BarePlugin:
        plugin.send(*devices)
        plugin.register()
        kubelet.await_resource(WIDGET, lambda seen: seen.capacity == len(devices), PATIENCE)
        return plugin

    return register


def ask(kubelet: FakeKubelet, count: int) -> object:
    """Return the ids that a new pod got, or the reason of its rejection."""
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: count}))
    if isinstance(verdict, PodAdmitted):
        return verdict.containers["main"].ids[WIDGET]
    return verdict.reason


@strict
def test_no_topology_is_no_preference(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """Devices without topology, or with an empty one, go to any pod."""
    plugin_with([*listing("a"), *listing("b", nodes=[])])
    assert ask(kubelet, 2) == {"a", "b"}


@strict
@pytest.mark.parametrize("node", [-1, 99])
def test_a_node_that_is_not_there_fits_nowhere(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
    node: int,
) -> None:
    """A device on node -1 counts as one with topology, so strict policies reject the pod."""
    plugin = plugin_with(listing("a", nodes=[node]))
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert isinstance(verdict, PodRejected)
    assert verdict.reason == "TopologyAffinityError"
    assert verdict.message == "Resources cannot be allocated with Topology locality"
    assert plugin.calls("Allocate") == []


@pytest.mark.parametrize("policy", [NumaPolicy.BEST_EFFORT])
def test_best_effort_prefers_one_node_and_rejects_nobody(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """Two of four come from one node; then a pod gets what is left, wherever it is."""
    plugin_with(
        [*listing("a", "b", nodes=[0]), *listing("c", nodes=[1]), *listing("x", nodes=[9])]
    )
    assert ask(kubelet, 2) == {"a", "b"}
    assert ask(kubelet, 2) == {"c", "x"}


@pytest.mark.parametrize("policy", [NumaPolicy.BEST_EFFORT])
def test_hints_of_idle_nodes_widen_a_preference_before_1_36(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    make_plugin: MakePlugin,
    listing: Listing,
) -> None:
    """Two resources that cannot meet: of old one of them is narrowed to the other's node.

    Then none of its own devices is aligned, and the choice is among all; from 1.36 both nodes
    are meant, and the choice is among the devices that have a node.
    """
    plugin_with(listing("a", nodes=[0]))
    other = make_plugin("other.sock", GADGET)
    other.options = pb.DevicePluginOptions(get_preferred_allocation_available=True)
    other.send(*listing("g", "h", nodes=[1]), *listing("x"))
    other.register()
    kubelet.await_resource(GADGET, lambda seen: seen.capacity == 3, PATIENCE)
    kubelet.admit(Pod.asking("p", {WIDGET: 1, GADGET: 1}))
    (call,) = other.calls("GetPreferredAllocation")
    offered = set(call.request.container_requests[0].available_deviceIDs)
    of_old = kubelet.profile.version in ("1.28", "1.34")
    assert offered == ({"g", "h", "x"} if of_old else {"g", "h"})


@pytest.mark.parametrize("policy", [NumaPolicy.NONE])
def test_without_policy_nodes_do_not_matter(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """Policy none gives out whatever is free."""
    plugin_with([*listing("a", nodes=[-1]), *listing("b", nodes=[0]), *listing("c", nodes=[1])])
    assert ask(kubelet, 3) == {"a", "b", "c"}


@strict
@pytest.mark.parametrize("other", [None, [-1]], ids=["nil", "-1"])
def test_in_a_mixture_the_known_ones_count(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
    other: list[int] | None,
) -> None:
    """A pod gets a device on a known node, and cannot get the other as well."""
    plugin_with([*listing("a", nodes=[0]), *listing("b", nodes=other)])
    assert ask(kubelet, 2) == "TopologyAffinityError"
    assert ask(kubelet, 1) == {"a"}


@strict
def test_devices_of_one_node_stay_together(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """Two of four devices come from the same node, and then nothing was to be asked."""
    plugin_with([*listing("a", "b", nodes=[0]), *listing("c", "d", nodes=[1])])
    assert ask(kubelet, 2) in ({"a", "b"}, {"c", "d"})


def test_what_must_span_two_nodes_may_not_be_single(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """The restricted policy admits what no single node could hold."""
    plugin_with([*listing("a", nodes=[0]), *listing("b", nodes=[1])])
    assert ask(kubelet, 2) == {"a", "b"}


@pytest.mark.parametrize("policy", [NumaPolicy.SINGLE_NODE])
def test_single_means_single(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """The single-node policy does not."""
    plugin_with([*listing("a", nodes=[0]), *listing("b", nodes=[1])])
    assert ask(kubelet, 2) == "TopologyAffinityError"


@strict
def test_a_device_on_two_nodes_goes_with_either(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """It makes a pair with a device of node 0, and would with one of node 1."""
    plugin_with([*listing("a", nodes=[0, 1]), *listing("b", nodes=[1])])
    assert ask(kubelet, 2) == {"a", "b"}


def test_the_checkpoint_knows_the_nodes(
    kubelet: FakeKubelet,
    plugin_with: Callable[[list[pb.Device]], BarePlugin],
    listing: Listing,
) -> None:
    """A device on two nodes is written down under both."""
    plugin_with(listing("a", nodes=[0, 1]))
    ask(kubelet, 1)
    text = (kubelet.directory / "kubelet_internal_checkpoint").read_text()
    assert '"DeviceIDs": {"0": ["a"], "1": ["a"]}' in text


class TestAVanishedDevice:
    """A container holds a device that is no longer listed."""

    @pytest.fixture
    def held(
        self,
        kubelet: FakeKubelet,
        plugin_with: Callable[[list[pb.Device]], BarePlugin],
        listing: Listing,
    ) -> Pod:
        """Give the test a pod whose device was dropped from the list."""
        plugin = plugin_with(listing("a", nodes=[0]))
        pod = Pod("p", [Container("main", {WIDGET: 1})])
        assert isinstance(kubelet.admit(pod), PodAdmitted)
        plugin.send(*listing("b", nodes=[0]))
        kubelet.await_resource(WIDGET, lambda seen: "b" in seen.devices, PATIENCE)
        return pod

    @only(Profile.V1_34, Profile.V1_36, Profile.V1_37)
    def test_it_kills_the_kubelet(self, kubelet: FakeKubelet, held: Pod) -> None:
        """When that pod is admitted again its hints are made anew, out of nothing."""
        with pytest.raises(KubeletPanicError):
            kubelet.admit(held)
        assert not kubelet.running

    @only(Profile.V1_28)
    def test_of_old_it_rejects_the_pod(self, kubelet: FakeKubelet, held: Pod) -> None:
        """1.28: no affinity."""
        verdict = kubelet.admit(held)
        assert isinstance(verdict, PodRejected)
        assert verdict.reason == "TopologyAffinityError"
        assert kubelet.running

    @pytest.mark.parametrize("policy", [NumaPolicy.NONE])
    def test_without_policy_the_pod_fails(self, kubelet: FakeKubelet, held: Pod) -> None:
        """Nobody asks for hints; the device is missed all the same."""
        verdict = kubelet.admit(held)
        assert isinstance(verdict, PodRejected)
        assert "previously allocated devices are no longer healthy" in verdict.message

    def test_listed_as_unhealthy_it_is_harmless(
        self,
        kubelet: FakeKubelet,
        held: Pod,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """A plugin that keeps the id, even without topology, keeps the kubelet alive."""
        plugin.send(*listing("a", health="Unhealthy"), *listing("b", nodes=[0]))
        kubelet.await_resource(WIDGET, lambda seen: "a" in seen.devices, PATIENCE)
        assert isinstance(kubelet.admit(held), PodRejected)
        assert kubelet.running
