"""The kubelet, as we see it: we serve on a socket that it can dial, and register that socket."""

from abc import abstractmethod
from enum import Enum
from typing import Protocol

import attrs

from deviceplugin.domain.ports.driven.directory import NO_ARRIVALS, Arrivals, FileIdentity
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin, Options
from deviceplugin.domain.resources import ResourceName


class Successor(Enum):
    """A newer server of the same resource, such as an update's."""

    NONE = "there is none"
    GONE = "one came and went, or may have"
    DEAD = "there is a socket, but nobody takes connections"
    ALIVE = "it takes connections"


class Incarnation(Protocol):
    """One server on one socket of its own."""

    @property
    @abstractmethod
    def endpoint(self) -> str:
        """The socket's bare file name in the plugin directory, as Register carries it."""
        ...

    @property
    @abstractmethod
    def identity(self) -> FileIdentity:
        """Which file the socket is."""
        ...

    @abstractmethod
    def successor(self, arrivals: Arrivals = NO_ARRIVALS) -> Successor:
        """Return what there is of newer ones of the same resource, of whomever.

        `arrivals` are the sockets that came since the last question: one of those may have gone
        again. If some were missed, one counts as having done so.

        Whether one takes connections may be a second old.
        """
        ...

    @abstractmethod
    async def close(self) -> None:
        """End all calls and remove the socket, if it is still ours. Idempotent."""
        ...


class Host(Protocol):
    """Serves device plugins where the kubelet can dial them."""

    @abstractmethod
    async def serve(self, plugin: DevicePlugin) -> Incarnation:
        """Return once `plugin` answers on a new socket, of a new name. Raises `ServingError`."""
        ...


@attrs.frozen(kw_only=True)
class Registration:
    """What Register tells the kubelet."""

    resource: ResourceName
    endpoint: str
    options: Options


class Registrar(Protocol):
    """Registers sockets with the kubelet: calls it, or waits until it has found them."""

    @abstractmethod
    async def reachable(self) -> bool:
        """Return whether a kubelet takes connections now; nothing is sent.

        Also if the system forbids to find out: then `register` says why. Where a kubelet finds us:
        whether there is a place for that.
        """
        ...

    @abstractmethod
    async def register(self, registration: Registration, seconds: float) -> None:
        """Return when the kubelet has accepted; it calls back before it does.

        After `KubeletUnreachableError` the same socket may be registered again. Raises within
        `seconds`: that or, if the endpoint's socket is gone, `SocketLostError` if nothing was
        sent, `RegistrationRefusedError` if it said no, `RegistrationUnclearError` if it may have
        said yes.
        """
        ...
