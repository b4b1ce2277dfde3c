"""The laws of finding devices."""

import attrs
import pytest

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.conditions import FactCondition
from deviceplugin.domain.discovery.events import DeviceContested
from deviceplugin.domain.discovery.expectations import AnyOf
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.globs import Glob
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, rule
from deviceplugin.testing.sysfs import Machine, Oddity, found, names

X = ResourceName("x.local", "x")
TTY = rule("x.local/x", {"subsystem": "tty"})


def test_a_device_is_found_with_all_that_is_known_of_it(machine: Machine) -> None:
    """Its node, NUMA node, parent, driver, and where it is."""
    tty = machine.sysfs.serial_port()
    (info,) = machine.scan(TTY).values()
    (node,) = info.nodes
    assert (node.host_path, node.container_path) == ("/dev/ttyUSB0", "/dev/ttyUSB0")
    assert (info.health, info.numa_nodes, info.parent) == (Health.HEALTHY, (1,), "1-1")
    assert info.attributes == {
        "subsystem": "tty",
        "driver": "cp210x",
        "devpath": tty.path,
        "devnum": "188:0",
    }


@pytest.mark.parametrize(
    "match",
    [
        {"subsystem": "tty"},
        {"subsystem": "t?y", "name": "ttyUSB*"},
        {"subsystem": "tty", "name": "ttyUSB0", "driver": "cp210x"},
        {"devpath": "/devices/pci0000:01/*/tty/*"},
        {"node": "/dev/ttyUSB0"},
        {"node": "/dev/ttyUSB*"},
        {"node": "/dev/serial/by-id/usb-*"},
        {"node": "/dev/ttyUSB*", "driver": "cp210x", "subsystem": "tty"},
        {"subsystem": "tty", "attributes": {"dev": "188:*"}},
        {"subsystem": "tty", "attributes": {"device/uevent": "DRIVER=cp210x"}},
    ],
)
def test_a_device_is_found_by_whatever_tells_of_it(machine: Machine, match: Conditions) -> None:
    machine.sysfs.serial_port()
    machine.sysfs.misc("kvm", 232)
    machine.sysfs.nodes.add_link("/dev/serial/by-id/usb-x", "../../ttyUSB0")
    assert names(machine.scan(rule("x.local/x", match))) == ["ttyUSB0"]


@pytest.mark.parametrize("text", [b"A1\n", b"A1 \t\n", b"A1\0\n", b"A1"])
def test_what_ends_a_value_does_not_count(machine: Machine, text: bytes) -> None:
    machine.sysfs.serial_port(serial=text)
    wanted = rule("x.local/x", {"subsystem": "usb", "attributes": {"serial": "A1"}})
    assert names(machine.scan(wanted)) == ["1-1"]


@pytest.mark.parametrize("text", [None, b"", b"\xff\xfe", b"A\0B", b"x" * 9999])
def test_a_device_without_a_serial_number_is_found_but_not_by_it(
    machine: Machine, text: bytes | None
) -> None:
    """Whatever is in the file in its place."""
    machine.sysfs.serial_port(serial=text)
    by_id = rule("x.local/x", {"subsystem": "usb", "attributes": {"idVendor": "10c4"}})
    by_serial = rule("x.local/y", {"subsystem": "usb", "attributes": {"serial": "A*"}})
    assert names(machine.scan(by_serial, by_id)) == ["1-1"]
    assert machine.scan(by_id, by_serial) == {}


def test_a_class_and_a_bus_of_one_name_are_one_subsystem(machine: Machine) -> None:
    machine.sysfs.child("gpiochip512", subsystem="gpio", number=(254, 1))
    machine.sysfs.bus_device("gpiochip0", bus="gpio", number=(254, 0))
    assert sorted(machine.scan(rule("x.local/x", {"subsystem": "gpio"}))) == [
        "gpiochip0",
        "gpiochip512",
    ]


def test_a_subsystem_is_a_name_and_no_path(machine: Machine) -> None:
    """Of a rule that no file can say, too."""
    machine.sysfs.serial_port()
    machine.sysfs.misc("kvm", 232)
    wanted = FactCondition(Fact(Kind.SUBSYSTEM), AnyOf([Glob("misc/../tty")]))
    match = (Alternative([wanted]),)
    assert machine.scan(attrs.evolve(rule("x.local/x", {"subsystem": "misc"}), match=match)) == {}


def test_a_device_has_the_subsystem_that_lists_it(machine: Machine) -> None:
    """Whatever its own link says, and whatever else asks for it."""
    machine.sysfs.spoil(machine.sysfs.serial_port(), Oddity.NO_SUBSYSTEM)
    wanted = rule("x.local/x", {"subsystem": "tty", "name": "other"}, {"node": "/dev/ttyUSB0"})
    (info,) = machine.scan(wanted).values()
    assert info.attributes["subsystem"] == "tty"


def test_a_device_belongs_to_the_first_rule_that_matches(machine: Machine) -> None:
    """However the later ones describe it."""
    machine.sysfs.serial_port()
    first = rule("x.local/first", {"node": "/dev/ttyUSB0"})
    scanner = machine.scanner(first, TTY)
    assert names(found(scanner, first.resource)) == ["ttyUSB0"]
    assert found(scanner, X) == {}
    (event,) = machine.journal.of(DeviceContested)
    assert event.reason == "its device node already belongs to x.local/first"


def test_ids_stay_the_same_through_removal_and_another_order(machine: Machine) -> None:
    """Equal hardware, equal ids: no time, number or order is in them."""
    for minor in range(3):
        machine.sysfs.serial_port(f"ttyUSB{minor}", minor=minor)
    first = machine.scan(TTY)
    for device in machine.sysfs:
        if device.subsystem == "pci":
            machine.sysfs.remove(device)
    assert machine.scan(TTY) == {}
    for minor in (2, 0, 1):
        machine.sysfs.serial_port(f"ttyUSB{minor}", minor=minor)
    assert machine.scan(TTY) == first


def test_a_device_of_which_only_the_name_is_known_is_another_under_another_name(
    machine: Machine,
) -> None:
    """There is nothing else to know it by."""
    tty = machine.sysfs.child("ttyX0", subsystem="tty", number=(204, 0))
    scanner = machine.scanner(TTY)
    assert list(found(scanner, X)) == ["ttyX0"]
    machine.sysfs.rename(tty, "ttyX5")
    assert list(found(scanner, X)) == ["ttyX5"]


def test_devices_of_one_name_in_one_resource_stay_apart(machine: Machine) -> None:
    machine.sysfs.child("x", subsystem="one", number=(200, 1))
    machine.sysfs.child("x", subsystem="two", number=(200, 2), node="y")
    both = rule("x.local/x", {"subsystem": "one"}, {"subsystem": "two"})
    assert len(machine.scan(both)) == 2


def test_only_subsystems_that_a_rule_may_want_are_gone_through(machine: Machine) -> None:
    """Even if it names them by a pattern."""
    machine.sysfs.serial_port()
    listed: list[str] = []

    class Counting(Files):
        def names(self, directory: str) -> tuple[str, ...]:
            listed.append(directory)
            return super().names(directory)

    found(machine.scanner(rule("x.local/x", {"subsystem": "t?y"}), files=Counting), X)
    assert listed == ["/class", "/bus", "/class/tty", "/bus/tty/devices"]


def test_a_large_machine_is_scanned_once_whatever_the_number_of_rules(machine: Machine) -> None:
    """Each file is read once, and what its name rules out is not read at all."""
    for number in range(1000):
        machine.sysfs.child(f"odd{number}", subsystem="tty")
    machine.sysfs.serial_port()
    read: list[str] = []
    listed: list[str] = []

    class Counting(Files):
        def names(self, directory: str) -> tuple[str, ...]:
            listed.append(directory)
            return super().names(directory)

        def data(self, path: str) -> bytes | None:
            read.append(path)
            return super().data(path)

    rules = [
        rule(f"x.local/x{number}", {**ALL_TTYS, "attributes": {"dev": f"188:{number}"}})
        for number in range(50)
    ]
    found(machine.scanner(*rules, files=Counting), X)
    assert listed == ["/class/tty", "/bus/tty/devices"]
    assert not [path for path in read if "odd" in path]
    assert len(read) < 20


ALL_TTYS: Conditions = {"subsystem": "tty", "name": "tty*"}


def test_engines_behind_switches_are_found_where_they_are(machine: Machine) -> None:
    """A server with eight co-processors, four behind each of two switches on two sockets."""
    sysfs = machine.sysfs
    sysfs.numa_online("0-1")
    buses = {0x18: [0x1B, 0x1C, 0x1D, 0x1E], 0x3B: [0x3D, 0x3F, 0x40, 0x41]}
    for socket, (switch, engines) in enumerate(buses.items()):
        numa_node = str(socket)
        root = sysfs.bridge(f"0000:{switch - 1:02x}:00.0", numa_node=numa_node)
        upstream = sysfs.bridge(f"0000:{switch:02x}:00.0", below=root, numa_node=numa_node)
        for index, bus in enumerate(engines):
            port = f"0000:{switch + 1:02x}:{index:02x}.0"
            downstream = sysfs.bridge(port, below=upstream, numa_node=numa_node)
            card = sysfs.pci(
                f"0000:{bus:02x}:00.0",
                vendor="0x1bcf",
                device="0x001c",
                numa_node=numa_node,
                driver="ve_drv",
                below=downstream,
            )
            minor = socket * 4 + index
            sysfs.child(f"ve{minor}", subsystem="ve", below=card, number=(238, minor))
    wanted = rule("x.local/x", {"subsystem": "ve", "attributes": {"device/vendor": "0x1bcf"}})
    engines_found = machine.scan(wanted)
    assert names(engines_found) == [f"ve{minor}" for minor in range(8)]
    infos = engines_found.values()
    assert [info.numa_nodes for info in infos] == [(0,)] * 4 + [(1,)] * 4
    addresses = [f"0000:{bus:02x}:00.0" for each in buses.values() for bus in each]
    assert [info.parent for info in infos] == addresses
    assert {info.attributes["driver"] for info in infos} == {"ve_drv"}
    assert {info.health for info in infos} == {Health.HEALTHY}
