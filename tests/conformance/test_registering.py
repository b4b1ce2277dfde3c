"""How plugins come to be known, and what becomes of a second registration."""

import threading
import time

import grpc
import pytest
from tests.conformance.bare import WIDGET, devices
from tests.conformance.world import World, healthy_ids

from deviceplugin.testing.kubelet import Era, Pod, PodAdmitted, PodRejected, ResourceView

_LABEL = "a" * 60


def _gone(seen: ResourceView) -> bool:
    return seen.known and seen.capacity > 0 and seen.allocatable == 0


def test_a_plugin_registers_and_its_devices_are_there(world: World) -> None:
    """Register, options, a stream, a list: in a moment the node shows the devices."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send(*devices("a b c"), *devices("x", health="Unhealthy"))
    plugin.register()
    seen = kubelet.await_resource(WIDGET, lambda seen: seen.known)
    assert (seen.capacity, seen.allocatable) == (4, 3)
    assert healthy_ids(seen) == set("abc")
    assert seen.streams == 1


def test_options_are_read_before_register_is_answered(world: World) -> None:
    """Once, on the connection that the kubelet has made back."""
    world.kubelet()
    plugin = world.plugin()
    plugin.register()
    assert len(plugin.calls("GetDevicePluginOptions")) == 1


def test_only_the_options_may_have_registers_deadline(world: World) -> None:
    """From 1.35 they inherit it; a stream of lists never ends by itself."""
    world.kubelet()
    plugin = world.plugin()
    plugin.register(timeout=15.0)
    (options,) = plugin.calls("GetDevicePluginOptions")
    (stream,) = plugin.await_calls("ListAndWatch", 1)
    assert stream.seconds_left is None
    assert (options.seconds_left is not None) is world.profile.register_bounds_calls


def test_a_client_that_gives_up_leaves_no_plugin_or_all_of_it(world: World) -> None:
    """From 1.35 nothing is registered; before, all goes on although Register has failed."""
    kubelet, plugin = world.kubelet(), world.plugin()
    go_on = threading.Event()
    plugin.on_options = lambda _: go_on.wait(20)
    plugin.send(*devices("a b"))
    with pytest.raises(grpc.RpcError):
        plugin.register(timeout=0.3)
    time.sleep(0.3)  # until the kubelet has heard of it
    go_on.set()
    if world.profile.register_bounds_calls:
        with pytest.raises(TimeoutError):
            kubelet.await_resource(WIDGET, lambda seen: seen.known, 0.5)
    else:
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2)


@pytest.mark.parametrize(
    "name",
    [
        "example.com/widget",
        "1.2/3",
        f"{'a' * 63}.com/widget",
        f"{_LABEL}.{_LABEL}.{_LABEL}.{_LABEL}/{'n' * 63}",  # 243 letters of domain
        "ex-x.com/a_b.c-D",
    ],
)
def test_a_good_name_is_taken(world: World, name: str) -> None:
    """As the quota system would spell it: a domain of up to 244 letters, a name of up to 63."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send(*devices("a"))
    plugin.register(resource=name)
    assert kubelet.await_resource(name, lambda seen: seen.known).allocatable == 1


@pytest.mark.parametrize(
    "name",
    [
        "widget",
        "hugepages-2Mi",
        "example.com/a/b",
        "example.com/",
        "/widget",
        "kubernetes.io/widget",
        "foo.kubernetes.io/widget",
        "requests.example.com/widget",
        "ex_x.com/a",
        "Example.com/a",
        "exämple.com/a",
        f"{_LABEL}.{_LABEL}.{_LABEL}.{_LABEL}aa/w",  # 245
        f"example.com/{'n' * 64}",
        "example.com/-a",
        "example.com/a-",
    ],
)
def test_a_bad_name_is_refused_before_the_plugin_is_asked(world: World, name: str) -> None:
    """With the name in the text."""
    world.kubelet()
    plugin = world.plugin()
    assert plugin.refusal(resource=name) == f'the ResourceName "{name}" is invalid'
    assert plugin.calls("GetDevicePluginOptions") == []


@pytest.mark.parametrize("version", ["v1", "v1alpha", "", "v1beta2"])
def test_another_version_is_refused_before_the_name_is_looked_at(
    world: World, version: str
) -> None:
    """v1beta1 alone is spoken."""
    world.kubelet()
    assert world.plugin().refusal(version=version, resource="bad") == (
        f'requested API version "{version}" is not supported by kubelet. '
        'Supported version is ["v1beta1"]'
    )


def test_the_endpoint_is_joined_below_the_directory(world: World) -> None:
    """And cleaned, by text: neither a dot nor a slash in front matters, folders need not exist."""
    kubelet = world.kubelet()
    ways = ("p.sock", "./p.sock", "/p.sock", "sub/../p.sock", f"../{world.directory.name}/p.sock")
    plugin = world.plugin("p.sock")
    plugin.send(*devices("a"))
    for number, endpoint in enumerate(ways):
        plugin.register(endpoint=endpoint, resource=f"example.com/r{number}")
        kubelet.await_resource(f"example.com/r{number}", lambda seen: seen.allocatable == 1)


def test_an_endpoint_where_nobody_is_fails_when_the_dialling_does(world: World) -> None:
    """Missing, empty, or absolute. The real kubelet tries for ten seconds."""
    world.kubelet()
    plugin = world.plugin("p.sock")
    ways = ("missing.sock", "", str(world.directory / "p.sock"))
    refusals = [
        world.aside(
            lambda number=number, way=way: plugin.refusal(  # type: ignore[misc]
                endpoint=way, resource=f"example.com/r{number}"
            )
        )
        for number, way in enumerate(ways)
    ]
    for refusal in refusals:
        assert refusal.result() == "failed to dial device plugin: context deadline exceeded"


def test_without_a_list_pods_run_without_their_devices(world: World) -> None:
    """Registered is not known: the device manager does not feel responsible yet."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.register()
    plugin.await_calls("ListAndWatch", 1)
    assert not kubelet.resource(WIDGET).known
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert isinstance(verdict, PodAdmitted)
    assert not verdict.containers["main"].ids.get(WIDGET)
    assert plugin.calls("Allocate") == []


# --- the end of a stream ---


@pytest.mark.parametrize("how", ["return", "stop", "cut"])
def test_the_end_of_a_stream_takes_the_devices_until_the_next_register(
    world: World, how: str
) -> None:
    """Capacity stays, allocatable is 0, pods are refused; the kubelet never calls again."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b")
    if how == "return":
        plugin.streams[0].end()
    elif how == "stop":
        plugin.stop()
    else:
        kubelet.cut_stream(WIDGET)
    seen = kubelet.await_resource(WIDGET, _gone)
    assert (seen.capacity, seen.allocatable) == (2, 0)
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert isinstance(verdict, PodRejected)
    assert "no healthy devices present" in verdict.message
    assert len(plugin.calls("ListAndWatch")) == 1
    again = world.plugin("again.sock")
    world.listed(kubelet, again, "a b")
    assert isinstance(kubelet.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)


# --- twice ---


def test_the_same_socket_while_it_is_connected(world: World) -> None:
    """Before 1.37 each Register opens one more stream; from then on it is refused."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b c")
    if world.profile.era is Era.BY_NAME:
        plugin.register()
        plugin.register()
        plugin.await_calls("ListAndWatch", 3)
        kubelet.await_resource(WIDGET, lambda seen: seen.streams == 3)
        assert kubelet.resource(WIDGET).allocatable == 3
    else:
        path = world.directory / plugin.endpoint
        assert plugin.refusal() == f"device plugin already connected: {path}"
        assert len(plugin.calls("GetDevicePluginOptions")) == 2
        assert len(plugin.calls("ListAndWatch")) == 1


def test_a_socket_that_was_refused_is_lost_for_ever(world: World) -> None:
    """From 1.37: its death goes unnoticed and nobody registers at it again; another path works."""
    if world.profile.era is Era.BY_NAME:
        pytest.skip("nothing is refused by these")
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b c")
    plugin.refusal()
    plugin.stop()
    with pytest.raises(TimeoutError):
        kubelet.await_resource(WIDGET, _gone, 0.5)
    assert "already connected" in world.plugin().refusal()
    world.listed(kubelet, world.plugin("other.sock"), "x")
    kubelet.restart()
    world.listed(kubelet, world.plugin(), "y")


def test_two_sockets_feed_one_table(world: World) -> None:
    """The last message wins, whoever sends it; Allocate goes to the newer one."""
    kubelet, old, new = world.kubelet(), world.plugin("old.sock"), world.plugin("new.sock")
    world.listed(kubelet, old, "a b c")
    world.listed(kubelet, new, "x y")
    old.send(*devices("a"))
    kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == {"a"})
    new.send(*devices("x y"))
    kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == {"x", "y"})
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
    assert (len(old.asked()), len(new.asked())) == (0, 1)


def test_when_the_old_of_two_streams_ends(world: World) -> None:
    """Before 1.37 the new one is cut, too, and a third must register; from then on all stays."""
    kubelet, old, new = world.kubelet(), world.plugin("old.sock"), world.plugin("new.sock")
    world.listed(kubelet, old, "a b")
    world.listed(kubelet, new, "x y")
    kubelet.await_resource(WIDGET, lambda seen: seen.streams == 2)
    old.stop()
    if world.profile.era is Era.BY_NAME:
        kubelet.await_resource(WIDGET, _gone)
        assert new.streams[0].over.wait(5)
        # By name again: the end of the new stream would disconnect a third that is there by then.
        kubelet.await_resource(WIDGET, lambda seen: seen.streams == 0)
        time.sleep(0.05)
        new.register()
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2)
    else:
        kubelet.await_resource(WIDGET, lambda seen: seen.streams == 1)
        assert kubelet.resource(WIDGET).allocatable == 2
        assert not new.streams[0].over.is_set()


def test_when_the_new_of_two_streams_ends(world: World) -> None:
    """Before 1.37 its devices go, though the old stream stays; from then on the old one serves."""
    kubelet, old, new = world.kubelet(), world.plugin("old.sock"), world.plugin("new.sock")
    world.listed(kubelet, old, "a b")
    world.listed(kubelet, new, "x y")
    kubelet.await_resource(WIDGET, lambda seen: seen.streams == 2)
    new.stop()
    if world.profile.era is Era.BY_NAME:
        kubelet.await_resource(WIDGET, _gone)
        old.send(*devices("a b c"))
        seen = kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 3)
        assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodRejected)
    else:
        seen = kubelet.await_resource(WIDGET, lambda seen: seen.streams == 1)
        assert seen.allocatable == 2
        time.sleep(0.05)  # its endpoint goes just after its stream
        assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
        assert len(old.asked()) == 1


def test_a_failed_register_for_a_resource_that_is_served(world: World) -> None:
    """Before 1.37 nobody notices when the one that served it dies; from then on they do."""
    kubelet, plugin, bad = world.kubelet(), world.plugin(), world.plugin("bad.sock")
    world.listed(kubelet, plugin, "a b")
    bad.on_options = _fail
    assert bad.refusal().startswith("failed to get device plugin options: ")
    assert kubelet.resource(WIDGET).allocatable == 2
    plugin.stop()
    if world.profile.era is Era.BY_NAME:
        with pytest.raises(TimeoutError):
            kubelet.await_resource(WIDGET, _gone, 0.5)
    else:
        kubelet.await_resource(WIDGET, _gone)


def _fail(context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.INTERNAL, "no options today")
