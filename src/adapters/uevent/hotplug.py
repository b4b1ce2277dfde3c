"""Hears the kernel through a netlink socket in the event loop: no thread, and no udev."""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from deviceplugin.adapters.uevent.message import LONGEST, parse
from deviceplugin.domain.events import HotplugDegraded
from deviceplugin.domain.ports.driven.hotplug import Change, Hotplug
from deviceplugin.domain.ports.driven.journal import Journal

_KOBJECT_UEVENT: Final = 15
_FROM_KERNEL: Final = 1
"""The multicast group; udev sends to another one."""
_ROOM: Final = 1024 * 1024
"""Bytes that may wait while a look is under way, if the system allows so many."""
_AT_ONCE: Final = 256
"""Messages taken before others have a turn."""
_EVERY_ID: Final = ["0", "0", "4294967295"]
_NOTHING: Final = Change()
_ALL: Final = Change(everything=True)


def open_socket() -> socket.socket:
    """Return a socket that hears the kernel from now on. Raises `OSError`."""
    made = socket.socket(
        socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, _KOBJECT_UEVENT
    )
    try:
        with suppress(OSError):
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM)
        made.bind((0, _FROM_KERNEL))
    except OSError:
        made.close()
        raise
    return made


def every(_: str) -> bool:
    """Let each subsystem matter."""
    return True


class UeventHotplug(Hotplug):
    """Announcements of the kernel, with what is missed told as a change of everything.

    `matters` says of which subsystems a change should wake anybody; the others are told along
    with the next one that does.

    In a user namespace of its own a process opens the socket and hears nothing, since the kernel
    tells only network namespaces of the initial one: so nothing counts as heard there. That, or a
    socket that cannot be had, is recorded once; a socket is tried again at each call.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        matters: Callable[[str], bool] = every,
        open_socket: Callable[[], socket.socket] = open_socket,
        uid_map: str = "/proc/self/uid_map",
    ) -> None:
        self._journal = journal
        self._matters = matters
        self._open = open_socket
        self._isolated = _isolated(uid_map)
        self._socket: socket.socket | None = None
        self._news = _NOTHING
        self._woken = asyncio.Event()
        self._degraded = False
        self._closed = False
        self._listen()
        if self._isolated:
            self._degrade("a user namespace is not shown the kernel's announcements")

    @property
    def heard(self) -> bool:
        """Whether the kernel tells us."""
        return self._socket is not None and not self._isolated

    def attend_to(self, matters: Callable[[str], bool]) -> None:
        """Let others say from now on which subsystems matter."""
        self._matters = matters

    async def changed(self) -> Change:
        """Return what the kernel announced since the last return, once it matters."""
        self._listen()
        loop, listening = asyncio.get_running_loop(), self._socket
        if listening is not None:
            loop.add_reader(listening.fileno(), self._hear, listening)
        try:
            await self._woken.wait()
        finally:
            if listening is not None and listening.fileno() >= 0:
                loop.remove_reader(listening.fileno())
        self._woken.clear()
        news, self._news = self._news, _NOTHING
        return news

    def close(self) -> None:
        """Give the socket back."""
        self._closed = True
        self._news = _NOTHING
        self._woken.clear()
        self._release()

    def _listen(self) -> None:
        if self._closed or self._socket is not None:
            return
        try:
            self._socket = self._open()
        except OSError as error:
            self._degrade(_reason(error))

    def _hear(self, listening: socket.socket) -> None:
        """Take what there is; a flood is taken in parts, so that it holds up nobody."""
        try:
            for _ in range(_AT_ONCE):
                self._take(listening)
        except BlockingIOError:
            pass
        except OSError as error:
            self._note(_ALL)
            if error.errno != errno.ENOBUFS:
                self._degrade(_reason(error))
                with suppress(OSError, ValueError):
                    asyncio.get_running_loop().remove_reader(listening.fileno())
                self._release()

    def _take(self, listening: socket.socket) -> None:
        data, _, _, sender = listening.recvmsg(LONGEST + 1)
        # Port 0 is the kernel: other processes can send, too.
        announced = parse(data) if sender[0] == 0 else None
        if announced is None:
            return
        paths = {announced.devpath, announced.old_devpath} - {""}
        change = Change(paths=frozenset(paths))
        if self._matters(announced.subsystem):
            self._note(change)
        else:
            self._news |= change

    def _note(self, change: Change) -> None:
        self._news |= change
        self._woken.set()

    def _degrade(self, reason: str) -> None:
        if not self._degraded:
            self._degraded = True
            self._journal.record(HotplugDegraded(source="uevents", reason=reason))

    def _release(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _isolated(uid_map: str) -> bool:
    """Say whether this process is in a user namespace that is not the first one."""
    try:
        return Path(uid_map).read_text(encoding="ascii").split() != _EVERY_ID
    except (OSError, ValueError):
        return False


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)
