"""How a kubelet comes and goes, seen from the directory."""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import TYPE_CHECKING

import grpc
import pytest
from tests.unit.testing.kubelet.conftest import only

from deviceplugin.testing.kubelet import (
    FakeKubelet,
    KubeletDownError,
    KubeletRunningError,
    Pod,
    PodRejected,
    Profile,
    Started,
    Stopped,
    UnusableDirectoryError,
)
from deviceplugin.testing.kubelet.directory import clean

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing, Seen

WIDGET = "example.com/widget"
PATIENCE = 20.0


def leave_socket(path: Path) -> None:
    """Leave a socket file that nobody listens on."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))


def connect(path: Path) -> int:
    """Return the errno of a connection attempt."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path))


class TestCleaning:
    """What is thrown away before a kubelet listens."""

    @pytest.fixture
    def crowded(self, directory: Path) -> Path:
        """Fill the directory with all that may be found there."""
        for name in ("kubelet.sock", "a.sock", "b.sock"):
            leave_socket(directory / name)
        (directory / "folder").mkdir()
        leave_socket(directory / "folder" / "inner.sock")
        (directory / "target").mkdir()
        leave_socket(directory / "target" / "real.sock")
        (directory / "link.sock").symlink_to(directory / "target" / "real.sock")
        (directory / "dangling.sock").symlink_to(directory / "nowhere")
        (directory / "DEPRECATION").touch()
        (directory / "lock").touch()
        (directory / "kubelet_internal_checkpoint").write_text("{}")
        return directory

    @only(Profile.V1_34, Profile.V1_36, Profile.V1_37)
    def test_sockets_go_and_nothing_else(self, crowded: Path, profile: Profile) -> None:
        """Its own old socket, the plugins', and links to sockets; never what is in folders."""
        clean(crowded, profile, Random(0))  # noqa: S311
        assert {path.name for path in crowded.iterdir()} == {
            "folder",
            "target",
            "dangling.sock",
            "DEPRECATION",
            "lock",
            "kubelet_internal_checkpoint",
        }
        assert (crowded / "folder" / "inner.sock").is_socket()
        assert (crowded / "target" / "real.sock").is_socket()

    def test_of_old_all_but_folders_went(self, crowded: Path) -> None:
        """The fact of 1.28: plain files and dangling links go too, the checkpoint stays."""
        clean(crowded, Profile.V1_28, Random(0))  # noqa: S311
        assert {path.name for path in crowded.iterdir()} == {
            "folder",
            "target",
            "kubelet_internal_checkpoint",
        }

    def test_the_order_is_arbitrary(self, directory: Path, seen: Seen) -> None:
        """Over many starts its own socket goes before a plugin's, and after it."""
        orders: set[tuple[str, ...]] = set()
        kubelet = FakeKubelet(directory)
        for _ in range(20):
            leave_socket(directory / "plugin.sock")
            with kubelet:
                events = seen.take()
            orders.add(tuple(name for event, name in events if event == "DELETE"))
        both = {("kubelet.sock", "plugin.sock"), ("plugin.sock", "kubelet.sock")}
        assert both <= orders

    def test_it_is_all_gone_before_the_new_socket_comes(
        self,
        crowded: Path,
        profile: Profile,
        seen: Seen,
    ) -> None:
        """Watchers see each DELETE, then one CREATE of kubelet.sock, and nothing else of it."""
        with FakeKubelet(crowded, profile=profile):
            events = [(e, name) for e, name in seen.take() if not name.startswith(".")]
        gone = ["a.sock", "b.sock", "kubelet.sock", "link.sock"]
        if profile.version == "1.28":
            gone = ["DEPRECATION", *gone[:2], "dangling.sock", *gone[2:], "lock"]
        assert sorted(events[:-1]) == [("DELETE", name) for name in gone]
        assert events[-1] == ("CREATE", "kubelet.sock")


class TestTheWayUp:
    """From cleaning to listening."""

    def test_a_missing_directory_is_made(self, directory: Path) -> None:
        """Folders on the way are made too."""
        with FakeKubelet(directory / "var" / "device-plugins") as kubelet:
            assert kubelet.socket.is_socket()

    def test_it_may_take_time_from_cleaning_to_binding(
        self,
        directory: Path,
        in_thread: Callable[..., Future[None]],
        seen: Seen,
    ) -> None:
        """Between the two there is no kubelet.sock."""
        leave_socket(directory / "kubelet.sock")
        kubelet = FakeKubelet(directory)
        kubelet.faults.clean_to_bind = 0.2
        seen.take()
        pending = in_thread(kubelet.start)
        assert seen.wait() == [("DELETE", "kubelet.sock")]
        assert connect(kubelet.socket) == errno.ENOENT
        pending.result()
        assert connect(kubelet.socket) == 0
        kubelet.stop()

    def test_it_may_take_time_from_binding_to_listening(
        self,
        directory: Path,
        in_thread: Callable[..., Future[None]],
        seen: Seen,
    ) -> None:
        """Between the two kubelet.sock is there and refuses connections."""
        kubelet = FakeKubelet(directory)
        kubelet.faults.bind_to_listen = 0.2
        pending = in_thread(kubelet.start)
        assert seen.wait() == [("CREATE", "kubelet.sock")]
        assert connect(kubelet.socket) == errno.ECONNREFUSED
        pending.result()
        assert connect(kubelet.socket) == 0
        kubelet.stop()

    @pytest.mark.parametrize("fault", ["clean_to_bind", "bind_to_listen"])
    def test_it_can_be_stopped_on_the_way(
        self,
        directory: Path,
        in_thread: Callable[..., Future[None]],
        fault: str,
    ) -> None:
        """However long the way is; what is waited for is given up."""
        kubelet = FakeKubelet(directory)
        setattr(kubelet.faults, fault, 3600.0)
        starting = in_thread(kubelet.start)
        while not starting.done():
            kubelet.stop()
            time.sleep(0.001)
        starting.result()
        kubelet.stop()
        assert not kubelet.running

    def test_it_does_not_start_twice(self, kubelet: FakeKubelet) -> None:
        """A second start is an error, and the kubelet runs on."""
        with pytest.raises(KubeletRunningError):
            kubelet.start()
        assert kubelet.running

    def test_what_cannot_be_bound_is_an_error(self, directory: Path) -> None:
        """A folder in the place of kubelet.sock is not cleaned away, and nothing is left open."""
        (directory / "kubelet.sock").mkdir()
        threads = threading.active_count()
        kubelet = FakeKubelet(directory)
        with pytest.raises(OSError, match="in use"):
            kubelet.start()
        assert not kubelet.running
        assert threading.active_count() == threads
        (directory / "kubelet.sock").rmdir()
        with kubelet:
            assert kubelet.running


class TestDeath:
    """What is left of a kubelet."""

    @pytest.mark.parametrize("die", [FakeKubelet.stop, FakeKubelet.crash])
    def test_the_directory_shows_nothing(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        seen: Seen,
        die: Callable[[FakeKubelet], None],
    ) -> None:
        """However it dies: no event, kubelet.sock and the plugin's socket stay, nobody listens."""
        plugin.register()
        inode = kubelet.socket.stat().st_ino
        seen.take()
        die(kubelet)
        assert seen.take() == []
        assert kubelet.socket.stat().st_ino == inode
        assert connect(kubelet.socket) == errno.ECONNREFUSED
        assert connect(kubelet.directory / plugin.endpoint) == 0

    @pytest.mark.parametrize("die", [FakeKubelet.stop, FakeKubelet.crash])
    def test_all_streams_are_cancelled(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
        die: Callable[[FakeKubelet], None],
    ) -> None:
        """The end of its stream is the one sign of death that a plugin gets."""
        plugin.send(*listing("a"))
        plugin.register()
        kubelet.await_resource(WIDGET, lambda seen: seen.known, PATIENCE)
        die(kubelet)
        assert plugin.streams[0].over.wait(PATIENCE)

    def test_a_pending_register_ends(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        in_thread: Callable[..., Future[None]],
    ) -> None:
        """The client loses its connection and has no answer; the call for options is cancelled."""
        over = threading.Event()

        def hang(context: grpc.ServicerContext) -> None:
            context.add_callback(over.set)
            over.wait(PATIENCE)

        plugin.on_options = hang
        pending = in_thread(plugin.register)
        plugin.await_calls("GetDevicePluginOptions", 1)
        kubelet.stop()
        lost = pending.exception(PATIENCE)
        assert isinstance(lost, grpc.Call)
        assert lost.code() is grpc.StatusCode.UNAVAILABLE
        assert over.wait(PATIENCE)

    def test_a_pending_allocate_ends(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
        in_thread: Callable[..., Future[object]],
    ) -> None:
        """The plugin's call is cancelled, and nobody learns how the admission would have ended."""
        gate = plugin.hold_allocate()
        plugin.send(*listing("a"))
        plugin.register()
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        pending = in_thread(kubelet.admit, Pod.asking("p", {WIDGET: 1}))
        plugin.await_calls("Allocate", 1)
        kubelet.stop()
        assert isinstance(pending.exception(PATIENCE), KubeletDownError)
        gate.set()

    def test_a_dead_one_knows_nothing_and_does_nothing(self, directory: Path) -> None:
        """Before its first start and after its end there is nothing to ask."""
        kubelet = FakeKubelet(directory)
        assert not kubelet.resource(WIDGET).known
        with pytest.raises(KubeletDownError):
            kubelet.admit(Pod.asking("p", {WIDGET: 1}))
        kubelet.stop()

    def test_history_outlives_it(self, kubelet: FakeKubelet) -> None:
        """Starts and stops are on record, in order and with growing times."""
        kubelet.restart()
        kinds = [type(record) for record in kubelet.history]
        assert kinds == [Started, Stopped, Started]
        times = [record.at for record in kubelet.history]
        assert times == sorted(times)


class TestALostSocket:
    """Somebody deletes kubelet.sock under a live kubelet."""

    def test_nothing_happens(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """It does not notice: streams stay, it says it runs, and nobody can register any more."""
        plugin.register()
        kubelet.socket.unlink()
        plugin.send(*listing("a"))
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        assert kubelet.running
        assert connect(kubelet.socket) == errno.ENOENT

    def test_a_lost_directory_is_no_different(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """Lists are taken though they cannot be written down; a pod fails for that reason."""
        plugin.register()
        rmtree(kubelet.directory)
        kubelet.directory.mkdir()
        rmtree(kubelet.directory)
        plugin.send(*listing("a"))
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
        assert isinstance(verdict, PodRejected)
        assert "failed to write checkpoint file" in verdict.message
        kubelet.restart()
        assert connect(kubelet.socket) == 0

    def test_a_restart_heals_it(self, kubelet: FakeKubelet) -> None:
        """The next one listens again."""
        kubelet.socket.unlink()
        kubelet.restart(gap=0.01)
        assert connect(kubelet.socket) == 0

    def test_a_socket_that_may_not_be_removed_is_told_with_the_way_out(
        self, kubelet: FakeKubelet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As a directory is in which none can be made."""
        kubelet.stop()
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(kubelet.directory / "left.sock"))

        def refuse(path: Path, *, missing_ok: bool = False) -> None:
            del missing_ok
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", refuse)
            with pytest.raises(
                UnusableDirectoryError, match=r"left\.sock'; give one that you may"
            ):
                kubelet.start()
        kubelet.start()
        assert connect(kubelet.socket) == 0
