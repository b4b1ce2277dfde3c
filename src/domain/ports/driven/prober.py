"""Who asks what something outside of sysfs knows of a device's health."""

from abc import abstractmethod
from typing import Protocol

from deviceplugin.domain.discovery.health import Outcome, Probe


class Prober(Protocol):
    """Asks one question at a time about one device; any number about different ones."""

    @abstractmethod
    async def probe(self, probe: Probe) -> Outcome:
        """Return what the answer is. Raises `ProbeError` if there is none within `timeout`.

        Whatever was started for it is ended on return, and when the call is cancelled.
        """
        ...
