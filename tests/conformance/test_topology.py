"""What NUMA nodes do to admissions, and to kubelets."""

from collections.abc import Sequence

import pytest
from tests.conformance.bare import WIDGET, devices
from tests.conformance.kubelets import Kubelet
from tests.conformance.real import RealKubelet
from tests.conformance.world import World, healthy_ids

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.testing.kubelet import (
    Container,
    KubeletPanicError,
    Numa,
    NumaPolicy,
    Pod,
    PodAdmitted,
    PodRejected,
)

STRICT = [NumaPolicy.RESTRICTED, NumaPolicy.SINGLE_NODE]


def _listed(world: World, kubelet: Kubelet, listed: Sequence[wire.Device], name: str) -> None:
    plugin = world.plugin(name)
    plugin.send(*listed)
    plugin.register()
    ids = {device.ID for device in listed}
    kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == ids)


def _admitted(
    world: World, policy: NumaPolicy, size: int, *listed: wire.Device
) -> set[str] | None:
    """Return what a pod gets on a machine of two nodes; None if it is rejected for topology."""
    kubelet = world.kubelet(numa=Numa(policy=policy, nodes=(0, 1)))
    _listed(world, kubelet, listed, "a.sock")
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: size}))
    if isinstance(verdict, PodAdmitted):
        return set(verdict.containers["main"].ids[WIDGET])
    assert verdict.reason == "TopologyAffinityError"
    assert verdict.message == "Resources cannot be allocated with Topology locality"
    return None


@pytest.mark.parametrize("policy", STRICT)
@pytest.mark.parametrize("nodes", [None, []])
def test_no_topology_is_no_preference(
    world: World, policy: NumaPolicy, nodes: list[int] | None
) -> None:
    """Nil or empty."""
    assert _admitted(world, policy, 2, *devices("a b", nodes=nodes)) == {"a", "b"}


@pytest.mark.parametrize("policy", STRICT)
@pytest.mark.parametrize("node", [-1, 2, 99])
def test_a_node_that_the_machine_lacks_fits_nowhere(
    world: World, policy: NumaPolicy, node: int
) -> None:
    """So -1, which sysfs has for "unknown", must not be sent."""
    assert _admitted(world, policy, 1, *devices("a b", nodes=[node])) is None


@pytest.mark.parametrize("policy", STRICT)
@pytest.mark.parametrize("unknown", [None, [-1]])
def test_among_known_nodes_unknown_ones_do_not_count(
    world: World, policy: NumaPolicy, unknown: list[int] | None
) -> None:
    """Only the device whose node is known is given."""
    listed = [*devices("a", nodes=[0]), *devices("x", nodes=unknown)]
    assert _admitted(world, policy, 1, *listed) == {"a"}


@pytest.mark.parametrize("policy", STRICT)
def test_devices_come_from_one_node_if_one_has_enough(world: World, policy: NumaPolicy) -> None:
    """Two of five: the two that are together."""
    listed = [*devices("a", nodes=[0]), *devices("b c", nodes=[1])]
    assert _admitted(world, policy, 2, *listed) == {"b", "c"}


def test_a_pod_that_must_span_nodes(world: World) -> None:
    """Restricted admits it, since no node could do; a single node is not enough."""
    listed = [*devices("a", nodes=[0]), *devices("b", nodes=[1])]
    assert _admitted(world, NumaPolicy.RESTRICTED, 2, *listed) == {"a", "b"}


def test_a_pod_that_must_not_span_nodes(world: World) -> None:
    """Single-numa-node rejects what no node can give."""
    listed = [*devices("a", nodes=[0]), *devices("b", nodes=[1])]
    assert _admitted(world, NumaPolicy.SINGLE_NODE, 2, *listed) is None


@pytest.mark.parametrize("policy", STRICT)
def test_a_device_may_be_on_two_nodes(world: World, policy: NumaPolicy) -> None:
    """It goes with devices of either."""
    listed = [*devices("a", nodes=[0]), *devices("b", nodes=[0, 1])]
    assert _admitted(world, policy, 2, *listed) == {"a", "b"}


@pytest.mark.parametrize("policy", STRICT)
def test_two_resources_come_from_the_same_node(world: World, policy: NumaPolicy) -> None:
    """Even if one of them alone would rather be elsewhere."""
    kubelet = world.kubelet(numa=Numa(policy=policy, nodes=(0, 1)))
    _listed(world, kubelet, [*devices("a", nodes=[0]), *devices("b", nodes=[1])], "a.sock")
    other = world.plugin("g.sock", "example.com/gadget")
    other.send(*devices("g", nodes=[1]))
    other.register()
    kubelet.await_resource("example.com/gadget", lambda seen: seen.known)
    asking = Pod.asking("p", {WIDGET: 1, "example.com/gadget": 1})
    verdict = kubelet.admit(asking)
    assert isinstance(verdict, PodAdmitted)
    assert verdict.containers["main"].ids == {WIDGET: {"b"}, "example.com/gadget": {"g"}}
    assert isinstance(
        kubelet.admit(Pod.asking("q", dict(asking.containers[0].resources))), PodRejected
    )


@pytest.mark.parametrize("policy", STRICT)
def test_an_app_container_stays_on_the_node_of_its_init_container(
    world: World, policy: NumaPolicy
) -> None:
    """Its devices are taken over, so the others must be beside them."""
    kubelet = world.kubelet(numa=Numa(policy=policy, nodes=(0, 1)))
    listed = [*devices("a b", nodes=[0]), *devices("c d", nodes=[1])]
    _listed(world, kubelet, listed, "a.sock")
    pod = Pod("p", [Container("init", {WIDGET: 1}, init=True), Container("main", {WIDGET: 2})])
    verdict = kubelet.admit(pod)
    assert isinstance(verdict, PodAdmitted)
    given = {name: grant.ids[WIDGET] for name, grant in verdict.containers.items()}
    assert given["init"] < given["main"]
    assert given["main"] in ({"a", "b"}, {"c", "d"})


@pytest.mark.parametrize(
    ("size", "offered"), [(2, "a b c"), (3, None), (1, "a b c")], ids=["fewer", "all", "one"]
)
def test_a_preference_is_among_the_devices_of_the_node(
    world: World, size: int, offered: str | None
) -> None:
    """There is no question when just enough of them are there."""
    kubelet = world.kubelet(numa=Numa(policy=NumaPolicy.SINGLE_NODE, nodes=(0, 1)))
    plugin = world.plugin("a.sock")
    plugin.options = wire.DevicePluginOptions(get_preferred_allocation_available=True)
    plugin.send(*devices("a b c", nodes=[0]), *devices("x", health="Unhealthy", nodes=[1]))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 3)
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: size})), PodAdmitted)
    asked = [
        set(call.request.container_requests[0].available_deviceIDs)
        for call in plugin.calls("GetPreferredAllocation")
    ]
    assert asked == ([] if offered is None else [set(offered.split())])


def test_without_a_policy_nodes_are_of_no_matter(world: World) -> None:
    """Even one that cannot be."""
    assert _admitted(world, NumaPolicy.NONE, 2, *devices("a b", nodes=[-1])) == {"a", "b"}


def test_best_effort_prefers_one_node_and_rejects_nobody(world: World) -> None:
    """Two of four come from one node; then a pod gets what is left, wherever it is."""
    kubelet = world.kubelet(numa=Numa(policy=NumaPolicy.BEST_EFFORT, nodes=(0, 1)))
    listed = [*devices("a b", nodes=[0]), *devices("c", nodes=[1]), *devices("x", nodes=[9])]
    _listed(world, kubelet, listed, "a.sock")
    for expected in ({"a", "b"}, {"c", "x"}):
        verdict = kubelet.admit(Pod.asking("p", {WIDGET: 2}))
        assert isinstance(verdict, PodAdmitted)
        assert verdict.containers["main"].ids == {WIDGET: expected}


def test_hints_of_idle_nodes_widen_a_preference_before_1_36(world: World) -> None:
    """Two resources that cannot meet: of old one of them is narrowed to the other's node.

    Then none of its own devices is aligned, and the choice is among all; from 1.36 both nodes
    are meant, and the choice is among the devices that have a node.
    """
    kubelet = world.kubelet(numa=Numa(policy=NumaPolicy.BEST_EFFORT, nodes=(0, 1)))
    _listed(world, kubelet, devices("a", nodes=[0]), "a.sock")
    other = world.plugin("g.sock", "example.com/gadget")
    other.options = wire.DevicePluginOptions(get_preferred_allocation_available=True)
    other.send(*devices("g h", nodes=[1]), *devices("x"))
    other.register()
    kubelet.await_resource("example.com/gadget", lambda seen: seen.allocatable == 3)
    kubelet.admit(Pod.asking("p", {WIDGET: 1, "example.com/gadget": 1}))
    (call,) = other.calls("GetPreferredAllocation")
    offered = set(call.request.container_requests[0].available_deviceIDs)
    of_old = world.profile.version in ("1.28", "1.34")
    assert offered == ({"g", "h", "x"} if of_old else {"g", "h"})


# --- vanished ---


@pytest.mark.parametrize("policy", [NumaPolicy.NONE, *STRICT])
def test_a_held_device_that_vanishes_fails_its_pod(world: World, policy: NumaPolicy) -> None:
    """Without topology the pod is rejected when it is admitted again, under whichever policy."""
    kubelet, pod = _holding(world, policy, None)
    plugin = world.plugin("b.sock")
    world.listed(kubelet, plugin, "y")
    verdict = kubelet.admit(pod)
    assert isinstance(verdict, PodRejected)
    assert "previously allocated devices are no longer healthy" in verdict.message


@pytest.mark.parametrize("policy", STRICT)
def test_a_held_device_with_a_node_that_vanishes_kills_the_kubelet(
    world: World, policy: NumaPolicy
) -> None:
    """From 1.34, at each admission of the pod that holds it; 1.28 only rejects the pod."""
    kubelet, pod = _holding(world, policy, [0])
    for number in range(2):
        kubelet.crash()
        kubelet.start()
        _listed(world, kubelet, devices("y", nodes=[1]), f"b{number}.sock")
        if world.profile.panics_on_vanished_device:
            with pytest.raises(KubeletPanicError):
                kubelet.admit(pod)
        else:
            verdict = kubelet.admit(pod)
            assert isinstance(verdict, PodRejected)
            assert verdict.reason == "TopologyAffinityError"
            return


@pytest.mark.parametrize("policy", STRICT)
def test_a_held_device_that_is_listed_as_unhealthy_harms_nobody(
    world: World, policy: NumaPolicy
) -> None:
    """The cure: the pod is rejected when it is admitted again, and the kubelet lives."""
    kubelet, pod = _holding(world, policy, [0])
    kubelet.restart()
    plugin = world.plugin("b.sock")
    plugin.send(*devices("x", nodes=[0], health="Unhealthy"), *devices("y", nodes=[1]))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == {"y"})
    verdict = kubelet.admit(pod)
    assert isinstance(verdict, PodRejected)
    assert "previously allocated devices are no longer healthy" in verdict.message
    assert isinstance(kubelet.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)


def test_a_held_device_that_comes_back_without_a_node_harms_nobody(world: World) -> None:
    """It is listed, and that is what counts."""
    kubelet, pod = _holding(world, NumaPolicy.RESTRICTED, [0])
    kubelet.restart()
    listed = [*devices("x"), *devices("y", nodes=[1])]
    _listed(world, kubelet, listed, "b.sock")
    kubelet.admit(pod)
    assert isinstance(kubelet.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)


def _holding(world: World, policy: NumaPolicy, nodes: list[int] | None) -> tuple[Kubelet, Pod]:
    """Return a kubelet and a pod that holds device x."""
    kubelet = world.kubelet(numa=Numa(policy=policy, nodes=(0, 1)))
    _listed(world, kubelet, devices("x", nodes=nodes), "a.sock")
    pod = Pod.asking("p", {WIDGET: 1})
    assert isinstance(kubelet.admit(pod), PodAdmitted)
    return kubelet, pod


# --- hints: what the real device manager says to the real topology manager ---


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (None, None),
        ([], None),
        ([-1], []),
        ([99], []),
        ([0], [((0,), True), ((0, 1), False)]),
        ([0, 1], [((0,), True), ((0, 1), False), ((1,), True)]),
    ],
    ids=repr,
)
def test_hints(
    real_world: World,
    nodes: list[int] | None,
    expected: list[tuple[tuple[int, ...], bool]] | None,
) -> None:
    """No topology is no hint, an impossible one is an empty list, which fits nowhere."""
    kubelet = real_world.kubelet(numa=Numa(policy=NumaPolicy.RESTRICTED, nodes=(0, 1)))
    assert isinstance(kubelet, RealKubelet)
    _listed(real_world, kubelet, devices("a b", nodes=nodes), "a.sock")
    given = kubelet.hints(Pod.asking("p", {WIDGET: 1}), "main")[WIDGET]
    hints = given and sorted((tuple(hint["nodes"]), hint["preferred"]) for hint in given)
    if nodes == [0] and real_world.profile.version not in ("1.28", "1.34"):
        # From 1.36 only nodes with devices are combined.
        assert hints == [((0,), True)]
    else:
        assert hints == expected
