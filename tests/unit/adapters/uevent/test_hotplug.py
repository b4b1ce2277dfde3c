"""The laws of hearing the kernel that no other adapter shares."""

import asyncio
import errno
import os
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.uevent import UeventHotplug
from deviceplugin.domain.events import HotplugDegraded
from deviceplugin.domain.ports.driven.hotplug import Change
from deviceplugin.testing.contracts.law import soon


class Receiver(socket.socket):
    """The receiving half of a pair; a test says who sent the messages, or what fails."""

    port = 0
    failure: OSError | None = None

    def recvmsg(self, *sizes: int) -> Any:  # noqa: ANN401 - as in the standard library
        """Return the next message."""
        if self.failure is not None:
            raise self.failure
        return (*super().recvmsg(*sizes)[:3], (self.port, 1))


class Kernel:
    """Sends to sockets that it hands out."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.receivers: list[Receiver] = []
        self._senders: list[socket.socket] = []
        self.hotplug = UeventHotplug(
            journal=self.journal,
            matters=lambda subsystem: subsystem != "net",
            open_socket=self.open,
            uid_map="/nowhere",
        )

    def open(self) -> socket.socket:
        """Return a new receiver."""
        ours, kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.receivers.append(Receiver(fileno=ours.detach()))
        self.receivers[-1].setblocking(False)
        self._senders.append(kernel)
        return self.receivers[-1]

    def announce(self, path: str, subsystem: str = "usb") -> None:
        """Send an announcement to the newest receiver."""
        text = f"add@{path}\0ACTION=add\0DEVPATH={path}\0SUBSYSTEM={subsystem}\0"
        self._senders[-1].send(text.encode())

    def send(self, data: bytes) -> None:
        """Send anything."""
        self._senders[-1].send(data)

    def close(self) -> None:
        """Close all."""
        self.hotplug.close()
        for each in (*self.receivers, *self._senders):
            each.close()


@pytest.fixture
def kernel() -> Generator[Kernel]:
    """Return a kernel that is heard."""
    made = Kernel()
    yield made
    made.close()


async def test_what_does_not_matter_wakes_nobody_and_is_told_along(kernel: Kernel) -> None:
    """A look is not worth it; what is remembered of the device is void all the same."""
    kernel.announce("/devices/virtual/net/veth0", "net")
    waiting = asyncio.create_task(kernel.hotplug.changed())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    kernel.announce("/devices/usb1")
    told = await soon(kernel_result(waiting))
    assert told == Change(paths=frozenset({"/devices/virtual/net/veth0", "/devices/usb1"}))


async def test_what_matters_can_change(kernel: Kernel) -> None:
    """For a call that is under way, too."""
    waiting = asyncio.create_task(kernel.hotplug.changed())
    await asyncio.sleep(0)
    kernel.hotplug.attend_to(lambda subsystem: subsystem == "net")
    kernel.announce("/devices/usb1")
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    kernel.announce("/devices/virtual/net/veth0", "net")
    assert await soon(kernel_result(waiting))


async def kernel_result(task: "asyncio.Task[Change]") -> Change:
    """Wait for a call."""
    return await task


async def test_only_the_kernel_is_believed(kernel: Kernel) -> None:
    """Neither another process, nor what is no announcement."""
    kernel.receivers[0].port = 4711
    kernel.announce("/devices/forged")
    waiting = asyncio.create_task(kernel.hotplug.changed())
    for _ in range(10):
        await asyncio.sleep(0)
    kernel.receivers[0].port = 0
    kernel.send(b"libudev\0nonsense")
    kernel.announce("/devices/usb1")
    assert await soon(kernel_result(waiting)) == Change(paths=frozenset({"/devices/usb1"}))


async def test_a_socket_that_breaks_is_told_and_replaced_by_the_next_call(kernel: Kernel) -> None:
    """What was missed by then may be anything."""
    kernel.receivers[0].failure = OSError(errno.EIO, os.strerror(errno.EIO))
    kernel.announce("/devices/usb1")
    assert (await soon(kernel.hotplug.changed())).everything
    assert not kernel.hotplug.heard
    waiting = asyncio.create_task(kernel.hotplug.changed())
    await asyncio.sleep(0)
    assert kernel.hotplug.heard
    kernel.announce("/devices/usb2")
    assert await soon(kernel_result(waiting)) == Change(paths=frozenset({"/devices/usb2"}))
    assert [event.reason for event in kernel.journal.of(HotplugDegraded)] == ["Input/output error"]


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("         0          0 4294967295\n", True),
        ("         0     100000      65536\n", False),
        ("", False),
    ],
)
def test_a_user_namespace_of_its_own_hears_nothing(
    tmp_path: Path, text: str, heard: object
) -> None:
    """The socket opens there, and stays silent: so that is said, and the looks stay quick."""
    (tmp_path / "uid_map").write_text(text)
    kernel, journal = Kernel(), MemoryJournal()
    hotplug = UeventHotplug(
        journal=journal, open_socket=kernel.open, uid_map=str(tmp_path / "uid_map")
    )
    assert hotplug.heard == heard
    assert len(journal.of(HotplugDegraded)) == (not heard)
    hotplug.close()
    kernel.close()
