"""The laws of conditions on what a device is below."""

import attrs
import pytest

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.rulebook import Rulebook, lacking
from deviceplugin.testing.rules import rule

INTERFACE = Candidate(name="1-2:1.0", subsystem="usb", driver="cp210x")
USB = Candidate(
    name="1-2", subsystem="usb", driver="usb", attributes={"idVendor": "10c4", "serial": "A1"}
)
HOST = Candidate(
    name="0000:00:14.0", subsystem="pci", driver="xhci_hcd", attributes={"class": "x"}
)
TTY = Candidate(name="ttyUSB0", subsystem="tty", parents=(INTERFACE, USB, HOST))


def test_one_parent_must_meet_all_that_one_entry_says() -> None:
    """Not this of one, that of another: an interface's driver is not its device's vendor."""
    together = rule(
        "x.local/x", {"parents": [{"name": "1-2", "attributes": {"idVendor": "10c4"}}]}
    )
    mixed = rule("x.local/x", {"parents": [{"driver": "cp210x", "attributes": {"serial": "A1"}}]})
    book = Rulebook([together, attrs.evolve(mixed, resource=mixed.resource.of("x.local", "y"))])
    assert [each.resource.name for each in book.judge(TTY, lacking).claims] == ["x"]


def test_several_entries_may_be_about_several_parents() -> None:
    """But each must be met by one."""
    for entries, matches in (
        ([{"driver": "cp210x"}, {"subsystem": "pci"}], True),
        ([{"driver": "cp210x"}, {"subsystem": "pci", "driver": "ohci"}], False),
    ):
        assert rule("x.local/x", {"parents": entries}).matches(TTY) == matches


def test_a_device_is_no_parent_of_itself() -> None:
    assert not rule("x.local/x", {"parents": [{"name": "ttyUSB0"}]}).matches(TTY)


def test_parents_are_looked_at_from_the_nearest_and_no_further_than_needed() -> None:
    """Each fact of each is asked for only once what is cheaper did not decide."""
    wanted = rule(
        "x.local/x", {"parents": [{"subsystem": "usb", "attributes": {"idVendor": "10c4"}}]}
    )
    vendor = Fact(Kind.ATTRIBUTE, "idVendor")
    assert wanted.verdict(attrs.evolve(TTY, parents=None)) == frozenset({Fact(Kind.PARENT)})
    assert wanted.verdict(TTY) == frozenset({vendor.above(1)})
    known = attrs.evolve(INTERFACE, attributes={"idVendor": None})
    unread = attrs.evolve(USB, attributes={})
    above = wanted.verdict(attrs.evolve(TTY, parents=(known, unread, HOST)))
    assert above == frozenset({vendor.above(2)})
    assert wanted.verdict(attrs.evolve(TTY, parents=(known, USB, HOST))) is True
    other = attrs.evolve(USB, attributes={"idVendor": "0403"})
    assert wanted.verdict(attrs.evolve(TTY, parents=(known, other, HOST))) is False


def test_a_device_without_parents_meets_no_condition_on_them() -> None:
    orphan = attrs.evolve(TTY, parents=())
    assert not rule("x.local/x", {"parents": [{"name": "*"}]}).matches(orphan)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            {"subsystem": "usb", "name": "1-3"},
            "parents.name: wanted 1-3, seen '1-2:1.0'",
        ),
        (
            {"driver": "ftdi_sio"},
            "parents: wanted driver: ftdi_sio, seen '1-2:1.0' and '1-2' and '0000:00:14.0'",
        ),
    ],
)
def test_a_miss_tells_of_the_parent_that_came_closest(entry: dict[str, str], said: str) -> None:
    """Or which ones there are, if none came close."""
    assert str(rule("x.local/x", {"parents": [entry]}).miss(TTY)) == said
