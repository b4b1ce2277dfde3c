"""The laws of what is held: one device, one id, one resource, whatever else happens."""

from collections.abc import Iterable, Mapping, Sequence

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deviceplugin.domain.devices import DeviceId, id_as_held
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.events import DeviceStaysHeld
from deviceplugin.domain.discovery.identity import Identities
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import GroupBy, Provision
from deviceplugin.domain.discovery.rulebook import Rulebook, lacking
from deviceplugin.domain.discovery.traits import Traits
from deviceplugin.domain.holds import Hold, Holds, Minded
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule

FRESH = Discovery()
SER = rule("x.local/ser", {"subsystem": "tty"})
GPS = rule("x.local/gps", {"node": "/dev/gps*"})
OTHER = rule("x.local/other", {"subsystem": "tty"})


def tty(
    number: int = 0,
    *,
    serial: str = "S",
    port: str = "1",
    paths: tuple[str, ...] = (),
    kind: str | None = None,
) -> Candidate:
    """Return a serial port of an adapter in a USB port."""
    usb = f"/devices/usb1/1-{port}"
    return Candidate(
        name=f"ttyUSB{number}",
        subsystem="tty",
        devpath=f"{usb}/1-{port}:1.0/ttyUSB{number}/tty/ttyUSB{number}",
        paths=paths,
        driver="",
        attributes={"kind": kind},
        node=Node(path=f"/dev/ttyUSB{number}", number=f"188:{number}"),
        numa_nodes=(0,),
        hardware_path=usb,
        traits=Traits(serial=serial, port=f"p{port}", part="if00-tty", model="0403:6001"),
        hardware_traits=Traits(serial=serial, port=f"p{port}", model="0403:6001"),
    )


def found(
    rules: Sequence[ResourceRule],
    candidates: Iterable[Candidate],
    held: Holds = frozenset(),
    before: Discovery = FRESH,
) -> Discovery:
    """Return what one scan comes to."""
    book = Rulebook(rules)
    sightings = [book.judge(each, lacking) for each in candidates]
    return discover(book, sightings, before=before, held=held)


def shown(discovery: Discovery) -> dict[str, list[str]]:
    """Return the ids of each resource that has a device."""
    return {
        resource.name: [key.value for key in devices]
        for resource, devices in discovery.devices.items()
    }


def hold(resource: str, *ids: str) -> Holds:
    """Return what containers hold of a resource."""
    return frozenset(Hold(ResourceName("x.local", resource), id_as_held(each)) for each in ids)


def reasons(discovery: Discovery) -> list[str]:
    """Return why devices stay where they are."""
    return sorted(each.reason for each in discovery.notes if isinstance(each, DeviceStaysHeld))


LINKED = tty(paths=("/dev/gps0",))


@pytest.mark.parametrize("remembered", [True, False], ids=["remembered", "after a restart"])
def test_a_device_that_is_held_stays_when_an_earlier_rule_begins_to_match(
    remembered: object,
) -> None:
    """As when udev makes its link; one event tells why, and it is in the way."""
    held = hold("ser", "S-if00-tty")
    first = found([GPS, SER], [tty()], before=FRESH)
    assert shown(first) == {"ser": ["S-if00-tty"]}
    second = found([GPS, SER], [LINKED], held, first if remembered else FRESH)
    assert shown(second) == {"ser": ["S-if00-tty"]}
    assert reasons(second) == ["a container may hold it as S-if00-tty of x.local/ser"]
    assert second.minded == Minded(held=held, in_the_way=held)
    third = found([GPS, SER], [LINKED], before=second)
    assert shown(third) == {"gps": ["S-if00-tty"]}
    assert (reasons(third), third.minded) == ([], Minded())


def test_one_that_nobody_holds_goes_where_the_rules_put_it() -> None:
    first = found([GPS, SER], [tty()])
    assert shown(found([GPS, SER], [LINKED], before=first)) == {"gps": ["S-if00-tty"]}


def test_what_is_held_where_the_rules_put_it_is_in_nobodys_way() -> None:
    """Whoever else claims it would not get it anyway."""
    held = hold("gps", "S-if00-tty")
    result = found([GPS, SER], [LINKED], held)
    assert shown(result) == {"gps": ["S-if00-tty"]}
    assert reasons(result) == []
    assert result.minded == Minded(held=held)


@pytest.mark.parametrize("remembered", [True, False], ids=["remembered", "after a restart"])
def test_one_whose_rule_no_longer_matches_is_offered_by_nobody(remembered: object) -> None:
    """Nor one whose resource is gone; until it is free."""
    held = hold("ser", "S-if00-tty")
    first = found([SER], [tty()])
    before = first if remembered else FRESH
    narrow = rule("x.local/ser", {"name": "ttyACM*"})
    for rules in ([narrow, OTHER], [OTHER]):
        result = found(rules, [tty()], held, before)
        assert shown(result) == {}
        assert reasons(result) == ["a container may hold it as S-if00-tty of x.local/ser"]
        assert result.minded.in_the_way == held
        assert shown(found(rules, [tty()], before=result)) == {"other": ["S-if00-tty"]}


def test_a_twin_keeps_the_id_that_names_its_port_after_a_restart() -> None:
    """Though the other one is unplugged, so that its serial number alone would do."""
    twins = [tty(0, port="1"), tty(1, port="2")]
    assert shown(found([SER], twins)) == {"ser": ["S-p1-if00-tty", "S-p2-if00-tty"]}
    held = hold("ser", "S-p1-if00-tty", "S-p2-if00-tty")
    alone = found([SER], twins[:1], held)
    assert shown(alone) == {"ser": ["S-p1-if00-tty"]}
    both = found([SER], twins, held, alone)
    assert shown(both) == {"ser": ["S-p1-if00-tty", "S-p2-if00-tty"]}
    assert both.minded.in_the_way == set()


def test_a_twin_that_came_later_does_not_change_the_id_after_a_restart() -> None:
    """The one in the port that the other id names is not the one with the short id."""
    held = hold("ser", "S-if00-tty", "S-p2-if00-tty")
    twins = [tty(0, port="1"), tty(1, port="2")]
    result = found([SER], twins, held)
    by_node = {
        node.host_path: key.value
        for key, info in result.devices[SER.resource].items()
        for node in info.nodes
    }
    assert by_node == {"/dev/ttyUSB0": "S-if00-tty", "/dev/ttyUSB1": "S-p2-if00-tty"}


def test_of_twins_one_of_which_is_held_by_a_name_of_both_none_is_offered() -> None:
    """Nobody can tell which one the container has; when it is free, both are."""
    held = hold("ser", "S-if00-tty")
    twins = [tty(0, port="1"), tty(1, port="2")]
    result = found([OTHER, SER], [*twins, tty(2, serial="T", port="3")], held)
    assert shown(result) == {"other": ["T-if00-tty"]}
    assert {*reasons(result)} == {
        "a container may hold it, or one like it, as S-if00-tty of x.local/ser"
    }
    again = found([OTHER, SER], twins, held, result)
    assert shown(again) == {}
    free = found([OTHER, SER], twins, before=again)
    assert shown(free) == {"other": ["S-p1-if00-tty", "S-p2-if00-tty"]}


def test_another_device_in_the_place_of_one_that_is_held_is_another() -> None:
    held = hold("ser", "S-if00-tty")
    first = found([GPS, SER], [tty()])
    second = found([GPS, SER], [tty(serial="T", paths=("/dev/gps0",))], held, first)
    assert shown(second) == {"gps": ["T-if00-tty"]}
    assert second.minded == Minded(held=held)


def test_one_that_comes_back_while_it_is_held_is_what_it_was() -> None:
    """In another port, under another name, with a link by now."""
    held = hold("ser", "S-if00-tty")
    first = found([GPS, SER], [tty()])
    gone = found([GPS, SER], [], held, first)
    back = found([GPS, SER], [tty(5, port="7", paths=("/dev/gps0",))], held, gone)
    assert shown(back) == {"ser": ["S-if00-tty"]}


@pytest.mark.parametrize("count", [1, 3])
def test_ids_that_are_held_are_remembered_whatever_comes_and_goes(count: int) -> None:
    """Though nothing but the memory tells which of two parts is which; shares keep them, too."""
    shared = attrs.evolve(SER, provision=Provision(count=count))
    last = found([shared], [tty(5), tty(10)], before=Discovery(identities=Identities(most=2)))
    ids = shown(last)
    held = frozenset(Hold(SER.resource, key) for key in last.devices[SER.resource])
    for number in range(20, 25):
        last = found([shared], [tty(number, serial=f"T{number}")], held, last)
    last = found([shared], [tty(7), tty(12)], held, last)
    assert shown(last) == ids


@pytest.mark.parametrize("count", [3, 1000])
def test_a_share_that_is_held_keeps_the_whole_device(count: int) -> None:
    """Its other shares are still offered, by that resource."""
    shared = attrs.evolve(SER, provision=Provision(count=count))
    long = tty(serial="S" * 60)
    first = found([shared], [long])
    share = [*first.devices[SER.resource]][1]
    result = found([OTHER, shared], [long], frozenset({Hold(SER.resource, share)}))
    assert result.devices.keys() == {SER.resource}
    assert [*result.devices[SER.resource]] == [*first.devices[SER.resource]]


@pytest.mark.parametrize(("then", "now"), [(1, 3), (3, 1)])
def test_what_is_held_alone_is_not_shared_and_what_is_shared_is_not_given_alone(
    then: int, now: int
) -> None:
    """While it is held; another number of shares changes nothing for those that have one."""
    ids = found([attrs.evolve(SER, provision=Provision(count=then))], [tty()])
    held = frozenset({Hold(SER.resource, next(iter(ids.devices[SER.resource])))})
    changed = attrs.evolve(SER, provision=Provision(count=now))
    result = found([changed], [tty()], held)
    assert shown(result) == {}
    assert result.minded.in_the_way == held
    assert len(found([changed], [tty()], before=result).devices[SER.resource]) == now


def test_a_limit_leaves_out_what_nobody_holds_first() -> None:
    limited = attrs.evolve(SER, provision=Provision(limit=1))
    both = [tty(0, serial="A", port="1"), tty(1, serial="B", port="2")]
    assert shown(found([limited], both)) == {"ser": ["A-if00-tty"]}
    held = hold("ser", "B-if00-tty")
    assert shown(found([limited], both, held)) == {"ser": ["B-if00-tty"]}


def test_a_part_of_what_is_held_goes_to_nobody_else() -> None:
    """A USB device is held by the node of its own: none of its ports is offered."""
    adapter = Candidate(
        name="1-1",
        subsystem="usb",
        devpath="/devices/usb1/1-1",
        driver="",
        node=Node(path="/dev/bus/usb/001/002", number="189:1"),
        traits=Traits(serial="S", port="p1", model="0403:6001"),
    )
    raw = rule("x.local/raw", {"subsystem": "usb"})
    held = hold("raw", "S")
    result = found([SER, raw], [adapter, tty()], held)
    assert shown(result) == {"raw": ["S"]}
    assert result.minded.in_the_way == held


GROUPED = attrs.evolve(SER, provision=Provision(group_by=GroupBy("hardware")))
PORTS = [
    attrs.evolve(
        tty(n),
        traits=Traits(serial="S", port="p1", part=f"if0{n}-tty"),
        hardware_path="/devices/usb1/1-1",
        hardware_traits=Traits(serial="S", port="p1"),
        numa_nodes=(0,),
    )
    for n in range(2)
]


@pytest.mark.parametrize("remembered", [True, False], ids=["remembered", "after a restart"])
def test_a_group_that_is_held_stays_whole(remembered: object) -> None:
    first = found([GROUPED], PORTS)
    (key,) = shown(first)["ser"]
    before = first if remembered else FRESH
    result = found([OTHER, GROUPED], PORTS, hold("ser", key), before)
    assert shown(result) == {"ser": [key]}


def test_a_group_that_is_held_is_not_offered_in_pieces() -> None:
    """Nor pieces that are held as one group: whoever got that would share them."""
    first = found([GROUPED], PORTS)
    held = hold("ser", *shown(first)["ser"])
    assert shown(found([SER], PORTS, held, first)) == {}
    pieces = found([SER], PORTS)
    held = hold("ser", *shown(pieces)["ser"])
    assert len(held) == 2
    assert shown(found([GROUPED], PORTS, held, pieces)) == {}


TOGETHER = attrs.evolve(SER, provision=Provision(group_by=GroupBy("attributes.kind")))
"""All ports of one kind are one unit."""
THREE = [tty(n, serial=key, port=str(n), kind="port") for n, key in enumerate("ABC")]


@pytest.mark.parametrize("remembered", [True, False], ids=["remembered", "after a restart"])
@pytest.mark.parametrize("which", range(3))
def test_one_that_is_held_alone_is_not_given_with_others(which: int, remembered: object) -> None:
    """Nor are those: they would be given by its id. What is not held is free again afterwards."""
    first = found([SER], THREE)
    assert len(first.devices[SER.resource]) == 3
    held = hold("ser", shown(first)["ser"][which])
    second = found([TOGETHER], THREE, held, first if remembered else FRESH)
    assert shown(second) == {}
    assert second.minded.in_the_way == held
    assert reasons(second) == [
        f"a container may hold it as {'ABC'[which]}-if00-tty of x.local/ser"
    ]
    again = found([SER], THREE, held, second if remembered else FRESH)
    assert shown(again) == shown(first)
    assert len(_ports_of(found([TOGETHER], THREE, before=second))) == 1


@pytest.mark.parametrize("remembered", [True, False], ids=["remembered", "after a restart"])
def test_a_group_that_is_held_is_the_same_one_again(remembered: object) -> None:
    """By the rule that made it one; one that came meanwhile is part of it, and goes with it."""
    first = found([TOGETHER], THREE[:2])
    held = hold("ser", *shown(first)["ser"])
    if remembered:
        pieces = found([SER], THREE, held, first)
        assert shown(pieces) == {"ser": ["C-if00-tty"]}
        first = pieces
    again = found([TOGETHER], THREE, held, first if remembered else FRESH)
    assert {*again.devices[SER.resource]} == {each.id for each in held}


SHAPES = [SER, TOGETHER, GROUPED, OTHER]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(SHAPES),
            st.sampled_from(["look", "look", "restart"]),
            st.integers(0, 3),
        ),
        min_size=2,
        max_size=6,
    )
)
def test_what_is_held_is_what_it_was_and_all_else_is_free(
    lives: list[tuple[ResourceRule, str, int]],
) -> None:
    """Whatever rules are read, in any order: of a machine on which nothing changes.

    An id that is held stands for just the devices that were given by it, and each unit that the
    rules make of what is not with another resource, and of which nobody holds a device, is
    offered. Only what a value is held by means nothing to other rules after a restart.
    """
    last = FRESH
    holders: dict[Hold, frozenset[int]] = {}
    for one, event, wanted in lives:
        is_told = one is TOGETHER or all(key.id != DeviceId("port") for key in holders)
        before = FRESH if event == "restart" and is_told else last
        last = found([one], THREE, frozenset(holders), before)
        listed = _ports_of(last)
        for key in listed.keys() & holders.keys():
            assert listed[key] == holders[key]
        busy = frozenset[int]().union(*holders.values())
        others = {
            port
            for key, ports in holders.items()
            for port in ports
            if key.resource != one.resource
        }
        own = found([one], [each for number, each in enumerate(THREE) if number not in others])
        free = [each for each in _ports_of(own).values() if not each & busy]
        assert sorted(map(sorted, free)) == sorted(
            sorted(ports) for key, ports in listed.items() if key not in holders
        )
        for key in sorted(listed.keys() - holders.keys(), key=str)[:wanted]:
            holders[key] = listed[key]


def test_what_other_plugins_hold_concerns_no_device_of_ours() -> None:
    """Ids such as PCI addresses are used by many."""
    foreign = frozenset({Hold(ResourceName("example.org", "ser"), DeviceId("S-if00-tty"))})
    assert shown(found([SER], [tty()], foreign)) == {"ser": ["S-if00-tty"]}
    assert found([SER], [tty()], foreign).minded.in_the_way == set()


def test_what_is_given_out_as_it_is_offered_changes_nothing() -> None:
    """So no look has to work it all out again when a pod starts; when it is in the way, it has."""
    first = found([GPS, SER], [tty()])
    held = hold("ser", "S-if00-tty")
    assert first.has_minded(held)
    assert first.minding(held).minded == Minded(held=held)
    assert first.minding(frozenset()) is first
    assert not first.has_minded(hold("gps", "S-if00-tty"))
    second = found([GPS, SER], [LINKED], held, first)
    assert second.has_minded(held)
    assert not second.has_minded(frozenset())


@attrs.frozen
class Adapter:
    """A device that a container can hold: plugged in for one time, then it is another one."""

    port: int
    serial: str


adapters = st.lists(
    st.builds(Adapter, st.integers(0, 4), st.sampled_from(["0001", "0001", "A", "B", ""])),
    unique_by=lambda each: each.port,
    max_size=5,
)
RULES = [SER, GPS, OTHER, GROUPED, rule("x.local/third", {"name": "ttyUSB[01]"})]
rulebooks = st.lists(st.sampled_from(RULES), unique_by=lambda each: each.resource, max_size=4)
steps = st.lists(
    st.tuples(
        st.sets(st.integers(0, 4)),
        rulebooks,
        st.sampled_from(["look", "look", "restart"]),
        st.sets(st.integers(0, 4)),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=8,
)


@example(
    # After a restart the ids tell only of the twin that a rule asks for.
    [Adapter(0, "0001"), Adapter(1, "0001")],
    [
        ({0}, [SER], "look", set(), 1),
        ({0, 1}, [GPS], "restart", {1}, 0),
        ({0, 1}, [SER], "look", set(), 0),
    ],
)
@example(
    [Adapter(0, "0001"), Adapter(1, "0001")],
    [
        ({0}, [GPS], "look", {0}, 1),
        ({0, 1}, [GPS], "restart", {1}, 0),
        ({0, 1}, [GPS], "look", {0, 1}, 0),
    ],
)
@example(
    # What is held is nobody else's id, also while no rule asks for what is held; and of two ids
    # that a device could have, each held by another resource, the longer one is its own.
    [Adapter(0, "0001"), Adapter(1, "0001")],
    [
        ({1}, [SER], "look", set(), 1),
        ({0, 1}, [GPS], "look", {0}, 1),
        ({0}, [SER], "restart", set(), 0),
    ],
)
@example(
    # Where all is, is remembered while no rule is about anything.
    [Adapter(each, "0001") for each in range(3)],
    [
        ({2}, [SER], "look", set(), 1),
        ({0, 1, 2}, [SER], "look", set(), 1),
        ({0, 1}, [GPS, GROUPED], "look", set(), 1),
        ({0, 1}, [], "look", set(), 0),
        ({1}, [SER], "look", set(), 0),
    ],
)
@example(
    # One could be what is held by its own id, and by that of a group: it is neither for sure.
    [Adapter(each, "0001") for each in range(3)],
    [
        ({2}, [SER], "look", set(), 1),
        ({0, 1, 2}, [SER], "look", set(), 1),
        ({0, 1}, [GPS, GROUPED], "look", set(), 1),
        ({1}, [SER], "restart", set(), 0),
    ],
)
@given(adapters, steps)
def test_no_device_is_ever_held_by_two_ids(
    machine: list[Adapter],
    lives: list[tuple[set[int], list[ResourceRule], str, set[int], int]],
) -> None:
    """Whatever comes and goes, gets links, restarts with empty knowledge, or reads other rules.

    A container that is given a device has it until the device is unplugged: it is then as if it
    held another one that is gone, under an id that is still in use.
    """
    last = FRESH
    holders: dict[Hold, frozenset[int]] = {}
    for present, rules, event, linked, wanted in lives:
        holders = {key: ports & present for key, ports in holders.items()}
        here = {
            f"/dev/ttyUSB{each.port}": tty(
                each.port,
                serial=each.serial,
                port=str(each.port),
                paths=(f"/dev/gps{each.port}",) if each.port in linked else (),
            )
            for each in machine
            if each.port in present
        }
        before = FRESH if event == "restart" else last
        last = found(rules, here.values(), frozenset(holders), before)
        listed = _ports_of(last)
        for key, ports in listed.items():
            busy = {one for other, held in holders.items() if other != key for one in held}
            assert not ports & busy, (key, holders)
        free = [key for key in sorted(listed, key=str) if key not in holders]
        for key in free[:wanted]:
            holders[key] = listed[key]


def _ports_of(discovery: Discovery) -> Mapping[Hold, frozenset[int]]:
    """Return the numbers of the adapters that each id stands for."""
    return {
        Hold(resource, key): frozenset(
            int(node.host_path.removeprefix("/dev/ttyUSB")) for node in info.nodes
        )
        for resource, devices in discovery.devices.items()
        for key, info in devices.items()
    }
