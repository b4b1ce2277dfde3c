"""Being found: our sockets are in plugins_registry, and the kubelet comes by itself."""

import os
from collections.abc import MutableMapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import attrs

from deviceplugin.adapters.kubelet.claims import Claim, sweep
from deviceplugin.adapters.kubelet.host import ByName, GrpcHost, GrpcIncarnation
from deviceplugin.adapters.kubelet.introduction import Introduction
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.adapters.kubelet.wire.pluginregistration_pb2_grpc import (
    add_RegistrationServicer_to_server,
)
from deviceplugin.domain.errors import SocketLostError
from deviceplugin.domain.ports.driven.directory import NO_ARRIVALS, Arrivals, FileIdentity
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.kubelet import (
    Host,
    Incarnation,
    Registrar,
    Registration,
    Successor,
)
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin

if TYPE_CHECKING:
    import grpc.aio

REGISTRY: Final = "plugins_registry"
"""Below the kubelet's root."""


def registry_directory(kubelet_root: str) -> SocketDirectory:
    """Return plugins_registry below a kubelet's root. Raises `ServingError` as it does."""
    return SocketDirectory(
        registry_path(kubelet_root), kind=REGISTRY, flag="kubelet_root (--kubelet-root)"
    )


def registry_path(kubelet_root: str) -> str:
    """Return where plugins_registry is, whether or not sockets could be made there."""
    return os.path.join(kubelet_root, REGISTRY)  # noqa: PTH118 - a text


@attrs.define(eq=False)
class RegistryIncarnation(Incarnation):
    """A server that introduces itself, and the claim to its socket."""

    _inner: GrpcIncarnation
    _registry: "PluginsRegistry"
    _claim: Claim
    _introductions: MutableMapping[str, Introduction]
    _closed: bool = attrs.field(default=False, init=False)

    @property
    def endpoint(self) -> str:
        """The socket's bare file name."""
        return self._inner.endpoint

    @property
    def identity(self) -> FileIdentity:
        """Which file the socket is."""
        return self._inner.identity

    def successor(self, arrivals: Arrivals = NO_ARRIVALS) -> Successor:
        """Return what there is of newer servers of the resource."""
        return self._inner.successor(arrivals)

    async def close(self) -> None:
        """Close the server, then give up the claim: what is claimed may be there, not the rest."""
        await self._inner.close()
        if not self._closed:
            self._closed = True
            self._introductions.pop(self.endpoint, None)
            self._registry.give_up(self._claim)


@attrs.frozen(eq=False)
class PluginsRegistry(Host, Registrar):
    """Serves in plugins_registry, and registers by waiting for the kubelet there.

    `beside`: where servers of other instances may be, too.
    """

    directory: SocketDirectory
    journal: Journal
    beside: Sequence[SocketDirectory] = ()
    _host: GrpcHost = attrs.field(
        default=attrs.Factory(
            lambda self: GrpcHost(self.directory, self.journal, self.beside), takes_self=True
        ),
        init=False,
    )
    _introductions: dict[str, Introduction] = attrs.field(
        factory=dict[str, Introduction], init=False
    )

    async def serve(self, plugin: DevicePlugin) -> RegistryIncarnation:
        """Return once a new server accepts connections; a kubelet may find it before.

        What dead plugins of this package left behind goes first: a kubelet would try their sockets
        for ever.
        """
        self.directory.check()
        sweep(self.directory.file("."))
        name = self.directory.new_name(plugin.resource)
        introduction = Introduction(plugin.resource)
        claim = self._claim(name)
        self._introductions[name] = introduction
        try:
            served = await self._host.serve_as(name, plugin, partial(_introduce, introduction))
        except BaseException:
            self._introductions.pop(name)
            self.give_up(claim)
            raise
        return RegistryIncarnation(served, self, claim, self._introductions)

    async def reachable(self) -> bool:
        """Return whether there is a directory to be found in: a kubelet cannot be asked."""
        return self.directory.is_there()

    async def register(self, registration: Registration, seconds: float) -> None:
        """Return when the kubelet has found and accepted us."""
        self.directory.check_served(registration.endpoint)
        introduction = self._introductions.get(registration.endpoint)
        if introduction is None:
            raise SocketLostError(f"{registration.endpoint} is not served by us")
        await introduction.accepted(self.directory.path, seconds)

    def give_up(self, claim: Claim) -> None:
        """Release the claim to a socket that is closed, and tell if something of it is left."""
        try:
            claim.release()
        except OSError as error:
            self.journal.record(self.directory.left(claim.path.name, error))

    def _claim(self, name: str) -> Claim:
        try:
            return Claim.make(self.directory.file(name))
        except OSError as error:
            raise self.directory.unusable(error) from error


def _introduce(introduction: Introduction, server: "grpc.aio.Server") -> None:
    add_RegistrationServicer_to_server(introduction, cast("grpc.aio.Server", ByName(server)))
