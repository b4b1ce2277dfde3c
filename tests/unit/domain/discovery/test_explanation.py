"""The laws of explaining why nothing matches."""

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.explanation import explain
from deviceplugin.testing.rules import Conditions, rule

TTYS = [Candidate(name=f"ttyS{number}", subsystem="tty") for number in range(9)]
USB = [
    Candidate(name=f"ttyUSB{number}", subsystem="tty", attributes={"device/serial": f"B{number}"})
    for number in range(2)
]
KVM = Candidate(name="kvm", subsystem="misc")


def test_it_names_the_condition_that_ruled_out_the_last_candidates() -> None:
    """With how many were left, out of how many, and what they had instead."""
    wanted: Conditions = {
        "subsystem": "tty",
        "name": "ttyUSB*",
        "attributes": {"device/serial": "A*"},
    }
    (ruling,) = explain(rule("x.local/modem", wanted), [*TTYS, *USB, KVM])
    assert (ruling.candidates, ruling.left) == (12, 2)
    assert ruling.condition == "attributes.device/serial: A*"
    assert ruling.seen == (("B0",), ("B1",))
    assert str(ruling) == (
        "[subsystem: tty, name: ttyUSB*, attributes.device/serial: A*]: 2 of 12 left, "
        "then [attributes.device/serial: A*] met only B0, B1"
    )


def test_each_alternative_is_explained() -> None:
    match = [{"subsystem": "usb"}, {"subsystem": "misc", "name": "fuse"}]
    rulings = explain(rule("x.local/x", *match), [KVM])
    assert [each.condition for each in rulings] == ["subsystem: usb", "name: fuse"]


def test_the_text_stays_one_short_line() -> None:
    """Whatever the number of candidates."""
    (ruling,) = explain(rule("x.local/x", {"subsystem": "tty", "name": "x"}), TTYS * 100)
    assert str(ruling).endswith("met only ttyS0, ttyS1, ttyS2, ttyS3, ttyS4 and 4 more")


def test_what_is_not_there_is_said_to_be_nothing() -> None:
    (ruling,) = explain(rule("x.local/x", {"subsystem": "misc", "devpath": "*"}), [KVM])
    assert str(ruling).endswith("met only nothing")


def test_an_empty_machine_is_explained_too() -> None:
    (ruling,) = explain(rule("x.local/x", {"name": "x"}), [])
    assert str(ruling) == "[name: x]: there is nothing to choose from"


def test_a_subsystem_that_is_not_there_is_said_to_be_absent() -> None:
    """Whatever else is asked, and whatever other devices there are; with the way out."""
    for others in ([], [KVM, *TTYS]):
        (ruling,) = explain(rule("x.local/x", {"subsystem": "foo", "name": "x"}), others)
        assert str(ruling) == (
            "[subsystem: foo, name: x]: sysfs shows no device of [subsystem: foo]: "
            "there is no such hardware, or the kernel module for it is not loaded"
        )
    (ruling,) = explain(rule("x.local/x", {"subsystem": "tty", "name": "x"}), [KVM, *TTYS])
    assert not ruling.absent


def test_a_node_that_is_not_there_is_said_to_be_absent() -> None:
    """A link of udev with who makes it; a node that is there is not."""
    link = "/dev/serial/by-id/usb-*"
    for others in ([], [KVM, *TTYS]):
        (ruling,) = explain(rule("x.local/x", {"node": link, "driver": "x"}), others)
        assert str(ruling).startswith(
            f"[node: {link}, driver: x]: no device is at [node: {link}]: "
            "such links are made by the host's udev"
        )
        (ruling,) = explain(rule("x.local/x", {"node": "/dev/x", "subsystem": "misc"}), others)
        assert "no device is at [node: /dev/x]: a node or link" in str(ruling)
    there = attrs.evolve(KVM, paths=("/dev/kvm",))
    (ruling,) = explain(rule("x.local/x", {"node": "/dev/kvm", "name": "x"}), [there])
    assert not ruling.absent


def test_a_match_needs_no_explanation() -> None:
    assert explain(rule("x.local/x", {"name": "nope"}, {"name": "kvm"}), [KVM]) == ()


def test_an_exclusion_that_ruled_out_the_last_candidates_is_named() -> None:
    wanted = rule("x.local/x", {"subsystem": "misc"}, exclude=[{"name": "kvm"}])
    (ruling,) = explain(wanted, [KVM, *TTYS])
    assert str(ruling) == (
        "[subsystem: misc]: 1 of 10 left, then [exclude: not [name: kvm]] met only kvm"
    )
