"""What commands have a simulated kubelet do."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import grpc
import pytest
from tests.unit.testing.kubelet.conftest import WIDGET, BarePlugin

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.app.simulation import commands as do
from deviceplugin.app.simulation.grammar import GRAMMAR, parse
from deviceplugin.app.simulation.player import CommandFailedError, Player
from deviceplugin.app.simulation.screen import told
from deviceplugin.testing.kubelet import CheckpointWritten, FakeKubelet, ListReceived, StreamEnded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Paper:
    """A screen that keeps what it is shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.rows: list[Sequence[str]] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        self.rows = [list(row) for row in rows]
        assert all(len(row) == len(headings) for row in self.rows)


class Play:
    """A running kubelet, a plugin beside it, and a player that is told lines."""

    def __init__(self, kubelet: FakeKubelet) -> None:
        self.kubelet = kubelet
        self.paper = Paper()
        self.player = Player(kubelet, self.paper)
        self.plugin = BarePlugin(kubelet.directory)
        self.plugin.send(*(pb.Device(ID=each, health="Healthy") for each in "abc"))

    def __call__(self, line: str) -> None:
        """Have it do what a line says."""
        command = parse(line)
        assert command is not None
        self.player.play(command)

    def problem(self, line: str) -> str:
        """Return the text with which a line fails."""
        with pytest.raises(CommandFailedError) as caught:
            self(line)
        return str(caught.value)


@pytest.fixture
def play() -> Iterator[Play]:
    """Give the test a kubelet that runs, and a plugin that does not yet."""
    with (
        TemporaryDirectory(prefix="fk-") as path,
        FakeKubelet(Path(path, "device-plugins")) as kubelet,
    ):
        play = Play(kubelet)
        yield play
        play.plugin.stop()


@pytest.fixture
def on(play: Play) -> Play:
    """Give the test one whose plugin is registered with three devices."""
    play.plugin.serve().register()
    play(f"wait {WIDGET} allocatable 3")
    return play


def test_every_command_can_be_played() -> None:
    """None was forgotten."""
    handled = set(Player.__dict__["_do"].dispatcher.registry)
    assert handled - {object} == set(do.Command.__args__)


def test_it_lives_and_dies(play: Play) -> None:
    for line, lives in (("stop", False), ("start", True), ("crash", False), ("start", True)):
        play(line)
        assert play.kubelet.running is lives
    assert "running already" in play.problem("start")
    play("restart 0.01")
    assert play.kubelet.running
    play("stop")
    assert "is not running" in play.problem(f"allocate {WIDGET} 1")


def test_quit_ends_it(play: Play) -> None:
    play("show")
    assert not play.player.ended
    play("quit")
    assert play.player.ended


def test_a_stream_is_cut(on: Play) -> None:
    on(f"cut {WIDGET}")
    on(f"wait {WIDGET} allocatable 0")
    on(f"wait {WIDGET} streams 0")
    assert on.problem(f"cut {WIDGET}") == f"{WIDGET} has no stream to cut"


def test_registers_are_spoiled(play: Play) -> None:
    """Rejected with the reason, hung, late, or cut in place of the answer."""
    play.plugin.serve()
    play("reject 1 busy today")
    with pytest.raises(grpc.RpcError, match="busy today"):
        play.plugin.register()
    play("hang")
    with pytest.raises(grpc.RpcError, match="DEADLINE_EXCEEDED"):
        play.plugin.register(timeout=0.2)
    play(f"drop 1 of {WIDGET}")
    with pytest.raises(grpc.RpcError, match="UNAVAILABLE"):
        play.plugin.register()
    play(f"wait {WIDGET} registrations 1")
    play("restart")
    play.plugin.stop()
    play.plugin.serve()
    play("late 600")
    with pytest.raises(grpc.RpcError, match="DEADLINE_EXCEEDED"):
        play.plugin.register(timeout=0.5)
    play(f"wait {WIDGET} registrations 2")


def test_starts_are_delayed(play: Play) -> None:
    play("delay 0.25 listen 0.5")
    assert play.kubelet.faults.clean_to_bind == 0.25
    assert play.kubelet.faults.bind_to_listen == 0.5
    play("delay 0")
    assert play.kubelet.faults.bind_to_listen == 0


def test_the_directory_goes_and_comes(play: Play) -> None:
    directory = play.kubelet.directory
    play("delete-directory")
    assert not directory.exists()
    assert "No such file" in play.problem("delete-directory")
    play("make-directory")
    assert list(directory.iterdir()) == []
    play("restart")
    assert play.kubelet.socket.is_socket()


def test_the_directory_becomes_a_link(on: Play) -> None:
    """What was in it is reached through the link; deleting it leaves neither."""
    directory = on.kubelet.directory
    on("link-directory")
    aside = directory.with_name("device-plugins.1")
    assert directory.readlink() == aside
    assert on.paper.lines == [f"{directory} is a link to {aside} now"]
    assert on.kubelet.socket.is_socket()
    on("link-directory")
    assert directory.readlink() == directory.with_name("device-plugins.1.1")
    on("delete-directory")
    assert not directory.is_symlink()
    assert not aside.exists()


def test_a_pod_gets_devices(on: Play) -> None:
    """Its init container first; all that it is given is shown."""
    answer = pb.ContainerAllocateResponse(
        envs={"A": "1"},
        annotations={"k": "v"},
        devices=[pb.DeviceSpec(container_path="/dev/x", host_path="/dev/y", permissions="rw")],
        mounts=[pb.Mount(container_path="/m", host_path="/h", read_only=True)],
        cdi_devices=[pb.CDIDevice(name="v/c=1")],
    )
    on.plugin.on_allocate = lambda _: pb.AllocateResponse(container_responses=[answer])
    on(f"allocate {WIDGET} 3 --init 2")
    assert on.paper.lines == ["pod-1 admitted"]
    made = on.paper.rows
    assert [row[:2] for row in made].count(["init", WIDGET]) == 1
    assert ["main", WIDGET, "a, b, c", ""] in made
    assert [row[1:] for row in made if row[0] == "main"][1:] == [
        ["device", "/dev/x (rw)", "/dev/y"],
        ["mount", "/m (read-only)", "/h"],
        ["environment", "A=1", ""],
        ["annotation", "k=v", ""],
        ["CDI device", "v/c=1", ""],
    ]
    assert len(on.plugin.calls("Allocate")) == 2
    on(f"wait {WIDGET} allocated 3")


def test_a_pod_that_is_rejected_is_a_failure(on: Play) -> None:
    assert on.problem(f"allocate {WIDGET} 4 --pod big") == (
        "big rejected: UnexpectedAdmissionError: Allocate failed due to requested number of "
        f"devices unavailable for {WIDGET}. Requested: 4, Available: 3, which is unexpected"
    )
    on(f"allocate {WIDGET} 3 --pod big")


def test_pods_are_known_by_name(on: Play) -> None:
    on(f"allocate {WIDGET} 3 --pod p --namespace n")
    assert "write `remove p` first" in on.problem(f"allocate {WIDGET} 1 --pod p")
    assert on.problem("remove q") == "there is no pod q; there is p"
    on("restart")
    on.plugin.stop()
    on.plugin.serve().register()
    on(f"wait {WIDGET} allocatable 3")
    on("again p")
    on("pod-resources")
    assert on.paper.rows == [["n", "p", "main", WIDGET, each, "-"] for each in "abc"]
    on("remove p")
    on("pod-resources")
    assert on.paper.rows == []
    on(f"allocate {WIDGET} 3 --pod p")


def test_pods_that_an_earlier_process_left_are_known_by_uid(on: Play) -> None:
    """All that is done to a pod can be done to them; a refusal tells which there are."""
    on(f"allocate {WIDGET} 2 --init 1 --pod p")
    (pod,) = on.kubelet.pods
    on("stop")
    with FakeKubelet(on.kubelet.directory) as kubelet:
        second = Play(kubelet)
        assert second.problem("remove p") == f"there is no pod p; there is {pod.uid}"
        second.plugin.serve().register()
        second(f"wait {WIDGET} allocatable 3")
        second(f"again {pod.uid}")
        assert second.paper.lines == [f"{pod.uid} admitted"]
        second(f"pre-start {pod.uid}")
        second("pod-resources")
        assert {(row[1], row[2]) for row in second.paper.rows} >= {(pod.uid, "main")}
        assert second.plugin.calls("Allocate") == []
        second(f"remove {pod.uid}")
        assert second.problem(f"again {pod.uid}").endswith("there is none")
        second(f"allocate {WIDGET} 3 --pod p")
        second.plugin.stop()


def test_a_dead_kubelet_tells_nobody_who_holds_what(on: Play) -> None:
    """Its socket is there, and nobody answers."""
    on("stop")
    problem = on.problem("pod-resources")
    assert problem.startswith(f"{on.kubelet.pod_resources}: rpc error: code = Unavailable")


def test_nodes_of_a_held_device_are_told_together(on: Play) -> None:
    """However many entries it has."""
    nodes = pb.TopologyInfo(nodes=[pb.NUMANode(ID=0), pb.NUMANode(ID=1)])
    on.plugin.send(pb.Device(ID="x", health="Healthy", topology=nodes))
    on(f"wait {WIDGET} capacity 1")
    on(f"allocate {WIDGET} 1")
    on("pod-resources")
    assert on.paper.rows == [["default", "pod-1", "main", WIDGET, "x", "0, 1"]]


def test_a_container_starts(on: Play) -> None:
    on(f"allocate {WIDGET} 1 --pod p")
    on("pre-start p")
    assert on.paper.lines[-1] == "main of p started"
    assert "has no container 'side'" in on.problem("pre-start p side")


def test_a_preference_is_asked_for(play: Play) -> None:
    """Of those that are free; nobody gets them."""
    play.plugin.options = pb.DevicePluginOptions(get_preferred_allocation_available=True)
    play.plugin.on_prefer = lambda _: ["c", "a"]
    play.plugin.serve().register()
    play(f"wait {WIDGET} allocatable 3")
    play(f"prefer {WIDGET} 2")
    assert play.paper.lines == ["preferred: a, c"]
    (call,) = play.plugin.calls("GetPreferredAllocation")
    assert set(call.request.container_requests[0].available_deviceIDs) == set("abc")
    play(f"wait {WIDGET} allocated 0")
    assert "unknown Device Plugin" in play.problem("prefer example.com/gadget 1")


def test_who_offers_no_preference_is_not_asked(on: Play) -> None:
    assert "does not offer GetPreferredAllocation" in on.problem(f"prefer {WIDGET} 1")


def test_the_node_is_shown(on: Play) -> None:
    on("show")
    assert on.paper.lines == [f"Kubernetes 1.37 at {on.kubelet.socket} runs"]
    assert on.paper.rows == [[WIDGET, "3", "3", "0", "1", "bare.sock"]]


def test_waiting_in_vain_tells_what_there_is(on: Play) -> None:
    assert on.problem(f"wait {WIDGET} capacity 4 within 0.01") == (
        f"after 0.01 s {WIDGET} has capacity 3, not 4"
    )


def test_what_must_fail_may_not_succeed(on: Play) -> None:
    on(f"fails allocate {WIDGET} 4")
    assert on.paper.lines[0].startswith("as it must, this failed: pod-1 rejected")
    assert on.problem("fails show") == "it did not fail"


def test_help_shows_every_command(play: Play) -> None:
    play("help")
    assert [row[0].split()[0] for row in play.paper.rows] == list(GRAMMAR)
    play("sleep 0")


def test_what_happens_is_told_in_a_line() -> None:
    """But for checkpoints, of which there are too many."""
    assert told(CheckpointWritten()) is None
    heard = ListReceived(resource=WIDGET, endpoint="a.sock", devices=3, size=40)
    assert told(heard) == f"* ListReceived resource={WIDGET} endpoint=a.sock devices=3 size=40"
    ended = StreamEnded(resource=WIDGET, endpoint="a.sock", reason="EOF")
    assert told(ended) == f"* StreamEnded resource={WIDGET} endpoint=a.sock reason=EOF"
