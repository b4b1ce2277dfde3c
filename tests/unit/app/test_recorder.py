"""The laws of recording a machine: what is replayed says what was said."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from tests.support.machines import on_disk

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.recorded.tree import MARK
from deviceplugin.app.inspector import CONFIGURATION, Inspector, own_configuration
from deviceplugin.app.recorder import Recorder
from deviceplugin.app.settings import Configuration, load
from deviceplugin.domain.discovery.events import DirectoryUnreadable
from deviceplugin.domain.errors import InvalidValueError, ScanError
from deviceplugin.domain.events import Event
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import FrozenTree
from deviceplugin.testing.sysfs import FakeSysfs, Oddity

RULES = """\
version: 1
domain: example.com
resources:
  - name: adapter
    match: [{subsystem: usb, attributes: {serial: "A50285BI"}}]
  - name: modem
    match:
      - {node: /dev/serial/by-id/*, driver: cp210x}
      - {subsystem: tty, attributes: {device/none: "1"}}
  - name: card
    match: [{subsystem: pci, attributes: {vendor: "0x1af4", numa_node: "1"}}]
  - name: any
    match: [{name: "*", attributes: {colour: "*"}}]
  - name: disk
    match: [{subsystem: block}]
    exclude_in_use: true
  - name: well
    match: [{subsystem: misc, name: kvm}]
    healthy_when: [{attributes: {state: ok}}, {parents: {name: none}}]
    changing: [load]
  - name: pts
    match: [{node: /dev/own}]
  - name: gpu
    match: [{subsystem: drm, name: "renderD*"}]
    with:
      - siblings: {subsystem: drm, name: "card*"}
      - iommu_group: {subsystem: vfio}
        optional: true
      - node: /dev/own
    group_by: iommu_group
    env: {GPU: "{pci.id} {attributes.power/control|none}"}
    count: 2
"""


SDA1 = NodeNumber("block", 8, 1)
UUID = "3e6be9de-8139-4a4a-9106-a43f08d823a6"
USES = {"disks": {"block 8:1": f"mounted at /{UUID}"}, "interfaces": {"enx525400abcdef": "used"}}


@attrs.frozen
class Seen:
    """All that a look says."""

    tree: FrozenTree
    events: tuple[Event, ...]


@pytest.fixture
def sysfs(tmp_path: Path) -> FakeSysfs:
    """Return a machine with something for each rule, and a near miss."""
    tree = FakeSysfs(tmp_path / "machine")
    tree.numa_online("0-1")
    tree.serial_port("ttyUSB0", serial="A50285BI")
    tree.serial_port("ttyUSB1", minor=1, serial="B7")
    tree.pci("0000:05:00.0", numa_node="1")
    tree.pci("0000:06:00.0", numa_node="0")
    kvm = tree.misc("kvm", 232)
    tree.write(f"{kvm.path}/state", "ok")
    disk = tree.child("sda", subsystem="block", number=(8, 0))
    tree.add(attrs.evolve(disk, path=f"{disk.path}/sda1", number=SDA1, node="sda1"))
    tree.child("sdb", subsystem="block", number=(8, 16))
    gpu = tree.pci("0000:07:00.0", numa_node="1")
    tree.iommu_group(3, gpu)
    tree.child("3", subsystem="vfio", number=(250, 3), node="vfio/3")
    for minor, name in ((0, "card0"), (128, "renderD128")):
        tree.child(name, subsystem="drm", below=gpu, number=(226, minor), node=f"dri/{name}")
    return tree


def configuration(root: Path, text: str = RULES) -> Configuration:
    """Return a configuration for the machine in a directory."""
    file = root.parent / "given.yaml"
    file.write_text(text)
    return load(str(file), {}, {"sys_root": f"{root}/sys", "dev_root": f"{root}/dev"})


def disk(sysfs: FakeSysfs) -> Path:
    """Return the machine on disk, with links as udev makes them and a node of no device."""
    place = on_disk(sysfs, USES)
    links = place / "dev/serial/by-id"
    links.mkdir(parents=True)
    (links / "usb-Maker_A50285BI-if00").symlink_to("../../ttyUSB0")
    (links / "usb-Maker_B7-if00").symlink_to("../../ttyUSB1")
    (links / "usb-gone").symlink_to("../../ttyUSB9")
    (place / "dev/own").write_text("char 136:0\n")
    return place


def seen(root: Path, text: str = RULES) -> Seen:
    """Look at the machine in a directory."""
    journal = MemoryJournal()
    given = configuration(root, text)
    tree = Inspector(configuration=given, root=str(root), journal=journal).look()
    return Seen(tree, tuple(sorted(journal.events, key=repr)))


def recorded(root: Path, to: Path, *, mask: bool = False, text: str = RULES) -> Path:
    """Record the machine in a directory into another."""
    inspector = Inspector(configuration=configuration(root, text), root=str(root))
    Recorder(inspector).record(str(to), mask=mask)
    return to


def everything(path: Path) -> Iterator[Path]:
    """Go through all that is below a path."""
    for folder, folders, files in os.walk(path):
        yield from (Path(folder, each) for each in (*folders, *files))


def test_a_recording_says_what_the_machine_says(sysfs: FakeSysfs, tmp_path: Path) -> None:
    """Devices, health, NUMA nodes, nodes, and every event: all of it is equal."""
    live = disk(sysfs)
    expected = seen(live)
    assert {str(name) for name, found in expected.tree.resources.items() if found} == {
        "example.com/adapter",
        "example.com/disk",
        "example.com/gpu",
        "example.com/modem",
        "example.com/pts",
        "example.com/well",
    }
    gpu, _ = expected.tree.resources[ResourceName("example.com", "gpu")].values()
    nodes = [node.host_path for node in gpu.nodes]
    assert nodes == ["/dev/dri/renderD128", "/dev/dri/card0", "/dev/vfio/3"]
    assert seen(recorded(live, tmp_path / "copy")) == expected


def test_a_folder_of_dev_that_could_not_be_looked_into_cannot_in_the_recording(
    sysfs: FakeSysfs, tmp_path: Path
) -> None:
    """So what is said of a node in it, or in a folder of links, is the same."""
    live = disk(sysfs)
    about = json.loads((live / MARK).read_text())
    about["failures"] = {"/dev/serial/by-id": "EACCES", "/dev/dri": "EIO"}
    (live / MARK).write_text(json.dumps(about))
    expected = seen(live)
    told = {
        each.path: each.reason for each in expected.events if isinstance(each, DirectoryUnreadable)
    }
    assert told["/dev/serial/by-id"] == "Permission denied"
    assert told["/dev/dri"] == "Input/output error"
    assert seen(recorded(live, tmp_path / "copy")) == expected


def test_a_recording_can_be_made_of_what_is_not_offered(sysfs: FakeSysfs, tmp_path: Path) -> None:
    """Where two resources claim one device, and that is an error: it has to be looked at."""
    text = RULES.replace("domain:", "on_conflict: error\ndomain:")
    text += "  - {name: again, match: [{name: kvm}]}\n  - {name: twice, match: [{name: kvm}]}\n"
    live = disk(sysfs)
    said: list[str] = []
    for root in (live, recorded(live, tmp_path / "copy", text=text)):
        with pytest.raises(ScanError) as error:
            seen(root, text)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_what_the_host_uses_is_recorded(sysfs: FakeSysfs, tmp_path: Path) -> None:
    """Just the answers, not the mounts and routes of everybody; masked as all else is."""
    live = disk(sysfs)
    (free,) = seen(live).tree.resources[ResourceName("example.com", "disk")].values()
    assert free.nodes[0].host_path == "/dev/sdb"
    copy = recorded(live, tmp_path / "copy", mask=True)
    assert (
        seen(copy, (copy / CONFIGURATION).read_text()).tree.resources[
            ResourceName("example.com", "disk")
        ]
        == seen(live).tree.resources[ResourceName("example.com", "disk")]
    )
    mark = (copy / MARK).read_text()
    assert "00000000-0000-0000-0000-00000000" in mark
    assert "enx02" in mark
    assert UUID not in mark


def test_what_the_host_could_not_tell_cannot_be_told_of_the_recording(
    sysfs: FakeSysfs, tmp_path: Path
) -> None:
    """Every disk counts as in use in either, and the reason is the same."""
    live = disk(sysfs)
    (live / MARK).write_text('{"version": 1}')
    expected = seen(live)
    assert not expected.tree.resources[ResourceName("example.com", "disk")]
    assert seen(recorded(live, tmp_path / "copy")) == expected


@pytest.mark.parametrize("oddity", Oddity)
def test_what_is_odd_is_as_odd_in_a_recording(
    sysfs: FakeSysfs, tmp_path: Path, oddity: Oddity
) -> None:
    """Whatever it is, the same is found, and the same is said of it."""
    live = disk(sysfs)
    for device in sysfs:
        if (device.subsystem, device.name) in {("tty", "ttyUSB0"), ("pci", "0000:05:00.0")}:
            sysfs.spoil(device, oddity)
    expected = seen(live)
    assert seen(recorded(live, tmp_path / "copy")) == expected


def test_a_recording_of_a_recording_is_the_same(sysfs: FakeSysfs, tmp_path: Path) -> None:
    """It holds all that a recording needs, and no more than the first."""
    live = disk(sysfs)
    first = recorded(live, tmp_path / "first")
    second = recorded(first, tmp_path / "second")
    names = [{str(each.relative_to(top)) for each in everything(top)} for top in (first, second)]
    assert names[0] == names[1]


def test_it_holds_what_was_read_and_nothing_else(sysfs: FakeSysfs, tmp_path: Path) -> None:
    (device,) = [each for each in sysfs if each.name == "0000:05:00.0"]
    sysfs.write(f"{device.path}/config", b"secret")
    copy = recorded(disk(sysfs), tmp_path / "copy")
    held = {each.name for each in everything(copy)}
    assert {"vendor", "numa_node", "ttyUSB0"} <= held
    assert "config" not in held
    assert len([*everything(copy)]) < 250


def test_no_secret_is_in_a_masked_recording(sysfs: FakeSysfs, tmp_path: Path) -> None:
    """In no name, no link, no file, nor in the configuration that comes along."""
    copy = recorded(disk(sysfs), tmp_path / "copy", mask=True)
    for each in everything(copy):
        said = os.readlink(each) if each.is_symlink() else ""  # noqa: PTH115 - text
        said += each.read_text() if each.is_file() and not each.is_symlink() else ""
        assert not re.search("A50285BI|B7(?![0-9])", f"{each.name} {said}".replace("Maker_", " "))
    assert own_configuration(str(copy)) == str(copy / CONFIGURATION)


def test_a_masked_recording_says_the_same_of_all_that_is_not_masked(
    sysfs: FakeSysfs, tmp_path: Path
) -> None:
    """The rule that named a serial number names the made-up one."""
    live = disk(sysfs)
    copy = recorded(live, tmp_path / "copy", mask=True)
    text = (copy / CONFIGURATION).read_text()
    assert "A50285BI" not in text
    expected, found = seen(live).tree, seen(copy, text).tree
    assert {name: len(devices) for name, devices in found.resources.items()} == {
        name: len(devices) for name, devices in expected.resources.items()
    }
    nodes = [
        sorted(
            (node.host_path, info.health, info.numa_nodes)
            for devices in tree.resources.values()
            for info in devices.values()
            for node in info.nodes
        )
        for tree in (expected, found)
    ]
    assert nodes[0] == nodes[1]


def test_only_a_vacant_directory_is_recorded_into(sysfs: FakeSysfs, tmp_path: Path) -> None:
    """Whatever is there stays as it is."""
    live = disk(sysfs)
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine")
    with pytest.raises(InvalidValueError, match="is not empty"):
        recorded(live, full)
    assert [each.name for each in everything(full)] == ["mine"]
    with pytest.raises(InvalidValueError, match="Not a directory"):
        recorded(live, full / "mine")
    with pytest.raises(InvalidValueError, match="/proc/x cannot be recorded into: No such file"):
        recorded(live, Path("/proc/x"))


def test_nothing_is_written_outside(sysfs: FakeSysfs, tmp_path: Path) -> None:
    """Though links of the machine lead there."""
    live = disk(sysfs)
    (live / "dev/serial/by-id/usb-far").symlink_to("../../../../outside/x")
    sysfs.at("/class/tty/far").symlink_to("../../../outside")
    before = {str(each) for each in everything(tmp_path)}
    copy = recorded(live, tmp_path / "copy")
    after = {str(each) for each in everything(tmp_path)} - {str(tmp_path / "given.yaml")}
    assert {each for each in after - before if not each.startswith(f"{copy}")} <= {
        str(live.parent / "given.yaml")
    }


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "failures": []}', "\0"]
)
def test_a_broken_mark_is_told_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / MARK).write_text(text)
    with pytest.raises(InvalidValueError, match=rf"{MARK} is not what `deviceplugin record`"):
        own_configuration(str(tmp_path))
