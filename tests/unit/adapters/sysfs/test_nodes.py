"""The laws of device nodes: which one a container gets, and whether it is really there."""

import pytest

from deviceplugin.domain.devices import Health
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, rule
from deviceplugin.testing.sysfs import Machine, found, names

X = ResourceName("x.local", "x")
TTY = rule("x.local/x", {"subsystem": "tty"})


def test_a_link_is_given_as_what_it_leads_to(machine: Machine) -> None:
    """A runtime takes no link for a device node, and a colon in a path for its end."""
    machine.sysfs.serial_port()
    link = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0"
    machine.sysfs.nodes.add_link(link, "../../ttyUSB0")
    (info,) = machine.scan(rule("x.local/x", {"node": link})).values()
    (node,) = info.nodes
    assert node.host_path == node.container_path == "/dev/ttyUSB0"


def test_a_link_that_comes_later_is_found_then(machine: Machine) -> None:
    """The directory of links may be missing at first; and a link may be put elsewhere."""
    machine.sysfs.serial_port("ttyUSB0")
    machine.sysfs.serial_port("ttyUSB1", minor=1)
    scanner = machine.scanner(rule("x.local/x", {"node": "/dev/serial/by-id/*"}))
    assert found(scanner, X) == {}
    machine.sysfs.nodes.add_link("/dev/serial/by-id/a", "../../ttyUSB0")
    assert names(found(scanner, X)) == ["ttyUSB0"]
    machine.sysfs.nodes.add_link("/dev/serial/by-id/a", "../../ttyUSB1")
    assert names(found(scanner, X)) == ["ttyUSB1"]


@pytest.mark.parametrize("name", ["usb-Foo Bar", "usb-[0]", "usb-*", "usb-?", "usb-x:1.0"])
def test_a_name_with_odd_letters_can_be_written(machine: Machine, name: str) -> None:
    """What would stand for something else is put in brackets."""
    machine.sysfs.serial_port("ttyUSB0")
    machine.sysfs.serial_port("ttyUSB1", minor=1)
    machine.sysfs.nodes.add_link(f"/dev/serial/by-id/{name}", "../../ttyUSB0")
    machine.sysfs.nodes.add_link("/dev/serial/by-id/usb-0", "../../ttyUSB1")
    written = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
    wanted = rule("x.local/x", {"node": f"/dev/serial/by-id/{written}"})
    assert names(machine.scan(wanted)) == ["ttyUSB0"]


def test_a_path_that_is_not_there_is_not_there(machine: Machine) -> None:
    """Nor is a link that leads nowhere, or what is no device node."""
    machine.sysfs.nodes.add_link("/dev/dangling", "gone")
    machine.sysfs.nodes.add_file("/dev/file")
    match = [{"node": path} for path in ("/dev/gone", "/dev/dangling", "/dev/file")]
    assert machine.scan(rule("x.local/x", *match)) == {}


def test_a_node_that_sysfs_does_not_show_is_a_device_of_its_own(machine: Machine) -> None:
    """Such as a pseudo-terminal. Its id follows from its path."""
    for minor in (7, 0):
        machine.sysfs.nodes.add_node(f"/dev/pts/{minor}", NodeNumber("char", 136, minor))
    machine.sysfs.nodes.add_link("/dev/mine", "pts/7")
    infos = machine.scan(rule("x.local/x", {"node": "/dev/pts/*"}, {"node": "/dev/mine"}))
    assert sorted(infos) == ["pts-0", "pts-7"]
    assert infos["pts-7"].health is Health.HEALTHY
    assert [node.host_path for node in infos["pts-7"].nodes] == ["/dev/pts/7"]
    assert infos["pts-7"].attributes == {"devnum": "136:7"}


def test_ids_of_such_devices_stay_apart(machine: Machine) -> None:
    machine.sysfs.nodes.add_node("/dev/pts/0", NodeNumber("char", 136, 0))
    machine.sysfs.nodes.add_node("/dev/pts-0", NodeNumber("char", 136, 1))
    both = rule("x.local/x", {"node": "/dev/pts/*"}, {"node": "/dev/pts-*"})
    assert len(machine.scan(both)) == 2


def test_rules_can_ask_what_such_a_device_does_not_have(machine: Machine) -> None:
    """Then they do not match; no file of anything else is read in its place."""
    machine.sysfs.nodes.add_node("/dev/pts/0", NodeNumber("char", 136, 0))
    machine.sysfs.write("/serial", "*")
    asking = [{"node": "/dev/pts/*", "driver": "*"}, {"node": "/dev/pts/*", "devpath": "*"}]
    read: Conditions = {"node": "/dev/pts/*", "attributes": {"serial": "*"}}
    assert machine.scan(rule("x.local/x", *asking, read)) == {}


@pytest.mark.parametrize(
    ("node", "health"),
    [
        (NodeNumber("char", 188, 0), Health.HEALTHY),
        (NodeNumber("char", 188, 1), Health.UNHEALTHY),
        (NodeNumber("block", 188, 0), Health.UNHEALTHY),
        (None, Health.UNHEALTHY),
    ],
)
def test_a_device_is_healthy_if_its_very_node_is_there(
    machine: Machine, node: NodeNumber | None, health: Health
) -> None:
    """Another device's node, or a plain file of its name, is not."""
    machine.sysfs.serial_port()
    if node:
        machine.sysfs.nodes.add_node("/dev/ttyUSB0", node)
    else:
        machine.sysfs.nodes.add_file("/dev/ttyUSB0")
    (info,) = machine.scan(TTY).values()
    assert info.health is health


def test_a_node_can_go_and_come_back(machine: Machine) -> None:
    """Under the same id, without a restart."""
    tty = machine.sysfs.serial_port()
    scanner = machine.scanner(TTY)
    assert tty.number
    for health in (Health.HEALTHY, Health.UNHEALTHY, Health.HEALTHY):
        if health is Health.HEALTHY:
            machine.sysfs.nodes.add_node("/dev/ttyUSB0", tty.number)
        else:
            machine.sysfs.nodes.remove("/dev/ttyUSB0")
        (info,) = found(scanner, X).values()
        assert info.health is health


def test_a_node_is_found_where_a_rule_asks_for_it(machine: Machine) -> None:
    """If it is not where the kernel has it, as in a container that was given another path."""
    tty = machine.sysfs.serial_port()
    assert tty.number
    machine.sysfs.nodes.remove("/dev/ttyUSB0")
    machine.sysfs.nodes.add_node("/dev/modem", tty.number)
    (info,) = machine.scan(rule("x.local/x", {"node": "/dev/modem"})).values()
    assert (info.health, info.nodes[0].host_path) == (Health.HEALTHY, "/dev/modem")


def test_a_block_device_has_a_block_node(machine: Machine) -> None:
    """And "!" in a name of sysfs is "/" below /dev."""
    machine.sysfs.child("cciss!c0d0", subsystem="block", number=(104, 0))
    (info,) = machine.scan(rule("x.local/x", {"subsystem": "block"})).values()
    assert (info.health, info.nodes[0].host_path) == (Health.HEALTHY, "/dev/cciss/c0d0")
    by_path = rule("x.local/x", {"node": "/dev/cciss/*"})
    assert names(machine.scan(by_path)) == ["cciss!c0d0"]


def test_a_node_is_known_from_the_dev_file_alone(machine: Machine) -> None:
    """As in trees that were recorded without uevent files."""
    tty = machine.sysfs.serial_port()
    machine.sysfs.at(f"{tty.path}/uevent").unlink()
    assert names(machine.scan(TTY)) == ["ttyUSB0"]


@pytest.mark.parametrize(
    "text",
    [
        "MAJOR=188\nMINOR=0",
        "MAJOR=188\nMINOR=0\nDEVNAME=ttyUSB0\nMODALIAS=\xff",
        "X\n=\nDEVNAME=ttyUSB0\nMINOR=0\nMAJOR=188\nDEVNAME=ttyUSB9",
        "DEVNAME=ttyUSB0\nMAJOR=x\nMINOR=",
    ],
)
def test_a_uevent_file_may_hold_anything_else_too(machine: Machine, text: str) -> None:
    """Keys are found among whatever surrounds them; the name and the dev file help out."""
    tty = machine.sysfs.serial_port()
    machine.sysfs.write(f"{tty.path}/uevent", text.encode("latin-1"))
    (info,) = machine.scan(TTY).values()
    assert (info.health, info.nodes[0].host_path) == (Health.HEALTHY, "/dev/ttyUSB0")


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a//b", "", "a\xffb", "a\tb", "./x"])
def test_a_uevent_file_names_no_node_outside_of_dev(machine: Machine, name: str) -> None:
    tty = machine.sysfs.serial_port()
    text = f"MAJOR=188\nMINOR=0\nDEVNAME={name}\n"
    machine.sysfs.write(f"{tty.path}/uevent", text.encode("latin-1"))
    assert machine.scan(TTY) == {}
