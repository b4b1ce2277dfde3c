"""Peers that speak HTTP/2 without gRPC: they send, and see, what is really on the wire."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, RequestReceived, StreamEnded, TrailersReceived
from h2.exceptions import ProtocolError

_Found = TypeVar("_Found")

PATIENCE: Final = 10.0
"""Seconds for what takes milliseconds."""
_CHUNK: Final = 65_536


class ConnectionOverError(Exception):
    """The peer closed, or said that it will: there is no use in waiting."""


class Link:
    """One connection; `events` are all that came, in order."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, client: bool
    ) -> None:
        """Say hello."""
        # What we say may break rules: that is what a test is about.
        config = H2Configuration(
            client_side=client, header_encoding="utf-8", validate_outbound_headers=False
        )
        self._http = H2Connection(config)
        self._reader = reader
        self._writer = writer
        self.events: list[Event] = []
        self._http.initiate_connection()
        self._flush()

    def call(self, method: str, authority: str, message: bytes = b"") -> int:
        """Begin a call as grpc-go does, and return its stream."""
        stream: int = self._http.get_next_available_stream_id()
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": method,
            ":authority": authority,
            "content-type": "application/grpc",
            "te": "trailers",
        }
        self._http.send_headers(stream, list(headers.items()))
        self._http.send_data(stream, framed(message), end_stream=True)
        self._flush()
        return stream

    def answer(self, stream: int, message: bytes = b"") -> None:
        """Answer a call with OK."""
        self._http.send_headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
        self._http.send_data(stream, framed(message))
        self._http.send_headers(stream, [("grpc-status", "0")], end_stream=True)
        self._flush()

    def reset(self, stream: int, code: ErrorCodes) -> None:
        """End a call without an answer."""
        self._http.reset_stream(stream, code)
        self._flush()

    def ping(self, number: int) -> None:
        """Send a ping of one's own."""
        self._http.ping(number.to_bytes(8))
        self._flush()

    async def until(self, wanted: Callable[[Sequence[Event]], _Found | None]) -> _Found:
        """Return what `wanted` finds in the events, once there is something to find."""
        async with asyncio.timeout(PATIENCE):
            while not (found := wanted(self.events)):
                await self.read()
        return found

    async def read(self) -> None:
        """Wait for more events; raises `ConnectionOverError` if there will be none."""
        data = await self._reader.read(_CHUNK)
        if not data:
            raise ConnectionOverError(self.events)
        try:
            self.events += self._http.receive_data(data)
        except ProtocolError as error:
            # For h2 a connection is over at GOAWAY; gRPC has a last word for each stream.
            raise ConnectionOverError(self.events) from error
        self._flush()

    def _flush(self) -> None:
        if data := self._http.data_to_send():
            self._writer.write(data)


def framed(message: bytes) -> bytes:
    """Return a message as gRPC frames it: not compressed, its length, itself."""
    return b"\0" + len(message).to_bytes(4) + message


def received(stream: int, events: Sequence[Event]) -> bytes:
    """Return the messages of a stream so far, framed."""
    return b"".join(
        event.data
        for event in events
        if isinstance(event, DataReceived) and event.stream_id == stream
    )


def status(stream: int, events: Sequence[Event]) -> str | None:
    """Return the gRPC status that a stream ended with."""
    for event in events:
        if isinstance(event, TrailersReceived) and event.stream_id == stream:
            return _texts(event)["grpc-status"]
    return None


@asynccontextmanager
async def dialled(path: Path) -> AsyncGenerator[Link]:
    """Dial a socket as a client."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        yield Link(reader, writer, client=True)
    finally:
        writer.close()


@asynccontextmanager
async def listening(
    path: Path, *, reset: ErrorCodes | None = None
) -> AsyncGenerator[Sequence[Mapping[str, str]]]:
    """Answer every call at `path` with an empty message, or `reset` it; yields their headers."""
    seen: list[Mapping[str, str]] = []

    def end(link: Link, stream: int) -> None:
        if reset is None:
            link.answer(stream)
        else:
            link.reset(stream, reset)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _end_all(Link(reader, writer, client=False), seen, end)
        except (ConnectionOverError, ConnectionError):
            writer.close()

    server = await asyncio.start_unix_server(serve, path)
    try:
        yield seen
    finally:
        server.close()
        await server.wait_closed()


async def _end_all(
    link: Link, seen: list[Mapping[str, str]], end: Callable[[Link, int], None]
) -> None:
    while True:
        known = len(link.events)
        await link.read()
        for event in link.events[known:]:
            if isinstance(event, RequestReceived):
                seen.append(_texts(event))
            elif isinstance(event, StreamEnded):
                end(link, event.stream_id)


def _texts(event: RequestReceived | TrailersReceived) -> Mapping[str, str]:
    return {str(key): str(value) for key, value in event.headers}
