"""A device plugin with nothing around it: it does what a test says, wise or not."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeVar

import attrs
import grpc
import pytest
from tests.support.daemons import Daemons

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import (
    DevicePluginServicer,
    RegistrationStub,
    add_DevicePluginServicer_to_server,
)

_Result = TypeVar("_Result")

WIDGET: Final = "example.com/widget"
PATIENCE: Final = 20.0
"""Seconds for what takes milliseconds, except for the kubelet's 10 s of dialling."""
FOR_EVER: Final = 1e9
"""Python's gRPC says that more than this is left when there is no deadline."""


@attrs.frozen(kw_only=True)
class Call:
    """A call that the plugin has got."""

    method: str
    request: Any
    seconds_left: float | None


class Stream:
    """A ListAndWatch that a kubelet has opened."""

    def __init__(self) -> None:
        """Open it with nothing sent."""
        self.outbox: SimpleQueue[wire.ListAndWatchResponse | None] = SimpleQueue()
        self.over = threading.Event()

    def end(self) -> None:
        """Return from ListAndWatch."""
        self.outbox.put(None)

    def close(self) -> None:
        """Note that the kubelet has gone, and end."""
        self.over.set()
        self.end()


class BarePlugin(DevicePluginServicer):
    """Serves one resource at one socket and remembers each call."""

    def __init__(self, directory: Path, endpoint: str, resource: str) -> None:
        """Serve nothing yet."""
        self.directory = directory
        self.endpoint = endpoint
        self.resource = resource
        self.options = wire.DevicePluginOptions()
        self.on_options: Callable[[grpc.ServicerContext], object] = bool
        self.on_allocate: Callable[[Sequence[str]], wire.AllocateResponse] = granting()
        self.on_prefer: Callable[
            [wire.ContainerPreferredAllocationRequest], Iterable[str] | None
        ] = lambda _: []
        self.on_pre_start: Callable[[], object] = bool
        self.list: wire.ListAndWatchResponse | None = None
        self.streams: list[Stream] = []
        self._calls: list[Call] = []
        self._changed = threading.Condition()
        self._server: grpc.Server | None = None

    # --- what a test does with it ---

    def serve(self) -> None:
        """Listen on the endpoint."""
        self._server = grpc.server(
            Daemons(),
            options=[("grpc.max_send_message_length", -1)],
        )
        add_DevicePluginServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{self.directory / self.endpoint}")
        self._server.start()

    def stop(self) -> None:
        """Die: the socket goes, every call ends."""
        if self._server is not None:
            self._server.stop(None).wait()
            self._server = None

    def register(
        self,
        *,
        version: str = "v1beta1",
        endpoint: str | None = None,
        resource: str | None = None,
        timeout: float | None = PATIENCE,
    ) -> None:
        """Call Register and wait for the answer; raises `grpc.RpcError`."""
        request = wire.RegisterRequest(
            version=version,
            endpoint=self.endpoint if endpoint is None else endpoint,
            resource_name=resource or self.resource,
        )
        # Else it would share its connection, and the back-off, with others to that path.
        alone = [("grpc.use_local_subchannel_pool", 1)]
        target = f"unix:{self.directory}/kubelet.sock"
        with grpc.insecure_channel(target, options=alone) as channel:
            RegistrationStub(channel).Register(request, timeout=timeout)

    def refusal(self, **how: Any) -> str:  # noqa: ANN401 - what `register` takes
        """Return the text with which Register fails; its code is always UNKNOWN."""
        with pytest.raises(grpc.RpcError) as refused:
            self.register(**how)
        assert isinstance(refused.value, grpc.Call)
        assert refused.value.code() is grpc.StatusCode.UNKNOWN
        return refused.value.details() or ""

    def send(self, *devices: wire.Device) -> None:
        """List these devices on each stream that is open, and first on each later one."""
        with self._changed:
            self.list = wire.ListAndWatchResponse(devices=devices)
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

    def asked(self) -> list[set[str]]:
        """Return the ids of each Allocate until now."""
        return [
            set(call.request.container_requests[0].devices_ids) for call in self.calls("Allocate")
        ]

    # --- what a kubelet does with it ---

    def GetDevicePluginOptions(  # noqa: N802
        self, request: wire.Empty, context: grpc.ServicerContext
    ) -> wire.DevicePluginOptions:
        self._remember("GetDevicePluginOptions", request, context)
        self.on_options(context)
        return self.options

    def ListAndWatch(  # noqa: N802
        self, request: wire.Empty, context: grpc.ServicerContext
    ) -> Iterator[wire.ListAndWatchResponse]:
        stream = Stream()
        with self._changed:
            if self.list is not None:
                stream.outbox.put(self.list)
            self.streams.append(stream)
        # Not added where the call is over already.
        if not context.add_callback(stream.close):
            stream.close()
        self._remember("ListAndWatch", request, context)
        yield from iter(stream.outbox.get, None)

    def GetPreferredAllocation(  # noqa: N802
        self, request: wire.PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> wire.PreferredAllocationResponse:
        self._remember("GetPreferredAllocation", request, context)
        response = wire.PreferredAllocationResponse()
        preferred = _or_abort(context, lambda: self.on_prefer(request.container_requests[0]))
        if preferred is not None:
            response.container_responses.add(deviceIDs=preferred)
        return response

    def Allocate(  # noqa: N802
        self, request: wire.AllocateRequest, context: grpc.ServicerContext
    ) -> wire.AllocateResponse:
        self._remember("Allocate", request, context)
        (container,) = request.container_requests
        return _or_abort(context, lambda: self.on_allocate(container.devices_ids))

    def PreStartContainer(  # noqa: N802
        self, request: wire.PreStartContainerRequest, context: grpc.ServicerContext
    ) -> wire.PreStartContainerResponse:
        self._remember("PreStartContainer", request, context)
        _or_abort(context, self.on_pre_start)
        return wire.PreStartContainerResponse()

    def _remember(self, method: str, request: object, context: grpc.ServicerContext) -> None:
        left = context.time_remaining()
        call = Call(method=method, request=request, seconds_left=left if left < FOR_EVER else None)
        with self._changed:
            self._calls.append(call)
            self._changed.notify_all()


def _or_abort(context: grpc.ServicerContext, work: Callable[[], _Result]) -> _Result:
    try:
        return work()
    except RuntimeError as problem:
        context.abort(grpc.StatusCode.INTERNAL, str(problem))


def granting(
    *answers: wire.ContainerAllocateResponse,
) -> Callable[[Sequence[str]], wire.AllocateResponse]:
    """Return a way to answer Allocate: with these answers, or an empty one."""
    given = wire.AllocateResponse(
        container_responses=answers or [wire.ContainerAllocateResponse()]
    )
    return lambda _: given


def devices(
    ids: str, *, health: str = "Healthy", nodes: Iterable[int] | None = None
) -> list[wire.Device]:
    """Return devices with the ids of a text."""
    topology = None
    if nodes is not None:
        topology = wire.TopologyInfo(nodes=[wire.NUMANode(ID=node) for node in nodes])
    return [wire.Device(ID=each, health=health, topology=topology) for each in ids.split()]
