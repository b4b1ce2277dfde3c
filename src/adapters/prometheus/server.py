"""Tells the metrics to whoever asks over HTTP."""

import asyncio
import errno
import socket
import socketserver
import sys
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, Final, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import (
    CollectorRegistry,
    make_wsgi_app,  # pyright: ignore[reportUnknownVariableType]
)

from deviceplugin.domain.monitoring_events import MetricsServed, MetricsUnavailable
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.journal import Journal

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

RETRY_SECONDS: Final = 10.0
"""From one attempt to have the address to the next."""
MAX_REQUESTS: Final = 8
"""Answered at once; each has a thread. Who comes beyond that is sent away."""
REQUEST_SECONDS: Final = 10.0
"""How long a peer may keep a thread waiting."""


class MetricsServer:
    """Serves a registry at an address, as long as `run` runs.

    An address that cannot be had, such as a port that is taken, is a warning, and is tried again:
    devices are served all the same. Port 0 is any that is free. Requests wake nothing but
    themselves: there is no thread that waits for them.
    """

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        *,
        clock: Clock,
        journal: Journal,
    ) -> None:
        """Open nothing yet."""
        self._host = host
        self._port = port
        self._registry = registry
        self._clock = clock
        self._journal = journal

    async def run(self) -> None:
        """Serve until cancelled."""
        server = await self._opened()
        loop = asyncio.get_running_loop()
        loop.add_reader(server.socket, server.handle_request)
        try:
            host, port = server.socket.getsockname()[:2]
            self._journal.record(MetricsServed(address=_shown(host, port)))
            await loop.create_future()
        finally:
            loop.remove_reader(server.socket)
            server.server_close()

    async def _opened(self) -> "_Server":
        before = ""
        while True:
            try:
                return await self._bound()
            except OSError as error:
                reason = _reason(error)
            if reason != before:
                address = _shown(self._host, self._port)
                self._journal.record(MetricsUnavailable(address=address, reason=reason))
                before = reason
            await self._clock.sleep(RETRY_SECONDS)

    async def _bound(self) -> "_Server":
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        server = _Server(family, address)
        server.set_app(cast("WSGIApplication", make_wsgi_app(self._registry)))
        return server


_Socket = socket.socket | tuple[bytes, socket.socket]


class _Handler(WSGIRequestHandler):
    timeout = REQUEST_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so there
        """Say nothing: that somebody asked is no news."""


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    """A thread for each request; none keeps the process from its end."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, family: int, address: tuple[Any, ...]) -> None:
        self.address_family = family
        self._free = BoundedSemaphore(MAX_REQUESTS)
        super().__init__(address, _Handler)
        # Who has gone again before it is greeted must not be waited for.
        self.socket.setblocking(False)

    def server_bind(self) -> None:
        """Bind; to ask how this host is called could take long."""
        socketserver.TCPServer.server_bind(self)
        host, port = self.socket.getsockname()[:2]
        self.server_name, self.server_port = str(host), int(port)
        self.setup_environ()

    def verify_request(self, request: _Socket, client_address: object) -> bool:
        """Say whether there is a thread for one more."""
        del request, client_address
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: _Socket, client_address: object) -> None:
        """Answer, then make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: _Socket, client_address: object) -> None:
        """Tell of what is not the peer's doing."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is taken: free it, or choose another one (0: any that is free)"
    # Of a name that is not found, the number is no error of the system's.
    return error.strerror or str(error)
