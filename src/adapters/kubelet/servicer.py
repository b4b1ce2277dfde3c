"""The device plugin service, answered by one resource's front.

Every handler is a coroutine on the one event loop: a stream costs no thread, and no number of them
can keep an Allocate waiting.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

import attrs

from deviceplugin.adapters.kubelet.status import status_of
from deviceplugin.adapters.kubelet.translate import (
    from_grants,
    from_listing,
    from_options,
    from_preferences,
    to_device_ids,
    to_wish,
)
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginServicer
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import NotOfferedError, UnknownDeviceError
from deviceplugin.domain.events import ListTooLarge
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin, PrefersDevices
from deviceplugin.domain.room import MAX_LIST_BYTES

if TYPE_CHECKING:
    from grpc.aio import ServicerContext

    Context = ServicerContext[object, object]

_TOO_LARGE: Final = (
    "a kubelet takes no longer list, so it was not sent: use shorter ids, or spread the devices "
    "over several resource types"
)

_Power = TypeVar("_Power")


async def _refuse(context: "Context", error: Exception) -> NoReturn:
    code, text = status_of(error)
    await context.abort(code, text)


def _offered(power: _Power | None, call: str) -> _Power:
    if power is None:
        raise NotOfferedError(f"{call} is not offered, as GetDevicePluginOptions says")
    return power


async def _preferred(
    preference: PrefersDevices, request: wire.ContainerPreferredAllocationRequest
) -> Sequence[DeviceId]:
    """Have no preference about ids that cannot be ours: an error would fail the pod."""
    try:
        wish = to_wish(request)
    except UnknownDeviceError:
        return ()
    return await preference.prefer(wish)


@attrs.define
class Servicer(DevicePluginServicer):
    """Answers the kubelet with what `plugin` says."""

    plugin: DevicePlugin
    journal: Journal
    _streams: int = attrs.field(default=0, init=False)
    _quiet: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    async def quiet(self) -> None:
        """Return when no stream is left: gRPC's own stop returns before its handlers do."""
        while self._streams:
            self._quiet.clear()
            await self._quiet.wait()

    async def GetDevicePluginOptions(  # noqa: N802 - the wire's name
        self, request: wire.Empty, context: "Context"
    ) -> wire.DevicePluginOptions:
        """Say which powers the plugin has; asked once a connection, before Register returns."""
        del request, context
        return from_options(self.plugin.options)

    async def ListAndWatch(  # type: ignore[override]  # noqa: N802 - the wire's name
        self, request: wire.Empty, context: "Context"
    ) -> None:
        """Send the full list, then each that differs, for as long as the kubelet listens.

        Written as a coroutine, which the stubs do not know, rather than a generator: only so is
        the watch closed as soon as the kubelet has gone, not when it is collected; and its closing
        tells us.
        """
        del request
        self._streams += 1
        try:
            async with aclosing(self.plugin.devices.watch()) as listings:
                async for listing in listings:
                    message = from_listing(listing)
                    if self._fits(message):
                        await context.write(message)
        finally:
            self._streams -= 1
            self._quiet.set()

    def _fits(self, message: wire.ListAndWatchResponse) -> bool:
        """Say whether a kubelet takes the list.

        One that does not would end its stream: we would register again, for ever, and nothing
        would be advertised meanwhile.
        """
        size = message.ByteSize()
        if size > MAX_LIST_BYTES:
            self.journal.record(
                ListTooLarge(
                    resource=self.plugin.resource,
                    devices=len(message.devices),
                    size=size,
                    bound=MAX_LIST_BYTES,
                    reason=_TOO_LARGE,
                )
            )
        return size <= MAX_LIST_BYTES

    async def Allocate(  # noqa: N802 - the wire's name
        self, request: wire.AllocateRequest, context: "Context"
    ) -> wire.AllocateResponse:
        """Grant each container its devices, or fail as a whole with text for the pod's status."""
        try:
            grants = [
                await self.plugin.devices.allocate(to_device_ids(container.devices_ids))
                for container in request.container_requests
            ]
        except Exception as error:  # noqa: BLE001 - an author's code may raise anything
            await _refuse(context, error)
        return from_grants(grants)

    async def GetPreferredAllocation(  # noqa: N802 - the wire's name
        self, request: wire.PreferredAllocationRequest, context: "Context"
    ) -> wire.PreferredAllocationResponse:
        """Say which devices each container had better get."""
        try:
            preference = _offered(self.plugin.preference, "GetPreferredAllocation")
            return from_preferences(
                [await _preferred(preference, each) for each in request.container_requests]
            )
        except Exception as error:  # noqa: BLE001 - as in Allocate
            await _refuse(context, error)

    async def PreStartContainer(  # noqa: N802 - the wire's name
        self, request: wire.PreStartContainerRequest, context: "Context"
    ) -> wire.PreStartContainerResponse:
        """Make devices ready for a container's start; an error delays it until the next try."""
        try:
            preparation = _offered(self.plugin.preparation, "PreStartContainer")
            await preparation.prepare(to_device_ids(request.devices_ids))
        except Exception as error:  # noqa: BLE001 - as in Allocate
            await _refuse(context, error)
        return wire.PreStartContainerResponse()
