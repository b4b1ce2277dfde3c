"""What the laws of a registrar need of the world around it."""

from abc import abstractmethod
from typing import Protocol

from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driven.kubelet import Host, Registrar
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.resources import ResourceName


class RegistrarWorld(Protocol):
    """A registrar, a host to serve with, and a kubelet, not running at first, with its knobs."""

    @property
    @abstractmethod
    def registrar(self) -> Registrar:
        """The registrar under test."""
        ...

    @property
    @abstractmethod
    def host(self) -> Host:
        """Any host whose endpoints the kubelet can dial."""
        ...

    @property
    @abstractmethod
    def dial_seconds(self) -> float:
        """How long this kubelet tries to dial an endpoint: 10 s in the real one, less here."""
        ...

    @abstractmethod
    async def start_kubelet(self) -> None:
        """Return when the kubelet answers; it removed all sockets before."""
        ...

    @abstractmethod
    async def stop_kubelet(self) -> None:
        """Kill the kubelet: connections end, files stay."""
        ...

    @abstractmethod
    def refuse_next(self, reason: str) -> None:
        """Let the kubelet answer the next Register with an error of this text."""
        ...

    @abstractmethod
    def hang_next(self) -> None:
        """Let the kubelet never answer the next Register."""
        ...

    @abstractmethod
    def put_deaf(self, endpoint: str) -> None:
        """Make a socket, or what counts as one, on which nobody listens."""
        ...

    @abstractmethod
    def remove(self, endpoint: str) -> None:
        """Remove a socket."""
        ...

    @abstractmethod
    async def asked(self, count: int) -> None:
        """Return when this many Registers have reached the kubelet."""
        ...

    @abstractmethod
    def options(self, resource: ResourceName) -> Options | None:
        """Return the options that the kubelet was answered; None if it did not ask."""
        ...

    @abstractmethod
    async def listed(self, resource: ResourceName) -> Listing:
        """Return the resource's list once the kubelet has one."""
        ...

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Let virtual time pass; where time is real, nothing need be done."""
        ...
