"""A device plugin with nothing around it, and kubelets of each profile."""

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent import futures
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import attrs
import grpc
import pytest

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import (
    DevicePluginServicer,
    RegistrationStub,
    add_DevicePluginServicer_to_server,
)
from deviceplugin.testing.kubelet import FakeKubelet, Profile

WIDGET = "example.com/widget"
PATIENCE = 20.0
"""Seconds after which a test that waits has failed. Nothing that works takes a tenth of it."""
FOR_EVER = 1e9
"""What Python's gRPC says is left without a deadline is far above this."""


@attrs.frozen
class Call:
    """A call that the plugin has got."""

    method: str
    request: Any
    seconds_left: float | None


@attrs.frozen(eq=False)
class Stream:
    """A ListAndWatch that a kubelet has opened; what is put is sent, or raised, or ends it."""

    outbox: "SimpleQueue[pb.ListAndWatchResponse | Exception | None]"
    over: threading.Event

    def end(self) -> None:
        """Note that the kubelet has gone, and let the handler end."""
        self.over.set()
        self.outbox.put(None)


class BarePlugin(DevicePluginServicer):
    """Answers every call by what its attributes say, and remembers the calls."""

    def __init__(
        self, directory: Path, endpoint: str = "bare.sock", resource: str = WIDGET
    ) -> None:
        """Serve nothing yet."""
        self.endpoint = endpoint
        self.resource = resource
        self.options = pb.DevicePluginOptions()
        self.on_options: Callable[[grpc.ServicerContext], object] = lambda _: None
        self.on_allocate: Callable[[pb.AllocateRequest], pb.AllocateResponse] = _grant_nothing
        self.on_prefer: Callable[[pb.PreferredAllocationRequest], list[str]] = lambda _: []
        self.on_pre_start: Callable[[grpc.ServicerContext], object] = lambda _: None
        self.list: pb.ListAndWatchResponse | None = None
        self.streams: list[Stream] = []
        self._directory = directory
        self._calls: list[Call] = []
        self._changed = threading.Condition()
        self._server: grpc.Server | None = None

    # --- what a test does with it ---

    def serve(self) -> "BarePlugin":
        """Listen on the endpoint."""
        self._server = grpc.server(futures.ThreadPoolExecutor(32))
        add_DevicePluginServicer_to_server(self, self._server)
        path = self._directory / self.endpoint
        path.unlink(missing_ok=True)
        self._server.add_insecure_port(f"unix:{path}")
        self._server.start()
        return self

    def register(
        self,
        *,
        version: str = "v1beta1",
        endpoint: str | None = None,
        resource: str | None = None,
        options: pb.DevicePluginOptions | None = None,
        timeout: float | None = PATIENCE,
    ) -> None:
        """Call Register and wait for the answer; raises `grpc.RpcError`."""
        request = pb.RegisterRequest(
            version=version,
            endpoint=self.endpoint if endpoint is None else endpoint,
            resource_name=resource or self.resource,
            options=options,
        )
        target = f"unix:{self._directory}/kubelet.sock"
        fresh = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(target, options=fresh) as channel:
            RegistrationStub(channel).Register(request, timeout=timeout)

    def send(self, *devices: pb.Device) -> None:
        """List these devices, now on every open stream and first on every later one."""
        with self._changed:
            self.list = pb.ListAndWatchResponse(devices=devices)
            for stream in self.streams:
                stream.outbox.put(self.list)

    def calls(self, method: str) -> list[Call]:
        """Return the calls of one method until now."""
        with self._changed:
            return [call for call in self._calls if call.method == method]

    def await_calls(self, method: str, count: int) -> list[Call]:
        """Wait for so many calls of a method."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.calls(method)) >= count, PATIENCE)
            return self.calls(method)

    def hold_allocate(self) -> threading.Event:
        """Let Allocate hang until the event is set that this returns."""
        gate = threading.Event()

        def wait(request: pb.AllocateRequest) -> pb.AllocateResponse:
            gate.wait(PATIENCE)
            return _grant_nothing(request)

        self.on_allocate = wait
        return gate

    def stop(self) -> None:
        """Die: the socket goes, every call ends."""
        if self._server is not None:
            self._server.stop(None).wait()
            self._server = None

    # --- what a kubelet does with it ---

    def GetDevicePluginOptions(  # noqa: N802
        self,
        request: pb.Empty,
        context: grpc.ServicerContext,
    ) -> pb.DevicePluginOptions:
        self._remember("GetDevicePluginOptions", request, context)
        self.on_options(context)
        return self.options

    def ListAndWatch(  # noqa: N802
        self,
        request: pb.Empty,
        context: grpc.ServicerContext,
    ) -> Iterator[pb.ListAndWatchResponse]:
        stream = Stream(SimpleQueue(), threading.Event())
        with self._changed:
            if self.list is not None:
                stream.outbox.put(self.list)
            self.streams.append(stream)
        if not context.add_callback(stream.end):
            stream.end()
        self._remember("ListAndWatch", request, context)
        while (item := stream.outbox.get()) is not None:
            if isinstance(item, Exception):
                context.abort(grpc.StatusCode.INTERNAL, str(item))
            yield item

    def GetPreferredAllocation(  # noqa: N802
        self,
        request: pb.PreferredAllocationRequest,
        context: grpc.ServicerContext,
    ) -> pb.PreferredAllocationResponse:
        self._remember("GetPreferredAllocation", request, context)
        response = pb.PreferredAllocationResponse()
        with _aborting(context):
            response.container_responses.add(deviceIDs=self.on_prefer(request))
        return response

    def Allocate(  # noqa: N802
        self,
        request: pb.AllocateRequest,
        context: grpc.ServicerContext,
    ) -> pb.AllocateResponse:
        self._remember("Allocate", request, context)
        with _aborting(context):
            return self.on_allocate(request)

    def PreStartContainer(  # noqa: N802
        self,
        request: pb.PreStartContainerRequest,
        context: grpc.ServicerContext,
    ) -> pb.PreStartContainerResponse:
        self._remember("PreStartContainer", request, context)
        self.on_pre_start(context)
        return pb.PreStartContainerResponse()

    def _remember(self, method: str, request: object, context: grpc.ServicerContext) -> None:
        left = context.time_remaining()
        seconds_left = left if left < FOR_EVER else None
        with self._changed:
            self._calls.append(Call(method, request, seconds_left))
            self._changed.notify_all()


@contextmanager
def _aborting(context: grpc.ServicerContext) -> Generator[None]:
    """Turn a test's RuntimeError into an INTERNAL status."""
    try:
        yield
    except RuntimeError as problem:
        context.abort(grpc.StatusCode.INTERNAL, str(problem))


def _grant_nothing(_: pb.AllocateRequest) -> pb.AllocateResponse:
    return pb.AllocateResponse(container_responses=[pb.ContainerAllocateResponse()])


class Listing(Protocol):
    """Makes the devices of a list."""

    def __call__(
        self,
        *ids: str,
        health: str = "Healthy",
        nodes: list[int] | None = None,
    ) -> list[pb.Device]:
        """Return devices with these ids."""
        ...


class MakePlugin(Protocol):
    """Makes plugins that are stopped when the test ends."""

    def __call__(self, endpoint: str = ..., resource: str = ...) -> BarePlugin:
        """Return a plugin that serves, in the directory of the test."""
        ...


@pytest.fixture
def listing() -> Listing:
    """Give the test a way to write devices."""

    def devices(
        *ids: str,
        health: str = "Healthy",
        nodes: list[int] | None = None,
    ) -> list[pb.Device]:
        topology = None
        if nodes is not None:
            topology = pb.TopologyInfo(nodes=[pb.NUMANode(ID=node) for node in nodes])
        return [pb.Device(ID=id_, health=health, topology=topology) for id_ in ids]

    return devices


@pytest.fixture
def directory() -> Iterator[Path]:
    """Give the test an empty device plugin directory with a short path."""
    with TemporaryDirectory(prefix="fk-") as path:
        directory = Path(path, "device-plugins")
        directory.mkdir()
        yield directory


PROFILES = [Profile.V1_28, Profile.V1_34, Profile.V1_36, Profile.V1_37]


def only(*profiles: Profile) -> pytest.MarkDecorator:
    """Run the test with these profiles only."""
    ids = [each.version for each in profiles]
    return pytest.mark.parametrize("profile", profiles, ids=ids)


@pytest.fixture(params=PROFILES, ids=lambda profile: profile.version)
def profile(request: pytest.FixtureRequest) -> Profile:
    """Run the test with every profile."""
    chosen: Profile = request.param
    return chosen


@pytest.fixture
def kubelet(directory: Path, profile: Profile) -> Iterator[FakeKubelet]:
    """Give the test a running kubelet."""
    with FakeKubelet(directory, profile=profile) as running:
        yield running


@pytest.fixture
def make_plugin(directory: Path) -> Iterator[MakePlugin]:
    """Give the test a maker of plugins."""
    made: list[BarePlugin] = []

    def make(endpoint: str = "bare.sock", resource: str = WIDGET) -> BarePlugin:
        made.append(BarePlugin(directory, endpoint, resource).serve())
        return made[-1]

    yield make
    for plugin in made:
        plugin.stop()


@pytest.fixture
def plugin(make_plugin: MakePlugin) -> BarePlugin:
    """Give the test a plugin that serves and lists nothing yet."""
    return make_plugin()


@pytest.fixture
def in_thread() -> Iterator[Callable[..., "futures.Future[Any]"]]:
    """Let the test start something that may take long, and look at it meanwhile."""
    with futures.ThreadPoolExecutor(8) as pool:
        yield pool.submit


class Seen:
    """What inotify shows of a directory. The kernel queues events as they happen."""

    def __init__(self, path: Path) -> None:
        """Watch for whatever creates, deletes or moves an entry, or touches the directory."""
        inotify: Any = import_module("inotify_simple")
        self._flags = inotify.flags
        self._inotify = inotify.INotify()
        wanted = ("CREATE", "DELETE", "MOVED_TO", "MODIFY", "DELETE_SELF")
        self._inotify.add_watch(path, sum(inotify.flags[name] for name in wanted))

    def take(self) -> list[tuple[str, str]]:
        """Return (event, name) of all that has happened since the last look."""
        return self._read(0)

    def wait(self) -> list[tuple[str, str]]:
        """Return the next events as soon as there are any."""
        return self._read(PATIENCE)

    def _read(self, timeout: float) -> list[tuple[str, str]]:
        events = self._inotify.read(timeout=int(timeout * 1000))
        return [(self._flags.from_mask(event.mask)[0].name, event.name) for event in events]

    def close(self) -> None:
        """Watch no more."""
        self._inotify.close()


@pytest.fixture
def seen(directory: Path) -> Iterator[Seen]:
    """Let the test see what anybody sees who watches the directory."""
    watcher = Seen(directory)
    yield watcher
    watcher.close()
