"""What a pod gets, and who is asked for it."""

import pytest
from tests.conformance.bare import WIDGET, BarePlugin, devices, granting
from tests.conformance.kubelets import Kubelet
from tests.conformance.world import World

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.testing.kubelet import (
    Answer,
    Container,
    ContainerStartError,
    DeviceSpec,
    Mount,
    Pod,
    PodAdmitted,
    PodRejected,
)

GADGET = "example.com/gadget"


def _admitted(kubelet: Kubelet, pod: Pod) -> dict[str, frozenset[str]]:
    """Return the widgets of each container of a pod that is admitted."""
    verdict = kubelet.admit(pod)
    assert isinstance(verdict, PodAdmitted), verdict
    return {name: grant.ids.get(WIDGET, frozenset()) for name, grant in verdict.containers.items()}


def _rejected(kubelet: Kubelet, pod: Pod) -> str:
    """Return why a pod is not admitted."""
    verdict = kubelet.admit(pod)
    assert isinstance(verdict, PodRejected), verdict
    assert verdict.reason == "UnexpectedAdmissionError"
    head, tail = "Allocate failed due to ", ", which is unexpected"
    assert verdict.message.startswith(head)
    assert verdict.message.endswith(tail)
    return verdict.message.removeprefix(head).removesuffix(tail)


def _asking(size: int) -> Pod:
    return Pod.asking("p", {WIDGET: size})


@pytest.fixture
def kubelet(world: World) -> Kubelet:
    """Give the test a running kubelet."""
    return world.kubelet()


@pytest.fixture
def plugin(world: World, kubelet: Kubelet) -> BarePlugin:
    """Give the test a plugin whose three devices the kubelet has."""
    plugin = world.plugin()
    world.listed(kubelet, plugin, "a b c")
    return plugin


# --- Allocate ---


def test_each_container_is_asked_for_alone_and_without_a_deadline(
    kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """One container in each call, though the protocol has room for many."""
    pod = Pod("p", [Container("one", {WIDGET: 1}), Container("two", {WIDGET: 2})])
    given = _admitted(kubelet, pod)
    assert given["one"] | given["two"] == set("abc")
    assert plugin.asked() == [given["one"], given["two"]]
    for call in plugin.calls("Allocate"):
        assert len(call.request.container_requests) == 1
        assert call.seconds_left is None


def test_only_the_first_answer_counts(kubelet: Kubelet, plugin: BarePlugin) -> None:
    """What comes after it is dropped without a word."""
    first = wire.ContainerAllocateResponse(envs={"ONE": "1"})
    plugin.on_allocate = granting(first, wire.ContainerAllocateResponse(envs={"TWO": "2"}))
    pod = _asking(1)
    _admitted(kubelet, pod)
    assert kubelet.start_container(pod, "main").answer == Answer(envs={"ONE": "1"})


def test_no_answer_fails_the_pod_and_leaks_its_devices(
    world: World, kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """Nobody holds them and nobody gets them, until the kubelet starts anew."""
    plugin.on_allocate = lambda _: wire.AllocateResponse()
    # What follows is the empty answer as Go prints it, which differs.
    assert _rejected(kubelet, _asking(2)).startswith(
        "no containers return in allocation response "
    )
    plugin.on_allocate = granting()
    assert _rejected(kubelet, _asking(2)).endswith("Requested: 2, Available: 1")
    kubelet.restart()
    world.listed(kubelet, world.plugin("new.sock"), "a b c")
    assert len(_admitted(kubelet, _asking(3))["main"]) == 3


def test_an_error_fails_the_pod_and_frees_its_devices(
    kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """With the plugin's words, for they are all that the user sees."""

    def fail(_: object) -> wire.AllocateResponse:
        raise RuntimeError("the card is on fire")

    plugin.on_allocate = fail
    assert _rejected(kubelet, _asking(3)) == (
        "rpc error: code = Internal desc = the card is on fire"
    )
    plugin.on_allocate = granting()
    assert len(_admitted(kubelet, _asking(3))["main"]) == 3


def test_more_than_there_is_fails_the_pod_without_a_call(
    kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """With both numbers; the devices of pods that are gone are free again."""
    first = _asking(2)
    _admitted(kubelet, first)
    assert _rejected(kubelet, _asking(2)) == (
        f"requested number of devices unavailable for {WIDGET}. Requested: 2, Available: 1"
    )
    assert len(plugin.asked()) == 1
    kubelet.remove(first)
    assert len(_admitted(kubelet, _asking(3))["main"]) == 3


def test_an_answer_above_four_mebibytes_fails_the_pod(
    kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """The limit of lists holds for every message."""
    plugin.on_allocate = granting(
        wire.ContainerAllocateResponse(envs={"BIG": "x" * (4 * 1024 * 1024)})
    )
    assert "code = ResourceExhausted" in _rejected(kubelet, _asking(1))


def test_doubles_in_one_answer(world: World, kubelet: Kubelet, plugin: BarePlugin) -> None:
    """The first device and mount of a container path win, equal CDI names become one."""
    plugin.on_allocate = granting(
        wire.ContainerAllocateResponse(
            devices=[
                wire.DeviceSpec(container_path="/dev/x", host_path="/dev/a", permissions="r"),
                wire.DeviceSpec(container_path="/dev/x", host_path="/dev/b", permissions="rw"),
                wire.DeviceSpec(container_path="/dev/y", host_path="/dev/a", permissions=""),
            ],
            mounts=[
                wire.Mount(container_path="/x", host_path="/a", read_only=True),
                wire.Mount(container_path="/x", host_path="/b"),
            ],
            cdi_devices=[wire.CDIDevice(name=name) for name in ("v/c=1", "v/c=2", "v/c=1")],
        )
    )
    pod = _asking(1)
    _admitted(kubelet, pod)
    answer = kubelet.start_container(pod, "main").answer
    assert answer.devices == (
        DeviceSpec(container_path="/dev/x", host_path="/dev/a", permissions="r"),
        DeviceSpec(container_path="/dev/y", host_path="/dev/a", permissions=""),
    )
    assert answer.mounts == (Mount(container_path="/x", host_path="/a", read_only=True),)
    named = ("v/c=1", "v/c=2") if world.profile.passes_cdi_devices else ()
    assert answer.cdi_devices == named


def test_of_two_resources_that_clash_one_wins_as_a_whole(
    world: World, kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """By chance: never a device of the one with an environment of the other."""
    other = world.plugin("other.sock", GADGET)
    for each, name in ((plugin, "widget"), (other, "gadget")):
        each.on_allocate = granting(
            wire.ContainerAllocateResponse(
                envs={"WHICH": name},
                annotations={"which": name},
                devices=[
                    wire.DeviceSpec(container_path="/dev/x", host_path=name, permissions="rw")
                ],
                mounts=[wire.Mount(container_path="/x", host_path=name)],
            )
        )
    world.listed(kubelet, other, "g")
    winners = set[str]()
    pod = Pod.asking("p", {WIDGET: 1, GADGET: 1})
    _admitted(kubelet, pod)
    for _ in range(200):
        answer = kubelet.start_container(pod, "main").answer
        seen = {
            answer.envs["WHICH"],
            answer.annotations["which"],
            answer.devices[0].host_path,
            answer.mounts[0].host_path,
        }
        assert len(seen) == 1
        winners |= seen
    assert winners == {"widget", "gadget"}


def test_a_pod_that_is_admitted_again_keeps_what_it_holds(
    kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """The plugin is not called; another number of devices fails it."""
    pod = _asking(2)
    first = _admitted(kubelet, pod)
    assert _admitted(kubelet, pod) == first
    assert len(plugin.asked()) == 1
    changed = Pod("p", [Container("main", {WIDGET: 1})], uid=pod.uid)
    assert _rejected(kubelet, changed) == (
        f'pod "{pod.uid}" container "main" changed request for resource "{WIDGET}" from 2 to 1'
    )


def test_a_pod_that_fails_half_way_keeps_nothing(
    world: World, kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """Neither what an earlier container got, nor what another resource gave."""

    def fail(_: object) -> wire.AllocateResponse:
        raise RuntimeError("not today")

    other = world.plugin("other.sock", GADGET)
    other.on_allocate = fail
    world.listed(kubelet, other, "g")
    pod = Pod("p", [Container("one", {WIDGET: 1}), Container("two", {WIDGET: 2, GADGET: 1})])
    assert "not today" in _rejected(kubelet, pod)
    assert len(plugin.asked()[0]) == 1
    assert len(_admitted(kubelet, _asking(3))["main"]) == 3


@pytest.mark.parametrize("healthy", [True, False])
def test_nothing_asked_is_nothing_given(
    kubelet: Kubelet,
    plugin: BarePlugin,
    healthy: bool,  # noqa: FBT001
) -> None:
    """But a pod that asks for none of what nobody could have fails like any other."""
    if not healthy:
        plugin.stop()
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0)
        assert "no healthy devices present" in _rejected(kubelet, _asking(0))
    else:
        assert _admitted(kubelet, _asking(0)) == {"main": set()}
        assert plugin.asked() == []


def test_while_one_call_hangs_no_pod_is_admitted(
    world: World, kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """Not even one that needs no device; lists and registrations go on."""
    hung = world.hold(plugin)
    first = world.aside(lambda: kubelet.admit(_asking(1)))
    plugin.await_calls("Allocate", 1)
    second = world.aside(lambda: kubelet.admit(Pod.asking("plain", {})))
    other = world.plugin("other.sock", GADGET)
    world.listed(kubelet, other, "g")
    assert not second.done()
    hung.set()
    assert isinstance(first.result(20), PodAdmitted)
    assert isinstance(second.result(20), PodAdmitted)


# --- init containers ---


def test_an_app_container_gets_the_devices_of_an_init_container(
    kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """They are asked for a second time, with those that it needs beside them."""
    pod = Pod("p", [Container("init", {WIDGET: 2}, init=True), Container("main", {WIDGET: 3})])
    given = _admitted(kubelet, pod)
    assert given["init"] < given["main"] == set("abc")
    assert plugin.asked() == [given["init"], given["main"]]


def test_a_smaller_app_container_takes_a_part_and_the_rest_stays_held(
    kubelet: Kubelet, plugin: BarePlugin
) -> None:
    """Until the pod is gone."""
    pod = Pod("p", [Container("init", {WIDGET: 2}, init=True), Container("main", {WIDGET: 1})])
    given = _admitted(kubelet, pod)
    assert given["main"] < given["init"]
    assert "Requested: 2, Available: 1" in _rejected(kubelet, _asking(2))
    assert len(plugin.asked()) == 2


def test_a_side_car_keeps_its_devices(world: World, kubelet: Kubelet, plugin: BarePlugin) -> None:
    """It goes on running beside the app container; 1.28 gives its devices away all the same."""
    side = Container("side", {WIDGET: 1}, init=True, restartable=True)
    given = _admitted(kubelet, Pod("p", [side, Container("main", {WIDGET: 1})]))
    assert (given["side"] == given["main"]) is world.profile.reuses_sidecar_devices
    assert plugin.asked() == [given["side"], given["main"]]


# --- GetPreferredAllocation ---


@pytest.fixture
def choosy(world: World, kubelet: Kubelet) -> BarePlugin:
    """Give the test a plugin that has a preference, and five devices."""
    plugin = world.plugin()
    plugin.options = wire.DevicePluginOptions(get_preferred_allocation_available=True)
    world.listed(kubelet, plugin, "a b c d e")
    return plugin


def test_a_preference_is_asked_for_and_followed(kubelet: Kubelet, choosy: BarePlugin) -> None:
    """All free devices, nothing that must be, no deadline."""
    choosy.on_prefer = lambda _: ["d", "b"]
    assert _admitted(kubelet, _asking(2))["main"] == {"b", "d"}
    (call,) = choosy.calls("GetPreferredAllocation")
    (request,) = call.request.container_requests
    assert set(request.available_deviceIDs) == set("abcde")
    assert list(request.must_include_deviceIDs) == []
    assert request.allocation_size == 2
    assert call.seconds_left is None


def test_a_preference_is_asked_for_when_there_is_no_choice(
    kubelet: Kubelet, choosy: BarePlugin
) -> None:
    """All five of five."""
    _admitted(kubelet, _asking(5))
    assert len(choosy.calls("GetPreferredAllocation")) == 1


@pytest.mark.parametrize(
    ("preferred", "sure"),
    [
        (["a"], "a"),  # too few
        (["a", "a", "a"], "a"),  # the same again
        (["nowhere", "a"], "a"),  # foreign
        ([], ""),
        (None, ""),  # not even an answer
    ],
)
def test_a_poor_preference_is_filled_up(
    kubelet: Kubelet, choosy: BarePlugin, preferred: list[str] | None, sure: str
) -> None:
    """What it names and can be had is taken, the rest by chance."""
    choosy.on_prefer = lambda _: preferred
    given = _admitted(kubelet, _asking(3))["main"]
    assert len(given) == 3
    assert set(sure) <= given <= set("abcde")


def test_a_long_preference_is_cut(kubelet: Kubelet, choosy: BarePlugin) -> None:
    """Some of what it names, and nothing else."""
    choosy.on_prefer = lambda _: ["a", "b", "c"]
    given = _admitted(kubelet, _asking(2))["main"]
    assert len(given) == 2
    assert given < set("abc")


def test_an_error_instead_of_a_preference_fails_the_pod(
    kubelet: Kubelet, choosy: BarePlugin
) -> None:
    """There is no way without it."""

    def fail(_: object) -> list[str]:
        raise RuntimeError("cannot decide")

    choosy.on_prefer = fail
    assert _rejected(kubelet, _asking(2)) == (
        "device plugin GetPreferredAllocation rpc failed with err: "
        "rpc error: code = Internal desc = cannot decide"
    )
    assert choosy.calls("Allocate") == []
    choosy.on_prefer = lambda _: []
    assert len(_admitted(kubelet, _asking(5))["main"]) == 5


def test_the_devices_of_an_init_container_must_be_in_a_preference(
    kubelet: Kubelet, choosy: BarePlugin
) -> None:
    """They are available as well, and count in the size; left out they are given all the same."""
    choosy.on_prefer = lambda request: ["a"] if request.allocation_size == 1 else ["d", "e"]
    pod = Pod("p", [Container("init", {WIDGET: 1}, init=True), Container("main", {WIDGET: 3})])
    assert _admitted(kubelet, pod) == {"init": {"a"}, "main": {"a", "d", "e"}}
    request = choosy.calls("GetPreferredAllocation")[1].request.container_requests[0]
    assert set(request.available_deviceIDs) == set("abcde")
    assert list(request.must_include_deviceIDs) == ["a"]
    assert request.allocation_size == 3


def test_no_preference_is_asked_for_when_the_init_container_had_it_all(
    kubelet: Kubelet, choosy: BarePlugin
) -> None:
    """Nothing is left to choose."""
    pod = Pod("p", [Container("init", {WIDGET: 2}, init=True), Container("main", {WIDGET: 2})])
    given = _admitted(kubelet, pod)
    assert given["init"] == given["main"]
    assert len(choosy.calls("GetPreferredAllocation")) == 1


# --- PreStartContainer ---


@pytest.fixture
def careful(world: World, kubelet: Kubelet) -> BarePlugin:
    """Give the test a plugin that prepares devices, and two of them."""
    plugin = world.plugin()
    plugin.options = wire.DevicePluginOptions(pre_start_required=True)
    world.listed(kubelet, plugin, "a b")
    return plugin


def test_each_start_of_a_container_is_announced(kubelet: Kubelet, careful: BarePlugin) -> None:
    """With all its devices and 30 seconds; Allocate was once and for all."""
    pod = _asking(2)
    _admitted(kubelet, pod)
    assert careful.calls("PreStartContainer") == []
    for count in (1, 2, 3):
        kubelet.start_container(pod, "main")
        call = careful.calls("PreStartContainer")[-1]
        assert set(call.request.devices_ids) == {"a", "b"}
        assert call.seconds_left is not None
        assert 25 < call.seconds_left < 31
        assert len(careful.calls("PreStartContainer")) == count
    assert len(careful.asked()) == 1


def test_an_error_before_the_start_is_not_final(kubelet: Kubelet, careful: BarePlugin) -> None:
    """The container is not made; the next try may succeed."""

    def fail() -> None:
        raise RuntimeError("still warming up")

    pod = _asking(1)
    _admitted(kubelet, pod)
    careful.on_pre_start = fail
    with pytest.raises(ContainerStartError, match="still warming up"):
        kubelet.start_container(pod, "main")
    careful.on_pre_start = bool
    kubelet.start_container(pod, "main")


def test_a_start_needs_the_plugin_alive(kubelet: Kubelet, careful: BarePlugin) -> None:
    """Dead, the container is not made."""
    pod = _asking(1)
    _admitted(kubelet, pod)
    careful.stop()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0)
    with pytest.raises(ContainerStartError):
        kubelet.start_container(pod, "main")


def test_between_a_restart_and_a_register_starts_are_not_announced(
    world: World, kubelet: Kubelet, careful: BarePlugin
) -> None:
    """The options are forgotten: the container is made from what was kept, without a word."""
    pod = _asking(2)
    careful.on_allocate = granting(wire.ContainerAllocateResponse(envs={"A": "1"}))
    _admitted(kubelet, pod)
    kubelet.restart()
    assert kubelet.start_container(pod, "main").answer == Answer(envs={"A": "1"})
    assert careful.calls("PreStartContainer") == []
    again = world.plugin("again.sock")
    again.options = careful.options
    world.listed(kubelet, again, "a b")
    kubelet.start_container(pod, "main")
    assert len(again.calls("PreStartContainer")) == 1
    assert again.asked() == []


def test_a_resource_that_was_unknown_at_admission_is_allocated_at_the_start(
    world: World, kubelet: Kubelet
) -> None:
    """The pod was let in without it."""
    late = world.plugin()
    pod = _asking(1)
    assert _admitted(kubelet, pod)["main"] == set()
    late.on_allocate = granting(wire.ContainerAllocateResponse(envs={"A": "1"}))
    late.send(*devices("a"))
    late.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.known)
    assert kubelet.start_container(pod, "main").answer.envs == {"A": "1"}
    assert late.asked() == [{"a"}]
