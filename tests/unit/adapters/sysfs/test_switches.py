"""Cards behind switches, as servers have them: what is found of them, and where they sit."""

import pytest

from deviceplugin.domain.devices import Health
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeSysfs, Machine

CARDS = ("1b", "1c", "3d", "3f")


def fill(sysfs: FakeSysfs) -> None:
    """Put two switches on NUMA node 0 of two, each with two cards and a network adapter.

    The cards are of a class of their own; their nodes are named by the kernel and not there.
    """
    sysfs.numa_online("0-1")
    for switch, (first, second), adapter in (("17", CARDS[:2], "1a"), ("3a", CARDS[2:], "3e")):
        root = sysfs.bridge(f"0000:{switch}:00.0", numa_node="0")
        up = sysfs.bridge(f"0000:{int(switch, 16) + 1:02x}:00.0", below=root, numa_node="0")
        for number, bus in enumerate((first, second)):
            down = sysfs.bridge(f"0000:{bus}:{number + 4:02x}.0", below=up, numa_node="0")
            card = sysfs.pci(
                f"0000:{bus}:00.0",
                vendor="0x1bcf",
                device="0x001c",
                class_code="0x0b4000",
                numa_node="0",
                driver="ve_drv",
                below=down,
            )
            index = CARDS.index(bus)
            made = sysfs.child(f"ve{index}", subsystem="ve", below=card, number=(238, index))
            sysfs.nodes.remove(f"/dev/{made.node}")
        down = sysfs.bridge(f"0000:{adapter}:08.0", below=up, numa_node="0")
        sysfs.pci(
            f"0000:{adapter}:00.0", vendor="0x15b3", device="0x1013", numa_node="0", below=down
        )


@pytest.mark.parametrize(
    "conditions",
    [
        {"subsystem": "ve"},
        {"subsystem": "ve", "pci": "1bcf:001c"},
        {"subsystem": "ve", "driver": "ve_drv"},
        {"subsystem": "ve", "devpath": "*/0000:17:00.0/*"},
    ],
    ids=str,
)
def test_cards_behind_switches_are_found_with_their_place(
    machine: Machine, conditions: dict[str, str]
) -> None:
    """By the hardware that they are part of: its NUMA node, its address, its numbers."""
    fill(machine.sysfs)
    devices = [*machine.scan(rule("x.local/x", conditions)).values()]
    found = {info.nodes[0].host_path: info for info in devices}
    cards = CARDS[:2] if "devpath" in conditions else CARDS
    assert set(found) == {f"/dev/ve{number}" for number in range(len(cards))}
    for number, bus in enumerate(cards):
        info = found[f"/dev/ve{number}"]
        assert info.parent == f"0000:{bus}:00.0"
        assert info.numa_nodes == (0,)
        assert info.attributes["devnum"] == f"238:{number}"
        assert info.health is Health.UNHEALTHY


def test_hardware_is_told_apart_by_its_ids(machine: Machine) -> None:
    """The adapters are no cards; bridges are neither."""
    fill(machine.sysfs)
    scanner = machine.scanner(rule("x.local/x", {"subsystem": "pci", "pci": "15b3:1013"}))
    matched = [each.candidate for each in scanner.sightings() if each.claims]
    assert {each.name for each in matched} == {"0000:1a:00.0", "0000:3e:00.0"}
    assert {each.numa_nodes for each in matched} == {(0,)}
