"""How a server in plugins_registry introduces itself to the kubelet that has found it."""

import asyncio
from typing import TYPE_CHECKING

import attrs

from deviceplugin.adapters.kubelet.translate import from_introduced
from deviceplugin.adapters.kubelet.wire import pluginregistration_pb2 as wire
from deviceplugin.adapters.kubelet.wire.pluginregistration_pb2_grpc import RegistrationServicer
from deviceplugin.domain.errors import (
    KubeletUnreachableError,
    RegistrationError,
    RegistrationRefusedError,
    RegistrationUnclearError,
)
from deviceplugin.domain.resources import ResourceName

if TYPE_CHECKING:
    from grpc.aio import ServicerContext

    Context = ServicerContext[object, object]


@attrs.define(eq=False)
class Introduction(RegistrationServicer):
    """Says who is here, and takes the kubelet's word on how the registration went."""

    resource: ResourceName
    _asked: bool = attrs.field(default=False, init=False)
    _status: wire.RegistrationStatus | None = attrs.field(default=None, init=False)
    _told: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    async def GetInfo(  # noqa: N802 - the wire's name
        self, request: wire.InfoRequest, context: "Context"
    ) -> wire.PluginInfo:
        """Say who is here; the kubelet gives us a second."""
        del request, context
        self._asked = True
        return from_introduced(self.resource)

    async def NotifyRegistrationStatus(  # noqa: N802 - the wire's name
        self, request: wire.RegistrationStatus, context: "Context"
    ) -> wire.RegistrationStatusResponse:
        """Take note of the newest word."""
        del context
        self._status = request
        self._told.set()
        return wire.RegistrationStatusResponse()

    async def accepted(self, place: str, seconds: float) -> None:
        """Return once the kubelet has accepted; it may have done so before.

        Raises what `Registrar.register` does, within `seconds`; `place` is where it should look.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._told.wait()
        except TimeoutError:
            raise self._silence(place, seconds) from None
        if self._status is not None and not self._status.plugin_registered:
            raise RegistrationRefusedError(f"the kubelet refused: {self._status.error}")

    def _silence(self, place: str, seconds: float) -> RegistrationError:
        if self._asked:
            return RegistrationUnclearError(
                f"the kubelet asked who we are, but did not say within {seconds:g} s whether "
                "it took us"
            )
        return KubeletUnreachableError(
            f"no kubelet has looked into {place} for {seconds:g} s; is it the plugins_registry of "
            "a kubelet that runs? kubelet_root (--kubelet-root) names another root"
        )
