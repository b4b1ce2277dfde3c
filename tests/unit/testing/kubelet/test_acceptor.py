"""The socket in front of the gRPC server."""

from __future__ import annotations

import errno
import os
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from deviceplugin.testing.kubelet.acceptor import Acceptor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BIG = os.urandom(1 << 20) * 4
"""More than any socket buffer takes at once."""


@pytest.fixture
def inner() -> Iterator[socket.socket]:
    """Give the test a server of its own to stand behind."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0acceptor-test-{os.getpid()}")
        listener.listen()
        yield listener


@pytest.fixture
def acceptor(directory: Path, inner: socket.socket) -> Iterator[Acceptor]:
    """Give the test an acceptor that listens."""
    acceptor = Acceptor(directory / "kubelet.sock", inner.getsockname()[1:].decode())
    acceptor.bind()
    acceptor.listen()
    yield acceptor
    acceptor.close()


@pytest.fixture
def client(directory: Path, acceptor: Acceptor) -> Iterator[socket.socket]:
    """Give the test a connection to it."""
    del acceptor  # it only has to be there
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(directory / "kubelet.sock"))
        yield client


def read(end: socket.socket, size: int) -> bytes:
    """Return so many bytes."""
    data = bytearray()
    while len(data) < size and (chunk := end.recv(1 << 16)):
        data += chunk
    return bytes(data)


def test_bytes_pass_both_ways_whatever_their_number(
    client: socket.socket,
    inner: socket.socket,
) -> None:
    """Nothing is lost or mixed up when a reader is slower than the writer."""
    server, _ = inner.accept()
    with server:
        for one, other in ((client, server), (server, client)):
            writer = threading.Thread(target=one.sendall, args=(BIG,))
            writer.start()
            assert read(other, len(BIG)) == BIG
            writer.join()


@pytest.mark.parametrize("dies", ["client", "server"])
def test_the_end_of_one_side_is_the_end_of_the_other(
    client: socket.socket,
    inner: socket.socket,
    dies: str,
) -> None:
    """Both ends are closed together."""
    server, _ = inner.accept()
    server.settimeout(20)
    client.sendall(b"x")
    assert server.recv(1) == b"x"
    first, second = (client, server) if dies == "client" else (server, client)
    first.close()
    assert second.recv(1) == b""
    server.close()


def test_one_connection_can_be_cut(
    directory: Path,
    acceptor: Acceptor,
    client: socket.socket,
    inner: socket.socket,
) -> None:
    """The one whose peer the server names; others stay, and unknown names do nothing."""
    server, address = inner.accept()
    with socket.socket(socket.AF_UNIX) as other, server:
        other.settimeout(20)
        other.connect(str(directory / "kubelet.sock"))
        second, _ = inner.accept()
        acceptor.cut("unix-abstract:nobody")
        acceptor.cut(f"unix-abstract:{address[1:].decode()}")
        assert client.recv(1) == b""
        second.sendall(b"alive")
        assert read(other, 5) == b"alive"
        second.close()


def test_closing_leaves_the_file(
    directory: Path,
    acceptor: Acceptor,
    client: socket.socket,
) -> None:
    """Connections end, later ones are refused, and nothing is left to cut."""
    acceptor.close()
    assert client.recv(1) == b""
    path = directory / "kubelet.sock"
    assert path.is_socket()
    with socket.socket(socket.AF_UNIX) as late:
        assert late.connect_ex(str(path)) == errno.ECONNREFUSED
    acceptor.cut("unix-abstract:nobody")
