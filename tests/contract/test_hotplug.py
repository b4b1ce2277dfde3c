"""Whoever hears of changes obeys the laws of `Hotplug`."""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from deviceplugin.adapters.inotify import NodeHotplug
from deviceplugin.adapters.memory.hotplug import MemoryHotplug
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.system import SystemDeviceNodes
from deviceplugin.adapters.uevent import UeventHotplug
from deviceplugin.adapters.uevent.hotplug import open_socket
from deviceplugin.domain.events import HotplugDegraded
from deviceplugin.domain.ports.driven.hotplug import Change, Hotplug
from deviceplugin.testing.contracts.hotplug import HotplugContract, HotplugWorld
from deviceplugin.testing.contracts.law import law

TRIGGER = Path("/sys/class/mem/null/uevent")


class _MemoryWorld:
    def __init__(self) -> None:
        self.hotplug = MemoryHotplug()

    def change(self, number: int = 0) -> str:
        self.hotplug.tell(Change(paths=frozenset({f"/devices/{number}"})))
        return f"/devices/{number}"

    def overflow(self) -> None:
        self.hotplug.tell(Change(everything=True))

    def deafen(self) -> None:
        self.hotplug.deafen()


class TestMemoryHotplug(HotplugContract):
    """Without a kernel."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HotplugWorld]:
        yield _MemoryWorld()


class FromKernel(socket.socket):
    """The receiving half of a pair, on which everything looks sent by the kernel."""

    overflowed = 0

    def recvmsg(self, *sizes: int) -> Any:  # noqa: ANN401 - as in the standard library
        """Return the next message, or say once that some were lost."""
        if self.overflowed:
            self.overflowed -= 1
            raise OSError(errno.ENOBUFS, os.strerror(errno.ENOBUFS))
        data, more, flags, _ = super().recvmsg(*sizes)
        return data, more, flags, (0, 1)


class _PairWorld:
    """Messages of the kernel's form, on a pair of sockets in place of netlink."""

    def __init__(self) -> None:
        ours, self._kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._ours = FromKernel(fileno=ours.detach())
        self._ours.setblocking(False)
        self._opened = False
        self.journal = MemoryJournal()
        self.hotplug = UeventHotplug(
            journal=self.journal, open_socket=self._open, uid_map="/nowhere"
        )

    def change(self, number: int = 0) -> str:
        path = f"/devices/virtual/widget/{number}"
        self.send(
            f"add@{path}\0ACTION=add\0DEVPATH={path}\0SUBSYSTEM=widget\0SEQNUM={number}\0".encode()
        )
        return path

    def send(self, data: bytes) -> None:
        try:
            self._kernel.send(data)
        except OSError as error:
            assert error.errno in {errno.ECONNREFUSED, errno.ECONNRESET}  # noqa: PT017

    def overflow(self) -> None:
        self._ours.overflowed = 1
        self.change()

    def deafen(self) -> None:
        self.hotplug = UeventHotplug(
            journal=self.journal, open_socket=self._open, uid_map="/nowhere"
        )

    def close(self) -> None:
        self.hotplug.close()
        self._kernel.close()
        self._ours.close()

    def _open(self) -> socket.socket:
        if self._opened:
            raise OSError(errno.EPROTONOSUPPORT, os.strerror(errno.EPROTONOSUPPORT))
        self._opened = True
        return self._ours


class TestUeventHotplug(HotplugContract):
    """With messages as the kernel sends them."""

    many = False  # a pair of sockets holds ten messages

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HotplugWorld]:
        with closing(_PairWorld()) as world:
            yield world


class _KernelWorld:
    """The kernel itself: each write announces a device once more, and changes nothing."""

    def __init__(self) -> None:
        self.hotplug = UeventHotplug(journal=MemoryJournal(), uid_map="/nowhere")

    def change(self, number: int = 0) -> str:
        del number
        TRIGGER.write_text("change")
        return "/devices/virtual/mem/null"

    def overflow(self) -> None:
        raise NotImplementedError

    def deafen(self) -> None:
        raise NotImplementedError


def _hears_the_kernel() -> bool:
    """Say whether this process may let the kernel announce something, and is told of it."""
    try:
        with open_socket() as listening:
            listening.settimeout(1)
            TRIGGER.write_text("change")
            return bool(listening.recv(8192))
    except OSError:
        return False


@pytest.mark.skipif(not _hears_the_kernel(), reason="needs root, and the initial user namespace")
class TestUeventHotplugOnThisKernel(HotplugContract):
    """With the kernel that the tests run on."""

    many = can_overflow = can_be_deaf = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HotplugWorld]:
        world = _KernelWorld()
        with closing(world.hotplug):
            yield world


class _NodesWorld:
    """A /dev in a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        (root / "sub").mkdir()
        self.journal = MemoryJournal()
        self.hotplug: Hotplug = self._made()

    def change(self, number: int = 0) -> str:
        file = self._root / f"sub/widget{number}"
        if file.exists():
            file.unlink()
        else:
            file.touch()
        return f"/dev/sub/widget{number}"

    def overflow(self) -> None:
        raise NotImplementedError

    def deafen(self) -> None:
        raise NotImplementedError

    def _made(self) -> NodeHotplug:
        root = str(self._root)
        return NodeHotplug(
            ["/dev/sub/widget*"],
            nodes=SystemDeviceNodes(root),
            dev_root=root,
            journal=self.journal,
        )


class TestNodeHotplug(HotplugContract):
    """With inotify."""

    can_overflow = can_be_deaf = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HotplugWorld]:
        with TemporaryDirectory() as root:
            world = _NodesWorld(Path(root))
            with closing(world.hotplug):
                yield world


class TestDegraded:
    """What only an adapter with a kernel behind it can meet."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[_PairWorld]:
        with closing(_PairWorld()) as world:
            yield world

    @law
    async def test_a_socket_that_cannot_be_had_is_one_warning(self, world: _PairWorld) -> None:
        """However often it is tried again."""
        world.deafen()
        for _ in range(3):
            waiting = asyncio.create_task(world.hotplug.changed())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
        assert world.journal.of(HotplugDegraded) == (
            HotplugDegraded(source="uevents", reason="Protocol not supported"),
        )
