"""The laws of what is remembered: it saves reading, and is never older than the hardware."""

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import Files, read_page
from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.events import EntryUnreadable
from deviceplugin.domain.ports.driven.hotplug import Change
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, Machine, found

X = ResourceName("x.local", "x")
CARDS = rule("x.local/x", {"subsystem": "accel", "attributes": {"device/vendor": "0x10de"}})


class Reads(Counter[str]):
    """How often each file was read, by its path below the root."""

    def reader(self, machine: Machine) -> Callable[[str], Files]:
        """Return readers that count."""

        def read(path: str) -> bytes:
            self[path.removeprefix(str(machine.sysfs.root))] += 1
            return read_page(path)

        return partial(Files, read=read)


def card(machine: Machine, number: int, vendor: str = "0x10de") -> FakeDevice:
    """Add an accelerator with a driver and a NUMA node to the machine."""
    function = machine.sysfs.pci(
        f"0000:{number:02x}:00.0", vendor=vendor, driver="xe", numa_node="0"
    )
    return machine.sysfs.child(
        f"accel{number}", subsystem="accel", below=function, number=(261, number)
    )


def counted(machine: Machine) -> tuple[SysfsScanner, Reads]:
    """Return a scanner that has looked once, and what it reads from then on."""
    reads = Reads()
    scanner = machine.scanner(CARDS, files=reads.reader(machine))
    scanner.scan()
    assert reads
    reads.clear()
    return scanner, reads


def test_what_identifies_a_device_is_read_once(machine: Machine) -> None:
    """As long as its directory is the same one, of devices that no rule matches, too."""
    card(machine, 1)
    card(machine, 2, vendor="0x8086")
    scanner, reads = counted(machine)
    for _ in range(3):
        assert len(found(scanner, X)) == 1
    assert {path for path in reads if not path.startswith("/devices/system/")} == set()


def test_a_device_that_comes_is_read_and_the_others_are_not(machine: Machine) -> None:
    card(machine, 1)
    scanner, reads = counted(machine)
    new = card(machine, 2)
    assert len(found(scanner, X)) == 2
    assert any(path.startswith(new.path) for path in reads)
    assert not [path for path in reads if "0000:01:00.0" in path]


@pytest.mark.parametrize("named", ["itself", "what it is part of", "everything"])
def test_what_an_event_named_is_read_anew(machine: Machine, named: str) -> None:
    """With all that is below it: the kernel names a device once, whatever it has changed."""
    device = card(machine, 1)
    scanner, reads = counted(machine)
    before = found(scanner, X)
    function = device.path.removesuffix("/accel/accel1")
    machine.sysfs.write(f"{function}/vendor", "0x8086")
    assert found(scanner, X) == before, "nobody has told"
    paths = {"itself": {device.path, function}, "what it is part of": {function}}.get(named)
    scanner.forget(Change(everything=True) if paths is None else Change(paths=frozenset(paths)))
    assert found(scanner, X) == {}
    assert reads[f"{function}/vendor"] == 1


def test_a_device_that_was_replaced_is_read_anew(machine: Machine) -> None:
    """By another directory of the same name, though no event told of it."""
    device = card(machine, 1)
    scanner, _ = counted(machine)
    function = next(each for each in machine.sysfs if each.name == "0000:01:00.0")
    machine.sysfs.remove(function)
    card(machine, 1, vendor="0x8086")
    assert found(scanner, X) == {}
    machine.sysfs.remove(next(each for each in machine.sysfs if each.name == function.name))
    assert card(machine, 1).path == device.path
    assert len(found(scanner, X)) == 1


def test_a_driver_is_looked_at_each_time(machine: Machine) -> None:
    """Binding one is no other device; whoever needs it in a rule sees it come and go."""
    function = machine.sysfs.pci("0000:01:00.0", driver="xe")
    machine.sysfs.child("accel0", subsystem="accel", below=function, number=(261, 0))
    bound = rule("x.local/x", {"subsystem": "accel", "driver": "xe"})
    scanner = machine.scanner(bound)
    assert len(found(scanner, X)) == 1
    link = machine.sysfs.at(f"{function.path}/driver")
    target = link.readlink()
    for _ in range(2):
        link.unlink()
        assert found(scanner, X) == {}
        link.symlink_to(target)
        assert len(found(scanner, X)) == 1


def test_a_node_is_looked_at_each_time(machine: Machine) -> None:
    device = card(machine, 1)
    scanner, _ = counted(machine)
    assert device.number
    for _ in range(2):
        machine.sysfs.nodes.remove("/dev/accel1")
        assert {info.health for info in found(scanner, X).values()} == {Health.UNHEALTHY}
        machine.sysfs.nodes.add_node("/dev/accel1", device.number)
        assert {info.health for info in found(scanner, X).values()} == {Health.HEALTHY}


def test_numa_nodes_that_go_offline_are_seen(machine: Machine) -> None:
    """They are the machine's, not a device's."""
    machine.sysfs.numa_online("0")
    card(machine, 1)
    scanner, _ = counted(machine)
    assert [info.numa_nodes for info in found(scanner, X).values()] == [(0,)]
    machine.sysfs.numa_online("1")
    assert [info.numa_nodes for info in found(scanner, X).values()] == [()]


def test_what_is_odd_is_told_once_though_it_is_read_once(machine: Machine) -> None:
    """And again when it ends and begins again."""
    device = card(machine, 1)
    function = device.path.removesuffix("/accel/accel1")
    scanner, _ = counted(machine)
    machine.sysfs.write(f"{function}/vendor", b"\xff\xfe")
    scanner.forget(Change(paths=frozenset({function})))
    for _ in range(3):
        scanner.scan()
    assert len(machine.journal.of(EntryUnreadable)) == 1
    machine.sysfs.write(f"{function}/vendor", "0x10de")
    scanner.forget(Change(paths=frozenset({function})))
    scanner.scan()
    machine.sysfs.write(f"{function}/vendor", b"\xff\xfe")
    scanner.forget(Change(paths=frozenset({function})))
    scanner.scan()
    assert len(machine.journal.of(EntryUnreadable)) == 2


def test_nothing_is_remembered_of_what_is_gone(machine: Machine) -> None:
    """However many devices come and go."""
    card(machine, 0)
    scanner, _ = counted(machine)
    scanner.scan()
    memory = scanner._memory  # pyright: ignore[reportPrivateUsage]

    def size() -> tuple[int, int, int]:
        entries = sum(len(each.folders) for each in memory.listings.values())
        return len(memory.folders), len(memory.memos), entries

    before = size()
    for number in range(1, 20):
        card(machine, number)
        scanner.scan()
        machine.sysfs.remove(
            next(each for each in machine.sysfs if each.name == f"0000:{number:02x}:00.0")
        )
        scanner.scan()
    scanner.scan()
    assert size() == before


def test_a_link_that_leads_elsewhere_leads_to_another_device(machine: Machine) -> None:
    """As in a tree that somebody recorded, and changes by hand."""
    first, second = card(machine, 1), card(machine, 2)
    scanner, _ = counted(machine)
    machine.sysfs.at(second.entry).unlink()
    only = found(scanner, X)
    machine.sysfs.link(first.entry, second.path)
    other = found(scanner, X)
    assert len(only) == len(other) == 1
    assert only != other
