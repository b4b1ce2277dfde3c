"""The laws of the fake: it is shaped as Linux shapes sysfs, and changes as Linux changes it."""

import os
from pathlib import Path

import pytest

from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.testing.sysfs import FakeSysfs, Oddity


@pytest.fixture
def sysfs(tmp_path: Path) -> FakeSysfs:
    """Return an empty tree."""
    return FakeSysfs(tmp_path)


def links(sysfs: FakeSysfs) -> dict[str, str]:
    """Return where each link in the tree leads, both as paths below the root."""
    places = [
        Path(home, name)
        for home, folders, names in os.walk(sysfs.root)
        for name in (*folders, *names)
    ]
    return {
        str(place.relative_to(sysfs.root)): str(place.resolve().relative_to(sysfs.root))
        for place in places
        if place.is_symlink()
    }


def test_a_device_is_a_real_directory_with_links_to_it(sysfs: FakeSysfs) -> None:
    """From its class, from its number; and from it to its class and to what it is part of."""
    card = sysfs.pci("0000:03:00.0", driver="i915", below=sysfs.bridge("0000:00:1c.0"))
    sysfs.child("renderD128", subsystem="drm", below=card, number=(226, 128), node="dri/r")
    home = "devices/pci0000:00/0000:00:1c.0/0000:03:00.0"
    node = f"{home}/drm/renderD128"
    expected = {
        "class/drm/renderD128": node,
        "dev/char/226:128": node,
        f"{node}/subsystem": "class/drm",
        f"{node}/device": home,
        "bus/pci/devices/0000:03:00.0": home,
        "bus/pci/drivers/i915/0000:03:00.0": home,
        f"{home}/driver": "bus/pci/drivers/i915",
        f"{home}/subsystem": "bus/pci",
    }
    assert expected.items() <= links(sysfs).items()
    assert sysfs.at(f"/{node}/uevent").read_text() == "MAJOR=226\nMINOR=128\nDEVNAME=dri/r\n"
    assert sysfs.at(f"/{node}/dev").read_text() == "226:128\n"
    assert sysfs.at(f"/{home}/vendor").read_text() == "0x1af4\n"
    assert sysfs.nodes.number("/dev/dri/r") == NodeNumber("char", 226, 128)


def test_every_link_is_relative(sysfs: FakeSysfs) -> None:
    """As the kernel's: the tree can be mounted or copied anywhere."""
    sysfs.serial_port()
    assert [path for path in links(sysfs) if sysfs.at(path).readlink().is_absolute()] == []


def test_what_goes_takes_with_it_all_that_hangs_on_it(sysfs: FakeSysfs) -> None:
    """Links, numbers and nodes; others stay."""
    kvm = sysfs.misc("kvm", 232)
    before = links(sysfs)
    sysfs.serial_port()
    (controller,) = [device for device in sysfs if device.subsystem == "pci"]
    sysfs.remove(controller)
    assert links(sysfs) == before
    assert list(sysfs) == [kvm]
    assert list(sysfs.nodes.matching("/dev/*")) == ["/dev/kvm"]
    sysfs.serial_port()


def test_a_device_can_go_whose_node_is_gone_already(sysfs: FakeSysfs) -> None:
    kvm = sysfs.misc("kvm", 232)
    sysfs.nodes.remove("/dev/kvm")
    sysfs.remove(kvm)
    assert list(sysfs) == []


def test_a_renamed_device_is_known_by_its_new_name_everywhere(sysfs: FakeSysfs) -> None:
    """With all that is below it; its node keeps its name."""
    port = sysfs.serial_port()
    adapter = next(device for device in sysfs if device.name == "1-1")
    renamed = sysfs.rename(adapter, "1-2")
    assert renamed.name == "1-2"
    assert not [path for path, target in links(sysfs).items() if "1-1/" in f"{path} {target}/"]
    assert links(sysfs)["class/tty/ttyUSB0"] == port.path.replace("/1-1/", "/1-2/").lstrip("/")
    assert sysfs.nodes.number("/dev/ttyUSB0") == NodeNumber("char", 188, 0)


def test_a_device_can_change_its_driver(sysfs: FakeSysfs) -> None:
    card = sysfs.pci("0000:03:00.0", driver="nvme")
    card = sysfs.bind(card, "vfio-pci")
    assert links(sysfs)[f"{card.path}/driver".lstrip("/")] == "bus/pci/drivers/vfio-pci"
    assert not sysfs.at("/bus/pci/drivers/nvme/0000:03:00.0").is_symlink()
    assert sysfs.at(f"{card.path}/uevent").read_text() == "DRIVER=vfio-pci\n"
    card = sysfs.bind(card, "")
    assert not sysfs.at(f"{card.path}/driver").is_symlink()


@pytest.mark.parametrize("oddity", Oddity)
def test_each_oddity_can_happen_to_any_device(sysfs: FakeSysfs, oddity: Oddity) -> None:
    """And the device can go afterwards."""
    kvm = sysfs.misc("kvm", 232)
    for device in (sysfs.misc("odd", 1), sysfs.serial_port(), sysfs.pci("0000:00:01.0")):
        sysfs.spoil(device, oddity)
        sysfs.remove(device)
    assert sysfs.at(kvm.entry).resolve() == sysfs.at(kvm.path).resolve()


def test_an_acm_port_hangs_on_its_interface(sysfs: FakeSysfs) -> None:
    """Without a device of another bus in between."""
    sysfs.serial_port()
    interface = next(device for device in sysfs if device.name == "1-1:1.0")
    port = sysfs.acm_tty("ttyACM0", below=interface)
    assert port.path == f"{interface.path}/tty/ttyACM0"
    assert sysfs.nodes.number("/dev/ttyACM0") == NodeNumber("char", 166, 0)
