"""plugins_registry: plugins that are found, and need not call Register."""

from __future__ import annotations

import threading
import time
from concurrent import futures
from itertools import pairwise
from queue import SimpleQueue
from typing import TYPE_CHECKING

import attrs
import grpc
import pytest
from tests.unit.testing.kubelet.conftest import PATIENCE, WIDGET, BarePlugin

from deviceplugin.adapters.kubelet.wire import pluginregistration_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import (
    add_DevicePluginServicer_to_server,
)
from deviceplugin.adapters.kubelet.wire.pluginregistration_pb2_grpc import (
    RegistrationServicer,
    add_RegistrationServicer_to_server,
)
from deviceplugin.testing.kubelet import (
    REAL_LIMITS,
    Deregistered,
    FakeKubelet,
    InfoAsked,
    Limits,
    ListReceived,
    Profile,
    StatusSent,
    StreamEnded,
    Unserved,
)
from deviceplugin.testing.kubelet.registry_files import RegistryFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unit.testing.kubelet.conftest import Listing

# What the plugin has for its answers stays: a busy machine needs it.
HASTY = attrs.evolve(REAL_LIMITS.scaled(0.05), plugin_info=1.0, plugin_status=5.0)
INVALID = "RegisterPlugin error -- plugin validation failed with err:"


class WatchedPlugin(RegistrationServicer):
    """Serves the registration service, and beside it a device plugin, at one socket."""

    def __init__(self, path: Path, devices: BarePlugin) -> None:
        """Serve nothing yet."""
        self.path = path
        self.devices = devices
        self.info = wire.PluginInfo(
            type="DevicePlugin", name=WIDGET, supported_versions=["v1beta1"]
        )
        self.statuses: SimpleQueue[wire.RegistrationStatus] = SimpleQueue()
        self.seconds_left: dict[str, float] = {}
        self.gate = threading.Event()
        self.gate.set()
        self.refuses_status = False
        self._server: grpc.Server | None = None

    def serve(self, *, alone: bool = False) -> None:
        """Create the socket; `alone` without the device plugin."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._server = grpc.server(futures.ThreadPoolExecutor(16))
        add_RegistrationServicer_to_server(self, self._server)
        if not alone:
            add_DevicePluginServicer_to_server(self.devices, self._server)
        self._server.add_insecure_port(f"unix:{self.path}")
        self._server.start()

    def stop(self) -> None:
        """Die, and the socket goes."""
        self.gate.set()
        if self._server is not None:
            self._server.stop(None).wait()
            self._server = None

    def GetInfo(  # noqa: N802
        self, request: wire.InfoRequest, context: grpc.ServicerContext
    ) -> wire.PluginInfo:
        del request
        self.seconds_left["GetInfo"] = context.time_remaining()
        self.gate.wait(PATIENCE)
        return self.info

    def NotifyRegistrationStatus(  # noqa: N802
        self, request: wire.RegistrationStatus, context: grpc.ServicerContext
    ) -> wire.RegistrationStatusResponse:
        self.seconds_left["NotifyRegistrationStatus"] = context.time_remaining()
        self.statuses.put(request)
        if self.refuses_status:
            context.abort(grpc.StatusCode.INTERNAL, "no thanks")
        return wire.RegistrationStatusResponse()


@pytest.fixture
def kubelet(directory: Path, profile: Profile) -> Iterator[FakeKubelet]:
    """Give the test a kubelet whose clocks run twenty times as fast; it does not run yet."""
    kubelet = FakeKubelet(directory, profile=profile, limits=HASTY)
    yield kubelet
    kubelet.stop()


@pytest.fixture
def make(kubelet: FakeKubelet, listing: Listing) -> Iterator[Callable[[str], WatchedPlugin]]:
    """Give the test a maker of plugins with two devices, which serve not yet."""
    made: list[WatchedPlugin] = []

    def plugin(name: str = "w.sock") -> WatchedPlugin:
        devices = BarePlugin(kubelet.directory)
        devices.send(*listing("a", "b"))
        made.append(WatchedPlugin(kubelet.registry / name, devices))
        return made[-1]

    yield plugin
    for each in made:
        each.stop()


@pytest.fixture
def watched(make: Callable[[str], WatchedPlugin]) -> WatchedPlugin:
    """Give the test one such plugin."""
    return make("w.sock")


def await_allocatable(kubelet: FakeKubelet, count: int) -> None:
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == count, PATIENCE)


def await_statuses(kubelet: FakeKubelet, count: int) -> list[str]:
    return [s.error for s in kubelet.history.await_count(StatusSent, count, timeout=PATIENCE)]


def in_folder(watched: WatchedPlugin) -> None:
    watched.path = watched.path.parent / "sub" / "w.sock"


@pytest.mark.parametrize("early", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("where", [bool, in_folder], ids=["top", "folder"])
def test_a_socket_is_found(
    kubelet: FakeKubelet,
    watched: WatchedPlugin,
    early: bool,  # noqa: FBT001
    where: Callable[[WatchedPlugin], object],
) -> None:
    """Whether it was there before the kubelet or comes after it, also in a folder."""
    where(watched)
    steps = [watched.serve, kubelet.start]
    for step in steps if early else reversed(steps):
        step()
    await_allocatable(kubelet, 2)
    assert await_statuses(kubelet, 1) == [""]
    assert kubelet.resource(WIDGET).endpoint == str(watched.path)
    assert watched.path.is_socket()


def test_the_plugin_has_deadlines(kubelet: FakeKubelet, watched: WatchedPlugin) -> None:
    """One second for GetInfo, five for NotifyRegistrationStatus."""
    watched.serve()
    kubelet.start()
    kubelet.history.await_count(ListReceived, 1, timeout=PATIENCE)
    assert watched.statuses.get(timeout=PATIENCE).plugin_registered
    watched.stop()
    assert 0 < watched.seconds_left["GetInfo"] < 1.1
    assert 1.1 < watched.seconds_left["NotifyRegistrationStatus"] < 5.1


def test_the_real_limits_are_those_of_the_kubelet() -> None:
    """A look each second, one second for GetInfo and five for the status, ten for dialling."""
    limits = Limits()
    assert (limits.registry_look, limits.plugin_info, limits.plugin_status) == (1, 1, 5)
    assert (limits.dial, limits.plugin_retry, limits.plugin_retry_most) == (10, 0.5, 122)


def test_a_socket_waits_for_the_next_look(directory: Path, profile: Profile) -> None:
    """What comes between two looks is found by the second, what was there by the first."""
    limits = Limits(registry_look=600)
    with FakeKubelet(directory, profile=profile, limits=limits) as kubelet:
        late = WatchedPlugin(kubelet.registry / "late.sock", BarePlugin(directory))
        kubelet.stop()
        early = WatchedPlugin(kubelet.registry / "early.sock", BarePlugin(directory))
        early.serve()
        kubelet.start()
        kubelet.history.await_count(StatusSent, 1, timeout=PATIENCE)
        late.serve()
        kubelet.restart()
        asked = kubelet.history.await_count(StatusSent, 3, timeout=PATIENCE)
        late.stop()
        early.stop()
    assert [each.socket for each in asked].count(str(early.path)) == 2
    assert [each.socket for each in asked].count(str(late.path)) == 1


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (
            wire.PluginInfo(type="DevicePlugin", name=WIDGET, supported_versions=["v1", "v2"]),
            f"{INVALID} manager version, v1beta1, is not among plugin supported versions [v1 v2]",
        ),
        (
            wire.PluginInfo(type="Toaster", name=WIDGET, supported_versions=["v1beta1"]),
            "RegisterPlugin error -- no handler registered for plugin type: Toaster at socket {}",
        ),
        (
            wire.PluginInfo(type="DevicePlugin", name="bad", supported_versions=["v1beta1"]),
            f'{INVALID} invalid name of device plugin socket: the ResourceName "bad" is invalid',
        ),
    ],
    ids=["version", "type", "name"],
)
def test_what_is_wrong_is_told_again_and_again(
    kubelet: FakeKubelet, watched: WatchedPlugin, fault: wire.PluginInfo, text: str
) -> None:
    """By a status with the reason; each time after a longer rest."""
    watched.info = fault
    watched.serve()
    kubelet.start()
    assert set(await_statuses(kubelet, 3)) == {text.format(watched.path)}
    for _ in range(2):
        assert not watched.statuses.get(timeout=PATIENCE).plugin_registered
    assert not kubelet.resource(WIDGET).known


def test_the_rests_double(kubelet: FakeKubelet, watched: WatchedPlugin) -> None:
    """Half a second at first, by the clock of the test a fortieth."""
    watched.info.type = "Toaster"
    watched.serve()
    kubelet.start()
    times = [each.at for each in kubelet.history.await_count(InfoAsked, 4, timeout=PATIENCE)]
    for number, (before, after) in enumerate(pairwise(times)):
        assert after - before > HASTY.plugin_retry * 2**number


def test_what_is_slow_is_asked_again(directory: Path, profile: Profile, listing: Listing) -> None:
    """GetInfo has its second and no more; no status is sent."""
    limits = attrs.evolve(HASTY, plugin_info=0.3)
    with FakeKubelet(directory, profile=profile, limits=limits) as kubelet:
        devices = BarePlugin(directory)
        devices.send(*listing("a"))
        watched = WatchedPlugin(kubelet.registry / "w.sock", devices)
        watched.gate.clear()
        watched.serve()
        kubelet.history.await_count(InfoAsked, 2, timeout=PATIENCE)
        assert kubelet.history.of(StatusSent) == ()
        watched.gate.set()
        await_allocatable(kubelet, 1)
        watched.stop()


def test_what_does_not_listen_is_dialled_again(
    kubelet: FakeKubelet, watched: WatchedPlugin
) -> None:
    """A dead socket is no plugin, until one lives there."""
    watched.serve()
    kept = watched.path.with_suffix(".kept")
    kept.hardlink_to(watched.path)
    watched.stop()
    kept.rename(watched.path)
    kubelet.start()
    time.sleep(HASTY.dial / 2)
    assert kubelet.history.of(InfoAsked) == ()
    watched.path.unlink()
    watched.serve()
    await_allocatable(kubelet, 2)


def test_dot_names_and_other_files_are_not_looked_at(
    kubelet: FakeKubelet, make: Callable[[str], WatchedPlugin]
) -> None:
    """They are for what is being made."""
    kubelet.start()
    hidden, plain = make(".w.sock"), make("w.sock")
    (kubelet.registry / "file").touch()
    hidden.serve()
    plain.serve()
    await_allocatable(kubelet, 2)
    assert {each.socket for each in kubelet.history.of(InfoAsked)} == {str(plain.path)}


def test_the_device_plugin_may_be_elsewhere(
    kubelet: FakeKubelet, watched: WatchedPlugin, plugin: BarePlugin, listing: Listing
) -> None:
    """Then the endpoint is its absolute path; if it is left out, the same socket serves both."""
    plugin.send(*listing("c"))
    watched.info.endpoint = str(kubelet.directory / plugin.endpoint)
    kubelet.start()
    plugin.serve()
    watched.serve(alone=True)
    await_allocatable(kubelet, 1)
    assert kubelet.resource(WIDGET).endpoint == watched.info.endpoint


def test_a_lost_stream_is_lost_until_the_socket_is_made_anew(
    kubelet: FakeKubelet, watched: WatchedPlugin
) -> None:
    """The kubelet never reconnects by itself."""
    watched.serve()
    kubelet.start()
    await_allocatable(kubelet, 2)
    kubelet.cut_stream(WIDGET)
    kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
    time.sleep(4 * HASTY.registry_look)
    assert kubelet.resource(WIDGET).allocatable == 0
    assert len(kubelet.history.of(InfoAsked)) == 1
    watched.stop()
    watched.serve()
    await_allocatable(kubelet, 2)


def test_a_removed_socket_is_a_plugin_that_is_gone(
    kubelet: FakeKubelet, watched: WatchedPlugin
) -> None:
    """Even while it still serves its stream."""
    watched.serve()
    kubelet.start()
    await_allocatable(kubelet, 2)
    watched.path.unlink()
    await_allocatable(kubelet, 0)
    assert kubelet.resource(WIDGET).capacity == 2
    gone = kubelet.history.await_count(Deregistered, 1, timeout=PATIENCE)
    assert [each.socket for each in gone] == [str(watched.path)]


def test_a_kubelet_that_starts_anew_finds_it_again(
    kubelet: FakeKubelet, watched: WatchedPlugin
) -> None:
    """Nothing in the registry is deleted."""
    watched.serve()
    kubelet.start()
    await_allocatable(kubelet, 2)
    kubelet.restart()
    assert watched.path.is_socket()
    await_allocatable(kubelet, 2)


@pytest.mark.parametrize("retries", [True, False])
def test_whether_a_plugin_that_cannot_be_connected_is_tried_again(
    directory: Path,
    profile: Profile,
    listing: Listing,
    retries: bool,  # noqa: FBT001
) -> None:
    """From 1.36; before, it counts as registered until its socket is made anew."""
    profile = attrs.evolve(profile, retries_failed_plugins=retries)
    with FakeKubelet(directory, profile=profile, limits=HASTY) as kubelet:
        devices = BarePlugin(directory)
        devices.send(*listing("a"))
        watched = WatchedPlugin(kubelet.registry / "w.sock", devices)
        watched.serve(alone=True)
        (first,) = await_statuses(kubelet, 1)
        assert first.startswith(
            "RegisterPlugin error -- plugin registration failed with err: "
            "failed to get device plugin options: rpc error: code = Unimplemented"
        )
        if retries:
            assert await_statuses(kubelet, 2) == [first, first]
        else:
            time.sleep(4 * HASTY.registry_look)
            assert len(kubelet.history.of(StatusSent)) == 1
        watched.stop()
        watched.serve()
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        watched.stop()


def test_which_kubelets_try_again() -> None:
    """Those from 1.36 on."""
    profiles = (Profile.V1_28, Profile.V1_34, Profile.V1_36, Profile.V1_37)
    assert [each.retries_failed_plugins for each in profiles] == [False, False, True, True]


def test_what_does_not_take_its_status_is_out_again_where_it_is_retried(
    kubelet: FakeKubelet, watched: WatchedPlugin
) -> None:
    """Before 1.36 it stays in."""
    watched.refuses_status = True
    watched.serve()
    kubelet.start()
    if kubelet.profile.retries_failed_plugins:
        kubelet.history.await_count(Deregistered, 1, timeout=PATIENCE)
        await_statuses(kubelet, 2)
    else:
        await_allocatable(kubelet, 2)
        time.sleep(4 * HASTY.registry_look)
        assert len(kubelet.history.of(InfoAsked)) == 1


def test_what_is_renamed_away_stays(directory: Path) -> None:
    """The watcher takes note of creations and removals; of a move only the arrival."""
    devices = BarePlugin(directory)
    watched = WatchedPlugin(directory / "old.sock", devices)
    files = RegistryFiles(directory)
    watched.serve()
    files.follow()
    old, new = str(watched.path), str(directory / "new.sock")
    mark = files.marks[old]
    watched.path.rename(new)
    files.follow()
    assert files.marks.keys() == {old, new}
    assert files.marks[old] is mark
    watched.stop()
    files.close()


def test_a_registry_that_cannot_be_watched_is_done_without(directory: Path) -> None:
    """All else works."""
    (directory / "plugins_registry").write_text("in the way")
    with FakeKubelet(directory, root=directory) as kubelet:
        (record,) = kubelet.history.await_count(Unserved, 1, timeout=PATIENCE)
        assert record.part == "plugins_registry"
        assert kubelet.running
