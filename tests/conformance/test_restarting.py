"""What outlives a kubelet, and what does not."""

import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.conformance.bare import WIDGET, devices, granting
from tests.conformance.kubelets import Kubelet
from tests.conformance.world import World, healthy_ids

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.testing.kubelet import Container, Pod, PodAdmitted, PodRejected

CHECKPOINT = "kubelet_internal_checkpoint"


def _settled(directory: Path) -> set[str]:
    """Return the names in a directory once the checkpoint has been written."""
    while CHECKPOINT not in (names := {path.name for path in directory.iterdir()}) or any(
        name.startswith(".") for name in names
    ):
        time.sleep(0.01)
    return names


def _dead_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def test_a_start_removes_sockets_and_links_to_them(world: World) -> None:
    """In the directory itself, not in folders; the target of a link stays where it is."""
    kubelet, directory = world.kubelet(start=False), world.directory
    folder = directory / "folder"
    folder.mkdir()
    (directory / "empty").mkdir()
    for path in (directory / "kubelet.sock", directory / "a.sock", folder / "b.sock"):
        _dead_socket(path)
    (directory / "link").symlink_to(folder / "b.sock")
    (directory / "folder-link").symlink_to(folder)
    (directory / "text").write_text("kept?")
    (directory / "text-link").symlink_to(directory / "text")
    (directory / "dangling").symlink_to(directory / "nowhere")
    kubelet.start()
    left = {path.name for path in directory.iterdir()} - {CHECKPOINT}
    kept = {"kubelet.sock", "folder", "empty"}
    if not world.profile.removes_plain_files:
        kept |= {"text", "text-link", "dangling", "folder-link"}
    assert left == kept
    assert (folder / "b.sock").is_socket()


@pytest.mark.parametrize("how", ["stop", "crash"])
def test_an_end_leaves_every_file_and_cuts_every_stream(world: World, how: str) -> None:
    """By whichever signal; a dead kubelet.sock refuses connections."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b")
    before = _settled(world.directory)
    getattr(kubelet, how)()
    assert plugin.streams[0].over.wait(5)
    assert {path.name for path in world.directory.iterdir()} == before
    with pytest.raises(ConnectionRefusedError), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(world.directory / "kubelet.sock"))


def test_what_a_watcher_of_the_directory_sees(world: World) -> None:
    """Nothing when a kubelet dies; when one starts, sockets go, and at last its own comes."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a")
    _settled(world.directory)
    with _watching(world.directory) as look:
        kubelet.crash()
        assert look() == []
        kubelet.start()
        seen = look()
    *before, last = [each for each in seen if not each[1].startswith((".", CHECKPOINT))]
    assert last == ("CREATE", "kubelet.sock")
    assert sorted(before) == [("DELETE", "bare.sock"), ("DELETE", "kubelet.sock")]


@contextmanager
def _watching(directory: Path) -> Generator[Callable[[], list[tuple[str, str]]]]:
    """Give a way to take what inotify has shown since the last look."""
    inotify: Any = import_module("inotify_simple")
    with inotify.INotify() as watch:
        wanted = ("CREATE", "DELETE", "MOVED_TO", "DELETE_SELF")
        watch.add_watch(directory, sum(inotify.flags[name] for name in wanted))
        yield lambda: [
            (inotify.flags.from_mask(event.mask)[0].name, event.name)
            for event in watch.read(timeout=100)
        ]


def test_a_remembered_resource_has_nothing_until_it_is_listed(world: World) -> None:
    """0 of 0; a new pod fails meanwhile, for good."""
    kubelet = world.kubelet()
    world.listed(kubelet, world.plugin(), "a b")
    kubelet.restart()
    seen = kubelet.resource(WIDGET)
    assert seen.known
    assert (seen.capacity, seen.allocatable) == (0, 0)
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert isinstance(verdict, PodRejected)
    assert "no healthy devices present" in verdict.message
    world.listed(kubelet, world.plugin("again.sock"), "a b")
    assert kubelet.resource(WIDGET).capacity == 2


def test_pods_keep_their_devices_and_answers(world: World) -> None:
    """No plugin is asked again, and nobody else gets what they hold."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.on_allocate = granting(wire.ContainerAllocateResponse(envs={"A": "1"}))
    world.listed(kubelet, plugin, "a b")
    pod = Pod.asking("p", {WIDGET: 1})
    assert isinstance(kubelet.admit(pod), PodAdmitted)
    (held,) = plugin.asked()
    for number in range(3):
        kubelet.restart()
        again = world.plugin(f"again{number}.sock")
        world.listed(kubelet, again, "a b")
        assert isinstance(kubelet.admit(pod), PodAdmitted)
        assert kubelet.start_container(pod, "main").answer.envs == {"A": "1"}
        other = Pod.asking("q", {WIDGET: 1})
        assert isinstance(kubelet.admit(other), PodAdmitted)
        assert again.asked() == [{"a", "b"} - held]
        kubelet.remove(other)


def test_a_pod_whose_init_container_is_done_is_not_asked_for_again(world: World) -> None:
    """Both containers are in the checkpoint."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b c")
    pod = Pod("p", [Container("init", {WIDGET: 1}, init=True), Container("main", {WIDGET: 2})])
    assert isinstance(kubelet.admit(pod), PodAdmitted)
    kubelet.restart()
    again = world.plugin("again.sock")
    world.listed(kubelet, again, "a b c")
    assert isinstance(kubelet.admit(pod), PodAdmitted)
    assert again.asked() == []


@pytest.mark.parametrize(
    "content", ["", "{", "null", "[]", '{"Data":{},"Checksum":1}', "\0\1\2"], ids=repr
)
def test_a_damaged_checkpoint_is_forgotten(world: World, content: str) -> None:
    """The kubelet starts, and gives held devices away a second time."""
    kubelet = world.kubelet()
    world.listed(kubelet, world.plugin(), "a")
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
    kubelet.stop()
    (world.directory / CHECKPOINT).write_text(content)
    kubelet.start()
    assert not kubelet.resource(WIDGET).known
    again = world.plugin("again.sock")
    world.listed(kubelet, again, "a")
    assert isinstance(kubelet.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)
    assert again.asked() == [{"a"}]


@pytest.mark.parametrize("kind", ["directory", "link to itself", "deep"])
def test_a_checkpoint_that_cannot_be_read_stops_no_kubelet(world: World, kind: str) -> None:
    """It is as none, and what is listed counts."""
    kubelet = world.kubelet()
    kubelet.stop()
    path = world.directory / CHECKPOINT
    path.unlink(missing_ok=True)
    if kind == "directory":
        path.mkdir()
    elif kind == "link to itself":
        path.symlink_to(path)
    else:
        path.write_text("[" * 200_000)
    kubelet.start()
    world.listed(kubelet, world.plugin(), "a")


def test_a_kubelet_whose_socket_is_gone_lives_on(world: World) -> None:
    """Streams stay and lists count; nobody can register, and it never listens again."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a")
    (world.directory / "kubelet.sock").unlink()
    plugin.send(*devices("a b"))
    kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == {"a", "b"})
    assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
    with pytest.raises(grpc.RpcError) as refused:
        world.plugin("other.sock").register(timeout=0.5)
    assert isinstance(refused.value, grpc.Call)
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert not (world.directory / "kubelet.sock").exists()


def test_an_allocate_in_flight_ends_with_the_kubelet(world: World) -> None:
    """The pod is neither admitted nor rejected; nothing is held afterwards."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a")
    world.hold(plugin)
    admission = world.aside(lambda: kubelet.admit(Pod.asking("p", {WIDGET: 1})))
    plugin.await_calls("Allocate", 1)
    kubelet.crash()
    with pytest.raises(ConnectionError):
        admission.result(5)
    kubelet.start()
    again = world.plugin("again.sock")
    world.listed(kubelet, again, "a")
    assert isinstance(kubelet.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)


def test_a_pending_register_ends_with_the_kubelet(world: World) -> None:
    """UNAVAILABLE; whether it was taken is of no matter any more."""
    kubelet, plugin = world.kubelet(), world.plugin()
    gate = world.gate()
    plugin.on_options = lambda _: gate.wait()

    def register() -> grpc.StatusCode:
        with pytest.raises(grpc.RpcError) as refused:
            plugin.register()
        assert isinstance(refused.value, grpc.Call)
        return refused.value.code()

    pending = world.aside(register)
    plugin.await_calls("GetDevicePluginOptions", 1)
    kubelet.crash()
    assert pending.result(5) is grpc.StatusCode.UNAVAILABLE


def test_what_the_node_shows_outlives_the_kubelet(world: World) -> None:
    """A resource that is not there any more is shown with 0 of 0, not left out."""
    kubelet = world.kubelet()
    world.listed(kubelet, world.plugin(), "a b")
    assert _shown(kubelet) == (2, 2)
    kubelet.stop()
    (world.directory / CHECKPOINT).unlink()
    kubelet.start()
    assert _shown(kubelet) == (0, 0)


def _shown(kubelet: Kubelet) -> tuple[int, int]:
    quantity = kubelet.node_status()[WIDGET]
    return quantity.capacity, quantity.allocatable
