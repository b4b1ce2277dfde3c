"""The laws of how much is remembered: what is there and what is held, and little of what was."""

from collections.abc import Callable
from itertools import count

import attrs
import pytest
from tests.support.witness import weight

from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, Machine

MISC = rule("x.local/x", {"subsystem": "misc"})
PORTS = rule("x.local/x", {"subsystem": "tty"})
EVENTS = rule("x.local/x", {"subsystem": "input", "name": "event*"})
UNUSED = rule("x.local/x", {"subsystem": "net"}, exclude_in_use=True)
REMEMBERED = 10
SCANS = 3000
SLACK = 2048
"""Bytes by which tables of one size may differ, by the order in which they were filled."""

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


def by_number_of_the_kernel(machine: Machine, name: str) -> list[FakeDevice]:
    """Make an input in a directory that lasts, as a remote control's daemon does."""
    path = "/devices/virtual/input"
    top = FakeDevice(path=f"{path}/input{name}", subsystem="input")
    machine.sysfs.add(top, {"name": "remote"})
    number = 1 + int(name) % 1000
    event = machine.sysfs.child(
        f"event{name}", subsystem="input", below=top, number=(13, number), node=f"input/e{number}"
    )
    return [event, top]


def by_what_is_below(machine: Machine, name: str) -> list[FakeDevice]:
    """Let a bridge by which the host is reached have another port, as for each pod."""
    (bridge,) = [each for each in machine.sysfs if each.name == "br0"]
    port = machine.sysfs.child(f"veth{name}", subsystem="net")
    machine.sysfs.link(f"{bridge.path}/lower_veth{name}", port.path)
    return [port]


def prepared(machine: Machine) -> Machine:
    """Return the machine with what lasts."""
    controller = machine.sysfs.pci("0000:00:14.0")
    machine.sysfs.usb_hub(1, below=controller)
    machine.sysfs.child("br0", subsystem="net")
    machine.host.route("br0")
    return machine


def scanner_of(machine: Machine, *rules: ResourceRule) -> SysfsScanner:
    """Return a scanner that remembers little."""
    return SysfsScanner(
        rules,
        nodes=machine.sysfs.nodes,
        journal=machine.journal,
        sys_root=str(machine.sysfs.root),
        host=machine.host,
        remembered=REMEMBERED,
    )


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
            for link in self.machine.sysfs.root.glob("devices/virtual/net/br0/lower_*"):
                link.unlink()
            self.scanner.scan()
        kept = self.machine
        return weight(self.scanner, but=[kept.sysfs, kept.sysfs.nodes, kept.journal, kept.host])


@pytest.mark.parametrize(
    ("each", "plug", "scans"),
    [
        (MISC, by_name, SCANS),
        (PORTS, by_serial_number, 100),
        (EVENTS, by_number_of_the_kernel, 100),
        (UNUSED, by_what_is_below, 100),
    ],
)
def test_a_scanner_weighs_no_more_for_all_that_was_ever_there(
    machine: Machine, each: ResourceRule, plug: Plug, scans: int
) -> None:
    """Whatever came, by whatever it is known, and wherever it was."""
    scanner = scanner_of(prepared(machine), each)
    parade = Parade(machine, scanner, plug)
    filled = parade.weight_after(4 * REMEMBERED)
    assert parade.weight_after(scans) <= filled + SLACK
