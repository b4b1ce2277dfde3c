"""The public face of kubelet.sock: a socket of our own, joined to a gRPC server elsewhere.

Why not let gRPC bind kubelet.sock itself? When a gRPC server stops it unlinks its path *by name*.
A kubelet leaves its dead socket behind and the directory sees no event at all; and between
bind() and listen() of a kubelet a plugin is refused. With a raw socket both come by themselves,
and a connection can be cut in the middle of a call. The price is one hop for Register alone (all
other calls go from us to the plugin's socket). Python's gRPC takes no ready descriptor, else the
hop could go too. The inner server listens in the abstract namespace, so there is no second file.
"""

import selectors
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from deviceplugin.testing.kubelet.splice import Splice

_BACKLOG: Final = 128


class Acceptor:
    """Takes connections at a path and joins each to the abstract socket `inner`."""

    def __init__(self, path: Path, inner: str) -> None:
        """Open nothing yet."""
        self._path = path
        self._inner = f"\0{inner}"
        self._listener = socket.socket(socket.AF_UNIX)
        self._selector = selectors.DefaultSelector()
        self._waker, self._wake = socket.socketpair()
        self._splices: dict[str, Splice] = {}
        self._doomed: list[str] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="fake-kubelet-accept", daemon=True)

    def bind(self) -> None:
        """Create the file: the directory's watchers see it, connections are refused."""
        self._listener.bind(str(self._path))

    def listen(self) -> None:
        """Take connections from now on."""
        self._listener.listen(_BACKLOG)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._thread.start()

    def cut(self, peer: str) -> None:
        """Close one connection, named as the inner server sees its peer."""
        self._doomed.append(peer)
        with suppress(OSError):  # closed: there is no connection left to cut
            self._waker.send(b"!")

    def close(self) -> None:
        """Close everything at once and leave the file, like a process that dies."""
        self._closing = True
        if self._thread.is_alive():
            self._waker.send(b"!")
            self._thread.join()
        for splice in self._splices.values():
            splice.close()
        self._selector.close()
        for end in (self._listener, self._waker, self._wake):
            end.close()

    def _run(self) -> None:
        while not self._closing:
            for key, events in self._selector.select():
                self._handle(key, events)

    def _handle(self, key: selectors.SelectorKey, events: int) -> None:
        if isinstance(key.data, Splice) and isinstance(key.fileobj, socket.socket):
            key.data.pump(key.fileobj, events)
        elif key.fileobj is self._listener:
            self._accept()
        else:
            self._wake.recv(1)
            self._cut_doomed()

    def _accept(self) -> None:
        with suppress(BlockingIOError, ConnectionError):
            client, _ = self._listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.bind("")  # a name of its own, by which the inner server can tell it apart
            server.connect(self._inner)
            self._forget_closed()
            self._splices[_peer(server)] = Splice(client, server, self._selector)

    def _forget_closed(self) -> None:
        self._splices = {
            peer: splice for peer, splice in self._splices.items() if not splice.closed
        }

    def _cut_doomed(self) -> None:
        while self._doomed:
            splice = self._splices.pop(self._doomed.pop(), None)
            if splice is not None:
                splice.close()


def _peer(end: socket.socket) -> str:
    name: bytes = end.getsockname()
    return f"unix-abstract:{name[1:].decode()}"
