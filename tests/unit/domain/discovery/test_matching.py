"""The laws of rules, alternatives and conditions."""

import attrs
import pytest

from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import Miss, demand
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, alternative, rule

MODEM = Candidate(
    name="ttyUSB0",
    subsystem="tty",
    devpath="/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0/ttyUSB0/tty/ttyUSB0",
    paths=("/dev/serial/by-id/usb-x", "/dev/ttyUSB0"),
    driver="ftdi_sio",
    attributes={"serial": "A1", "device/../port": None},
)


def facts(*attributes: str) -> frozenset[Fact]:
    """Return the facts that attributes are."""
    return frozenset(Fact(Kind.ATTRIBUTE, key) for key in attributes)


@pytest.mark.parametrize(
    "conditions",
    [
        {"subsystem": "tty"},
        {"name": "ttyUSB[0-9]"},
        {"driver": "ftdi*"},
        {"devpath": "/devices/*/usb1/1-2/*"},
        {"attributes": {"serial": "A1"}},
        {"node": "/dev/ttyUSB*"},
        {"node": "/dev/serial/by-id/*"},
        {"subsystem": "tty", "driver": "ftdi_sio", "attributes": {"serial": "?1"}},
    ],
)
def test_conditions_that_all_hold_make_a_match(conditions: Conditions) -> None:
    assert rule("x.local/modem", conditions).miss(MODEM) is None
    assert rule("x.local/modem", conditions).matches(MODEM)


@pytest.mark.parametrize(
    ("conditions", "miss"),
    [
        ({"subsystem": "usb"}, Miss("subsystem", "usb", ("tty",))),
        ({"name": "ttyACM*", "driver": "x"}, Miss("name", "ttyACM*", ("ttyUSB0",))),
        ({"driver": "ftdi"}, Miss("driver", "ftdi", ("ftdi_sio",))),
        ({"attributes": {"serial": "A"}}, Miss("attributes.serial", "A", ("A1",))),
        ({"node": "/dev/kvm"}, Miss("node", "/dev/kvm", MODEM.paths)),
    ],
)
def test_a_miss_tells_the_first_condition_that_fails_and_the_value_seen(
    conditions: Conditions, miss: Miss
) -> None:
    assert rule("x.local/modem", conditions).miss(MODEM) == miss
    assert not rule("x.local/modem", conditions).matches(MODEM)


def test_a_value_that_is_not_there_fits_no_pattern() -> None:
    """Not even "*": a condition on an attribute asks for devices that have it."""
    nameless = attrs.evolve(MODEM, driver="", attributes={"serial": None}, devpath="", paths=())
    for wanted in ({"driver": "*"}, {"attributes": {"serial": "*"}}, {"devpath": "*"}):
        miss = rule("x.local/modem", wanted).miss(nameless)
        assert miss is not None
        assert miss.seen == ()
        assert str(miss).endswith("seen nothing")


def test_a_list_of_values_means_any_of_them() -> None:
    condition = demand(Fact(Kind.NAME), "ttyACM*", "ttyUSB0")
    assert condition.holds(MODEM)
    assert condition.holds(attrs.evolve(MODEM, name="ttyACM7"))
    assert not condition.holds(attrs.evolve(MODEM, name="ttyUSB1"))
    assert str(condition) == "name: ttyACM* or ttyUSB0"


def test_one_alternative_is_enough() -> None:
    both = rule("x.local/serial", {"name": "ttyACM*"}, {"name": "ttyUSB*"})
    assert both.matches(MODEM)
    assert both.matches(attrs.evolve(MODEM, name="ttyACM0"))
    assert not both.matches(attrs.evolve(MODEM, name="ttyS0"))


def test_the_miss_is_that_of_the_alternative_that_came_closest() -> None:
    """What is nearly right is what the person meant."""
    far, near = {"subsystem": "usb"}, {"subsystem": "tty", "name": "ttyACM*"}
    for match in ([far, near], [near, far]):
        assert rule("x.local/serial", *match).miss(MODEM) == Miss("name", "ttyACM*", ("ttyUSB0",))


def test_conditions_are_tried_cheapest_first_whatever_their_order_in_the_file() -> None:
    """Names and places cost nothing to know; each attribute costs a file to read."""
    written: Conditions = {
        "attributes": {"serial": "A"},
        "driver": "x",
        "name": "y",
        "subsystem": "tty",
    }
    tried = [next(iter(each.facts)).kind for each in alternative(written).conditions]
    assert tried == [Kind.SUBSYSTEM, Kind.NAME, Kind.DRIVER, Kind.ATTRIBUTE]


def test_a_rule_asks_only_for_what_could_still_decide() -> None:
    """Step by step: nothing is read of a device that something cheaper rules out."""
    unread = attrs.evolve(MODEM, driver=None, attributes={})
    asking = rule(
        "x.local/modem",
        {"subsystem": "tty", "driver": "ftdi_sio", "attributes": {"serial": "A1", "port": "2"}},
    )
    assert asking.verdict(attrs.evolve(unread, subsystem="usb")) is False
    assert asking.verdict(unread) == frozenset({Fact(Kind.DRIVER)})
    assert asking.verdict(attrs.evolve(unread, driver="other")) is False
    driven = attrs.evolve(unread, driver="ftdi_sio")
    assert asking.verdict(driven) == facts("serial")
    assert asking.verdict(attrs.evolve(driven, attributes={"serial": None})) is False
    read = attrs.evolve(driven, attributes={"serial": "A1"})
    assert asking.verdict(read) == facts("port")
    assert asking.verdict(attrs.evolve(read, attributes={"serial": "A1", "port": "2"})) is True


def test_a_rule_asks_for_nothing_more_once_an_alternative_holds() -> None:
    either = rule("x.local/modem", {"attributes": {"slow": "1"}}, {"name": "ttyUSB0"})
    assert either.verdict(MODEM) is True
    assert either.verdict(attrs.evolve(MODEM, name="x")) == facts("slow")


def test_a_rule_asks_for_what_any_alternative_needs_next() -> None:
    either = rule(
        "x.local/modem", {"attributes": {"a": "1"}}, {"attributes": {"b": "1", "c": "1"}}
    )
    assert either.verdict(MODEM) == facts("a", "b")


def test_a_rule_tells_which_attributes_it_may_read() -> None:
    """So that a recording can hold just these."""
    asking = rule(
        "x.local/x",
        {"attributes": {"serial": "A", "device/vendor": "B"}},
        {"name": "x", "attributes": {"serial": "C"}},
    )
    assert asking.attributes == {"serial", "device/vendor"}


@pytest.mark.parametrize("key", ["", ".", "..", "../serial", "a//b", "/etc/passwd", "a/./b", "a/"])
def test_an_attribute_is_a_file_below_the_device(key: str) -> None:
    """No configuration makes the scanner read anything else."""
    with pytest.raises(InvalidValueError, match="below the device"):
        Fact(Kind.ATTRIBUTE, key)


def test_what_could_match_nothing_or_everything_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="at least one condition"):
        Alternative(())
    with pytest.raises(InvalidValueError, match="at least one entry"):
        ResourceRule(resource=ResourceName("x.local", "x"), match=())
    with pytest.raises(InvalidValueError, match="at least one value"):
        demand(Fact(Kind.NAME))


@pytest.mark.parametrize("permissions", ["", "rwx", "rr", "R"])
def test_permissions_that_no_runtime_knows_are_refused(permissions: str) -> None:
    """With what is allowed."""
    with pytest.raises(InvalidValueError, match="letters r, w and m"):
        attrs.evolve(rule("x.local/x", {"name": "x"}), permissions=permissions)


def test_an_unknown_allocation_policy_is_refused() -> None:
    """With what is allowed."""
    with pytest.raises(InvalidValueError, match="none, packed, spread"):
        attrs.evolve(rule("x.local/x", {"name": "x"}), allocation_policy="best")


def test_the_least_is_the_default() -> None:
    """Nodes may be read and written, not made; the kubelet chooses; the resource is there."""
    good = rule("x.local/x", {"name": "x"})
    assert (good.permissions, good.allocation_policy, good.advertise_empty) == ("rw", "none", True)


def test_what_is_excluded_is_no_match() -> None:
    """Whatever matches; and the miss says by which exclusion, with what was seen."""
    ttys = rule(
        "x.local/x",
        {"subsystem": "tty"},
        exclude=[{"name": "ttyS*"}, {"driver": "ftdi*", "attributes": {"serial": "A1"}}],
    )
    assert not ttys.matches(MODEM)
    other = attrs.evolve(MODEM, attributes={"serial": "B2"})
    assert ttys.matches(other)
    assert str(ttys.miss(MODEM)) == (
        "exclude: wanted not [driver: ftdi*, attributes.serial: A1], seen 'ftdi_sio' and 'A1'"
    )


def test_exclusions_are_looked_at_only_for_what_would_match() -> None:
    """Nothing is read of the others for their sake."""
    unread = attrs.evolve(MODEM, attributes={}, driver=None, uses=None)
    ttys = rule(
        "x.local/x",
        {"subsystem": "tty"},
        exclude=[{"attributes": {"serial": "A1"}}],
        exclude_in_use=True,
    )
    assert ttys.verdict(attrs.evolve(unread, subsystem="usb")) is False
    assert ttys.verdict(unread) == facts("serial") | {Fact(Kind.USE)}
    assert ttys.attributes == {"serial"}


def test_what_the_host_uses_can_be_left_out_with_one_key() -> None:
    free = attrs.evolve(MODEM, uses=())
    used = attrs.evolve(MODEM, uses=("mounted at /",))
    careful = rule("x.local/x", {"subsystem": "tty"}, exclude_in_use=True)
    assert careful.matches(free)
    assert not careful.matches(used)
    assert (
        str(careful.miss(used)) == "exclude: wanted not [in_use: any value], seen 'mounted at /'"
    )
    assert rule("x.local/x", {"subsystem": "tty"}).matches(used)


def test_a_property_is_a_value_of_the_uevent_file() -> None:
    usb = attrs.evolve(MODEM, properties={"PRODUCT": "10c4/ea60/100"})
    assert rule("x.local/x", {"properties": {"PRODUCT": "10c4/ea60/*"}}).matches(usb)
    assert not rule("x.local/x", {"properties": {"MODALIAS": "*"}}).matches(usb)
