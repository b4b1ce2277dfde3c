"""The laws of what a device has from its ancestors."""

from itertools import accumulate
from pathlib import Path

import pytest

from deviceplugin.adapters.sysfs.ancestry import Ancestry, Nearest
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.kinship import Kinship
from deviceplugin.adapters.sysfs.memory import Folder, Memory
from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs


@pytest.fixture
def sysfs(tmp_path: Path) -> FakeSysfs:
    """Return an empty tree."""
    return FakeSysfs(tmp_path)


class Look:
    """A fresh look at a tree, by paths."""

    def __init__(self, sysfs: FakeSysfs) -> None:
        self._folders = Folders(Files(str(sysfs.root)), Memory())
        self._ancestry = Ancestry(self._folders, Kinship(self._folders))

    def driver(self, path: str) -> str:
        """Return the driver of the device at a path."""
        return self._ancestry.driver(self._at(path))

    def parent(self, path: str) -> str:
        """Return what the device at a path is part of."""
        return self._ancestry.parent(self._at(path))

    def _at(self, path: str) -> Folder:
        folder = self._folders.at(path)
        assert folder is not None
        return folder


def serial_port(sysfs: FakeSysfs) -> FakeDevice:
    """Return a tty of a USB device at port 1-2.4."""
    hub = sysfs.usb_hub(1, below=sysfs.pci("0000:00:14.0", driver="xhci_hcd"))
    usb = sysfs.usb("1-2.4", below=hub, number=2)
    return sysfs.usb_tty("ttyUSB0", below=sysfs.usb_interface(usb, driver="cp210x"))


def test_a_driver_is_the_devices_own_or_the_nearest(sysfs: FakeSysfs) -> None:
    tty = serial_port(sysfs)
    look = Look(sysfs)
    assert look.driver(tty.path) == "cp210x"
    assert look.driver("/devices/pci0000:00/0000:00:14.0/usb1/1-2.4") == "usb"
    assert look.driver("/devices/pci0000:00/0000:00:14.0") == "xhci_hcd"
    assert look.driver("/devices/pci0000:00") == ""


def test_a_driver_can_be_bound_and_unbound(sysfs: FakeSysfs) -> None:
    device = sysfs.pci("0000:00:01.0")
    assert Look(sysfs).driver(device.path) == ""
    device = sysfs.bind(device, "vfio-pci")
    assert Look(sysfs).driver(device.path) == "vfio-pci"
    assert Look(sysfs).driver(sysfs.bind(device, "").path) == ""


def test_the_parent_is_the_hardware_that_people_know(sysfs: FakeSysfs) -> None:
    """A USB port rather than an interface, a PCI address; on other buses, the nearest device."""
    tty = serial_port(sysfs)
    bridge = sysfs.bridge("0000:00:1c.0")
    card = sysfs.pci("0000:03:00.0", below=bridge)
    i2c = sysfs.bus_device("i2c-1", bus="i2c")
    look = Look(sysfs)
    assert look.parent(tty.path) == "1-2.4"
    assert look.parent(sysfs.child("renderD128", subsystem="drm", below=card).path) == card.name
    assert look.parent(card.path) == bridge.name
    assert look.parent(bridge.path) == ""
    assert look.parent(sysfs.child("i2c-1", subsystem="i2c-dev", below=i2c).path) == "i2c-1"
    assert look.parent(sysfs.misc("kvm", 232).path) == ""


def chain(*names: str, below: Folder | None = None) -> Folder:
    """Return a directory of the last name, in one of the name before that, and so on."""
    path = below.path if below else "/devices"
    for name in names:
        path += f"/{name}"
        below = Folder(path, name, below, (0, 0, 0))
    assert below is not None
    return below


def test_each_directory_is_looked_at_once() -> None:
    """However many devices are below it, and whether or not something is found."""
    looked: list[str] = []

    def look(folder: Folder) -> str | None:
        looked.append(folder.path)
        return "found" if folder.path == "/devices/a" else None

    nearest = Nearest("x", look)
    a, x = chain("a"), chain("x")
    b = chain("b", below=a)
    below = [chain("c", below=b), chain("d", below=b), a, chain("y", below=x), chain("z", below=x)]
    for folder in below:
        assert nearest(folder) == ("found" if "/a" in folder.path else None)
    assert looked == [
        "/devices/a/b/c",
        "/devices/a/b",
        "/devices/a",
        "/devices/a/b/d",
        "/devices/x/y",
        "/devices/x",
        "/devices/x/z",
    ]


def test_no_path_is_too_deep(sysfs: FakeSysfs) -> None:
    """For whoever looks upwards, nor for whoever looks at it for the first time."""
    assert Nearest[str]("x", lambda _: None)(chain(*("x" * 5000))) is None
    parts = ["/x"] * 1000
    places = [Path(f"{sysfs.root}{path}") for path in accumulate(parts, initial="/devices")]
    for place in places[1:]:
        place.mkdir()
    try:
        assert Look(sysfs).driver("/devices" + "".join(parts)) == ""
    finally:
        for place in reversed(places[1:]):  # what is so deep breaks whoever removes it otherwise
            place.rmdir()
