"""What the laws of a host need of the world around it."""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Host
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.preference import Wish


class CallFailedError(Exception):
    """A kubelet's call was answered with an error: its class, as the kubelet sees it, and text."""

    def __init__(self, kind: object, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


class HostWorld(Protocol):
    """A host, its directory, and a kubelet that dials an endpoint there anew for each call.

    The calls raise `CallFailedError` if they are answered with an error, or the connection ends.
    """

    @property
    @abstractmethod
    def host(self) -> Host:
        """The host under test."""
        ...

    @abstractmethod
    def identity(self, name: str) -> FileIdentity | None:
        """Return which file a name in the directory stands for."""
        ...

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file from the directory."""
        ...

    @abstractmethod
    def put_file(self, name: str) -> FileIdentity:
        """Make a file of somebody else's, in the place of what has the name."""
        ...

    @abstractmethod
    def remove_directory(self) -> None:
        """Remove the directory with all that is in it."""
        ...

    @abstractmethod
    def kind_of(self, error: Exception) -> object:
        """Return the class of failure that a kubelet sees when a plugin raises `error`."""
        ...

    @abstractmethod
    async def options(self, endpoint: str) -> Options:
        """Call GetDevicePluginOptions."""
        ...

    @abstractmethod
    def listings(self, endpoint: str) -> AsyncGenerator[Listing]:
        """Call ListAndWatch; closing the generator cancels the call."""
        ...

    @abstractmethod
    async def allocate(self, endpoint: str, ids: Sequence[DeviceId]) -> Grant:
        """Call Allocate."""
        ...

    @abstractmethod
    async def prefer(self, endpoint: str, wish: Wish) -> Sequence[DeviceId]:
        """Call GetPreferredAllocation."""
        ...

    @abstractmethod
    async def prepare(self, endpoint: str, ids: Sequence[DeviceId]) -> None:
        """Call PreStartContainer."""
        ...
