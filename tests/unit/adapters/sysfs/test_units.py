"""The laws of what a container gets, on trees like the kernel's."""

from collections.abc import Callable, Iterable
from itertools import chain, combinations
from pathlib import Path

import pytest

from deviceplugin.app.settings import load
from deviceplugin.domain.devices import DeviceInfo, Health
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.sysfs import FakeSysfs
from deviceplugin.testing.sysfs.machine import Machine, found
from deviceplugin.testing.sysfs.tree import FakeDevice

Rules = Callable[[str], tuple[ResourceRule, ...]]


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    """Return what reads the resources of a configuration."""

    def read(text: str) -> tuple[ResourceRule, ...]:
        path = tmp_path / "plugin.yaml"
        path.write_text(f"version: 1\ndomain: x.local\nresources:\n{text}")
        return load(str(path), {}, {}).rules

    return read


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine with nothing in it."""
    return Machine(tmp_path)


def paths(info: DeviceInfo) -> list[str]:
    """Return the nodes that a container gets."""
    return [node.host_path for node in info.nodes]


def gpu(sysfs: FakeSysfs, number: int) -> FakeDevice:
    """Add a graphics card with a card and a render node."""
    card = sysfs.pci(f"0000:0{number}:00.0", class_code="0x030000", numa_node=str(number))
    for name, minor in ((f"card{number}", number), (f"renderD{128 + number}", 128 + number)):
        sysfs.child(name, subsystem="drm", below=card, number=(226, minor), node=f"dri/{name}")
    return card


GPU = """
  - name: gpu
    match: [{subsystem: drm, name: "renderD*"}]
    with: [{siblings: {subsystem: drm, name: "card*"}}]
    env: {GPU: "{parent}"}
"""


def test_card_and_render_node_of_one_gpu(machine: Machine, rules: Rules) -> None:
    """Each GPU's own, whatever their numbers; both nodes after a rescan without change, too."""
    for number in (0, 1):
        gpu(machine.sysfs, number)
    machine.sysfs.numa_online("0-1")
    (rule,) = rules(GPU)
    scanner = machine.scanner(rule)
    for _ in range(2):
        devices = found(scanner, rule.resource)
        assert {info.envs["GPU"]: paths(info) for info in devices.values()} == {
            "0000:00:00.0": ["/dev/dri/renderD128", "/dev/dri/card0"],
            "0000:01:00.0": ["/dev/dri/renderD129", "/dev/dri/card1"],
        }
        assert [info.numa_nodes for info in devices.values()] == [(0,), (1,)]


def test_a_companion_that_goes_makes_its_device_unhealthy_and_no_other(
    machine: Machine, rules: Rules
) -> None:
    """At the next look, and well again when it is back."""
    cards = [gpu(machine.sysfs, number) for number in (0, 1)]
    (rule,) = rules(GPU)
    scanner = machine.scanner(rule)
    found(scanner, rule.resource)
    node = next(each for each in machine.sysfs if each.name == "card0")
    machine.sysfs.remove(node)
    health = [info.health for info in found(scanner, rule.resource).values()]
    assert health == [Health.UNHEALTHY, Health.HEALTHY]
    machine.sysfs.child(
        "card0", subsystem="drm", below=cards[0], number=(226, 0), node="dri/card0"
    )
    assert {info.health for info in found(scanner, rule.resource).values()} == {Health.HEALTHY}
    machine.sysfs.nodes.remove("/dev/dri/card1")
    health = [info.health for info in found(scanner, rule.resource).values()]
    assert health == [Health.HEALTHY, Health.UNHEALTHY]


VFIO = """
  - name: nic
    match: [{subsystem: pci, driver: vfio-pci, pci: "15b3:1018"}]
    with:
      - iommu_group: {subsystem: vfio}
      - node: /dev/vfio/vfio
    group_by: iommu_group
    env: {PCI: "{name}"}
"""


def vfio(sysfs: FakeSysfs) -> list[FakeDevice]:
    """Add a card of two functions in one IOMMU group, and one alone, bound to vfio-pci."""
    functions = [
        sysfs.pci(address, vendor="0x15b3", device="0x1018", driver="vfio-pci", numa_node="0")
        for address in ("0000:3b:00.0", "0000:3b:00.1", "0000:5e:00.0")
    ]
    sysfs.iommu_group(7, *functions[:2])
    sysfs.iommu_group(9, functions[2])
    for number in (7, 9):
        sysfs.child(str(number), subsystem="vfio", number=(511, number), node=f"vfio/{number}")
    return functions


def test_an_iommu_group_is_one_unit_with_the_container_of_vfio(
    machine: Machine, rules: Rules
) -> None:
    """Its id is its lowest PCI address: the group's number may be another one after a boot."""
    vfio(machine.sysfs)
    (rule,) = rules(VFIO)
    without = machine.scan(rule)
    assert {info.health for info in without.values()} == {Health.UNHEALTHY}
    machine.sysfs.misc("vfio", 196, node="vfio/vfio")
    devices = machine.scan(rule)
    assert {key: paths(info) for key, info in devices.items()} == {
        "0000:3b:00.0": ["/dev/vfio/7", "/dev/vfio/vfio"],
        "0000:5e:00.0": ["/dev/vfio/9", "/dev/vfio/vfio"],
    }
    assert {info.health for info in devices.values()} == {Health.HEALTHY}
    assert [info.numa_nodes for info in devices.values()] == [(0,), (0,)]
    assert devices["0000:3b:00.0"].envs == {"PCI": "0000:3b:00.0"}


def test_the_container_of_vfio_need_not_be_in_sysfs(machine: Machine, rules: Rules) -> None:
    """The kernel makes the node before its module is loaded, and then sysfs has no device."""
    vfio(machine.sysfs)
    node = machine.sysfs.misc("vfio", 196, node="vfio/vfio")
    number = machine.sysfs.nodes.number("/dev/vfio/vfio")
    machine.sysfs.remove(node)
    assert number is not None
    machine.sysfs.nodes.add_node("/dev/vfio/vfio", number)
    (rule,) = rules(VFIO)
    assert [paths(info)[1] for info in machine.scan(rule).values()] == ["/dev/vfio/vfio"] * 2


def test_a_sound_card_is_its_control_and_pcm_nodes(machine: Machine, rules: Rules) -> None:
    """Of a USB card, too, whose other interfaces are none of it."""
    host = machine.sysfs.pci("0000:00:14.0", numa_node=None)
    hub = machine.sysfs.usb_hub(1, below=host)
    headset = machine.sysfs.usb("1-1", below=hub, number=2, serial="H1")
    interface = machine.sysfs.usb_interface(headset, driver="snd-usb-audio")
    card = machine.sysfs.child("card1", subsystem="sound", below=interface)
    for minor, name in enumerate(["controlC1", "pcmC1D0p", "pcmC1D0c"]):
        machine.sysfs.child(
            name, subsystem="sound", below=card, number=(116, minor), node=f"snd/{name}"
        )
    machine.sysfs.child("timer", subsystem="sound", number=(116, 33), node="snd/timer")
    (rule,) = rules(
        """
  - name: sound
    match: [{subsystem: sound, name: "card*"}]
    with: [{children: {subsystem: sound}}]
"""
    )
    ((key, info),) = machine.scan(rule).items()
    assert paths(info) == ["/dev/snd/controlC1", "/dev/snd/pcmC1D0c", "/dev/snd/pcmC1D0p"]
    assert key == "10c4:ea60:H1-if00-card"


def test_what_a_template_asks_for_is_read_of_what_matches_alone(
    machine: Machine, rules: Rules
) -> None:
    """And of ancestors' hardware, by the words of the language."""
    machine.sysfs.serial_port(serial="A5")
    (rule,) = rules(
        """
  - name: serial
    match: [{subsystem: tty, name: "ttyUSB*"}]
    container_path: /dev/serial/{usb.serial}
    env:
      SERIAL_{usb.serial}: "{container_path} {usb.id} {properties.DEVNAME} {attributes.dev}"
"""
    )
    (info,) = machine.scan(rule).values()
    assert [node.container_path for node in info.nodes] == ["/dev/serial/A5"]
    assert info.envs == {"SERIAL_A5": "/dev/serial/A5 10c4:ea60 ttyUSB0 188:0"}


def test_many_containers_share_one_device_and_follow_it(machine: Machine, rules: Rules) -> None:
    """The list has a line for each; a node that goes is each one's trouble."""
    machine.sysfs.misc("kvm", 232)
    (rule,) = rules(
        """
  - name: kvm
    match: [{subsystem: misc, name: kvm}]
    count: 3
"""
    )
    scanner = machine.scanner(rule)
    devices = found(scanner, ResourceName("x.local", "kvm"))
    assert list(devices) == ["kvm::0", "kvm::1", "kvm::2"]
    machine.sysfs.nodes.remove("/dev/kvm")
    devices = found(scanner, ResourceName("x.local", "kvm"))
    assert {info.health for info in devices.values()} == {Health.UNHEALTHY}


def adapter_of_disks(sysfs: FakeSysfs, present: Iterable[int]) -> None:
    """Add an adapter with disks that each have a name in the world."""
    adapter = sysfs.pci("0000:00:1f.2", driver="ahci")
    for number in present:
        names = {"wwid": f"naa.5000c500a1b2c3d{number}"}
        name = f"0:0:{number}:0"
        scsi = sysfs.bus_device(name, bus="scsi", below=adapter, attributes=names)
        sysfs.disk("sd" + "abc"[number], below=scsi, minor=16 * number)


def card_with_a_name(sysfs: FakeSysfs, present: Iterable[int]) -> None:
    """Add a card that has a name in the world itself, and parts that have other ones."""
    card = sysfs.pci("0000:03:00.0", attributes={"unique_id": "72a5b6"})
    for number in present:
        names = {} if number == 0 else {"uuid": f"u{number}", "serial": f"s{number}"}
        kind, nodes = "drm", (226, number)
        sysfs.child(f"card{number}", subsystem=kind, below=card, number=nodes, attributes=names)


def usb_adapter(sysfs: FakeSysfs, present: Iterable[int]) -> None:
    """Add a USB device with a serial number and several ports."""
    hub = sysfs.usb_hub(1, below=sysfs.pci("0000:00:14.0"))
    adapter = sysfs.usb("1-2", below=hub, serial="A50285BI")
    for number in present:
        port = sysfs.usb_interface(adapter, number=number)
        sysfs.usb_tty(f"ttyUSB{number}", below=port, minor=number)


def board(sysfs: FakeSysfs, present: Iterable[int]) -> None:
    """Add hardware of the platform, on no bus that has addresses."""
    soc = sysfs.bus_device("soc-leds", bus="platform")
    for number in present:
        names = {"uuid": f"u{number}"}
        sysfs.child(
            f"led{number}", subsystem="drm", below=soc, number=(9, number), attributes=names
        )


@pytest.mark.parametrize(
    ("build", "key"),
    [
        (adapter_of_disks, "0000:00:1f.2"),
        (card_with_a_name, "72a5b6"),
        (usb_adapter, "10c4:ea60:A50285BI"),
        (board, "soc-leds"),
    ],
)
def test_the_id_of_a_group_by_hardware_is_that_of_the_hardware(
    tmp_path: Path, rules: Rules, build: Callable[[FakeSysfs, Iterable[int]], None], key: str
) -> None:
    """However many parts there are, and whichever: to whom nothing is known of before."""
    (rule,) = rules(
        "  - {name: x, match: [{subsystem: block}, {subsystem: drm}, {subsystem: tty}], "
        "group_by: hardware}\n"
    )
    for present in chain.from_iterable(combinations(range(3), count) for count in (1, 2, 3)):
        machine = Machine(tmp_path / "-".join(map(str, present)))
        build(machine.sysfs, present)
        devices = machine.scan(rule)
        assert [(each, len(info.nodes)) for each, info in devices.items()] == [(key, len(present))]
