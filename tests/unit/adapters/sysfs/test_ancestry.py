"""The laws of what a device has from its ancestors."""

from pathlib import Path

import pytest

from deviceplugin.adapters.sysfs.ancestry import Ancestry, Nearest
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs


@pytest.fixture
def sysfs(tmp_path: Path) -> FakeSysfs:
    """Return an empty tree."""
    return FakeSysfs(tmp_path)


def ancestry(sysfs: FakeSysfs) -> Ancestry:
    """Return a fresh look."""
    return Ancestry(Files(str(sysfs.root)))


def serial_port(sysfs: FakeSysfs) -> FakeDevice:
    """Return a tty of a USB device at port 1-2.4."""
    hub = sysfs.usb_hub(1, below=sysfs.pci("0000:00:14.0", driver="xhci_hcd"))
    usb = sysfs.usb("1-2.4", below=hub, number=2)
    return sysfs.usb_tty("ttyUSB0", below=sysfs.usb_interface(usb, driver="cp210x"))


def test_a_driver_is_the_devices_own_or_the_nearest(sysfs: FakeSysfs) -> None:
    tty = serial_port(sysfs)
    look = ancestry(sysfs)
    assert look.driver(tty.path) == "cp210x"
    assert look.driver("/devices/pci0000:00/0000:00:14.0/usb1/1-2.4") == "usb"
    assert look.driver("/devices/pci0000:00/0000:00:14.0") == "xhci_hcd"
    assert look.driver("/devices/pci0000:00") == ""


def test_a_driver_can_be_bound_and_unbound(sysfs: FakeSysfs) -> None:
    device = sysfs.pci("0000:00:01.0")
    assert ancestry(sysfs).driver(device.path) == ""
    device = sysfs.bind(device, "vfio-pci")
    assert ancestry(sysfs).driver(device.path) == "vfio-pci"
    assert ancestry(sysfs).driver(sysfs.bind(device, "").path) == ""


def test_the_parent_is_the_hardware_that_people_know(sysfs: FakeSysfs) -> None:
    """A USB port rather than an interface, a PCI address; on other buses, the nearest device."""
    tty = serial_port(sysfs)
    bridge = sysfs.bridge("0000:00:1c.0")
    card = sysfs.pci("0000:03:00.0", below=bridge)
    i2c = sysfs.bus_device("i2c-1", bus="i2c")
    look = ancestry(sysfs)
    assert look.parent(tty.path) == "1-2.4"
    assert look.parent(sysfs.child("renderD128", subsystem="drm", below=card).path) == card.name
    assert look.parent(card.path) == bridge.name
    assert look.parent(bridge.path) == ""
    assert look.parent(sysfs.child("i2c-1", subsystem="i2c-dev", below=i2c).path) == "i2c-1"
    assert look.parent(sysfs.misc("kvm", 232).path) == ""


def test_each_directory_is_looked_at_once() -> None:
    """However many devices are below it, and whether or not something is found."""
    looked: list[str] = []

    def look(path: str) -> str | None:
        looked.append(path)
        return "found" if path == "/devices/a" else None

    nearest = Nearest(look)
    for path in ("/devices/a/b/c", "/devices/a/b/d", "/devices/a", "/devices/x/y", "/devices/x/z"):
        assert nearest(path) == ("found" if "/a" in path else None)
    assert looked == [
        "/devices/a/b/c",
        "/devices/a/b",
        "/devices/a",
        "/devices/a/b/d",
        "/devices/x/y",
        "/devices/x",
        "/devices/x/z",
    ]


def test_no_path_is_too_deep() -> None:
    assert Nearest[str](lambda _: None)("/devices" + "/x" * 5000) is None
