"""The laws of what is shipped."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from tests.support.machines import on_disk

from deviceplugin.adapters.memory.host_use import MemoryHostUse
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.app.inspector import CONFIGURATION, Inspector
from deviceplugin.app.presets import offered, presets
from deviceplugin.app.recorder import Recorder
from deviceplugin.app.settings import InvalidConfigurationError, load
from deviceplugin.app.settings.loading import preset_rules
from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.events import Event
from deviceplugin.domain.recording.entries import node_text
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import FrozenTree
from deviceplugin.testing.sysfs import FakeSysfs

EVERYDAY = {
    "accel": "/dev/accel/accel0",
    "cec": "/dev/cec0",
    "dri-render": "/dev/dri/renderD128",
    "fpga": "/dev/dfl-port.0",
    "full": "/dev/full",
    "fuse": "/dev/fuse",
    "gpio": "/dev/gpiochip0",
    "hwrng": "/dev/hwrng",
    "i2c": "/dev/i2c-1",
    "iio": "/dev/iio:device0",
    "infiniband": "/dev/infiniband/uverbs0 /dev/infiniband/rdma_cm",
    "input": "/dev/input/event3",
    "kvm": "/dev/kvm",
    "lirc": "/dev/lirc0",
    "pps": "/dev/pps0",
    "ptp": "/dev/ptp0",
    "rtc": "/dev/rtc0",
    "serial": "/dev/ttyUSB0",
    "sound": "/dev/snd/controlC0 /dev/snd/pcmC0D3p /dev/snd/timer",
    "spi": "/dev/spidev0.0",
    "tpm": "/dev/tpmrm0",
    "tun": "/dev/net/tun",
    "usbtmc": "/dev/usbtmc0",
    "vfio": "/dev/vfio/27 /dev/vfio/vfio",
    "vhost-net": "/dev/vhost-net",
    "vhost-vsock": "/dev/vhost-vsock",
    "video": "/dev/video0",
    "watchdog": "/dev/watchdog0",
}
"""The nodes that each preset gives to a pod."""
SHARED = {"fuse", "kvm", "tun", "vhost-net", "vhost-vsock"}
"""Those of a device whose users the kernel keeps apart."""
NAMED = {
    "drm": "/dev/dri/card0 /dev/dri/renderD128",
    "hidraw": "/dev/hidraw0",
    "nvme": "/dev/nvme1n1",
}
"""The same of those that have to be named."""
SMALL: Final = 16 * 1024
"""Bytes that a recording may have: it is attached to a report."""


def machine(tmp_path: Path) -> FakeSysfs:
    """Return a machine that has everything, and much beside it."""
    sysfs = FakeSysfs(tmp_path)
    for minor, (name, node) in enumerate(
        {
            "kvm": "kvm",
            "fuse": "fuse",
            "tun": "net/tun",
            "vhost-net": "vhost-net",
            "vhost-vsock": "vhost-vsock",
            "hw_random": "hwrng",
            "cpu_dma_latency": "cpu_dma_latency",
            "loop-control": "loop-control",
            "uinput": "uinput",
            "watchdog": "watchdog",
            "vfio": "vfio/vfio",
            "rdma_cm": "infiniband/rdma_cm",
        }.items()
    ):
        sysfs.misc(name, minor, node=node)
    others = (
        "mem:full mem:null mem:mem mem:kmsg tty:ttyS0 tty:tty0 tty:ptmx block:sda block:loop0 "
        "i2c-dev:i2c-1 spidev:spidev0.0 tpmrm:tpmrm0 tpm:tpm0 watchdog:watchdog0 rtc:rtc0 "
        "ptp:ptp0 input:event3=input/event3 input:mouse0=input/mouse0 "
        "accel:accel0=accel/accel0 sound:timer=snd/timer sound:seq=snd/seq "
        "vfio:27=vfio/27 vfio-dev:vfio0=vfio/devices/vfio0 infiniband_mad:umad0=infiniband/umad0 "
        "infiniband_verbs:uverbs0=infiniband/uverbs0 pps:pps0 cec:cec0 lirc:lirc0 "
        "usbmisc:usbtmc0 usbmisc:hiddev0=usb/hiddev0 hidraw:hidraw0 nvme:nvme0 nvme:nvme1 "
        "block:nvme0n1 block:nvme1n1 nvme-generic:ng0n1"
    )
    for minor, (subsystem, name, node) in enumerate(
        re.findall(r"([\w-]+):([\w.-]+)(?:=(\S+))?", others)
    ):
        sysfs.child(name, subsystem=subsystem, number=(200, minor), node=node or None)
    for index in range(2):
        facts = {"index": str(index)}
        sysfs.child(f"video{index}", subsystem="video4linux", number=(81, index), attributes=facts)
    host = sysfs.pci("0000:00:14.0")
    hub = sysfs.usb_hub(1, below=host)
    port = sysfs.usb_interface(sysfs.usb("1-1", below=hub, number=2), driver="cp210x")
    sysfs.usb_tty("ttyUSB0", below=port)
    gpu = sysfs.pci("0000:00:02.0", class_code="0x030000")
    sysfs.child("card0", subsystem="drm", below=gpu, number=(226, 0), node="dri/card0")
    sysfs.child("renderD128", subsystem="drm", below=gpu, number=(226, 128), node="dri/renderD128")
    sysfs.child("card0-HDMI-A-1", subsystem="drm")
    card = sysfs.child("card0", subsystem="sound", below=sysfs.pci("0000:00:1f.3"))
    for minor, name in enumerate(["controlC0", "pcmC0D3p"]):
        sysfs.child(name, subsystem="sound", below=card, number=(116, minor), node=f"snd/{name}")
    sysfs.bus_device("dfl-fme.0", bus="platform", number=(242, 0))
    sysfs.bus_device("dfl-port.0", bus="platform", number=(243, 0))
    sysfs.bus_device("iio:device0", bus="iio", number=(244, 0))
    sysfs.bus_device("trigger0", bus="iio")
    sysfs.child("gpiochip512", subsystem="gpio")
    sysfs.bus_device("gpiochip0", bus="gpio", number=(254, 0))
    return sysfs


def test_each_preset_gives_the_nodes_that_it_says_and_no_others(tmp_path: Path) -> None:
    """Nothing by which a pod could harm the host's disks, memory or screen is among them."""
    sysfs = machine(tmp_path)
    scanner = SysfsScanner(
        load(None, {}, {}).rules,
        nodes=sysfs.nodes,
        journal=MemoryJournal(),
        sys_root=str(sysfs.root),
    )
    found = scanner.scan().freeze("devices.local").resources
    nodes = {
        name.name: {" ".join(node.host_path for node in info.nodes) for info in devices.values()}
        for name, devices in found.items()
    }
    assert nodes == {name: {paths} for name, paths in EVERYDAY.items()}
    assert {name.name for name, devices in found.items() if len(devices) > 1} == SHARED
    health = {info.health for devices in found.values() for info in devices.values()}
    assert health == {Health.HEALTHY}


@pytest.mark.parametrize(("name", "node"), NAMED.items(), ids=[*NAMED])
def test_a_preset_that_has_to_be_named_gives_the_nodes_that_it_says(
    tmp_path: Path, name: str, node: str
) -> None:
    """Of two disks just the one that the host does not use."""
    sysfs = machine(tmp_path)
    (tmp_path / "plugin.yaml").write_text(f"version: 1\nresources: [{{preset: {name}}}]\n")
    host = MemoryHostUse()
    (used,) = [each for each in sysfs if each.name == "nvme0n1"]
    assert used.number is not None
    host.mount(used.number, "/")
    scanner = SysfsScanner(
        load(str(tmp_path / "plugin.yaml"), {}, {}).rules,
        nodes=sysfs.nodes,
        host=host,
        journal=MemoryJournal(),
        sys_root=str(sysfs.root),
    )
    (devices,) = scanner.scan().freeze("devices.local").resources.values()
    assert [each.host_path for info in devices.values() for each in info.nodes] == node.split()


def looked(root: Path, config: Path) -> tuple[FrozenTree, tuple[Event, ...]]:
    """Return what a look at the machine in a directory finds, and what it tells."""
    journal = MemoryJournal()
    tree = inspector(root, config, journal).look()
    return tree, tuple(sorted(journal.events, key=repr))


def inspector(root: Path, config: Path, journal: MemoryJournal) -> Inspector:
    """Return what looks at the machine in a directory."""
    roots = {name: f"{root}/{name[:-5]}" for name in ("sys_root", "dev_root", "proc_root")}
    return Inspector(configuration=load(str(config), {}, roots), root=str(root), journal=journal)


@pytest.fixture(scope="module")
def live() -> Iterator[Path]:
    """Return the machine on disk, which uses one of its disks."""
    with TemporaryDirectory() as place:
        sysfs = machine(Path(place))
        (used,) = [each.number for each in sysfs if each.name == "nvme0n1"]
        assert used is not None
        yield on_disk(sysfs, {"disks": {node_text(used): "mounted"}, "interfaces": {}})


@pytest.mark.parametrize("name", presets())
def test_a_recorded_machine_offers_by_each_preset_what_the_machine_did(
    live: Path, tmp_path: Path, name: str
) -> None:
    """Ids, health, nodes and events; the recording is a small part, and leads nowhere else."""
    config = tmp_path / "plugin.yaml"
    config.write_text(f"version: 1\nresources: [{{preset: {name}}}]\n")
    expected = looked(live, config)
    ((_, devices),) = expected[0].resources.items()
    nodes = {" ".join(node.host_path for node in each.nodes) for each in devices.values()}
    assert nodes == {{**EVERYDAY, **NAMED}[name]}
    whole = len([*live.rglob("*")])
    copy = tmp_path / "copy"
    Recorder(inspector(live, config, MemoryJournal())).record(str(copy))
    assert looked(copy, copy / CONFIGURATION) == expected
    stored = [*copy.rglob("*")]
    assert all(each.resolve().is_relative_to(copy.resolve()) for each in stored)
    assert len(stored) < whole / 2
    assert sum(each.lstat().st_size for each in stored if each.is_file()) < SMALL


def test_every_preset_is_known_to_this_test() -> None:
    """Those that are offered unasked, and those that have to be named."""
    assert list(offered()) == list(EVERYDAY)
    assert {*presets()} == {*EVERYDAY, *NAMED}


def test_a_preset_is_one_resource_of_its_own_name() -> None:
    """It appears only where a device does, under whatever domain is set."""
    rules = load(None, {}, {"domain": "x.example"}).rules
    assert [rule.resource for rule in rules] == [
        ResourceName("x.example", name) for name in EVERYDAY
    ]
    assert not [rule.resource for rule in rules if rule.advertise_empty]


@pytest.mark.parametrize("name", presets())
def test_a_preset_says_what_a_pod_gets(name: str) -> None:
    """In its first line, and what it says comes before the version."""
    text = presets()[name]
    assert text.startswith("# A pod gets ")
    assert "\nversion: 1\n" in text


def test_no_preset_takes_a_block_device() -> None:
    disk = Candidate(name="sda", subsystem="block", devpath="/devices/sda", driver="sd")
    assert not [rule for rule in load(None, {}, {}).rules if rule.matches(disk)]


def test_a_broken_preset_is_not_passed_over() -> None:
    """It would be silently missing on every node."""
    with pytest.raises(InvalidConfigurationError, match=r"one:2:13: must have keys"):
        preset_rules({"one": "version: 1\nresources: [x]", "two": "version: 1"}, "x.local")
