"""The laws of parts of one kind in one piece of hardware: no count of the kernel's names them."""

from collections.abc import Sequence
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, Machine, found

X = ResourceName("x.local", "x")
BLOCK = rule("x.local/x", {"subsystem": "block"})
EVENT = rule("x.local/x", {"subsystem": "input", "name": "event*"})
VFIO = rule("x.local/x", {"subsystem": "vfio"})
EVERYTHING = (
    rule("x.local/block", {"subsystem": "block"}),
    rule("x.local/event", {"subsystem": "input", "name": "event*"}),
    rule("x.local/hidraw", {"subsystem": "hidraw"}),
    rule("x.local/i2c", {"subsystem": "i2c-dev"}),
    rule("x.local/vfio", {"subsystem": "vfio"}),
)


def hub_of(machine: Machine) -> FakeDevice:
    hubs = [each for each in machine.sysfs if each.name == "usb1"]
    host = machine.sysfs.pci("0000:00:14.0") if not hubs else None
    return hubs[0] if host is None else machine.sysfs.usb_hub(1, below=host)


def units(machine: Machine, below: FakeDevice, host: int, letters: str) -> None:
    """Add a disk for each letter: the units of one SCSI target, in their order."""
    scsi = machine.sysfs.bus_device(f"host{host}", bus="scsi", below=below)
    target = machine.sysfs.bus_device(f"target{host}:0:0", bus="scsi", below=scsi)
    for unit, letter in enumerate(letters):
        place = machine.sysfs.bus_device(f"{host}:0:0:{unit}", bus="scsi", below=target)
        minor = 16 * (ord(letter) - ord("a"))
        disk = machine.sysfs.disk(f"sd{letter}", below=place, minor=minor)
        machine.sysfs.partition(disk, 1)


def reader(machine: Machine, host: int, letters: str) -> None:
    """Plug in a card reader with a slot for each letter."""
    usb = machine.sysfs.usb("1-6", below=hub_of(machine), serial="CR1", number=3)
    units(machine, machine.sysfs.usb_interface(usb, driver="usb-storage"), host, letters)


def keyboard(machine: Machine, *, names: Sequence[str], first: int, number: int) -> None:
    """Plug in a keyboard whose one interface is an input for each of these names."""
    usb = machine.sysfs.usb("1-7", below=hub_of(machine), vendor="046d", number=4)
    interface = machine.sysfs.usb_interface(usb, number=1, driver="usbhid")
    hid = machine.sysfs.bus_device(f"0003:046D:C31C.{number:04X}", bus="hid", below=interface)
    for index, name in enumerate(names, first):
        # As the kernel has it: no folder "event" between the input and its node.
        place = machine.sysfs.child(
            f"input{index}", subsystem="input", below=hid, attributes={"name": name}
        )
        machine.sysfs.add(
            FakeDevice(
                path=f"{place.path}/event{index + 1}",
                subsystem="input",
                number=NodeNumber("char", 13, 65 + index),
                node=f"input/event{index + 1}",
            )
        )


def receiver(machine: Machine, numbers: Sequence[int], raws: Sequence[int]) -> None:
    """Plug in a receiver with two devices that talk to it by radio."""
    usb = machine.sysfs.usb("1-8", below=hub_of(machine), vendor="046d", number=5)
    interface = machine.sysfs.usb_interface(usb, number=2, driver="usbhid")
    for model, number, raw in zip(("4055", "4074"), numbers, raws, strict=True):
        name = f"0003:046D:{model}.{number:04X}"
        hid = machine.sysfs.bus_device(name, bus="hid", below=interface)
        machine.sysfs.child(f"hidraw{raw}", subsystem="hidraw", below=hid, number=(240, raw))


def group(machine: Machine, number: int, *addresses: str) -> None:
    """Bind the functions at these addresses to vfio: one IOMMU group."""
    members = [machine.sysfs.pci(each, driver="vfio-pci") for each in addresses]
    machine.sysfs.iommu_group(number, *members)
    node = f"vfio/{number}"
    machine.sysfs.child(str(number), subsystem="vfio", number=(511, number), node=node)


def ata(machine: Machine, numbers: Sequence[int], letters: str) -> None:
    """Add a disk without any number of its own to each port of a controller."""
    controller = machine.sysfs.pci("0000:00:17.0")
    for port, (number, letter) in enumerate(zip(numbers, letters, strict=True), 1):
        place = machine.sysfs.bus_device(f"ata{number}", bus="ata", below=controller)
        machine.sysfs.write(f"{place.path}/ata_port/ata{number}/port_no", str(port))
        units(machine, place, number + 3, letter)


def buses(machine: Machine, numbers: Sequence[int]) -> None:
    """Add the I2C buses of a graphics card."""
    card = machine.sysfs.pci("0000:00:02.0")
    for name, number in zip(("dpa", "dpb"), numbers, strict=True):
        bus = machine.sysfs.bus_device(f"i2c-{number}", bus="i2c", below=card)
        machine.sysfs.child(
            bus.name,
            subsystem="i2c-dev",
            below=bus,
            number=(89, number),
            attributes={"name": f"gmbus {name}"},
        )


def test_slots_of_a_card_reader_are_told_apart_by_their_units(machine: Machine) -> None:
    """Not by letters, which go by what was plugged in before."""
    reader(machine, 5, "dc")
    place = "10c4:ea60:CR1-0000:00:14.0-usb-6"
    assert sorted(machine.scan(BLOCK)) == sorted(
        f"{place}-0:0:{unit}-if00-disk{part}" for unit in (0, 1) for part in ("", "-part1")
    )


def test_a_disk_that_is_alone_needs_no_unit(machine: Machine) -> None:
    reader(machine, 2, "b")
    ids = sorted(machine.scan(BLOCK))
    assert ids == ["10c4:ea60:CR1-if00-disk", "10c4:ea60:CR1-if00-disk-part1"]


def test_inputs_of_one_interface_are_told_apart_by_their_names(machine: Machine) -> None:
    """Those of one name by their order, which is that in the hardware's own description."""
    names = ["Control", "Keys", "Keys"]
    keyboard(machine, names=names, first=9, number=7)
    place = "0000:00:14.0-usb-7"
    assert sorted(machine.scan(EVENT)) == [
        f"{place}-046D:C31C-{slot}-if01-event" for slot in ("Control", "Keys-1", "Keys")
    ]


def test_an_input_keeps_its_id_when_another_one_goes(machine: Machine) -> None:
    """Although it is the first one then."""
    keyboard(machine, names=["Keys", "Control"], first=3, number=7)
    scanner = machine.scanner(EVENT)
    before = found(scanner, X)
    (first,) = [each for each in machine.sysfs if each.name == "input3"]
    machine.sysfs.remove(first)
    (key,) = found(scanner, X)
    assert before[key].attributes["devpath"].endswith("event5")


def test_a_group_of_vfio_is_known_by_the_lowest_address_in_it(machine: Machine) -> None:
    """Its number is one that the kernel counts by."""
    group(machine, 17, "0000:3b:00.1", "0000:3b:00.0")
    assert list(machine.scan(VFIO)) == ["0000:3b:00.0-vfio"]


def test_a_group_of_vfio_and_the_nodes_of_its_devices_are_one(machine: Machine) -> None:
    """By either a container has the device; which is first in the file, has it."""
    group(machine, 17, "0000:3b:00.0")
    (function,) = [each for each in machine.sysfs if each.name == "0000:3b:00.0"]
    machine.sysfs.child("vfio0", subsystem="vfio-dev", below=function, number=(510, 0))
    alone = rule("x.local/alone", {"subsystem": "vfio-dev"})
    assert list(machine.scan(alone))
    assert not machine.scan(VFIO, alone)
    assert not machine.scan(alone, VFIO)


def test_a_group_of_vfio_whose_members_nobody_tells_is_known_by_its_name(machine: Machine) -> None:
    machine.sysfs.child("17", subsystem="vfio", number=(511, 17), node="vfio/17")
    assert list(machine.scan(VFIO)) == ["17"]


def test_a_card_that_udev_renames_is_the_same(machine: Machine) -> None:
    """Ports of one card by the number that its driver gives them."""
    card = machine.sysfs.pci("0000:5e:00.0")
    ports = [
        machine.sysfs.child(
            name, subsystem="net", below=card, attributes={"dev_port": str(number)}
        )
        for number, name in enumerate(("eth0", "eth1"))
    ]

    def parts() -> list[str]:
        seen = machine.scanner(rule("x.local/x", {"subsystem": "net"})).sightings()
        return sorted(each.candidate.traits.part for each in seen)

    assert parts() == ["net", "net-port1"]
    machine.sysfs.rename(ports[0], "enp94s0f0")
    machine.sysfs.rename(ports[1], "storage")
    assert parts() == ["net", "net-port1"]


def ids_of(directory: str, data: st.DataObject) -> dict[str, list[str]]:
    """Return the ids of a machine whose numbers and letters came in some order."""
    machine = Machine(directory)
    draw = data.draw
    numbers = draw(st.lists(st.integers(1, 30), min_size=10, max_size=10, unique=True))
    letters = "".join(draw(st.permutations("abcdef")))
    reader(machine, 40, letters[:3])
    ata(machine, numbers[:2], letters[3:5])
    keyboard(machine, names=["K", "Consumer", "K"], first=numbers[2], number=numbers[3])
    receiver(machine, numbers[4:6], numbers[6:8])
    group(machine, numbers[8], "0000:3b:00.0", "0000:3b:00.1")
    group(machine, numbers[9], "0000:5e:00.0")
    buses(machine, numbers[:2])
    tree = machine.scanner(*EVERYTHING).scan().freeze("x.local")
    return {
        str(resource): sorted(map(str, devices)) for resource, devices in tree.resources.items()
    }


@settings(max_examples=15)
@given(data=st.data())
def test_ids_do_not_depend_on_order_or_numbers_of_parts(data: st.DataObject) -> None:
    """Of units of a target, inputs, ports, buses and groups: by no boot are they other ones."""
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        before, after = ids_of(first, data), ids_of(second, data)
    assert before == after
    assert sum(map(len, before.values())) == 6 + 4 + 3 + 2 + 2 + 2
