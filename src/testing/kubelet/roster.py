"""Who serves a resource: the bookkeeping of clients and endpoints, which differs by era.

Two lists, kept apart as the kubelet does, because its oddities come from their disagreement: the
*clients* of the registration server (whose stream ended?) and the *endpoints* of the device
manager (whom to ask?). Not thread-safe: callers hold the lock of `Watch`.
"""

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

import attrs

from deviceplugin.testing.kubelet.errors import RefusedError
from deviceplugin.testing.kubelet.values import Options


class Member(Protocol):
    """A connection to a plugin, as far as the books go."""

    @property
    def resource(self) -> str:
        """The resource it registered for."""
        ...

    @property
    def path(self) -> str:
        """Its socket."""
        ...


_Client = TypeVar("_Client", bound=Member)


@attrs.define(eq=False, kw_only=True)
class Endpoint(Generic[_Client]):
    """Whom to ask about a resource. Without client and options: only remembered from before."""

    client: _Client | None = None
    options: Options | None = None
    stopped_at: float | None = None


class Roster(ABC, Generic[_Client]):
    """The books of one kubelet life."""

    def __init__(self) -> None:
        """Know nobody."""
        self._primaries: dict[str, Endpoint[_Client]] = {}

    def primary(self, resource: str) -> Endpoint[_Client] | None:
        """Return the endpoint that is asked about `resource`, be it stopped."""
        return self._primaries.get(resource)

    def remember(self, resource: str, now: float) -> None:
        """Note a resource of the checkpoint: its endpoint counts as stopped just now."""
        self._primaries[resource] = Endpoint(stopped_at=now)

    def forget(self, resource: str) -> None:
        """Drop the endpoint of a resource whose grace is over."""
        self._primaries.pop(resource, None)

    @abstractmethod
    def enrol(self, client: _Client) -> None:
        """Enter a client before it is dialled."""

    @abstractmethod
    def withdraw(self, client: _Client) -> None:
        """Strike out a client that could not be connected, with whatever has the same key."""

    @abstractmethod
    def connect(self, client: _Client, options: Options) -> None:
        """Make the client's endpoint the primary one; raises `RefusedError`."""

    @abstractmethod
    def ended(self, client: Member) -> _Client | None:
        """Strike out and return whom the kubelet disconnects because `client` is at its end.

        It looks that up by key, so it may be another one, or nobody.
        """

    @abstractmethod
    def disconnect(self, client: _Client, now: float) -> bool:
        """Stop the client's endpoint; tell whether the devices of its resource are lost."""


class ByName(Roster[_Client]):
    """Era A: one client and one endpoint for each resource, the newest."""

    def __init__(self) -> None:
        """Know nobody."""
        super().__init__()
        self._clients: dict[str, _Client] = {}

    def enrol(self, client: _Client) -> None:
        """Take the place of the client before, whose connection stays open."""
        self._clients[client.resource] = client

    def withdraw(self, client: _Client) -> None:
        """Strike out the resource: if an older client lives, its end will go unnoticed."""
        self._clients.pop(client.resource, None)

    def connect(self, client: _Client, options: Options) -> None:
        """Take the place of the endpoint before."""
        self._primaries[client.resource] = Endpoint(client=client, options=options)

    def ended(self, client: Member) -> _Client | None:
        """Return the newest client, also when it is an old stream that ended."""
        return self._clients.pop(client.resource, None)

    def disconnect(self, client: _Client, now: float) -> bool:
        """Stop the endpoint of the resource, whoever's it is."""
        endpoint = self._primaries.get(client.resource)
        if endpoint is None:
            return False
        endpoint.stopped_at = now
        return True


class BySocket(Roster[_Client]):
    """Era B: endpoints of one resource live side by side, told apart by socket path."""

    def __init__(self) -> None:
        """Know nobody."""
        super().__init__()
        self._clients: list[_Client] = []
        self._store: dict[str, dict[str, Endpoint[_Client]]] = {}

    def enrol(self, client: _Client) -> None:
        """Stand beside those that are there."""
        self._clients.append(client)

    def withdraw(self, client: _Client) -> None:
        """Strike out all of that key: the live one as well, whose end will go unnoticed."""
        self._clients = [known for known in self._clients if not _same(known, client)]

    def connect(self, client: _Client, options: Options) -> None:
        """Stand beside the others and become primary; a path that is in the store is refused."""
        endpoints = self._store.setdefault(client.resource, {})
        if client.path in endpoints:
            message = f"device plugin already connected: {client.path}"
            raise RefusedError(message)
        endpoints[client.path] = Endpoint(client=client, options=options)
        self._primaries[client.resource] = endpoints[client.path]

    def ended(self, client: Member) -> _Client | None:
        """Return the client at that path, if it is still in the books."""
        found = next((known for known in self._clients if _same(known, client)), None)
        if found is not None:
            self.withdraw(found)
        return found

    def disconnect(self, client: _Client, now: float) -> bool:
        """Stop that endpoint; a survivor becomes primary, the devices go with the last."""
        endpoints = self._store.get(client.resource, {})
        endpoint = endpoints.pop(client.path, None)
        if endpoint is None:
            return False
        endpoint.stopped_at = now
        if endpoints:
            self._primaries[client.resource] = next(iter(endpoints.values()))
        return not endpoints


def _same(one: Member, other: Member) -> bool:
    return (one.resource, one.path) == (other.resource, other.path)
