"""The laws of knowing a device again: what is read of hardware for that."""

import pytest

from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, Machine, found

X = ResourceName("x.local", "x")
TTY = rule("x.local/x", {"subsystem": "tty"})
BLOCK = rule("x.local/x", {"subsystem": "block"})


def adapter(machine: Machine, port: str, **facts: str) -> FakeDevice:
    """Plug a serial adapter into a port of a controller; return it."""
    sysfs = machine.sysfs
    hubs = [each for each in sysfs if each.name == "usb1"]
    hub = hubs[0] if hubs else sysfs.usb_hub(1, below=sysfs.pci("0000:00:14.0"))
    return sysfs.usb(port, below=hub, number=int(port[-1]), serial=facts.get("serial"))


def with_tty(machine: Machine, usb: FakeDevice, name: str, minor: int = 0) -> FakeDevice:
    machine.sysfs.usb_tty(name, below=machine.sysfs.usb_interface(usb), minor=minor)
    return usb


def test_a_usb_device_is_known_by_its_serial_number(machine: Machine) -> None:
    """Which is one only among devices of one model; and by its interface, and what that is."""
    with_tty(machine, adapter(machine, "1-2", serial="A1"), "ttyUSB0")
    assert list(machine.scan(TTY)) == ["10c4:ea60:A1-if00-ttyUSB"]
    usb = rule("x.local/x", {"subsystem": "usb", "usb": "10c4:ea60"})
    assert list(machine.scan(usb)) == ["10c4:ea60:A1"]


def test_a_device_of_another_name_is_another_but_for_its_number(machine: Machine) -> None:
    """Whoever renames one, or binds another driver, changes its id; a link of udev does not."""
    with_tty(machine, adapter(machine, "1-2", serial="A1"), "ttyUSB0")
    (tty,) = [each for each in machine.sysfs if each.name == "ttyUSB0" and each.subsystem == "tty"]
    machine.sysfs.nodes.add_link("/dev/modem", "ttyUSB0")
    by_link = rule("x.local/x", {"node": "/dev/modem"})
    for name, known in (("ttyUSB7", "ttyUSB"), ("ttyACM0", "ttyACM"), ("modem0", "modem")):
        assert list(machine.scan(by_link)) == list(machine.scan(TTY))
        tty = machine.sysfs.rename(tty, name)
        assert list(machine.scan(TTY)) == [f"10c4:ea60:A1-if00-{known}"]


@pytest.mark.parametrize("serial", [None, "", b"\xff\xfe", b"A\0B", b"x" * 9999])
def test_a_usb_device_without_one_is_known_by_its_port(
    machine: Machine, serial: str | bytes | None
) -> None:
    """Counted from its controller: the kernel numbers buses as it meets them."""
    sysfs = machine.sysfs
    hub = sysfs.usb_hub(3, below=sysfs.pci("0000:00:14.0"))
    sysfs.write(f"{hub.path}/version", " 2.00")
    with_tty(machine, sysfs.usb("3-2.4", below=hub, serial=serial), "ttyUSB0")
    assert list(machine.scan(TTY)) == ["0000:00:14.0-usb2-2.4-if00-ttyUSB"]


def test_a_hub_does_not_lend_its_serial_number(machine: Machine) -> None:
    """Nor does a root hub have one, whatever its file says: it is its controller's address."""
    hub = adapter(machine, "1-1", serial="HUB")
    with_tty(machine, machine.sysfs.usb("1-1.3", below=hub), "ttyUSB0")
    assert list(machine.scan(TTY)) == ["0000:00:14.0-usb-1.3-if00-ttyUSB"]
    machine.sysfs.write("/devices/pci0000:00/0000:00:14.0/usb1/serial", "0000:00:14.0")
    root = rule("x.local/x", {"name": "usb1"})
    assert list(machine.scan(root)) == ["0000:00:14.0-usb-0"]


def test_ports_of_one_adapter_are_told_apart(machine: Machine) -> None:
    """By interface, or by the port's number where one interface has several."""
    usb = adapter(machine, "1-2", serial="A1")
    for number in range(2):
        interface = machine.sysfs.usb_interface(usb, number=number)
        for port in range(2):
            minor = number * 2 + port
            tty = machine.sysfs.usb_tty(f"ttyUSB{minor}", below=interface, minor=minor)
            machine.sysfs.write(f"{tty.path}/device/port_number", str(port))
    assert sorted(machine.scan(TTY)) == [
        "10c4:ea60:A1-if00-ttyUSB",
        "10c4:ea60:A1-if00-ttyUSB-port1",
        "10c4:ea60:A1-if01-ttyUSB",
        "10c4:ea60:A1-if01-ttyUSB-port1",
    ]


def test_after_a_replug_the_id_is_the_same_and_the_answer_has_the_new_node(
    machine: Machine,
) -> None:
    """In the same port or another, under whatever name and number; a pod gets what is there."""
    scanner = machine.scanner(TTY)
    usb = with_tty(machine, adapter(machine, "1-2", serial="A1"), "ttyUSB0")
    (key,) = found(scanner, X)
    for port, name, minor in (("1-2", "ttyUSB4", 4), ("1-3", "ttyUSB1", 1)):
        machine.sysfs.remove(usb)
        assert found(scanner, X) == {}
        usb = with_tty(machine, adapter(machine, port, serial="A1"), name, minor)
        after = found(scanner, X)
        assert list(after) == [key]
        assert [node.host_path for node in after[key].nodes] == [f"/dev/{name}"]


def test_equal_serial_numbers_stay_two_devices(machine: Machine) -> None:
    """Cheap adapters of one maker all have the same."""
    for minor, port in enumerate(("1-2", "1-3")):
        with_tty(machine, adapter(machine, port, serial="0001"), f"ttyUSB{minor}", minor)
    assert sorted(machine.scan(TTY)) == [
        "10c4:ea60:0001-0000:00:14.0-usb-2-if00-ttyUSB",
        "10c4:ea60:0001-0000:00:14.0-usb-3-if00-ttyUSB",
    ]


def test_a_twin_does_not_take_the_id_of_the_first(machine: Machine) -> None:
    """Which a container may hold."""
    scanner = machine.scanner(TTY)
    with_tty(machine, adapter(machine, "1-2", serial="0001"), "ttyUSB0")
    (key,) = found(scanner, X)
    with_tty(machine, adapter(machine, "1-1", serial="0001"), "ttyUSB1", 1)
    both = found(scanner, X)
    assert [node.host_path for node in both[key].nodes] == ["/dev/ttyUSB0"]
    assert len(both) == 2


def test_a_card_is_known_by_its_address_and_what_is_on_it_by_its_kind(machine: Machine) -> None:
    """Not by the number that the kernel counts by."""
    card = machine.sysfs.pci("0000:3b:00.0")
    machine.sysfs.child("renderD129", subsystem="drm", below=card, number=(226, 129))
    machine.sysfs.child("card1", subsystem="drm", below=card, number=(226, 1))
    drm = rule("x.local/x", {"subsystem": "drm"})
    assert sorted(machine.scan(drm)) == ["0000:3b:00.0-card", "0000:3b:00.0-renderD"]


def test_a_card_that_has_a_unique_id_is_known_by_it(machine: Machine) -> None:
    card = machine.sysfs.pci("0000:3b:00.0", attributes={"unique_id": "a1b2c3"})
    machine.sysfs.child("renderD128", subsystem="drm", below=card, number=(226, 128))
    assert list(machine.scan(rule("x.local/x", {"subsystem": "drm"}))) == ["a1b2c3-renderD"]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"serial": "S1", "wwid": "naa.5"}, ["S1-disk", "S1-disk-part1"]),
        ({"wwid": "naa.5"}, ["naa.5-disk", "naa.5-disk-part1"]),
        ({"wwid": "nvme.1 x"}, None),
        ({}, ["0000:00:1f.2-disk", "0000:00:1f.2-disk-part1"]),
    ],
)
def test_a_disk_is_known_by_serial_number_wwn_or_place(
    machine: Machine, attributes: dict[str, str], expected: list[str] | None
) -> None:
    """Never by its letter; a partition by the disk and its number."""
    host = machine.sysfs.pci("0000:00:1f.2")
    disk = machine.sysfs.disk("sdc", below=host, minor=32, attributes=attributes)
    machine.sysfs.partition(disk, 1)
    ids = sorted(machine.scan(BLOCK))
    assert len(ids) == 2
    if expected is not None:
        assert ids == expected
    else:
        assert all(key.startswith("nvme.1_x-disk") for key in ids)


def test_a_volume_is_known_by_its_uuid(machine: Machine) -> None:
    volume = machine.sysfs.child("dm-0", subsystem="block", number=(253, 0))
    machine.sysfs.write(f"{volume.path}/dm/uuid", "LVM-abc")
    assert list(machine.scan(BLOCK)) == ["LVM-abc"]


def test_what_has_no_hardware_is_known_by_its_name(machine: Machine) -> None:
    machine.sysfs.misc("kvm", 232)
    assert list(machine.scan(rule("x.local/x", {"name": "kvm"}))) == ["kvm"]


def test_controllers_of_any_bus_have_names(machine: Machine) -> None:
    """A USB controller of a small board is on no PCI bus."""
    host = machine.sysfs.bus_device("3f980000.usb", bus="platform")
    usb = machine.sysfs.usb("1-1", below=machine.sysfs.usb_hub(1, below=host))
    with_tty(machine, usb, "ttyUSB0")
    assert list(machine.scan(TTY)) == ["3f980000.usb-usb-1-if00-ttyUSB"]


@pytest.mark.parametrize("serial", ["A1", None])
def test_a_usb_device_that_is_numbered_anew_is_the_same(
    machine: Machine, serial: str | None
) -> None:
    """Each replug is a new number on the bus; the id stays, and the answer has the new node."""
    hub = machine.sysfs.usb_hub(1, below=machine.sysfs.pci("0000:00:14.0"))
    scanner = machine.scanner(rule("x.local/x", {"subsystem": "usb", "usb": "10c4:ea60"}))
    ids: set[str] = set()
    for number in (7, 9):
        usb = machine.sysfs.usb("1-2", below=hub, serial=serial, number=number)
        ((key, info),) = found(scanner, X).items()
        ids.add(key)
        assert [node.host_path for node in info.nodes] == [f"/dev/bus/usb/001/00{number}"]
        machine.sysfs.remove(usb)
    assert len(ids) == 1
