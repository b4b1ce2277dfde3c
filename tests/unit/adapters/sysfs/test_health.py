"""The laws of health, as a scanner finds it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.app.settings import load
from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.events import DeviceUnwell, ProbeImpossible
from deviceplugin.domain.discovery.expectations import Compared
from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.ports.driven.hotplug import Change
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import alternative, rule
from deviceplugin.testing.sysfs import Machine, found

GUIDE: Final = Path(__file__).parents[4] / "docs" / "configuration.md"
X = ResourceName("x.local", "x")
SENSORS = rule("x.local/x", {"subsystem": "widget"})


class Asked:
    """Probes that answer as a test says."""

    def __init__(self) -> None:
        self.wanted: frozenset[Probe] = frozenset()
        self.every = False
        self.outcomes: dict[Probe, Outcome] = {}

    def __call__(self, wanted: frozenset[Probe], every: bool, /) -> Mapping[Probe, Outcome]:  # noqa: FBT001 - as a scanner calls it
        self.wanted, self.every = wanted, every
        return {probe: self.outcomes[probe] for probe in wanted if probe in self.outcomes}


class Sick:
    """A machine with one widget, and a scanner with a clock."""

    def __init__(self, machine: Machine, wanted: ResourceRule) -> None:
        self.machine = machine
        self.device = machine.sysfs.child("w0", subsystem="widget", number=(240, 0))
        self.set("temp", "40")
        self.asked = Asked()
        self.now = 0.0
        self.scanner = SysfsScanner(
            [wanted],
            nodes=machine.sysfs.nodes,
            journal=machine.journal,
            sys_root=str(machine.sysfs.root),
            ask=self.asked,
            now=lambda: self.now,
        )

    def set(self, attribute: str, value: str) -> None:
        """Let an attribute have this value, without an event."""
        self.machine.sysfs.write(f"{self.device.path}/{attribute}", value)

    def health(self, seconds: float = 5.0) -> Health:
        """Return what a look finds, so many seconds after the last one."""
        self.now += seconds
        (info,) = found(self.scanner, X).values()
        return info.health


def test_a_device_is_well_while_its_attributes_say_so(machine: Machine) -> None:
    """They are read at each look, though nothing told of a change."""
    cool = alternative({"attributes": {"temp": Compared("lt", "90")}})
    sick = Sick(machine, attrs.evolve(SENSORS, healthy_when=(cool,)))
    for temperature, health in [("40", "Healthy"), ("95", "Unhealthy"), ("96", "Unhealthy")]:
        sick.set("temp", temperature)
        assert sick.health().value == health
    sick.set("temp", "60")
    assert sick.health() is Health.HEALTHY
    (event,) = machine.journal.of(DeviceUnwell)
    assert "wanted lt 90, seen '95'" in event.reason


def test_an_attribute_that_is_not_there_is_not_well(machine: Machine) -> None:
    cool = alternative({"attributes": {"missing": Compared("lt", "90")}})
    assert Sick(machine, attrs.evolve(SENSORS, healthy_when=(cool,))).health() is Health.UNHEALTHY


def test_what_is_called_changing_is_read_at_each_look(machine: Machine) -> None:
    """All else identifies a device."""
    wanted = rule("x.local/x", {"subsystem": "widget", "attributes": {"temp": "4*"}})
    for changing in (frozenset[str](), frozenset({"temp"})):
        sick = Sick(
            Machine(machine.sysfs.root / repr(len(changing))),
            attrs.evolve(wanted, changing=changing),
        )
        assert sick.health() is Health.HEALTHY
        sick.set("temp", "95")
        assert bool(found(sick.scanner, X)) == (not changing)
        sick.scanner.forget(Change(everything=True))
        assert not found(sick.scanner, X)


def test_a_driver_that_is_unbound_makes_a_device_unhealthy(machine: Machine) -> None:
    """If health asks for it."""
    bound = alternative({"driver": "xe"})
    wanted = rule("x.local/x", {"subsystem": "accel"})
    function = machine.sysfs.pci("0000:01:00.0", driver="xe")
    machine.sysfs.child("accel0", subsystem="accel", below=function, number=(261, 0))
    scanner = machine.scanner(attrs.evolve(wanted, healthy_when=(bound,)))
    assert [info.health for info in found(scanner, X).values()] == [Health.HEALTHY]
    link = machine.sysfs.at(f"{function.path}/driver")
    target = link.readlink()
    link.unlink()
    assert [info.health for info in found(scanner, X).values()] == [Health.UNHEALTHY]
    link.symlink_to(target)
    assert [info.health for info in found(scanner, X).values()] == [Health.HEALTHY]


def test_a_device_with_a_probe_is_well_only_once_that_says_so(machine: Machine) -> None:
    """Neither before it has answered, nor when it cannot be asked."""
    probe = Probe(command=("/bin/check", "{node}"))
    sick = Sick(machine, attrs.evolve(SENSORS, probe=probe))
    assert sick.health() is Health.UNHEALTHY
    (wanted,) = sick.asked.wanted
    assert wanted.command == ("/bin/check", "/dev/w0")
    answers = [
        (Outcome(healthy=True), Health.HEALTHY),
        (Outcome(healthy=False, reason="too hot"), Health.UNHEALTHY),
        (Outcome(healthy=True), Health.HEALTHY),
        (Outcome(healthy=False, reason="no such file", ran=False), Health.UNHEALTHY),
        (Outcome(healthy=False, reason="no such thing", ran=False), Health.UNHEALTHY),
    ]
    for outcome, health in answers:
        sick.asked.outcomes[wanted] = outcome
        assert sick.health() is health
    assert [event.reason for event in machine.journal.of(ProbeImpossible)] == ["no such file"]


def test_a_device_that_is_gone_is_not_asked_any_more(machine: Machine) -> None:
    sick = Sick(machine, attrs.evolve(SENSORS, probe=Probe(file="/run/{name}")))
    sick.health()
    assert sick.asked.wanted == {Probe(file="/run/w0")}
    machine.sysfs.remove(sick.device)
    assert found(sick.scanner, X) == {}
    assert sick.asked.wanted == frozenset()


def test_so_many_looks_as_the_rule_says_must_agree(machine: Machine) -> None:
    """Though nothing changes between them; a burst of looks is one."""
    cool = alternative({"attributes": {"temp": Compared("lt", "90")}})
    wanted = attrs.evolve(SENSORS, healthy_when=(cool,), unhealthy_after=3, healthy_after=2)
    sick = Sick(machine, wanted)
    assert sick.health() is Health.HEALTHY
    sick.set("temp", "95")
    assert [sick.health(0.1).value for _ in range(9)] == ["Healthy"] * 9
    assert sick.asked.every
    assert [sick.health().value for _ in range(3)] == ["Healthy", "Unhealthy", "Unhealthy"]
    sick.set("temp", "50")
    assert [sick.health().value for _ in range(3)] == ["Unhealthy", "Healthy", "Healthy"]
    assert not sick.asked.every


def test_a_device_can_be_healthy_by_a_link_to_its_node(machine: Machine) -> None:
    """Whether any other condition asks for the link or not."""
    port = rule("x.local/x", {"subsystem": "tty"})
    port = attrs.evolve(port, healthy_when=(alternative({"node": "/dev/serial/by-id/*"}),))
    machine.sysfs.serial_port(serial="A1")
    scanner = machine.scanner(port)

    def health() -> Health:
        (info,) = found(scanner, X).values()
        return info.health

    assert health() is Health.UNHEALTHY
    machine.sysfs.nodes.add_link("/dev/serial/by-id/x", "../../ttyUSB0")
    assert health() is Health.HEALTHY
    machine.sysfs.nodes.remove("/dev/serial/by-id/x")
    assert health() is Health.UNHEALTHY


def test_the_example_of_the_guide_is_true_of_a_disk_as_the_kernel_shows_it(
    machine: Machine, tmp_path: Path
) -> None:
    """Well while it runs; not once the kernel has taken it offline, and not without its driver."""
    section = GUIDE.read_text().split("\n## Health\n")[1]
    (text,) = re.findall(
        r"^```yaml\n(.*?)^```$", section.split("\n## ")[0], re.MULTILINE | re.DOTALL
    )
    (tmp_path / "guide.yaml").write_text(text)
    (disks,) = load(str(tmp_path / "guide.yaml"), {}, {}).rules
    assert disks.probe is not None
    wanted = attrs.evolve(disks, probe=None, unhealthy_after=1, healthy_after=1)
    port = machine.sysfs.pci("0000:00:17.0", driver="ahci")
    host = machine.sysfs.bus_device("host0", bus="scsi", below=port)
    target = machine.sysfs.bus_device("target0:0:0", bus="scsi", below=host)
    place = machine.sysfs.bus_device(
        "0:0:0:0", bus="scsi", below=target, attributes={"state": "running", "ioerr_cnt": "0x0"}
    )
    place = machine.sysfs.bind(place, "sd")
    disk = machine.sysfs.disk("sda", below=place, attributes={"ro": "0"})
    machine.sysfs.partition(disk, 1)
    scanner = machine.scanner(wanted)

    def health() -> str:
        (info,) = found(scanner, wanted.resource).values()
        return info.health.value

    assert health() == "Healthy"
    machine.sysfs.write(f"{place.path}/state", "offline")
    assert health() == "Unhealthy"
    machine.sysfs.write(f"{place.path}/state", "running")
    assert health() == "Healthy"
    machine.sysfs.bind(place, "")
    assert health() == "Unhealthy"
