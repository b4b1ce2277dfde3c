"""One announcement of the kernel: `add@/devices/…`, then NUL and KEY=VALUE, again and again."""

import os
from typing import Final

import attrs

_UDEV: Final = b"libudev\0"
"""How udev's own messages begin; they come later, and in another form."""
LONGEST: Final = 8192
"""The kernel's buffer for the keys has 2048 bytes, and a path of its own before them."""


@attrs.frozen
class Uevent:
    """What was announced: which device, and the subsystem it belongs to, if any."""

    devpath: str
    subsystem: str = ""
    old_devpath: str = ""


def parse(data: bytes) -> Uevent | None:
    """Return what the kernel announces; None for what is no announcement of its own.

    The head and the keys say the same twice, so a message that was cut or forged is found out.
    """
    if data.startswith(_UDEV) or len(data) > LONGEST:
        return None
    head, *lines = data.split(b"\0")
    action, at, devpath = head.partition(b"@")
    keys = dict(reversed([_pair(line) for line in lines if b"=" in line]))
    same = keys.get(b"ACTION") == action and keys.get(b"DEVPATH") == devpath
    if not (at and action and same and devpath.startswith(b"/")):
        return None
    return Uevent(
        os.fsdecode(devpath),
        os.fsdecode(keys.get(b"SUBSYSTEM", b"")),
        os.fsdecode(keys.get(b"DEVPATH_OLD", b"")),
    )


def _pair(line: bytes) -> tuple[bytes, bytes]:
    key, _, value = line.partition(b"=")
    return key, value
