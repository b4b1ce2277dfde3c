"""The laws of what is shipped."""

import re
from pathlib import Path

import pytest

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.app.presets import presets
from deviceplugin.app.settings import InvalidConfigurationError, load
from deviceplugin.app.settings.loading import preset_rules
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.sysfs import FakeSysfs

EVERYDAY = {
    "accel": "/dev/accel/accel0",
    "dri-render": "/dev/dri/renderD128",
    "full": "/dev/full",
    "fuse": "/dev/fuse",
    "gpio": "/dev/gpiochip0",
    "hwrng": "/dev/hwrng",
    "i2c": "/dev/i2c-1",
    "input": "/dev/input/event3",
    "kvm": "/dev/kvm",
    "ptp": "/dev/ptp0",
    "rtc": "/dev/rtc0",
    "serial": "/dev/ttyUSB0",
    "spi": "/dev/spidev0.0",
    "tpm": "/dev/tpmrm0",
    "tun": "/dev/net/tun",
    "vhost-net": "/dev/vhost-net",
    "vhost-vsock": "/dev/vhost-vsock",
    "video": "/dev/video0",
    "watchdog": "/dev/watchdog0",
}
"""A node that each preset gives to a pod."""


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
        }.items()
    ):
        sysfs.misc(name, minor, node=node)
    others = (
        "mem:full mem:null mem:mem mem:kmsg tty:ttyS0 tty:tty0 tty:ptmx block:sda block:loop0 "
        "i2c-dev:i2c-1 spidev:spidev0.0 tpmrm:tpmrm0 tpm:tpm0 watchdog:watchdog0 rtc:rtc0 "
        "ptp:ptp0 input:event3=input/event3 input:mouse0=input/mouse0 drm:card0=dri/card0 "
        "drm:renderD128=dri/renderD128 accel:accel0=accel/accel0 sound:controlC0=snd/controlC0"
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
        name.name: [node.host_path for info in devices.values() for node in info.nodes]
        for name, devices in found.items()
    }
    assert nodes == {name: [node] for name, node in EVERYDAY.items()}


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
