"""The laws of what a scanner says."""

import errno
import os
from functools import partial

from deviceplugin.adapters.sysfs.files import Files, read_page
from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.events import (
    DeviceSkipped,
    DirectoryUnreadable,
    EntryForbidden,
    NumaNodeUnknown,
    ResourceUnmatched,
)
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import Machine, found

X = ResourceName("x.local", "x")
TTY = rule("x.local/x", {"subsystem": "tty"})


def test_why_nothing_matches_is_one_event(machine: Machine) -> None:
    """With the number of candidates, and what ruled out the last of them."""
    machine.sysfs.serial_port("ttyUSB0", serial="B1")
    machine.sysfs.serial_port("ttyUSB1", serial="B2", minor=1)
    scanner = machine.scanner(
        rule("x.local/x", {"subsystem": "usb", "name": "?-1", "attributes": {"serial": "A*"}})
    )
    assert found(scanner, X) == found(scanner, X) == {}
    (event,) = machine.journal.of(ResourceUnmatched)
    assert (event.resource, event.candidates) == (X, 6)
    (reason,) = event.reasons
    assert reason == (
        "[subsystem: usb, name: ?-1, attributes.serial: A*]: 2 of 6 left, "
        "then [attributes.serial: A*] met only B1, B2"
    )


def test_a_subsystem_or_folder_of_links_that_the_machine_lacks_is_told(machine: Machine) -> None:
    """Whether or not there is its class; once there is such a device it is no longer so."""
    machine.sysfs.serial_port("ttyUSB0", serial="B1")
    rules = (
        rule("x.local/x", {"subsystem": "hidraw", "name": "hidraw*"}),
        rule("x.local/y", {"node": "/dev/serial/by-id/*", "subsystem": "tty"}),
    )
    for told in (("hidraw", "by-id"), ("by-id",)):
        scanner = machine.scanner(*rules)
        before = len(machine.journal.of(ResourceUnmatched))
        scanner.scan()
        events = machine.journal.of(ResourceUnmatched)[before:]
        assert len(events) == len(told)
        for event, word in zip(events, told, strict=True):
            (reason,) = event.reasons
            assert word in reason
            assert "shows no device" in reason or "no device is at" in reason
        if "hidraw" in told:
            machine.sysfs.child("hidraw0", subsystem="hidraw", number=(240, 0))


def test_why_nothing_matches_can_be_asked(machine: Machine) -> None:
    """Of each device that was looked at; asking records nothing."""
    tty = machine.sysfs.serial_port()
    wanted = rule("x.local/x", {"subsystem": "tty", "driver": "ftdi_sio"})
    (sighting,) = machine.scanner(wanted).sightings()
    assert (sighting.candidate.devpath, sighting.claims) == (tty.path, ())
    assert str(wanted.miss(sighting.candidate)) == "driver: wanted ftdi_sio, seen 'cp210x'"
    assert machine.journal.events == ()


def test_a_match_without_a_node_is_skipped_and_said_once(machine: Machine) -> None:
    """A path in sysfs is never given in place of a node below /dev."""
    pci = machine.sysfs.pci("0000:00:01.0")
    scanner = machine.scanner(rule("x.local/x", {"subsystem": "pci"}))
    assert found(scanner, X) == found(scanner, X) == {}
    assert machine.journal.of(DeviceSkipped) == (
        DeviceSkipped(resource=X, device=pci.path, reason="it has no device node"),
    )


def test_an_unknown_numa_node_is_said_once_per_device(machine: Machine) -> None:
    """As a line for the curious: most desktops have none."""
    machine.sysfs.misc("kvm", 232)
    scanner = machine.scanner(rule("x.local/x", {"subsystem": "misc"}))
    assert found(scanner, X) == found(scanner, X)
    (event,) = machine.journal.of(NumaNodeUnknown)
    assert (event.level, event.device) == ("debug", "/devices/virtual/misc/kvm")


def test_a_resource_is_there_before_its_devices(machine: Machine) -> None:
    """They are found when they come, without a restart; a shy one appears with its first."""
    shy = rule("x.local/shy", {"node": "/dev/ttyUSB0"}, advertise_empty=False)
    scanner = machine.scanner(shy, TTY)
    assert set(scanner.scan().freeze("x.local").resources) == {X}
    tty = machine.sysfs.serial_port()
    assert set(scanner.scan().freeze("x.local").resources) == {X, shy.resource}
    machine.sysfs.remove(tty)
    assert set(scanner.scan().freeze("x.local").resources) == {X, shy.resource}


def test_what_may_not_be_read_is_a_warning_once_however_often_it_is_looked_at(
    machine: Machine,
) -> None:
    """By its name, with the reason."""
    machine.sysfs.serial_port(serial="A1")

    def read(path: str) -> bytes:
        if path.endswith("/1-1/serial"):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return read_page(path)

    wanted = rule("x.local/x", {"subsystem": "usb", "attributes": {"serial": "A*"}})
    scanner = machine.scanner(wanted, files=partial(Files, read=read))
    assert found(scanner, X) == found(scanner, X) == {}
    (event,) = machine.journal.of(EntryForbidden)
    assert (event.level, event.reason) == ("warning", "Permission denied")
    assert event.path.endswith("/usb1/1-1/serial")


def test_a_folder_of_dev_that_may_not_be_entered_is_a_warning_once(machine: Machine) -> None:
    """By its name, whether a rule asks for a path in it or a device has its node there.

    What is elsewhere is found as ever; it is said again when it was open meanwhile.
    """
    closed = machine.sysfs.child("x0", subsystem="x", number=(250, 0), node="closed/x0")
    machine.sysfs.misc("kvm", 232)
    by_path = rule("x.local/x", {"node": "/dev/kvm"}, {"node": "/dev/closed/*"})
    by_name = rule("x.local/y", {"name": closed.name})
    machine.sysfs.nodes.close("/dev/closed")
    scanner = machine.scanner(by_name)
    for wanted in (by_path, by_name):
        scanner = machine.scanner(wanted)
        before = len(machine.journal.of(DirectoryUnreadable))
        devices = found(scanner, wanted.resource)
        assert devices == found(scanner, wanted.resource)
        assert ("kvm" in devices) == (wanted is by_path)
        (event,) = machine.journal.of(DirectoryUnreadable)[before:]
        assert event == DirectoryUnreadable(path="/dev/closed", reason="Permission denied")
    machine.sysfs.nodes.open("/dev/closed")
    (port,) = found(scanner, by_name.resource).values()
    assert port.health is Health.HEALTHY
    machine.sysfs.nodes.close("/dev/closed")
    found(scanner, by_name.resource)
    assert len(machine.journal.of(DirectoryUnreadable)) == 3
