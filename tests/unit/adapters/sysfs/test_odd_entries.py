"""The laws of odd entries: each is passed over and named, and hides no other."""

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import Files, read_page
from deviceplugin.domain.discovery.events import DirectoryUnreadable, EntryUnreadable
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeSysfs, Machine, Oddity, found, names

X = ResourceName("x.local", "x")
TTY = rule("x.local/x", {"subsystem": "tty"})


@pytest.mark.parametrize("root", ["missing", "file", "empty"])
def test_what_is_no_sysfs_is_a_failed_scan(tmp_path: Path, root: str) -> None:
    """Not an empty one, after which every device would be taken for gone."""
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    nodes = FakeSysfs(tmp_path / "other").nodes
    path = f"{tmp_path}/{root}"
    scanner = SysfsScanner([TTY], nodes=nodes, journal=MemoryJournal(), sys_root=path)
    for look in (scanner.scan, scanner.sightings):
        with pytest.raises(ScanError, match=path):
            look()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_sysfs_that_may_not_be_read_is_a_failed_scan(machine: Machine) -> None:
    machine.sysfs.root.chmod(0)
    with pytest.raises(ScanError, match="Permission denied"):
        machine.scan(TTY)
    machine.sysfs.root.chmod(0o755)


def test_a_scan_that_failed_is_forgotten(machine: Machine) -> None:
    """The next one says what is there."""
    machine.sysfs.serial_port()
    scanner, away = machine.scanner(TTY), machine.sysfs.root.with_name("away")
    before = found(scanner, X)
    machine.sysfs.root.rename(away)
    with pytest.raises(ScanError):
        scanner.scan()
    away.rename(machine.sysfs.root)
    assert found(scanner, X) == before


def test_a_broken_bus_leaves_the_rest_alone(machine: Machine) -> None:
    """It is one warning; nodes asked for by path, and other subsystems, are found."""
    machine.sysfs.misc("fuse", 229)
    machine.sysfs.serial_port()
    broken = machine.sysfs.at("/bus/usb/devices")

    def listdir(path: str) -> Iterable[str]:
        if Path(path) == broken:
            raise PermissionError(13, "Permission denied")
        return [each.name for each in Path(path).iterdir()]

    fuse, usb = rule("x.local/x", {"node": "/dev/fuse"}), rule("x.local/y", {"subsystem": "usb"})
    scanner = machine.scanner(usb, TTY_AS_Z, fuse, files=partial(Files, listdir=listdir))
    for _ in range(2):
        assert names(found(scanner, X)) == ["fuse"]
        assert names(found(scanner, TTY_AS_Z.resource)) == ["ttyUSB0"]
        assert found(scanner, usb.resource) == {}
    assert machine.journal.of(DirectoryUnreadable) == (
        DirectoryUnreadable(path="/bus/usb/devices", reason="Permission denied"),
    )


TTY_AS_Z = rule("x.local/z", {"subsystem": "tty"})


@pytest.mark.parametrize("missing", ["bus", "class", "dev", "bus/usb", "devices/system"])
def test_what_a_kernel_may_lack_is_no_fault(machine: Machine, missing: str) -> None:
    machine.sysfs.misc("fuse", 229)
    place = machine.sysfs.at(missing)
    if place.exists():
        place.rename(machine.sysfs.root.with_name("away"))
    everything = rule("x.local/x", {"name": "nothing"})
    assert machine.scan(everything) == {}
    assert machine.journal.of(DirectoryUnreadable) == ()


@pytest.mark.parametrize("oddity", Oddity)
def test_an_odd_device_never_hides_a_good_one(machine: Machine, oddity: Oddity) -> None:
    """Nor does it break the scan, lead out of the root, or make it wait."""
    machine.sysfs.serial_port("ttyUSB0")
    odd = machine.sysfs.serial_port("ttyUSB1", minor=1)
    machine.sysfs.serial_port("ttyUSB2", minor=2)
    machine.sysfs.spoil(odd, oddity)
    asking = rule("x.local/x", {"driver": "*", "name": "tty*", "attributes": {"dev": "188*"}})
    for wanted in (TTY, asking):
        infos = machine.scan(wanted)
        assert {"ttyUSB0", "ttyUSB2"} <= {*names(infos)}
        assert not [info for info in infos.values() if "outside" in str(info)]
        assert not [info for info in infos.values() if "passwd" in str(info)]


@pytest.mark.parametrize(
    "oddity", [Oddity.DANGLING, Oddity.LOOPING, Oddity.OUTSIDE, Oddity.FAKED_OUTSIDE]
)
def test_an_entry_that_is_no_device_is_named_once(machine: Machine, oddity: Oddity) -> None:
    odd = machine.sysfs.serial_port("ttyUSB1")
    machine.sysfs.spoil(odd, oddity)
    scanner = machine.scanner(TTY)
    for _ in range(2):
        assert found(scanner, X) == {}
    named = [each.path for each in machine.journal.of(EntryUnreadable)]
    assert odd.entry in named
    assert len(named) == len(set(named))


@pytest.mark.parametrize("error", [FileNotFoundError(2, "gone"), OSError(19, "gone"), OSError(5)])
@pytest.mark.parametrize("step", range(8))
def test_a_device_that_vanishes_while_it_is_read_never_hides_another(
    machine: Machine, error: OSError, step: int
) -> None:
    """At whatever file that happens."""
    machine.sysfs.serial_port("ttyUSB0")
    machine.sysfs.serial_port("ttyUSB1", minor=1)
    wanted = rule("x.local/x", {"subsystem": "tty", "attributes": {"dev": "*"}})
    files = partial(Files, read=failing("ttyUSB1", step, error))
    assert "ttyUSB0" in names(found(machine.scanner(wanted, files=files), X))


def failing(name: str, step: int, error: OSError) -> Callable[[str], bytes]:
    """Return a way to read that fails from the `step`-th file on of what bears the name."""
    steps = iter(range(1000))

    def read(path: str) -> bytes:
        if name in path and next(steps) >= step:
            raise error
        return read_page(path)

    return read
