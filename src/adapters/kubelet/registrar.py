"""Register with the kubelet."""

import asyncio
import os
from typing import Final

import attrs
import grpc
import grpc.aio

from deviceplugin.adapters.kubelet.calls import answered
from deviceplugin.adapters.kubelet.lines import Lines
from deviceplugin.adapters.kubelet.sockets import FORBIDDEN, SocketDirectory, connect_error
from deviceplugin.adapters.kubelet.translate import from_registration
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import RegistrationStub
from deviceplugin.domain.errors import (
    RegistrationError,
    RegistrationRefusedError,
    RegistrationUnclearError,
)
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Registrar, Registration

KUBELET_SOCKET: Final = "kubelet.sock"
SERVICE: Final = "/v1beta1.Registration/Register"

_OPTIONS: Final = (
    # Else the authority is the percent-encoded socket path, which strict HTTP/2 servers reject.
    ("grpc.default_authority", "localhost"),
    # Else a new channel inherits the connection back-off of the last one: seconds after an outage.
    ("grpc.use_local_subchannel_pool", 1),
    # Our own retry knows that an unclear outcome must not be tried again on the same socket.
    ("grpc.enable_retries", 0),
)

_UNCLEAR: Final = frozenset(
    {
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.INTERNAL,
    }
)
"""Codes that the transport makes: the kubelet refuses with UNKNOWN, and may have gone on."""
_UNDIALLED: Final = "failed to dial"
"""What every kubelet says of an endpoint where it finds nobody."""


MAX_CALLS: Final = 32
"""Registers under way at a time. With a hundred no resource is back sooner, and what they need at
one time is memory for good."""


@attrs.frozen
class GrpcRegistrar(Registrar):
    """Calls Register, on one connection for all who do so at one time."""

    directory: SocketDirectory
    _turns: asyncio.Semaphore = attrs.field(
        factory=lambda: asyncio.Semaphore(MAX_CALLS), init=False
    )
    _lines: Lines = attrs.field(
        default=attrs.Factory(lambda self: Lines(self._channel), takes_self=True), init=False
    )

    async def reachable(self) -> bool:
        """Return whether somebody listens on kubelet.sock, as far as we may know."""
        code = connect_error(self.directory.text(KUBELET_SOCKET))
        return not code or code in FORBIDDEN

    async def register(self, registration: Registration, seconds: float) -> None:
        """Register, awaited in the loop that also answers the kubelet's call back.

        The seconds count from our turn on, and so do the looks at both sockets: a kubelet may have
        cleaned up while we waited for it.
        """
        async with self._turns:
            self._check_listening()
            # The kubelet would try to dial one that is gone for 10 s.
            self.directory.check_served(registration.endpoint)
            await self._call(registration, seconds)

    async def _call(self, registration: Registration, seconds: float) -> None:
        async with self._lines.to(self._kubelet()) as channel:
            try:
                await answered(
                    RegistrationStub(channel).Register(
                        from_registration(registration), timeout=seconds
                    )
                )
            except grpc.aio.AioRpcError as error:
                where = self._whereabouts(registration.endpoint)
                raise _explained(error, seconds, where) from error

    def _channel(self) -> grpc.aio.Channel:
        target = self.directory.target(KUBELET_SOCKET)
        return grpc.aio.insecure_channel(target, options=_OPTIONS)

    def _kubelet(self) -> FileIdentity | None:
        """Return which file its socket is: the next kubelet's is another one."""
        try:
            return self.directory.identity(KUBELET_SOCKET)
        except OSError:
            return None

    def _whereabouts(self, endpoint: str) -> str:
        """Return what a person needs who wonders why the kubelet finds nobody where we are."""
        real = os.path.realpath(self.directory.path)
        return (
            f"it looks for {endpoint} in its own directory, and we serve "
            f"{self.directory.file(endpoint)} (really in {real}): is the kubelet's directory "
            f"mounted here, and whole? {self.directory.flag} names another one"
        )

    def _check_listening(self) -> None:
        """Find out by a bare connect whether anybody listens.

        gRPC could not tell that nothing was sent.
        """
        if code := connect_error(self.directory.text(KUBELET_SOCKET)):
            raise self.directory.unreachable(KUBELET_SOCKET, code)


def _explained(error: grpc.aio.AioRpcError, seconds: float, where: str) -> RegistrationError:
    code, text = error.code(), error.details() or error.code().name
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return RegistrationRefusedError(
            f"the kubelet does not serve {SERVICE} ({text}); "
            "is this the kubelet's device plugin socket?"
        )
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return RegistrationUnclearError(f"the kubelet did not answer within {seconds:g} s")
    if code in _UNCLEAR:
        return RegistrationUnclearError(f"the connection to the kubelet broke: {text}")
    if _UNDIALLED in text:
        text = f"{text}; {where}"
    return RegistrationRefusedError(f"the kubelet refused: {text}")
