"""A gRPC server behind a socket that behaves like the kubelet's."""

import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import grpc

from deviceplugin.testing.kubelet.acceptor import Acceptor

_CALLS_AT_ONCE: Final = 256
"""A pending Register occupies a thread; one is made when there is need of it."""


class Server:
    """Serves something at a path. Prepared, bound, listening, closed: once each, in order."""

    def __init__(self, path: Path) -> None:
        """Open nothing that can be seen."""
        self._inner = f"fake-kubelet-{os.getpid()}-{secrets.token_hex(8)}"
        self.path: Final = path
        self.acceptor: Final = Acceptor(path, self._inner)
        self._closing = ExitStack()
        self._closing.callback(self.acceptor.close)

    def prepare(self, add: Callable[[grpc.Server], object]) -> None:
        """Make ready to answer, out of sight: so that from `bind` to `listen` it is not far.

        `add` adds the services.
        """
        pool = ThreadPoolExecutor(_CALLS_AT_ONCE, thread_name_prefix="fake-kubelet-call")
        server = grpc.server(pool)
        add(server)
        server.add_insecure_port(f"unix-abstract:{self._inner}")
        server.start()
        self._closing.pop_all()
        self._closing.callback(pool.shutdown)
        self._closing.callback(lambda: server.stop(None).wait())
        # Closed first: clients lose their connection, whatever is still to be answered.
        self._closing.callback(self.acceptor.close)

    def bind(self) -> None:
        """Create the socket file, which refuses connections as yet; raises `OSError`."""
        self.acceptor.bind()

    def listen(self) -> None:
        """Answer from now on."""
        self.acceptor.listen()

    def close(self) -> None:
        """Drop all clients at once, wait for the threads, and leave the file behind."""
        self._closing.close()
