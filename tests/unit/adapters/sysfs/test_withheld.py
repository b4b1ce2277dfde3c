"""The laws of what is there and cannot be read: nobody says that there is none."""

import errno
import os
from collections.abc import Callable, Sequence

import pytest

from deviceplugin.adapters.sysfs.files import Files, read_page
from deviceplugin.domain.discovery.events import ExclusionUndecided
from deviceplugin.domain.discovery.expectations import (
    AllOf,
    Compared,
    Exists,
    Expectation,
    NoneOf,
)
from deviceplugin.domain.discovery.globs import Glob
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, rule
from deviceplugin.testing.sysfs import FakeDevice, Machine, found, names

X = ResourceName("x.local", "x")
NONE_OF_X = NoneOf([Glob("x*")])
SOME_FILE = AllOf([Exists(), Compared("gt", "5")])
NO_FILE = AllOf([Exists(wanted=False), Compared("gt", "5")])


def closed(*endings: str, number: int = errno.EACCES) -> Callable[[str], Files]:
    """Return a reader that meets an error in files whose paths end so."""

    def read(path: str) -> bytes:
        if path.endswith(endings):
            raise OSError(number, os.strerror(number))
        return read_page(path)

    return lambda root: Files(root, read=read)


def disks(machine: Machine) -> tuple[FakeDevice, FakeDevice]:
    """Add two disks below a controller, each with a file that says what it is for."""
    host = machine.sysfs.pci("0000:00:1f.2", attributes={"owner": "us"})
    return (
        machine.sysfs.disk("sda", below=host, attributes={"use": "spare", "wwid": "naa.1"}),
        machine.sysfs.disk("sdb", below=host, minor=16, attributes={"use": "x", "wwid": "naa.2"}),
    )


def undecided(machine: Machine) -> list[str]:
    """Return the names of devices of which this was told, in the order of their paths."""
    told = sorted(each.device for each in machine.journal.of(ExclusionUndecided))
    return [device.rpartition("/")[2] for device in told]


@pytest.mark.parametrize(
    ("exclude", "files"),
    [
        ([{"attributes": {"use": "x*"}}], ["sda/use"]),
        ([{"attributes": {"use": NONE_OF_X}, "name": "sda"}], ["sda/use"]),
        ([{"attributes": {"use": Compared("gt", "5")}}], ["sda/use"]),
        ([{"attributes": {"use": SOME_FILE}}], ["sda/use"]),
        ([{"attributes": {"use": "y"}}, {"attributes": {"use": "x*"}}], ["sda/use"]),
        ([{"properties": {"DEVNAME": "sdb"}}], ["sda/uevent"]),
    ],
)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_device_whose_exclusion_nobody_can_decide_is_not_offered(
    machine: Machine, exclude: Sequence[Conditions], files: list[str], number: int
) -> None:
    """It may be what must not be given away; this is told once, with the device."""
    disks(machine)
    spare = rule("x.local/x", {"subsystem": "block"}, exclude=exclude)
    scanner = machine.scanner(spare, files=closed(*files, number=number))
    for _ in range(2):
        assert "sda" not in names(found(scanner, X))
    assert undecided(machine) == ["sda"]


@pytest.mark.parametrize("bus", ["pci", "usb"])
def test_so_it_is_with_what_hardware_says(machine: Machine, bus: str) -> None:
    """A serial number, or a vendor, that we may not read."""
    tty = machine.sysfs.serial_port(serial="0001")
    exclude: list[Conditions] = [{bus: "10c4:*" if bus == "usb" else "8086:*"}]
    if bus == "usb":
        exclude = [{"usb": {"serial": "0001"}}]
    files = closed("/serial", "0000:01:00.0/vendor")
    ports = rule("x.local/x", {"subsystem": "tty"}, exclude=exclude)
    assert found(machine.scanner(ports, files=files), X) == {}
    assert undecided(machine) == [tty.name]


def test_so_it_is_with_a_parent(machine: Machine) -> None:
    disks(machine)
    exclude: list[Conditions] = [{"parents": [{"attributes": {"owner": "them"}}]}]
    spare = rule("x.local/x", {"subsystem": "block"}, exclude=exclude)
    assert found(machine.scanner(spare, files=closed("/owner")), X) == {}
    assert undecided(machine) == ["sda", "sdb"]
    assert names(machine.scan(spare)) == ["sda", "sdb"]


@pytest.mark.parametrize(
    "exclude",
    [
        [{"attributes": {"use": "x"}, "name": "sdb"}],
        [{"attributes": {"use": NO_FILE}}],
        [{"attributes": {"other": "x"}}],
    ],
)
def test_what_is_decided_without_it_is_offered(
    machine: Machine, exclude: Sequence[Conditions]
) -> None:
    """By another condition, or since whether there is a file is all that matters."""
    disks(machine)
    spare = rule("x.local/x", {"subsystem": "block"}, exclude=exclude)
    assert "sda" in names(found(machine.scanner(spare, files=closed("sda/use")), X))
    assert undecided(machine) == []


def test_what_certainly_is_excluded_is_no_doubt(machine: Machine) -> None:
    disks(machine)
    exclude: list[Conditions] = [{"attributes": {"use": "y"}}, {"name": "sda"}]
    spare = rule("x.local/x", {"subsystem": "block"}, exclude=exclude)
    assert names(found(machine.scanner(spare, files=closed("sda/use")), X)) == ["sdb"]
    assert undecided(machine) == []


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        (Exists(), True),
        (Exists(wanted=False), False),
        ("*", False),
        (NONE_OF_X, False),
        (Compared("lt", "5"), False),
        (SOME_FILE, False),
    ],
)
def test_nothing_matches_by_what_cannot_be_read(
    machine: Machine, wanted: str | Expectation, *, matches: bool
) -> None:
    """But by its being there."""
    disks(machine)
    spare = rule("x.local/x", {"name": "sda", "attributes": {"use": wanted}})
    assert bool(found(machine.scanner(spare, files=closed("sda/use")), X)) is matches


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [(Exists(), True), (Exists(wanted=False), False), ("*", False), (NONE_OF_X, True)],
)
def test_what_is_no_text_is_there_and_fits_nothing(
    machine: Machine, wanted: str | Expectation, *, matches: bool
) -> None:
    """So an exclusion by a text leaves no such device out."""
    disk, _ = disks(machine)
    machine.sysfs.write(f"{disk.path}/use", b"\xff\x00\x01")
    asked: Conditions = {"name": "sda", "attributes": {"use": wanted}}
    assert bool(machine.scan(rule("x.local/x", asked))) is matches
    left = machine.scan(rule("x.local/x", {"name": "sda"}, exclude=[asked]))
    assert bool(left) is not matches


def test_a_card_whose_virtual_functions_nobody_can_count_is_in_use(machine: Machine) -> None:
    card = machine.sysfs.pci("0000:5e:00.0", attributes={"sriov_numvfs": "0"})
    machine.sysfs.child("renderD128", subsystem="drm", below=card, number=(226, 128))
    free = rule("x.local/x", {"subsystem": "drm"}, exclude_in_use=True)
    assert len(machine.scan(free)) == 1
    assert found(machine.scanner(free, files=closed("/sriov_numvfs")), X) == {}
