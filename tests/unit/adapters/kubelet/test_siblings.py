"""Newer servers of the same resource are told from older ones, others' and dead ones."""

import socket
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from deviceplugin.adapters.kubelet.siblings import FRESH_SECONDS, Siblings
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Successor
from deviceplugin.domain.resources import ResourceName

WIDGET, GADGET = ResourceName("example.com", "widget"), ResourceName("example.com", "gadget")


class Place:
    """A directory, and a clock that a test moves."""

    def __init__(self, directory: str, *beside: str) -> None:
        self.sockets = SocketDirectory(directory)
        self.beside = [SocketDirectory(each) for each in beside]
        self.now = 0.0
        self.last = 0
        self.siblings = Siblings(self.sockets, self.beside, lambda: self.now)
        self.stack = ExitStack()

    def serve(
        self, resource: ResourceName, *, where: SocketDirectory | None = None
    ) -> tuple[str, FileIdentity, socket.socket]:
        """Make a socket that takes connections, made later than the last as the kernel tells."""
        sockets = where or self.sockets
        while True:
            name = sockets.new_name(resource)
            made = self.stack.enter_context(socket.socket(socket.AF_UNIX))
            made.bind(str(sockets.file(name)))
            status = sockets.file(name).stat()
            if status.st_ctime_ns > self.last:
                break
            sockets.file(name).unlink()
        self.last = status.st_ctime_ns
        made.listen()
        return name, FileIdentity(status.st_dev, status.st_ino, status.st_ctime_ns), made

    def later(self) -> None:
        """Let a look grow old."""
        self.now += FRESH_SECONDS


def test_a_newer_server_of_the_resource_is_seen_until_it_is_gone() -> None:
    with TemporaryDirectory() as directory:
        place = Place(directory)
        with place.stack:
            name, identity, _ = place.serve(WIDGET)
            place.serve(GADGET)
            assert place.siblings.newer_than(name, identity) is Successor.NONE
            place.later()
            newer, its_identity, listener = place.serve(WIDGET)
            assert place.siblings.newer_than(name, identity) is Successor.ALIVE
            assert place.siblings.newer_than(newer, its_identity) is Successor.NONE
            listener.close()
            place.later()
            assert place.siblings.newer_than(name, identity) is Successor.DEAD
            Path(directory, newer).unlink()
            place.later()
            assert place.siblings.newer_than(name, identity) is Successor.NONE


def test_a_newer_server_beside_is_seen_as_one_in_the_same_directory() -> None:
    """Whenever that directory is made; it may be missing."""
    with TemporaryDirectory() as here, TemporaryDirectory() as there:
        registry = Path(there, "plugins_registry")
        place = Place(here, str(registry))
        with place.stack:
            name, identity, _ = place.serve(WIDGET)
            assert place.siblings.newer_than(name, identity) is Successor.NONE
            registry.mkdir()
            place.serve(GADGET, where=place.beside[0])
            assert place.siblings.newer_than(name, identity) is Successor.NONE
            newer, _, listener = place.serve(WIDGET, where=place.beside[0])
            assert place.siblings.newer_than(name, identity) is Successor.ALIVE
            listener.close()
            place.later()
            assert place.siblings.newer_than(name, identity) is Successor.DEAD
            (registry / newer).unlink()
            place.later()
            assert place.siblings.newer_than(name, identity) is Successor.NONE


def test_a_directory_that_is_gone_has_nobody() -> None:
    with TemporaryDirectory() as directory:
        place = Place(directory)
    assert place.siblings.newer_than("dp-a-b.sock", FileIdentity(0, 0, 0)) is Successor.NONE
