"""Servers on sockets that the kubelet can dial."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, cast

import attrs
import grpc
import grpc.aio

from deviceplugin.adapters.kubelet.servicer import Servicer
from deviceplugin.adapters.kubelet.siblings import Siblings
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import (
    add_DevicePluginServicer_to_server,
)
from deviceplugin.domain.errors import ServingError
from deviceplugin.domain.ports.driven.directory import NO_ARRIVALS, Arrivals, FileIdentity
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.kubelet import Host, Incarnation, Successor
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin

_OPTIONS: Final = (
    # A client that pings an idle stream must not lose it: the default tears it down as "too many
    # pings".
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.keepalive_permit_without_calls", 1),
    # A unix socket has one server; sharing a port is for TCP.
    ("grpc.so_reuseport", 0),
)


class ByName:
    """Takes handlers to be found by name, as gRPC did before it knew registered methods.

    For each registered method of each server, grpc.aio keeps a call, a task and a context waiting:
    two megabytes for a hundred resources.
    """

    def __init__(self, server: grpc.aio.Server) -> None:
        self._server = server

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Pass them on."""
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: object) -> None:
        """Leave them out: the generic ones do the same."""


@attrs.define
class GrpcIncarnation(Incarnation):
    """A running server and its socket."""

    _server: grpc.aio.Server
    _servicer: Servicer
    _endpoint: str
    _identity: FileIdentity
    _siblings: Siblings
    _journal: Journal

    @property
    def endpoint(self) -> str:
        """The socket's bare file name."""
        return self._endpoint

    @property
    def identity(self) -> FileIdentity:
        """Which file the socket is."""
        return self._identity

    def successor(self, arrivals: Arrivals = NO_ARRIVALS) -> Successor:
        """Return what there is of newer servers of the resource."""
        return self._siblings.newer_than(self._endpoint, self._identity, arrivals)

    async def close(self) -> None:
        """Cancel all calls and close.

        gRPC removes the socket, by its name: nobody else has it. It does not tell if it may not.
        """
        await self._server.stop(grace=None)
        await self._servicer.quiet()
        left = self._siblings.directory.remove(self._endpoint)
        if left is not None:
            self._journal.record(left)


@attrs.frozen
class GrpcHost(Host):
    """Starts a grpc.aio server for each incarnation.

    `beside`: where servers of other instances may be, too.
    """

    directory: SocketDirectory
    journal: Journal
    beside: Sequence[SocketDirectory] = ()
    _siblings: Siblings = attrs.field(
        default=attrs.Factory(lambda self: Siblings(self.directory, self.beside), takes_self=True),
        init=False,
    )

    async def serve(self, plugin: DevicePlugin) -> GrpcIncarnation:
        """Return once a new server accepts connections on a new socket."""
        return await self.serve_as(self.directory.new_name(plugin.resource), plugin)

    async def serve_as(
        self, name: str, plugin: DevicePlugin, *others: Callable[[grpc.aio.Server], None]
    ) -> GrpcIncarnation:
        """Do so by a name that was never used before, with `others` to add services of theirs."""
        self.directory.check()
        server = grpc.aio.server(options=_OPTIONS)
        servicer = Servicer(plugin, self.journal)
        add_DevicePluginServicer_to_server(servicer, cast("grpc.aio.Server", ByName(server)))
        for add in others:
            add(server)
        try:
            self._bind(server, name)
            await _started(server)
            identity = self._identity(name)
            return GrpcIncarnation(server, servicer, name, identity, self._siblings, self.journal)
        except BaseException:
            await server.stop(grace=None)
            raise

    def _bind(self, server: grpc.aio.Server, name: str) -> None:
        """Bind, with an error that says what gRPC only tells the standard error stream."""
        try:
            bound = server.add_insecure_port(self.directory.target(name))
        except RuntimeError as error:
            self.directory.check()
            raise self.directory.unbound() from error
        if not bound:
            raise self.directory.unbound()

    def _identity(self, name: str) -> FileIdentity:
        try:
            return self.directory.identity(name)
        except OSError as error:
            message = f"{self.directory.path}: somebody removes sockets as soon as they are made"
            raise ServingError(error.errno, message) from error


async def _started(server: grpc.aio.Server) -> None:
    """Start the server, to the end even if we are cancelled meanwhile.

    A grpc.aio server whose start is cancelled can never be stopped again: its socket would stay.
    """
    start = asyncio.ensure_future(server.start())
    try:
        await asyncio.shield(start)
    except asyncio.CancelledError:
        await start
        raise
