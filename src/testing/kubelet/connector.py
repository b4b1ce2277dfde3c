"""From Register to an endpoint: check the request, dial back, ask for the options."""

import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

import attrs

from deviceplugin.testing.kubelet.directory import socket_of
from deviceplugin.testing.kubelet.errors import RefusedError
from deviceplugin.testing.kubelet.history import History, OptionsRead, Registered
from deviceplugin.testing.kubelet.limits import Limits
from deviceplugin.testing.kubelet.link import Link
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.names import is_extended_resource
from deviceplugin.testing.kubelet.profile import Profile
from deviceplugin.testing.kubelet.register_call import RegisterCall

VERSION: Final = "v1beta1"
"""The one version of the API that the kubelet speaks."""


@attrs.frozen(kw_only=True)
class Request:
    """What a plugin says in Register. Its options are left out: the kubelet ignores them."""

    version: str
    endpoint: str
    resource: str

    def check(self) -> None:
        """Raise `RefusedError` by the kubelet's rules, the version before the name."""
        if self.version != VERSION:
            raise RefusedError(
                f'requested API version "{self.version}" is not supported by kubelet. '
                f'Supported version is ["{VERSION}"]',
            )
        if not is_extended_resource(self.resource):
            raise RefusedError(f'the ResourceName "{self.resource}" is invalid')


class Connector:
    """Makes the connections of one kubelet life, and closes them all at its end."""

    def __init__(
        self,
        directory: Path,
        profile: Profile,
        limits: Limits,
        manager: DeviceManager,
        history: History,
    ) -> None:
        """Dial sockets below `directory`."""
        self._directory = directory
        self._profile = profile
        self._limits = limits
        self._manager = manager
        self._history = history
        self._lock = threading.Lock()
        self._links: list[Link] | None = []

    def connect(self, request: Request, call: RegisterCall) -> Link:
        """Return a connection whose endpoint is now asked; raises `RefusedError`.

        All of this happens before Register is answered.
        """
        request.check()
        path = socket_of(self._directory, request.endpoint)
        link = self._link(request.resource, request.endpoint, str(path))
        bounded = self._profile.register_bounds_calls
        with self._bounds(call, link):
            self._join(link, call.seconds_left if bounded else None)
        return link

    def adopt(self, resource: str, path: str) -> Link:
        """Return a connection to what was found in plugins_registry; raises `RefusedError`."""
        link = self._link(resource, path, path)
        self._join(link, None)
        return link

    def _join(self, link: Link, deadline: float | None) -> None:
        self._manager.enrol(link)
        try:
            self._greet(link, deadline)
        except RefusedError:
            self._manager.withdraw(link)
            raise

    def _link(self, resource: str, endpoint: str, path: str) -> Link:
        link = Link(resource, endpoint, path, self._limits.message_bytes)
        with self._lock:
            if self._links is not None:
                self._links = [*(known for known in self._links if not known.closed), link]
                return link
        link.close()
        return link

    def _bounds(self, call: RegisterCall, link: Link) -> AbstractContextManager[None]:
        if self._profile.register_bounds_calls:
            return call.giving_up(link.close)
        return nullcontext()

    def _greet(self, link: Link, deadline: float | None) -> None:
        # If this or the next step fails the connection stays open, as the kubelet's does.
        options = link.greet(self._limits.dial, deadline)
        self._history.add(OptionsRead(resource=link.resource, endpoint=link.endpoint))
        self._manager.connect(link, options)
        self._history.add(Registered(resource=link.resource, endpoint=link.endpoint))

    def close(self) -> None:
        """Close every connection, and any that is still to come."""
        with self._lock:
            links, self._links = self._links or [], None
        for link in links:
            link.close()
