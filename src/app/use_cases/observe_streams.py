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
    """Passes everything on; tells when a stream opens while there is none, and when it is ended.

    A kubelet opens one stream to an incarnation, and its end is the only sign of a kubelet that
    died or cut it. Streams that open beside it, such as a person's who looks at the lists, are
    nobody's sign: neither may theirs be taken for the kubelet's end nor hide it. A stream that
    ends by itself, because the resource is retired, is no such sign either.
    """

    devices: AdvertisesDevices
    opened: Callable[[], None]
    ended: Callable[[], None]
    _watched: bool = attrs.field(default=False, init=False)

    async def watch(self) -> AsyncGenerator[Listing]:
        """Yield what the devices yield."""
        is_first, retired = not self._watched, False
        if is_first:
            self._watched = True
            self.opened()
        try:
            async with aclosing(self.devices.watch()) as listings:
                async for listing in listings:
                    yield listing
            retired = True
        finally:
            if is_first:
                self._watched = False
                if not retired:
                    self.ended()

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Return the devices' grant."""
        return await self.devices.allocate(ids)
