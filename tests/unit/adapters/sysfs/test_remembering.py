"""The laws of how much is remembered: what is there and what is held, and little of what was."""

from collections.abc import Callable
from itertools import count

import attrs
import pytest
from tests.support.witness import weight

from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import Files, Identity
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, Machine, found

MISC = rule("x.local/x", {"subsystem": "misc"})
PORTS = rule("x.local/x", {"subsystem": "tty"})
EVENTS = rule("x.local/x", {"subsystem": "input", "name": "event*"})
UNUSED = rule("x.local/x", {"subsystem": "net"}, exclude_in_use=True)
REMEMBERED = 10
SCANS = 3000
SLACK = 2048
"""Bytes by which tables of one size may differ, by the order in which they were filled."""


class AsInSysfs(Files):
    """Directories that stay what they are when something in them comes or goes.

    In sysfs their times do not tell. No inode comes again there: here nothing has a name twice.
    """

    def identity(self, path: str) -> Identity | None:
        """Return which directory is at a path, by its inode."""
        found = super().identity(path)
        return found and (*found[:2], 0)


Plug = Callable[[Machine, str], list[FakeDevice]]


def by_name(machine: Machine, name: str) -> list[FakeDevice]:
    """Plug in what only its name tells from others."""
    return [machine.sysfs.misc(f"misc{name}", 1)]


def by_serial_number(machine: Machine, name: str) -> list[FakeDevice]:
    """Plug in an adapter that was never there, in a port that is."""
    (hub,) = [each for each in machine.sysfs if each.name == "usb1"]
    adapter = machine.sysfs.usb("1-1", below=hub, serial=f"S{name}")
    interface = machine.sysfs.usb_interface(adapter)
    return [adapter, interface, machine.sysfs.usb_tty("ttyUSB0", below=interface)]


def add_input(machine: Machine, card: FakeDevice, number: str) -> list[FakeDevice]:
    """Add an input to a card; all are called the same."""
    path = f"{card.path}/input/input{number}"
    top = machine.sysfs.add(FakeDevice(path=path, subsystem="input"), {"name": "remote"})
    event = machine.sysfs.child(
        f"event{number}", subsystem="input", below=top, number=(13, int(number[-1]))
    )
    return [top, event]


def by_number_of_the_kernel(machine: Machine, name: str) -> list[FakeDevice]:
    """Pair two remote controls with a card that has one already: they are told by their order."""
    (card,) = [each for each in machine.sysfs if each.subsystem == "pci"]
    return [each for last in "34" for each in add_input(machine, card, f"{name}{last}")]


def by_what_is_below(machine: Machine, name: str) -> list[FakeDevice]:
    """Let a bridge by which the host is reached have another port, as for each pod."""
    (bridge,) = [each for each in machine.sysfs if each.name == "br0"]
    port = machine.sysfs.child(f"veth{name}", subsystem="net")
    for link in machine.sysfs.at(bridge.path).glob("lower_*"):
        link.unlink()
    machine.sysfs.link(f"{bridge.path}/lower_veth{name}", port.path)
    return [port]


def prepared(machine: Machine) -> Machine:
    """Return the machine with what lasts."""
    controller = machine.sysfs.pci("0000:00:14.0")
    machine.sysfs.usb_hub(1, below=controller)
    add_input(machine, controller, "1")
    machine.sysfs.child("br0", subsystem="net")
    machine.host.route("br0")
    return machine


@attrs.frozen
class Parade:
    """Devices that come and go, one after the other, while a scanner looks."""

    machine: Machine
    scanner: SysfsScanner
    plug: Plug
    numbers: "count[int]" = attrs.field(factory=lambda: count(100_000))

    def weight_after(self, scans: int) -> int:
        """Return what the scanner weighs once it saw so many more, and the last one went."""
        for _ in range(scans // 2):
            there = self.plug(self.machine, f"{next(self.numbers)}")
            self.scanner.scan()
            for each in reversed(there):
                self.machine.sysfs.remove(each)
            self.scanner.scan()
        kept = self.machine
        return weight(self.scanner, but=[kept.sysfs, kept.sysfs.nodes, kept.journal, kept.host])


@pytest.mark.parametrize(
    ("each", "plug", "files", "scans"),
    [
        (MISC, by_name, Files, SCANS),
        (PORTS, by_serial_number, Files, 100),
        (EVENTS, by_number_of_the_kernel, AsInSysfs, 100),
        (UNUSED, by_what_is_below, AsInSysfs, 100),
    ],
)
def test_a_scanner_weighs_no_more_for_all_that_was_ever_there(
    machine: Machine,
    each: ResourceRule,
    plug: Plug,
    files: Callable[[str], Files],
    scans: int,
) -> None:
    """Whatever came, by whatever it is known, and wherever it was."""
    scanner = prepared(machine).scanner(each, files=files, remembered=REMEMBERED)
    parade = Parade(machine, scanner, plug)
    filled = parade.weight_after(4 * REMEMBERED)
    assert parade.weight_after(scans) <= filled + SLACK


def test_what_is_new_in_a_directory_that_lasts_is_told_apart_as_by_a_new_scanner(
    machine: Machine,
) -> None:
    """Though the directory was listed before, and nothing but its listing says that it changed."""
    scanner = prepared(machine).scanner(EVENTS, files=AsInSysfs, remembered=REMEMBERED)
    (first,) = found(scanner, EVENTS.resource)
    by_number_of_the_kernel(machine, "5")
    new = {"0000:00:14.0-remote-1-event", "0000:00:14.0-remote-2-event"}
    assert found(scanner, EVENTS.resource).keys() == {first, *new}
    fresh = machine.scanner(EVENTS, files=AsInSysfs, remembered=REMEMBERED)
    assert new < found(fresh, EVENTS.resource).keys()
