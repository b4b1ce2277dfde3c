"""What can be wrong with a device in sysfs, by name."""

import os
import shutil
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Final

from deviceplugin.testing.sysfs.tree import FakeDevice, SysfsTree


class Oddity(Enum):
    """One thing that is wrong; the value says what."""

    DANGLING = "its entry leads nowhere"
    LOOPING = "its entry leads to itself"
    OUTSIDE = "its entry leads out of sysfs"
    FAKED_OUTSIDE = "its entry leads out of sysfs, by way of a link in place of its parent"
    NO_LINK = "its entry is a file"
    NO_UEVENT = "it has no uevent file, and no dev file"
    UEVENT_DIRECTORY = "its uevent file is a directory"
    UEVENT_BINARY = "its uevent file is no text"
    UEVENT_HUGE = "its uevent file is far too long"
    UEVENT_PIPE = "its uevent file is a pipe that nobody writes to"
    UEVENT_OUTSIDE = "its uevent file is a link out of sysfs"
    UEVENT_ESCAPES = "its uevent file names a node that is not below /dev"
    NO_SUBSYSTEM = "it has no subsystem link"
    DRIVER_DANGLING = "its driver link leads nowhere"
    UNREADABLE = "nobody but root may read it"


def apply(tree: SysfsTree, device: FakeDevice, oddity: Oddity) -> None:
    """Make the oddity true of a device that is there."""
    _APPLY[oddity](tree, device)


def _replaced(tree: SysfsTree, path: str) -> Path:
    """Return a place below the root once nothing is there any more."""
    place = tree.at(path)
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)
    return place


def _outside(tree: SysfsTree) -> Path:
    """Return a directory beside the root that looks like a device."""
    outside = tree.root.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "uevent").write_text("MAJOR=1\nMINOR=3\nDEVNAME=outside\n")
    return outside


def _dangling(tree: SysfsTree, device: FakeDevice) -> None:
    shutil.rmtree(tree.at(device.path))


def _looping(tree: SysfsTree, device: FakeDevice) -> None:
    tree.link(device.entry, f"{device.entry}~")
    tree.link(f"{device.entry}~", device.entry)


def _points_outside(tree: SysfsTree, device: FakeDevice) -> None:
    _replaced(tree, device.entry).symlink_to(_outside(tree))


def _faked_outside(tree: SysfsTree, device: FakeDevice) -> None:
    parent = f"/devices/odd-{device.name}"
    tree.at(parent).symlink_to(_outside(tree).parent)
    tree.link(device.entry, f"{parent}/outside")


def _no_link(tree: SysfsTree, device: FakeDevice) -> None:
    _replaced(tree, device.entry).write_text("0\n")


def _no_uevent(tree: SysfsTree, device: FakeDevice) -> None:
    _replaced(tree, f"{device.path}/uevent")
    _replaced(tree, f"{device.path}/dev")


def _uevent_directory(tree: SysfsTree, device: FakeDevice) -> None:
    _replaced(tree, f"{device.path}/uevent").mkdir()


def _uevent_holds(data: bytes) -> Callable[[SysfsTree, FakeDevice], None]:
    def write(tree: SysfsTree, device: FakeDevice) -> None:
        _no_uevent(tree, device)
        tree.write(f"{device.path}/uevent", data)

    return write


def _uevent_pipe(tree: SysfsTree, device: FakeDevice) -> None:
    os.mkfifo(_replaced(tree, f"{device.path}/uevent"))


def _uevent_outside(tree: SysfsTree, device: FakeDevice) -> None:
    _no_uevent(tree, device)
    tree.at(f"{device.path}/uevent").symlink_to(_outside(tree) / "uevent")


def _no_subsystem(tree: SysfsTree, device: FakeDevice) -> None:
    _replaced(tree, f"{device.path}/subsystem")


def _driver_dangling(tree: SysfsTree, device: FakeDevice) -> None:
    _replaced(tree, f"{device.path}/driver").symlink_to("../nowhere/gone")


def _unreadable(tree: SysfsTree, device: FakeDevice) -> None:
    for path in tree.at(device.path).iterdir():
        if path.is_file() and not path.is_symlink():
            path.chmod(0)


_APPLY: Final[Mapping[Oddity, Callable[[SysfsTree, FakeDevice], None]]] = MappingProxyType(
    {
        Oddity.DANGLING: _dangling,
        Oddity.LOOPING: _looping,
        Oddity.OUTSIDE: _points_outside,
        Oddity.FAKED_OUTSIDE: _faked_outside,
        Oddity.NO_LINK: _no_link,
        Oddity.NO_UEVENT: _no_uevent,
        Oddity.UEVENT_DIRECTORY: _uevent_directory,
        Oddity.UEVENT_BINARY: _uevent_holds(b"MAJOR=\xff\xfe\0\nDEVNAME=\xff\0/x\n"),
        Oddity.UEVENT_HUGE: _uevent_holds(b"A=" + b"x" * 1_000_000),
        Oddity.UEVENT_PIPE: _uevent_pipe,
        Oddity.UEVENT_OUTSIDE: _uevent_outside,
        Oddity.UEVENT_ESCAPES: _uevent_holds(b"MAJOR=1\nMINOR=1\nDEVNAME=../etc/passwd\n"),
        Oddity.NO_SUBSYSTEM: _no_subsystem,
        Oddity.DRIVER_DANGLING: _driver_dangling,
        Oddity.UNREADABLE: _unreadable,
    }
)
