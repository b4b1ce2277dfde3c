"""Notice when the kubelet's streams of one incarnation open and end."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import attrs

from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driving.device_plugin import AdvertisesDevices


@attrs.define
class ObservedDevices(AdvertisesDevices):
    """Passes everything on; tells when the first stream opens and when the last one is ended.

    Its end is the only sign of a kubelet that died or cut it. A stream that ends by itself,
    because the resource is retired, is no such sign.
    """

    devices: AdvertisesDevices
    opened: Callable[[], None]
    ended: Callable[[], None]
    _streams: int = attrs.field(default=0, init=False)

    async def watch(self) -> AsyncGenerator[Listing]:
        """Yield what the devices yield."""
        self._streams += 1
        if self._streams == 1:
            self.opened()
        retired = False
        try:
            async with aclosing(self.devices.watch()) as listings:
                async for listing in listings:
                    yield listing
            retired = True
        finally:
            self._streams -= 1
            if not self._streams and not retired:
                self.ended()

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Return the devices' grant."""
        return await self.devices.allocate(ids)
