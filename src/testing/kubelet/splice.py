"""Two sockets joined so that each gets the other's bytes."""

import selectors
import socket
from contextlib import suppress
from typing import Final

_CHUNK: Final = 64 * 1024


class Splice:
    """A connection from `client` to `server`, pumped by whoever owns the selector.

    The end of either side, or an error, closes both: gRPC has no use for half a connection.
    """

    def __init__(
        self,
        client: socket.socket,
        server: socket.socket,
        selector: selectors.BaseSelector,
    ) -> None:
        """Take over both sockets and report to `selector`, with this object as its data."""
        self._other = {client: server, server: client}
        self._waiting = {client: bytearray(), server: bytearray()}
        self._selector = selector
        for end in self._other:
            end.setblocking(False)
            selector.register(end, selectors.EVENT_READ, self)

    def pump(self, end: socket.socket, events: int) -> None:
        """Move the bytes that `end` has, and those that it has room for."""
        if self.closed:  # by the other end's event in the same round
            return
        try:
            if events & selectors.EVENT_READ:
                self._read(end)
            if events & selectors.EVENT_WRITE:
                self._write(end)
        except (OSError, EOFError):
            self.close()

    def _read(self, end: socket.socket) -> None:
        data = end.recv(_CHUNK)
        if not data:
            raise EOFError
        other = self._other[end]
        self._waiting[other] += data
        self._write(other)

    def _write(self, end: socket.socket) -> None:
        waiting = self._waiting[end]
        with suppress(BlockingIOError):
            del waiting[: end.send(waiting)]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if waiting else 0)
        if self._selector.get_key(end).events != events:
            self._selector.modify(end, events, self)

    @property
    def closed(self) -> bool:
        """Whether there is nothing left to pump."""
        return not self._other

    def close(self) -> None:
        """Close both ends; whoever talks to them sees the end of the connection."""
        for end in self._other:
            self._selector.unregister(end)
            end.close()
        self._other.clear()
