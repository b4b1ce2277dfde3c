"""A device that is held is not given away by another part of it, whatever the rules are now."""

from collections.abc import Sequence

import attrs
import pytest

from deviceplugin.domain.devices import id_as_held
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import Companion, Provision, Relation
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook
from deviceplugin.domain.holds import Hold, Holds
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, alternative, rule
from deviceplugin.testing.sysfs import FakeDevice, Machine, found

FIRST, SECOND = ResourceName("x.local", "first"), ResourceName("x.local", "second")


@pytest.fixture
def machine(machine: Machine) -> Machine:
    """Return a machine with one of each device that has several nodes."""
    sysfs = machine.sysfs
    hub = sysfs.usb_hub(1, below=sysfs.pci("0000:00:14.0"))
    adapter = sysfs.usb("1-1", below=hub, number=2)
    for index in range(2):
        interface = sysfs.usb_interface(adapter, number=index, driver="cp210x")
        port = sysfs.usb_tty(f"ttyUSB{index}", below=interface, minor=index)
        sysfs.write(f"{port.path}/role", "data" if index else "main")
    stick = sysfs.usb_interface(sysfs.usb("1-2", below=hub, number=3), driver="usbhid")
    hid = sysfs.bus_device("0003:046D:C21D.0001", bus="hid", below=stick)
    sysfs.child("hidraw0", subsystem="hidraw", below=hid, number=(240, 0))
    place = sysfs.child("input5", subsystem="input", below=hid)
    for minor, name in enumerate(("event5", "js0")):
        number = NodeNumber("char", 13, minor)
        sysfs.add(
            FakeDevice(
                path=f"{place.path}/{name}",
                subsystem="input",
                number=number,
                node=f"input/{name}",
            )
        )
    lun = sysfs.bus_device("0:0:0:0", bus="scsi", below=sysfs.pci("0000:00:17.0"))
    disk = sysfs.disk("sda", below=lun)
    parts = [sysfs.partition(disk, index) for index in (1, 2)]
    sysfs.child("sg0", subsystem="scsi_generic", below=lun, number=(21, 0))
    sysfs.stack(sysfs.disk("md0", minor=160), parts[0])
    function = sysfs.pci("0000:3b:00.0", driver="vfio-pci")
    sysfs.iommu_group(17, function)
    sysfs.child("17", subsystem="vfio", number=(511, 17), node="vfio/17")
    sysfs.child("vfio0", subsystem="vfio-dev", below=function, number=(510, 0))
    return machine


class Plugin:
    """A scanner whose rules change while somebody holds what it offered first."""

    def __init__(
        self,
        machine: Machine,
        rules: Sequence[ResourceRule],
        on_conflict: OnConflict = OnConflict.FIRST,
    ) -> None:
        self.held: Holds = frozenset()
        self._on_conflict = on_conflict
        self._scanner = machine.scanner(*rules, held=lambda: self.held, on_conflict=on_conflict)

    def offered(self, resource: ResourceName) -> list[str]:
        return sorted(found(self._scanner, resource))

    def hold(self, resource: ResourceName, device: str) -> None:
        (key,) = (
            key
            for key, each in found(self._scanner, resource).items()
            if each.attributes["devpath"].endswith(device)
        )
        self.held = frozenset({Hold(resource, id_as_held(key))})

    def reload(self, *rules: ResourceRule) -> None:
        self._scanner.follow(Rulebook(rules, on_conflict=self._on_conflict))

    @property
    def dispute(self) -> str:
        return self._scanner.dispute


_TTY: Conditions = {"subsystem": "tty", "name": "ttyUSB0"}
_OTHER_TTY: Conditions = {"subsystem": "tty", "name": "ttyUSB1"}
_CHANGING = frozenset({"role"})
_USB: Conditions = {"subsystem": "usb", "name": "1-1"}
_JS: Conditions = {"subsystem": "input", "name": "js0"}
_EVENT: Conditions = {"subsystem": "input", "name": "event5"}
_HIDRAW: Conditions = {"subsystem": "hidraw"}
_SG: Conditions = {"subsystem": "scsi_generic"}
_PARTITION: Conditions = {"subsystem": "block", "name": "sda1"}
_ARRAY: Conditions = {"subsystem": "block", "name": "md0"}
_GROUP: Conditions = {"subsystem": "vfio"}
_ALONE: Conditions = {"subsystem": "vfio-dev"}


@pytest.mark.parametrize("on_conflict", OnConflict)
@pytest.mark.parametrize("to", [FIRST, SECOND])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_TTY, _USB),
        (_USB, _TTY),
        (_JS, _EVENT),
        (_HIDRAW, _EVENT),
        (_EVENT, _HIDRAW),
        (_SG, _PARTITION),
        (_PARTITION, _SG),
        (_PARTITION, _ARRAY),
        (_ARRAY, _SG),
        (_GROUP, _ALONE),
        (_ALONE, _GROUP),
    ],
)
def test_another_part_of_what_is_held_is_given_to_nobody(
    machine: Machine,
    before: Conditions,
    after: Conditions,
    to: ResourceName,
    on_conflict: OnConflict,
) -> None:
    """Not even by rules that look where nothing shows what is held; until it is free.

    It is no dispute: the file is as it should be.
    """
    plugin = Plugin(machine, [rule(str(FIRST), before)], on_conflict)
    plugin.hold(FIRST, "")
    plugin.reload(rule(str(to), after))
    assert not plugin.offered(to)
    assert not plugin.offered(to)
    assert not plugin.dispute
    plugin.held = frozenset()
    assert len(plugin.offered(to)) == 1


@pytest.mark.parametrize("name", ["first", "second"])
def test_what_is_not_part_of_what_is_held_is_offered(machine: Machine, name: str) -> None:
    """Another port of the adapter is a device of its own."""
    plugin = Plugin(machine, [rule(str(FIRST), _TTY)])
    plugin.hold(FIRST, "ttyUSB0")
    plugin.reload(rule(f"x.local/{name}", _OTHER_TTY))
    assert len(plugin.offered(ResourceName("x.local", name))) == 1


def with_sibling(match: Conditions, sibling: Conditions) -> ResourceRule:
    companion = Companion(relation=Relation.SIBLINGS, wanted=alternative(sibling), optional=True)
    provision = Provision(companions=(companion,))
    return attrs.evolve(rule(str(FIRST), match), provision=provision, changing=_CHANGING)


def test_what_came_along_with_what_is_held_is_given_to_nobody_alone(machine: Machine) -> None:
    """Neither to another resource nor to another unit of its own."""
    plugin = Plugin(machine, [with_sibling(_TTY, {"subsystem": "tty"})])
    plugin.hold(FIRST, "ttyUSB0")
    plugin.reload(rule(str(FIRST), _OTHER_TTY), rule(str(SECOND), {"subsystem": "tty"}))
    assert (plugin.offered(FIRST), plugin.offered(SECOND)) == ([], [])
    plugin.held = frozenset()
    assert (len(plugin.offered(FIRST)), len(plugin.offered(SECOND))) == (1, 1)


def test_what_is_held_alone_comes_along_with_nothing(machine: Machine) -> None:
    plugin = Plugin(machine, [rule(str(FIRST), _OTHER_TTY)])
    plugin.hold(FIRST, "ttyUSB1")
    plugin.reload(with_sibling(_TTY, {"subsystem": "tty"}))
    assert plugin.offered(FIRST) == []
    plugin.held = frozenset()
    assert len(plugin.offered(FIRST)) == 1


def test_what_no_longer_comes_along_waits_until_what_it_came_with_is_free(
    machine: Machine,
) -> None:
    """A file that may change decides who comes along; nobody reloads anything."""
    rules = [
        with_sibling(_TTY, {"attributes": {"role": "data"}}),
        attrs.evolve(rule(str(SECOND), _OTHER_TTY), changing=_CHANGING),
    ]
    plugin = Plugin(machine, rules)
    plugin.hold(FIRST, "ttyUSB0")
    (port,) = [each for each in machine.sysfs if each.name == "ttyUSB1" and each.number]
    machine.sysfs.write(f"{port.path}/role", "other")
    assert (len(plugin.offered(FIRST)), plugin.offered(SECOND)) == (1, [])
    plugin.held = frozenset()
    assert (len(plugin.offered(FIRST)), len(plugin.offered(SECOND))) == (1, 1)


def test_a_group_of_vfio_and_its_device_are_told_apart_after_a_restart(machine: Machine) -> None:
    """Their ids differ: else either could be what is held, and neither would be offered."""
    rules = [rule(str(FIRST), _GROUP), rule(str(SECOND), _ALONE)]
    first = Plugin(machine, rules)
    first.hold(FIRST, "17")
    again = Plugin(machine, rules)
    again.held = first.held
    assert again.offered(FIRST) == ["0000:3b:00.0-vfio"]
    assert again.offered(SECOND) == []
