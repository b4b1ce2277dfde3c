"""The laws of leaving out what the host uses itself."""

import errno
import os
import shutil
from collections.abc import Iterable
from functools import partial

import pytest

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, Machine, names

FREE = rule("x.local/x", {"subsystem": "block"}, exclude_in_use=True)


def mount(machine: Machine, device: FakeDevice, place: str = "/data") -> None:
    assert device.number
    machine.host.mount(device.number, place)


@pytest.fixture
def disks(machine: Machine) -> dict[str, FakeDevice]:
    """Return two disks on one controller, with two partitions each."""
    host = machine.sysfs.pci("0000:00:1f.2")
    made: dict[str, FakeDevice] = {}
    for minor, name in ((0, "sda"), (16, "sdb")):
        made[name] = machine.sysfs.disk(name, below=host, minor=minor)
        for index in (1, 2):
            made[f"{name}{index}"] = machine.sysfs.partition(made[name], index)
    return made


def free(machine: Machine) -> list[str]:
    return sorted(names(machine.scan(FREE)))


def test_a_mounted_disk_is_left_out(machine: Machine, disks: dict[str, FakeDevice]) -> None:
    """A partition that is mounted takes the whole disk with it, not the partition beside it."""
    assert free(machine) == sorted(disks)
    mount(machine, disks["sda1"])
    assert free(machine) == ["sda2", "sdb", "sdb1", "sdb2"]


def test_what_is_swapped_to_is_left_out(machine: Machine, disks: dict[str, FakeDevice]) -> None:
    number = disks["sdb2"].number
    assert number
    machine.host.swap(number)
    assert free(machine) == ["sda", "sda1", "sda2", "sdb1"]


def test_what_holds_a_mounted_volume_is_left_out(
    machine: Machine, disks: dict[str, FakeDevice]
) -> None:
    """Through whatever layers: an array of two partitions, a volume on it."""
    array = machine.sysfs.child("md0", subsystem="block", number=(9, 0))
    volume = machine.sysfs.child("dm-0", subsystem="block", number=(253, 0))
    machine.sysfs.stack(array, disks["sda2"], disks["sdb2"])
    machine.sysfs.stack(volume, array)
    mount(machine, volume)
    assert free(machine) == ["sda1", "sdb1"]


def test_layers_that_go_round_in_a_circle_end(
    machine: Machine, disks: dict[str, FakeDevice]
) -> None:
    machine.sysfs.stack(disks["sda"], disks["sdb"])
    machine.sysfs.stack(disks["sdb"], disks["sda"])
    mount(machine, disks["sda"])
    assert free(machine) == ["sda1", "sda2", "sdb1", "sdb2"]


def test_a_mount_of_what_sysfs_does_not_show_hides_nothing(
    machine: Machine, disks: dict[str, FakeDevice]
) -> None:
    machine.host.mount(NodeNumber("block", 99, 0), "/gone")
    assert free(machine) == sorted(disks)


POOLS = {
    "btrfs": "/fs/btrfs/c8de/devices/{name}",
    "bcachefs": "/fs/bcachefs/c8de/dev-{number}/block",
}


@pytest.mark.parametrize("kind", POOLS)
def test_every_disk_of_a_pool_is_left_out(
    machine: Machine, disks: dict[str, FakeDevice], kind: str
) -> None:
    """Wherever it is mounted, since the kernel has it; a mount tells of one disk."""
    machine.sysfs.write(f"/fs/{kind}/features/x", "1")
    scanner = machine.scanner(FREE)

    def left() -> list[str]:
        seen = scanner.sightings()
        return sorted(each.candidate.name for each in seen if each.claims)

    assert left() == sorted(disks)
    volume = machine.sysfs.child("dm-0", subsystem="block", number=(253, 0))
    machine.sysfs.stack(volume, disks["sdb2"])
    for number, member in enumerate((disks["sda1"], volume)):
        place = POOLS[kind].format(name=member.name, number=number)
        machine.sysfs.link(place, member.path)
    assert left() == ["sda2", "sdb1"]
    mount(machine, disks["sda1"])
    assert left() == ["sda2", "sdb1"]
    uses = {each.candidate.name: each.candidate.uses for each in scanner.sightings()}
    assert uses["sdb2"] == uses["sda"] == ("mounted at /data",)
    machine.host.release()
    shutil.rmtree(machine.sysfs.at(f"/fs/{kind}"))
    assert left() == sorted({*disks, "dm-0"})


def test_a_cache_and_what_it_is_for_are_left_out(
    machine: Machine, disks: dict[str, FakeDevice]
) -> None:
    """Links lead to folders in the disks."""
    for name, disk in (("bdev0", "sda2"), ("cache0", "sdb1")):
        machine.sysfs.write(f"{disks[disk].path}/bcache/state", "1")
        machine.sysfs.link(f"/fs/bcache/c8de/{name}", f"{disks[disk].path}/bcache")
    assert free(machine) == ["sda1", "sdb2"]


@pytest.mark.parametrize("closed", ["/fs/btrfs", "/fs/btrfs/c8de/devices"])
def test_where_pools_cannot_be_read_no_disk_is_free(
    machine: Machine, disks: dict[str, FakeDevice], closed: str
) -> None:
    """In each scan."""
    machine.sysfs.link("/fs/btrfs/c8de/devices/sda1", disks["sda1"].path)

    def listdir(path: str) -> Iterable[str]:
        if path.removeprefix(str(machine.sysfs.root)) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return os.listdir(path)  # noqa: PTH208 - as `Files` does

    scanner = machine.scanner(FREE, files=partial(Files, listdir=listdir))
    for _ in range(2):
        seen = scanner.sightings()
        assert len(seen) == len(disks)
        assert not [each for each in seen if each.claims]


def namespaces(machine: Machine) -> tuple[FakeDevice, list[FakeDevice]]:
    """Return a namespace with two paths, and its two controllers with another one on each."""
    home = "/devices/virtual/nvme-subsystem/nvme-subsys0"
    machine.sysfs.add(FakeDevice(path=home, subsystem="nvme-subsystem"))
    controllers: list[FakeDevice] = []
    for number in range(2):
        function = machine.sysfs.pci(f"0000:0{number + 1}:00.0", driver="nvme")
        controllers.append(
            machine.sysfs.child(
                f"nvme{number}", subsystem="nvme", below=function, number=(240, number)
            )
        )
        machine.sysfs.link(f"{home}/nvme{number}", controllers[number].path)
        nvme(machine, controllers[number].path, f"{number + 5}n1", number + 1)
    return nvme(machine, home, "0n1", 0), controllers


def nvme(machine: Machine, home: str, name: str, minor: int) -> FakeDevice:
    """Return a namespace that has a generic node beside it."""
    generic = NodeNumber("char", 241, minor)
    machine.sysfs.add(
        FakeDevice(
            path=f"{home}/ng{name}", subsystem="nvme-generic", number=generic, node=f"ng{name}"
        )
    )
    number = NodeNumber("block", 259, minor)
    path = f"{home}/nvme{name}"
    return machine.sysfs.add(
        FakeDevice(path=path, subsystem="block", number=number, node=f"nvme{name}")
    )


ALL_NVME = [{"subsystem": each} for each in ("block", "nvme", "nvme-generic")]


def test_every_door_to_a_mounted_namespace_is_left_out(machine: Machine) -> None:
    """Its generic node, and each controller by which it is reached; not the other namespaces."""
    free_ones = rule("x.local/x", *ALL_NVME, exclude_in_use=True)
    head, _ = namespaces(machine)
    others = ["ng5n1", "ng6n1", "nvme5n1", "nvme6n1"]
    doors = ["ng0n1", "nvme0", "nvme0n1", "nvme1"]
    assert names(machine.scan(free_ones)) == sorted([*doors, *others])
    part = machine.sysfs.partition(head, 1)
    mount(machine, part)
    assert names(machine.scan(free_ones)) == others


def test_a_namespace_with_several_paths_is_part_of_each_of_its_controllers(
    machine: Machine,
) -> None:
    """Whoever has one of them has the namespace."""
    head, _ = namespaces(machine)
    first = rule("x.local/head", {"name": head.name})
    others = rule("x.local/others", *ALL_NVME)
    assert names(machine.scan(first, others)) == ["ng5n1", "ng6n1", "nvme5n1", "nvme6n1"]
    first = rule("x.local/controller", {"name": "nvme1"})
    assert names(machine.scan(first, others)) == ["ng5n1", "nvme0", "nvme5n1"]


def test_an_array_and_what_it_is_made_of_are_one_device(machine: Machine) -> None:
    """In all layers, of its partitions too; the other partition of a disk stays free."""
    disks = [machine.sysfs.disk(f"sd{letter}", minor=16 * n) for n, letter in enumerate("abc")]
    parts = [machine.sysfs.partition(disks[0], index) for index in (1, 2)]
    array = machine.sysfs.disk("md0", minor=160)
    volume = machine.sysfs.disk("dm-0", minor=176)
    machine.sysfs.stack(array, parts[0], disks[1])
    machine.sysfs.stack(volume, array)
    upper = machine.sysfs.partition(volume, 1)
    anything = rule("x.local/x", {"subsystem": "block"}, exclude_in_use=True)
    for name in (volume.name, upper.name):
        first = rule("x.local/first", {"subsystem": "block", "name": name})
        assert names(machine.scan(first, anything)) == ["sda2", "sdc"]
    for each in (parts[0], disks[1], disks[0]):
        first = rule("x.local/first", {"subsystem": "block", "name": each.name})
        assert "md0" not in names(machine.scan(first, anything))
        assert "sdc" in names(machine.scan(first, anything))
    mount(machine, upper)
    assert names(machine.scan(anything)) == ["sda2", "sdc"]


def cards(machine: Machine) -> dict[str, FakeDevice]:
    """Return network cards, by interface; each has a node of its own to be offered by."""
    made: dict[str, FakeDevice] = {}
    for number in range(3):
        function = machine.sysfs.pci(f"0000:0{number + 1}:00.0")
        made[f"eth{number}"] = machine.sysfs.child(f"eth{number}", subsystem="net", below=function)
        machine.sysfs.child(f"uio{number}", subsystem="uio", below=function, number=(240, number))
    return made


CARDS = rule("x.local/x", {"subsystem": "uio", "pci": "*:*"}, exclude_in_use=True)
WHOLE_CARDS = rule("x.local/x", {"subsystem": "pci"}, exclude_in_use=True)


def free_cards(machine: Machine) -> list[str]:
    """Return the functions that would be offered, if functions had nodes."""
    sightings = machine.scanner(WHOLE_CARDS).sightings()
    return [each.candidate.name for each in sightings if each.claims]


def test_the_card_of_the_default_route_is_left_out(machine: Machine) -> None:
    cards(machine)
    machine.host.route("eth1")
    assert free_cards(machine) == ["0000:01:00.0", "0000:03:00.0"]


def test_what_a_default_route_leads_through_is_left_out(machine: Machine) -> None:
    """A VLAN on a bond of two cards; a bridge with a port."""
    found = cards(machine)
    bond = machine.sysfs.child("bond0", subsystem="net")
    vlan = machine.sysfs.child("bond0.7", subsystem="net")
    machine.sysfs.stack(bond, found["eth0"], found["eth1"])
    machine.sysfs.stack(vlan, bond)
    machine.host.route("bond0.7")
    assert free_cards(machine) == ["0000:03:00.0"]
    machine.host.release()
    bridge = machine.sysfs.child("br0", subsystem="net")
    machine.sysfs.link(f"{bridge.path}/brif/eth2", f"{found['eth2'].path}")
    machine.host.route("br0")
    assert free_cards(machine) == ["0000:01:00.0", "0000:02:00.0"]


@pytest.mark.parametrize(("text", "is_free"), [("0", True), ("4", False), ("", True), ("x", True)])
def test_a_function_with_virtual_functions_is_left_out(
    machine: Machine, text: str, *, is_free: bool
) -> None:
    """Together with what is on it."""
    function = machine.sysfs.pci("0000:05:00.0", attributes={"sriov_numvfs": text})
    machine.sysfs.child("uio5", subsystem="uio", below=function, number=(240, 5))
    assert bool(free_cards(machine)) == is_free
    assert bool(machine.scan(CARDS)) == is_free


def test_what_cannot_be_told_is_left_out(machine: Machine, disks: dict[str, FakeDevice]) -> None:
    """Giving away a disk that is not free can cost the node; the reason is said."""
    machine.host.fail("no /proc")
    scanner = machine.scanner(FREE)
    assert free(machine) == []
    (first, *_) = scanner.sightings()
    assert str(FREE.miss(first.candidate)) == (
        "exclude: wanted not [in_use: any value], seen 'cannot be told: no /proc'"
    )
    assert disks


def test_nobody_is_asked_unless_a_rule_wants_to_know(
    machine: Machine, disks: dict[str, FakeDevice]
) -> None:
    machine.host.fail("no /proc")
    found = machine.scan(rule("x.local/x", {"subsystem": "block"}))
    assert len(found) == len(disks)
