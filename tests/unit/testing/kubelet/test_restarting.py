"""What a kubelet remembers of its former life, and when a plugin may come back."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import grpc
import pytest

from deviceplugin.testing.kubelet import (
    CheckpointWritten,
    Device,
    FakeKubelet,
    History,
    Limits,
    Pod,
    PodAdmitted,
    PodRejected,
    Registered,
)
from deviceplugin.testing.kubelet.checkpoint import CheckpointFile
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing, Seen

    from deviceplugin.testing.kubelet import Profile

WIDGET = "example.com/widget"
PATIENCE = 20.0
CHECKPOINT = "kubelet_internal_checkpoint"


@pytest.fixture
def two(kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing) -> BarePlugin:
    """Give the test a registered plugin with two devices."""
    plugin.send(*listing("a", "b"))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, PATIENCE)
    kubelet.history.await_count(CheckpointWritten, 1, timeout=PATIENCE)
    return plugin


def come_back(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """Let the plugin make a new socket and register again."""
    plugin.stop()
    plugin.serve().register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, PATIENCE)


class TestTheCheckpoint:
    """The file in the plugin directory."""

    def test_it_is_renamed_into_place(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
        seen: Seen,
    ) -> None:
        """Each list and each allocation shows a new dot-file, and a move to the name."""
        plugin.register()
        seen.take()
        plugin.send(*listing("a"))
        kubelet.history.await_count(CheckpointWritten, 1, timeout=PATIENCE)
        listed = seen.take()
        kubelet.admit(Pod.asking("p", {WIDGET: 1}))
        allocated = seen.take()
        for events in (listed, allocated):
            kinds = [(event, name.startswith(".")) for event, name in events]
            assert kinds[0] == ("CREATE", True)
            assert kinds[-1] == ("MOVED_TO", False)
            assert events[-1][1] == CHECKPOINT

    def test_it_says_who_holds_what(self, kubelet: FakeKubelet, two: BarePlugin) -> None:
        """Others may read there which ids a container has."""
        pod = Pod.asking("p", {WIDGET: 2})
        kubelet.admit(pod)
        data = json.loads((kubelet.directory / CHECKPOINT).read_text())["Data"]
        (entry,) = data["PodDeviceEntries"]
        assert (entry["PodUID"], entry["ContainerName"]) == (pod.uid, "main")
        assert entry["ResourceName"] == two.resource
        assert sorted(entry["DeviceIDs"]["-1"]) == ["a", "b"]
        assert sorted(data["RegisteredDevices"][WIDGET]) == ["a", "b"]


class TestAfterARestart:
    """The checkpoint has been read."""

    def test_a_known_resource_is_empty_until_it_is_listed(
        self,
        kubelet: FakeKubelet,
        two: BarePlugin,
    ) -> None:
        """The name is remembered, the devices are not: 0 of 0, nobody to ask."""
        kubelet.restart()
        view = kubelet.resource(WIDGET)
        assert (view.known, view.capacity, view.stopped) == (True, 0, True)
        come_back(kubelet, two)

    def test_a_new_pod_fails_until_then(self, kubelet: FakeKubelet, two: BarePlugin) -> None:
        """A plugin that is slow to register costs pods their life."""
        kubelet.restart()
        verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
        assert isinstance(verdict, PodRejected)
        assert "no healthy devices present" in verdict.message
        come_back(kubelet, two)
        assert isinstance(kubelet.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)

    def test_pods_keep_their_devices(self, kubelet: FakeKubelet, two: BarePlugin) -> None:
        """What was held before is not free, and Allocate is not called again for it."""
        pod = Pod.asking("p", {WIDGET: 1})
        first = kubelet.admit(pod)
        kubelet.restart()
        come_back(kubelet, two)
        assert kubelet.admit(pod) == first
        assert len(two.calls("Allocate")) == 1
        assert isinstance(kubelet.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)
        assert isinstance(kubelet.admit(Pod.asking("r", {WIDGET: 1})), PodRejected)

    def test_a_kubelet_of_another_process_remembers_as_well(
        self,
        kubelet: FakeKubelet,
        two: BarePlugin,
    ) -> None:
        """All there is to know is in the directory."""
        kubelet.admit(Pod.asking("p", {WIDGET: 2}))
        kubelet.stop()
        with FakeKubelet(kubelet.directory, profile=kubelet.profile) as other:
            come_back(other, two)
            verdict = other.admit(Pod.asking("q", {WIDGET: 1}))
            assert isinstance(verdict, PodRejected)
            assert "Available: 0" in verdict.message

    def test_without_the_checkpoint_all_is_forgotten(
        self,
        kubelet: FakeKubelet,
        two: BarePlugin,
    ) -> None:
        """A damaged file does not stop the start, and held devices are given out again."""
        kubelet.admit(Pod.asking("p", {WIDGET: 2}))
        kubelet.stop()
        (kubelet.directory / CHECKPOINT).write_text("damaged")
        kubelet.start()
        assert not kubelet.resource(WIDGET).known
        come_back(kubelet, two)
        verdict = kubelet.admit(Pod.asking("q", {WIDGET: 2}))
        assert isinstance(verdict, PodAdmitted)
        assert verdict.containers["main"].ids[WIDGET] == {"a", "b"}

    def test_a_dead_kubelet_writes_nothing(self, directory: Path, profile: Profile) -> None:
        """What is still under way when it dies must not spoil the file of the next one."""
        watch, file = Watch(), CheckpointFile(directory / CHECKPOINT)
        manager = DeviceManager(watch, profile, Limits(), History(watch), file)
        manager.receive(WIDGET, [Device(id="a")])
        manager.close()
        manager.write_checkpoint()
        assert list(directory.iterdir()) == []


class TestComingBack:
    """A plugin and a new kubelet."""

    def test_a_socket_from_before_the_cleaning_cannot_be_dialled(
        self,
        directory: Path,
        profile: Profile,
        plugin: BarePlugin,
    ) -> None:
        """Its file is gone though the plugin still listens: Register waits out the dial."""
        with FakeKubelet(directory, profile=profile, limits=Limits(dial=0.3)) as kubelet:
            assert not (directory / plugin.endpoint).exists()
            with pytest.raises(grpc.RpcError, match="failed to dial"):
                plugin.register()
            assert kubelet.history.of(Registered) == ()

    def test_any_number_of_restarts_ends_registered(
        self,
        kubelet: FakeKubelet,
        two: BarePlugin,
    ) -> None:
        """Back to back, without any gap."""
        for _ in range(5):
            kubelet.restart()
        come_back(kubelet, two)
        assert kubelet.streams(WIDGET) == 1

    def test_a_restart_while_register_is_pending(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        in_thread: Callable[..., Future[None]],
    ) -> None:
        """Nothing of it is left in the new kubelet."""
        gate = threading.Event()
        plugin.on_options = lambda _: gate.wait(PATIENCE)
        pending = in_thread(plugin.register)
        plugin.await_calls("GetDevicePluginOptions", 1)
        kubelet.restart()
        gate.set()
        assert isinstance(pending.exception(PATIENCE), grpc.RpcError)
        assert kubelet.resource(WIDGET).endpoint is None
        assert kubelet.history.of(Registered) == ()
