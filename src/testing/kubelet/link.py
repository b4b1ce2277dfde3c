"""A connection from the kubelet to a plugin: the four calls and the stream of lists."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Final
from urllib.parse import quote

import grpc

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub
from deviceplugin.testing.kubelet.answers import devices_of, options_of
from deviceplugin.testing.kubelet.errors import AllocationError, RefusedError, StreamBrokenError
from deviceplugin.testing.kubelet.goerror import FAILURES, go_text
from deviceplugin.testing.kubelet.values import Device, Options

_CHANNEL: Final = (
    ("grpc.default_authority", "localhost"),
    # Else a new incarnation on an old path would inherit the back-off of the dead one.
    ("grpc.use_local_subchannel_pool", 1),
)
_AT_ONCE: Final = 0.1
"""Seconds in which a plugin that is there has answered."""


class Link:
    """One connection, dialled once: the kubelet never connects anew by itself.

    Calls have no deadline unless told; `close` from another thread ends them all.
    """

    def __init__(self, resource: str, endpoint: str, path: str, message_bytes: int) -> None:
        """Prepare to dial `path`; a message above `message_bytes` ends its call."""
        self.resource: Final = resource
        self.endpoint: Final = endpoint
        self.path: Final = path
        self._channel = grpc.insecure_channel(
            f"unix:{quote(path)}",
            options=(*_CHANNEL, ("grpc.max_receive_message_length", message_bytes)),
        )
        self._stub = DevicePluginStub(self._channel)
        self._settled = threading.Event()
        self.closed = False
        self._cancel_stream: Callable[[], object] = bool

    def greet(self, limit: float, deadline: float | None) -> Options:
        """Dial, and ask for the options, which has no limit but `deadline`.

        Raises `RefusedError`; after `limit` seconds if nobody speaks HTTP/2 at the path by then.
        """
        try:
            asked = self._ask_options(deadline)
            if self._connected(limit):
                return options_of(asked.result())
        except FAILURES as problem:
            message = f"failed to get device plugin options: {go_text(problem)}"
            raise RefusedError(message) from problem
        self.close()
        raise RefusedError("failed to dial device plugin: context deadline exceeded")

    def _ask_options(self, deadline: float | None) -> "grpc.Future[pb.DevicePluginOptions]":
        ask = self._stub.GetDevicePluginOptions
        asked = ask.future(pb.Empty(), timeout=deadline, wait_for_ready=True)
        asked.add_done_callback(self._settle)
        return asked

    def _connected(self, limit: float) -> bool:
        """Wait for the connection, or for whatever else decides the call.

        A watched channel costs two threads and more time than the call; so only a call that is
        not answered at once makes it matter whether the plugin was reached at all.
        """
        if self._settled.wait(min(_AT_ONCE, limit)):
            return True
        self._channel.subscribe(self._see, try_to_connect=True)
        connected = self._settled.wait(limit - _AT_ONCE)
        self._channel.unsubscribe(self._see)
        return connected

    def _see(self, state: grpc.ChannelConnectivity) -> None:
        if state is grpc.ChannelConnectivity.READY:
            self._settled.set()

    def _settle(self, _: object) -> None:
        self._settled.set()

    def lists(self) -> Iterator[tuple[tuple[Device, ...], int]]:
        """Yield each list with its size in bytes; raises `StreamBrokenError`."""
        try:
            call = self._stub.ListAndWatch(pb.Empty())
            self._cancel_stream = call.cancel
            for message in call:
                yield devices_of(message), message.ByteSize()
        except FAILURES as problem:
            raise StreamBrokenError(go_text(problem)) from problem

    def cut(self) -> None:
        """Cancel the stream of lists; the connection stays."""
        self._cancel_stream()

    def prefer(
        self, available: Iterable[str], must_include: Iterable[str], size: int
    ) -> list[str]:
        """Return the ids that the plugin prefers; raises `AllocationError`."""
        request = pb.PreferredAllocationRequest()
        request.container_requests.add(
            available_deviceIDs=available,
            must_include_deviceIDs=must_include,
            allocation_size=size,
        )
        try:
            answer = self._stub.GetPreferredAllocation(request)
        except FAILURES as problem:
            message = (
                f"device plugin GetPreferredAllocation rpc failed with err: {go_text(problem)}"
            )
            raise AllocationError(message) from problem
        return [id_ for first in answer.container_responses[:1] for id_ in first.deviceIDs]

    def allocate(self, ids: Iterable[str]) -> bytes | None:
        """Return the first answer as it came, None if there is none; raises `AllocationError`."""
        request = pb.AllocateRequest()
        request.container_requests.add(devices_ids=ids)
        try:
            answer = self._stub.Allocate(request)
        except FAILURES as problem:
            raise AllocationError(go_text(problem)) from problem
        for first in answer.container_responses:
            return first.SerializeToString()
        return None

    def pre_start(self, ids: Iterable[str], deadline: float) -> None:
        """Announce the start of a container; raises `AllocationError`."""
        try:
            self._stub.PreStartContainer(
                pb.PreStartContainerRequest(devices_ids=ids),
                timeout=deadline,
            )
        except FAILURES as problem:
            message = f"device plugin PreStartContainer rpc failed with err: {go_text(problem)}"
            raise AllocationError(message) from problem

    def close(self) -> None:
        """Close the connection; whoever dials, calls or reads through it fails now."""
        self.closed = True
        self._settled.set()
        self._channel.close()
