"""The laws of NUMA nodes: known for sure, or not at all."""

from pathlib import Path

import pytest

from deviceplugin.adapters.sysfs.ancestry import Ancestry
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.kinship import Kinship
from deviceplugin.adapters.sysfs.memory import Memory
from deviceplugin.adapters.sysfs.numa import Numa
from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs


def numa(sysfs: FakeSysfs, device: FakeDevice) -> tuple[tuple[int, ...], str]:
    """Return the NUMA nodes of a device, and why there are none."""
    folders = Folders(Files(str(sysfs.root)), Memory())
    folder = folders.at(device.path)
    assert folder is not None
    return Numa(folders, Ancestry(folders, Kinship(folders))).nodes(folder)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        (b"0\n", (0,)),
        (b"1\n", (1,)),
        (b" 1 \n", (1,)),
        (b"1", (1,)),
        (b"-1\n", ()),
        (b"-2\n", ()),
        (b"2\n", ()),
        (b"", ()),
        (b"\n", ()),
        (b"abc\n", ()),
        (b"0,1\n", ()),
        (b"1.0\n", ()),
        (b"\xd9\xa1\n", ()),
        (b"\xff\n", ()),
        (b"0\0001\n", ()),
        (b"4294967295\n", ()),
        (b"99999999999999999999999999\n", ()),
        (b"0" * 5000, ()),
        (None, ()),
    ],
)
def test_only_a_node_that_is_online_is_a_node(
    tmp_path: Path, text: bytes | None, nodes: tuple[int, ...]
) -> None:
    """0 stays 0; -1, what is malformed, missing, empty or offline is none, never 0."""
    sysfs = FakeSysfs(tmp_path)
    sysfs.numa_online("0-1")
    found, reason = numa(sysfs, sysfs.pci("0000:00:01.0", numa_node=text))
    assert found == nodes
    assert bool(reason) == (not nodes)


@pytest.mark.parametrize(
    ("online", "node", "nodes"),
    [
        (None, "7", (7,)),
        (None, "1023", (1023,)),
        (None, "1024", ()),
        ("0", "0", (0,)),
        ("0", "1", ()),
        ("0-1,4,6-7", "4", (4,)),
        ("0-1,4,6-7", "5", ()),
        ("0-1,4,6-7", "7", (7,)),
        ("nonsense", "7", (7,)),
        ("0-99999999999", "7", (7,)),
        ("", "7", (7,)),
    ],
)
def test_a_node_that_is_offline_is_none(
    tmp_path: Path, online: str | None, node: str, nodes: tuple[int, ...]
) -> None:
    """Where nothing sensible tells what is online, any node that a kernel can have is."""
    sysfs = FakeSysfs(tmp_path)
    if online is not None:
        sysfs.numa_online(online)
    assert numa(sysfs, sysfs.pci("0000:00:01.0", numa_node=node))[0] == nodes


def test_a_device_sits_where_the_hardware_sits_that_it_is_part_of(tmp_path: Path) -> None:
    """The nearest of its ancestors that says so: a serial port, where its USB controller is."""
    sysfs = FakeSysfs(tmp_path)
    bridge = sysfs.bridge("0000:00:01.0", numa_node="0")
    host = sysfs.pci("0000:01:00.0", below=bridge, numa_node="1")
    usb = sysfs.usb("1-1", below=sysfs.usb_hub(1, below=host), number=2)
    tty = sysfs.usb_tty("ttyUSB0", below=sysfs.usb_interface(usb))
    assert numa(sysfs, tty)[0] == (1,)
    assert numa(sysfs, host)[0] == (1,)
    assert numa(sysfs, bridge)[0] == (0,)


def test_the_nearest_file_decides_even_if_it_knows_nothing(tmp_path: Path) -> None:
    """A bridge's node is not taken for that of a device which says that it is unknown."""
    sysfs = FakeSysfs(tmp_path)
    bridge = sysfs.bridge("0000:00:01.0", numa_node="1")
    for address, text in (("0000:01:00.0", "-1"), ("0000:01:00.1", ""), ("0000:01:00.2", b"\xff")):
        device = sysfs.pci(address, below=bridge, numa_node=text)
        assert numa(sysfs, sysfs.child("x", subsystem="x", below=device))[0] == ()
        sysfs.remove(device)


def test_a_numa_node_that_is_no_file_is_unknown(tmp_path: Path) -> None:
    sysfs = FakeSysfs(tmp_path)
    bridge = sysfs.bridge("0000:00:01.0", numa_node="1")
    device = sysfs.pci("0000:01:00.0", below=bridge, numa_node=None)
    sysfs.at(f"{device.path}/numa_node").mkdir()
    assert numa(sysfs, device) == ((), "numa_node holds ''")


def test_a_virtual_device_sits_nowhere(tmp_path: Path) -> None:
    sysfs = FakeSysfs(tmp_path)
    found, reason = numa(sysfs, sysfs.misc("kvm", 232))
    assert found == ()
    assert reason == "neither it nor what it is part of has a numa_node file"


def parts(sysfs: FakeSysfs, *numa_nodes: str | None) -> list[FakeDevice]:
    """Return disks on controllers with these NUMA nodes."""
    hosts = [
        sysfs.pci(f"0000:0{number}:00.0", numa_node=node)
        for number, node in enumerate(numa_nodes, 1)
    ]
    return [
        sysfs.disk(f"sd{letter}", below=host, minor=16 * number)
        for number, (letter, host) in enumerate(zip("abcd", hosts, strict=False))
    ]


@pytest.mark.parametrize(
    ("numa_nodes", "nodes"),
    [
        (["0"], (0,)),
        (["1", "0"], (0, 1)),
        (["1", "1"], (1,)),
        (["1", "-1"], ()),
        (["1", "7"], ()),
        (["1", None], ()),
    ],
)
def test_what_is_made_of_others_sits_where_all_of_these_sit(
    tmp_path: Path, numa_nodes: list[str | None], nodes: tuple[int, ...]
) -> None:
    """An array of partitions, a volume on it; if one of the disks is not known, none is."""
    sysfs = FakeSysfs(tmp_path)
    sysfs.numa_online("0-1")
    array = sysfs.child("md0", subsystem="block", number=(9, 0))
    sysfs.stack(array, *(sysfs.partition(disk, 1) for disk in parts(sysfs, *numa_nodes)))
    volume = sysfs.child("dm-0", subsystem="block", number=(253, 0))
    sysfs.stack(volume, array)
    for device in (array, volume):
        found, reason = numa(sysfs, device)
        assert found == nodes
        assert bool(reason) == (not nodes)


def test_a_bond_sits_where_its_cards_sit(tmp_path: Path) -> None:
    sysfs = FakeSysfs(tmp_path)
    functions = [sysfs.pci(f"0000:0{n}:00.0", numa_node=str(n)) for n in (1, 0)]
    cards = [
        sysfs.child(f"eth{n}", subsystem="net", below=each) for n, each in enumerate(functions)
    ]
    bond = sysfs.child("bond0", subsystem="net")
    sysfs.stack(bond, *cards)
    assert numa(sysfs, bond)[0] == (0, 1)


def test_what_is_made_of_itself_sits_nowhere(tmp_path: Path) -> None:
    """A circle ends."""
    sysfs = FakeSysfs(tmp_path)
    one = sysfs.child("dm-0", subsystem="block", number=(253, 0))
    two = sysfs.child("dm-1", subsystem="block", number=(253, 1))
    sysfs.stack(one, two)
    sysfs.stack(two, one)
    assert numa(sysfs, one)[0] == ()


@pytest.mark.parametrize(
    ("numa_nodes", "nodes"), [(["1", "1"], (1,)), (["0", "1"], (0, 1)), (["0", "-1"], ())]
)
def test_a_group_of_vfio_sits_where_its_members_sit(
    tmp_path: Path, numa_nodes: list[str], nodes: tuple[int, ...]
) -> None:
    """All functions of one IOMMU group go to one container."""
    sysfs = FakeSysfs(tmp_path)
    members = [
        sysfs.pci(f"0000:05:00.{n}", numa_node=node, driver="vfio-pci")
        for n, node in enumerate(numa_nodes)
    ]
    sysfs.iommu_group(12, *members)
    group = sysfs.child("12", subsystem="vfio", number=(511, 0), node="vfio/12")
    assert numa(sysfs, group)[0] == nodes


def test_a_function_without_a_file_sits_where_its_group_sits(tmp_path: Path) -> None:
    sysfs = FakeSysfs(tmp_path)
    mute = sysfs.pci("0000:05:00.0", numa_node=None)
    other = sysfs.pci("0000:05:00.1", numa_node="1")
    sysfs.iommu_group(3, mute, other)
    assert numa(sysfs, other)[0] == (1,)
    assert numa(sysfs, mute)[0] == (1,)
