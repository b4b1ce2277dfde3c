"""The laws of conditions: what each of them sees of a tree, and what it reads for that."""

import pytest

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.domain.discovery.expectations import (
    AllOf,
    AnyOf,
    Compared,
    Exists,
    NoneOf,
    in_range,
)
from deviceplugin.domain.discovery.globs import Glob
from deviceplugin.domain.discovery.regexes import Regex
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, rule
from deviceplugin.testing.sysfs import Machine, found, names

X = ResourceName("x.local", "x")


def adapters(machine: Machine) -> None:
    """Plug in two serial adapters, of two makers, behind one hub; one has two ports."""
    sysfs = machine.sysfs
    facts = {"subsystem_vendor": "0x1028", "subsystem_device": "0x0A5F"}
    host = sysfs.pci(
        "0000:00:14.0",
        vendor="0x8086",
        device="0xA36D",
        class_code="0x0c0330",
        driver="xhci_hcd",
        attributes=facts,
    )
    hub = sysfs.usb_hub(1, below=host)
    one = sysfs.usb("1-2", below=hub, serial="A1", number=2)
    sysfs.usb_tty("ttyUSB0", below=sysfs.usb_interface(one, driver="cp210x"))
    two = sysfs.usb("1-3", below=hub, vendor="0403", product="6010", serial="B1", number=3)
    for number in range(2):
        interface = sysfs.usb_interface(two, number=number, driver="ftdi_sio")
        sysfs.usb_tty(f"ttyUSB{number + 1}", below=interface, minor=number + 1)
    sysfs.misc("kvm", 232)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ({"usb": "10c4:ea60"}, ["ttyUSB0"]),
        ({"usb": "10C4:EA60"}, ["ttyUSB0"]),
        ({"usb": "0403:*"}, ["ttyUSB1", "ttyUSB2"]),
        ({"usb": "1d6b:*"}, []),
        ({"usb": {"id": "*:*", "serial": "B*"}}, ["ttyUSB1", "ttyUSB2"]),
        ({"usb": {"id": "0403:6010", "interface": "01"}}, ["ttyUSB2"]),
        ({"usb": {"serial": "B1", "interface": "0"}}, ["ttyUSB1"]),
        ({"pci": "8086:a36d"}, ["ttyUSB0", "ttyUSB1", "ttyUSB2"]),
        ({"pci": {"class": "0c03*", "subsystem": "1028:0a5f"}}, ["ttyUSB0", "ttyUSB1", "ttyUSB2"]),
        ({"pci": {"class": "03*"}}, []),
        ({"parents": [{"attributes": {"idVendor": "0403"}}]}, ["ttyUSB1", "ttyUSB2"]),
        ({"parents": [{"attributes": {"idVendor": "0403", "serial": "A1"}}]}, []),
        (
            {"parents": [{"driver": "ftdi_sio"}, {"driver": "xhci_hcd", "subsystem": "pci"}]},
            ["ttyUSB1", "ttyUSB2"],
        ),
        ({"parents": [{"name": "1-2:1.0", "properties": {"DRIVER": "cp*"}}]}, ["ttyUSB0"]),
        ({"properties": {"MINOR": "1"}}, ["ttyUSB1"]),
        ({"properties": {"DEVNAME": AnyOf([Regex("ttyUSB[02]")])}}, ["ttyUSB0", "ttyUSB2"]),
        ({"properties": {"MINOR": in_range("1", "0x2")}}, ["ttyUSB1", "ttyUSB2"]),
        ({"attributes": {"dev": Exists()}}, ["ttyUSB0", "ttyUSB1", "ttyUSB2"]),
        ({"attributes": {"serial": Exists()}}, []),
        ({"usb": NoneOf([Glob("0403:*")])}, ["ttyUSB0"]),
        (
            {"properties": {"MINOR": AllOf((Compared("gt", "0"), Compared("lt", "2")))}},
            ["ttyUSB1"],
        ),
    ],
)
def test_a_condition_sees_what_the_tree_has(
    machine: Machine, match: Conditions, expected: list[str]
) -> None:
    """Of the device, of what it is below, and of the hardware that it is part of."""
    adapters(machine)
    assert names(machine.scan(rule("x.local/x", {"subsystem": "tty", **match}))) == expected


@pytest.mark.parametrize("match", [{"usb": "10c4:ea60"}, {"usb": {"serial": "A1"}}])
def test_hardware_itself_is_found_by_its_id(machine: Machine, match: Conditions) -> None:
    """Not only what is on it."""
    adapters(machine)
    assert names(machine.scan(rule("x.local/x", {**match, "subsystem": "usb"}))) == ["1-2"]


@pytest.mark.parametrize(
    "match",
    [
        {"name": "kvm", "usb": "*:*"},
        {"name": "kvm", "pci": "*:*"},
        {"name": "kvm", "parents": [{"name": "*"}]},
        {"name": "kvm", "usb": {"interface": "*"}},
    ],
)
def test_what_is_part_of_no_hardware_has_no_hardware_ids(
    machine: Machine, match: Conditions
) -> None:
    adapters(machine)
    assert machine.scan(rule("x.local/x", match)) == {}


def test_a_port_is_found_without_udev_by_what_its_hardware_says(machine: Machine) -> None:
    """Where there are no links by id, vendor, product, serial number and interface do."""
    adapters(machine)
    usb = {"id": "0403:6010", "serial": "B1", "interface": "01"}
    wanted = rule("x.local/x", {"subsystem": "tty", "usb": usb})
    (info,) = machine.scan(wanted).values()
    assert [node.host_path for node in info.nodes] == ["/dev/ttyUSB2"]


@pytest.mark.parametrize(
    ("exclude", "expected"),
    [
        ([{"usb": "0403:*"}], ["ttyUSB0"]),
        ([{"name": "ttyUSB0"}, {"name": "ttyUSB2"}], ["ttyUSB1"]),
        ([{"node": "/dev/serial/by-id/usb-*"}], ["ttyUSB1", "ttyUSB2"]),
        ([{"node": "/dev/ttyUSB?", "usb": "10c4:*"}], ["ttyUSB1", "ttyUSB2"]),
        ([{"driver": "none"}], ["ttyUSB0", "ttyUSB1", "ttyUSB2"]),
        ([{"parents": [{"driver": "xhci_hcd"}]}], []),
    ],
)
def test_what_is_excluded_is_not_offered(
    machine: Machine, exclude: list[Conditions], expected: list[str]
) -> None:
    """In the same language, links of udev included."""
    adapters(machine)
    machine.sysfs.nodes.add_link("/dev/serial/by-id/usb-x", "../../ttyUSB0")
    assert (
        names(machine.scan(rule("x.local/x", {"subsystem": "tty"}, exclude=exclude))) == expected
    )


class Reading(Files):
    """Remembers what was read."""

    paths: list[str]

    def data(self, path: str) -> bytes | None:
        self.paths.append(path)
        return super().data(path)


def test_hardware_and_parents_are_read_once_however_many_devices_are_below(
    machine: Machine,
) -> None:
    """And of each only what a rule asks for."""
    sysfs = machine.sysfs
    host = sysfs.pci("0000:00:14.0")
    for number in range(100):
        sysfs.child(f"x{number}", subsystem="x", below=host)

    class Counting(Reading):
        paths: list[str] = []  # noqa: RUF012 - of this test alone

    rules = [
        rule("x.local/x", {"subsystem": "x", "pci": "1af4:*", "attributes": {"no": "1"}}),
        rule(
            "x.local/y",
            {"subsystem": "x", "parents": [{"attributes": {"vendor": "0x1af4", "no": "1"}}]},
        ),
    ]
    found(machine.scanner(*rules, files=Counting), X)
    of_the_host = [path for path in Counting.paths if path.startswith(f"{host.path}/")]
    assert len([path for path in of_the_host if "/x/" not in path]) <= 4
    assert not [path for path in of_the_host if path.endswith("/class")]


def test_an_odd_parent_hides_no_good_one(machine: Machine) -> None:
    """Whose subsystem leads nowhere, or whose files cannot be read."""
    adapters(machine)
    usb = "/devices/pci0000:00/0000:00:14.0/usb1/1-2"
    machine.sysfs.at(f"{usb}/subsystem").unlink()
    machine.sysfs.at(f"{usb}/idVendor").unlink()
    machine.sysfs.at(f"{usb}/idVendor").mkdir()
    wanted = rule("x.local/x", {"subsystem": "tty", "parents": [{"attributes": {"serial": "*"}}]})
    assert names(machine.scan(wanted)) == ["ttyUSB0", "ttyUSB1", "ttyUSB2"]
    by_id = rule("x.local/x", {"subsystem": "tty", "usb": "*:*"})
    assert "ttyUSB1" in names(machine.scan(by_id))
