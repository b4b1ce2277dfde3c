"""Notice when the kubelet's stream of one incarnation opens and ends."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import attrs

from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driving.device_plugin import AdvertisesDevices


@attrs.define
class ObservedDevices(AdvertisesDevices):
    """Passes everything on; tells when a stream opens and ends that may be the kubelet's.

    A kubelet opens one stream to an incarnation, and its end is the only sign of a kubelet that
    died or cut it. Until that stream `is_known`, each may be it: then the end of a person's who
    looks at the lists costs a registration, because the kubelet's must never be missed. Those that
    open later are nobody's sign. A stream that ends by itself, because the resource is retired, is
    no sign either.
    """

    devices: AdvertisesDevices
    opened: Callable[[], None]
    ended: Callable[[], None]
    is_known: Callable[[], bool]

    async def watch(self) -> AsyncGenerator[Listing]:
        """Yield what the devices yield."""
        counts, retired = not self.is_known(), False
        if counts:
            self.opened()
        try:
            async with aclosing(self.devices.watch()) as listings:
                async for listing in listings:
                    yield listing
            retired = True
        finally:
            if counts and not retired:
                self.ended()

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Return the devices' grant."""
        return await self.devices.allocate(ids)
