"""The other way to register: a socket in plugins_registry that the kubelet finds."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import unquote

import grpc
import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived
from tests.conformance.bare import PATIENCE, WIDGET, BarePlugin, devices
from tests.conformance.world import World
from tests.support.daemons import Daemons

from deviceplugin.adapters.kubelet.wire import pluginregistration_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import (
    add_DevicePluginServicer_to_server,
)
from deviceplugin.adapters.kubelet.wire.pluginregistration_pb2_grpc import (
    RegistrationServicer,
    add_RegistrationServicer_to_server,
)


class WatchedPlugin(RegistrationServicer):
    """Serves both services at one socket of the registry."""

    def __init__(self, path: Path, bare: BarePlugin) -> None:
        """Serve nothing yet."""
        self.path = path
        self.info = wire.PluginInfo(
            type="DevicePlugin", name=WIDGET, supported_versions=["v1beta1"]
        )
        self.infos: SimpleQueue[float] = SimpleQueue()
        self.statuses: SimpleQueue[wire.RegistrationStatus] = SimpleQueue()
        self.deadlines: dict[str, float] = {}
        self.delay = 0.0
        self.bare = bare
        self._server: grpc.Server | None = None

    def serve(self) -> None:
        """Create the socket."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._server = grpc.server(Daemons())
        add_RegistrationServicer_to_server(self, self._server)
        add_DevicePluginServicer_to_server(self.bare, self._server)
        self._server.add_insecure_port(f"unix:{self.path}")
        self._server.start()

    def stop(self) -> None:
        """Die, and the socket goes."""
        if self._server is not None:
            self._server.stop(None).wait()
            self._server = None

    def GetInfo(  # noqa: N802
        self, request: wire.InfoRequest, context: grpc.ServicerContext
    ) -> wire.PluginInfo:
        del request
        self.deadlines["GetInfo"] = context.time_remaining()
        self.infos.put(time.monotonic())
        time.sleep(self.delay)
        return self.info

    def NotifyRegistrationStatus(  # noqa: N802
        self, request: wire.RegistrationStatus, context: grpc.ServicerContext
    ) -> wire.RegistrationStatusResponse:
        self.deadlines["NotifyRegistrationStatus"] = context.time_remaining()
        self.statuses.put(request)
        return wire.RegistrationStatusResponse()


@pytest.fixture
def watched(world: World) -> Iterator[Callable[..., WatchedPlugin]]:
    """Give the test a maker of plugins, which serve not yet."""
    made: list[WatchedPlugin] = []

    def make(name: str = "w.sock") -> WatchedPlugin:
        bare = BarePlugin(world.directory, "unused", WIDGET)
        bare.send(*devices("a b"))
        made.append(WatchedPlugin(world.root / "plugins_registry" / name, bare))
        return made[-1]

    yield make
    for plugin in made:
        plugin.stop()


Make = Callable[..., WatchedPlugin]


@pytest.mark.parametrize("early", [True, False])
def test_a_socket_is_found(world: World, watched: Make, early: bool) -> None:  # noqa: FBT001
    """Whether it was there before the kubelet or comes after it; in a second or two."""
    kubelet, plugin = world.kubelet(start=False), watched()
    steps: list[Callable[[], object]] = [plugin.serve, kubelet.start]
    for step in steps if early else reversed(steps):
        step()
    status = plugin.statuses.get(timeout=10)
    assert (status.plugin_registered, status.error) == (True, "")
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2)
    assert 0.5 < plugin.deadlines["GetInfo"] < 1.2
    assert 4.0 < plugin.deadlines["NotifyRegistrationStatus"] < 5.2


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"supported_versions": ["v1"]}, "is not among plugin supported versions"),
        ({"type": "Toaster"}, "no handler registered for plugin type: Toaster"),
        ({"name": "bad"}, 'the ResourceName "bad" is invalid'),
    ],
)
def test_what_is_wrong_is_told_again_and_again(
    world: World, watched: Make, fault: dict[str, object], text: str
) -> None:
    """By a status with the reason."""
    kubelet, plugin = world.kubelet(), watched()
    plugin.info.ClearField(next(iter(fault)))  # type: ignore[arg-type]
    plugin.info.MergeFrom(wire.PluginInfo(**fault))  # type: ignore[arg-type]
    plugin.serve()
    for _ in range(2):
        status = plugin.statuses.get(timeout=10)
        assert not status.plugin_registered
        assert text in status.error
    assert not kubelet.resource(WIDGET).known


def test_what_is_slow_is_asked_again(world: World, watched: Make) -> None:
    """A second is too long; no status is sent."""
    world.kubelet()
    plugin = watched()
    plugin.delay = 1.5
    plugin.serve()
    for _ in range(2):
        plugin.infos.get(timeout=10)
    assert plugin.statuses.empty()


def test_names_with_a_dot_in_front_are_not_looked_at(world: World, watched: Make) -> None:
    """They are for what is being made."""
    world.kubelet()
    hidden, plain = watched(".w.sock"), watched("w.sock")
    hidden.serve()
    plain.serve()
    plain.statuses.get(timeout=10)
    assert hidden.infos.empty()


def test_a_lost_stream_is_lost_until_the_socket_is_made_anew(world: World, watched: Make) -> None:
    """The kubelet never reconnects by itself."""
    kubelet, plugin = world.kubelet(), watched()
    plugin.serve()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, 10)
    plugin.bare.streams[0].end()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0)
    time.sleep(2.5)
    assert kubelet.resource(WIDGET).allocatable == 0
    plugin.stop()
    plugin.serve()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, 10)


def test_the_plugin_sees_its_path_as_the_authority(world: World) -> None:
    """With its slashes escaped; a plugin that called Register is called by `localhost`."""
    kubelet = world.kubelet(start=False)
    path = world.root / "plugins_registry" / "raw.sock"
    path.parent.mkdir(exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(PATIENCE)
        kubelet.start()
        assert unquote(_authority(listener)) == str(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(world.directory / "raw.sock"))
        listener.listen()
        listener.settimeout(PATIENCE)
        caller = BarePlugin(world.directory, "raw.sock", WIDGET)
        asked = world.aside(caller.refusal)
        assert _authority(listener) == "localhost"
        asked.result()


def _authority(listener: socket.socket) -> str:
    """Take a connection and return the authority of the first call on it."""
    http = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
    http.initiate_connection()
    peer, _ = listener.accept()
    with peer:
        peer.settimeout(PATIENCE)
        peer.sendall(http.data_to_send())
        while data := peer.recv(65536):
            for event in http.receive_data(data):
                if isinstance(event, RequestReceived):
                    said = {str(name): str(value) for name, value in event.headers}
                    return said[":authority"]
            peer.sendall(http.data_to_send())
    raise AssertionError("no call came")


def test_a_removed_socket_is_a_plugin_that_is_gone(world: World, watched: Make) -> None:
    """Even while it still serves its stream."""
    kubelet, plugin = world.kubelet(), watched()
    plugin.serve()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, 10)
    plugin.path.unlink()
    seen = kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0, 10)
    assert seen.capacity == 2


def test_a_kubelet_that_starts_anew_finds_it_again(world: World, watched: Make) -> None:
    """Nothing in the registry is deleted."""
    kubelet, plugin = world.kubelet(), watched()
    plugin.serve()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, 10)
    kubelet.restart()
    assert plugin.path.is_socket()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, 10)
