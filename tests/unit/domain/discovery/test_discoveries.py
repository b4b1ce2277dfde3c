"""The laws of what candidates come to."""

from collections.abc import Sequence
from itertools import permutations

import attrs
import pytest

from deviceplugin.domain.devices import DeviceId, Health
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.events import (
    DeviceContested,
    DeviceSkipped,
    EntryUnreadable,
    NumaNodeUnknown,
    OptionalResourceUnmatched,
    ResourceUnmatched,
)
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, lacking
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule

SERIAL = ResourceName("x.local", "serial")


def tty(name: str, minor: int = 0, *, place: str = "virtual", present: bool = True) -> Candidate:
    """Return a tty with a node."""
    return Candidate(
        name=name,
        subsystem="tty",
        devpath=f"/devices/{place}/tty/{name}",
        driver="",
        node=Node(path=f"/dev/{name}", number=f"4:{minor}", present=present),
        numa_nodes=(0,),
    )


def found(
    rules: Sequence[ResourceRule], candidates: Sequence[Candidate], before: Discovery | None = None
) -> Discovery:
    """Return what one scan comes to."""
    book = Rulebook(rules)
    sightings = [book.judge(candidate, lacking) for candidate in candidates]
    return discover(book, sightings, before=before or Discovery())


def ids(discovery: Discovery, resource: ResourceName = SERIAL) -> set[str]:
    """Return the ids of a resource's devices."""
    return {key.value for key in discovery.devices.get(resource, {})}


ALL = rule("x.local/serial", {"subsystem": "tty"})


def test_what_is_known_of_a_device_reaches_whoever_is_given_it() -> None:
    """Node, permissions, NUMA node, parent, and facts for people."""
    candidate = attrs.evolve(tty("ttyS0", 64), parent="00:01", driver="serial", numa_nodes=(1,))
    limited = attrs.evolve(ALL, permissions="r")
    info = found([limited], [candidate]).devices[SERIAL][DeviceId("ttyS0")]
    assert [(node.host_path, node.permissions) for node in info.nodes] == [("/dev/ttyS0", "r")]
    assert (info.health, info.numa_nodes, info.parent) == (Health.HEALTHY, (1,), "00:01")
    assert info.attributes == {
        "subsystem": "tty",
        "driver": "serial",
        "devpath": "/devices/virtual/tty/ttyS0",
        "devnum": "4:64",
    }


def test_a_device_whose_node_is_gone_is_unhealthy() -> None:
    info = found([ALL], [tty("ttyS0", present=False)]).devices[SERIAL][DeviceId("ttyS0")]
    assert info.health is Health.UNHEALTHY


def test_the_first_rule_that_matches_gets_the_device_and_no_other() -> None:
    """In the order of the file; what the other one misses is said."""
    one = rule("x.local/one", {"subsystem": "tty", "name": "ttyS0"})
    result = found([one, ALL], [tty("ttyS0", 0), tty("ttyS1", 1)])
    assert ids(result, one.resource) == {"ttyS0"}
    assert ids(result) == {"ttyS1"}
    assert DeviceContested(
        resource=SERIAL,
        device="/devices/virtual/tty/ttyS0",
        reason="its device node already belongs to x.local/one",
    ) in {*result.notes}
    assert ids(found([ALL, one], [tty("ttyS0", 0)]), one.resource) == set()


def test_two_entries_of_one_node_are_one_device() -> None:
    """A device number is what a container gets, so it is given once."""
    again = attrs.evolve(tty("copy", 7), paths=("/dev/copy",), devpath="", name="copy")
    for candidates in ([tty("ttyS7", 7), again], [again, tty("ttyS7", 7)]):
        rules = [rule("x.local/serial", {"subsystem": "tty"}, {"node": "/dev/copy"})]
        assert len(ids(found(rules, candidates))) == 1


def test_a_character_and_a_block_device_of_one_number_are_two() -> None:
    disk = attrs.evolve(tty("loop0", 0), node=Node(path="/dev/loop0", kind="block", number="4:0"))
    assert ids(found([ALL], [tty("ttyS0", 0), disk])) == {"ttyS0", "loop0"}


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (None, "it has no device node"),
        (Node(path="/dev/a\nb", number="4:0"), "not printable"),
        (Node(path="/dev/\udcff", number="4:0"), "not printable"),
    ],
)
def test_what_no_container_could_be_given_is_skipped_and_said(
    node: Node | None, reason: str
) -> None:
    """A match without a node is no device; the others are offered all the same."""
    odd = attrs.evolve(tty("odd"), node=node)
    result = found([ALL], [odd, tty("ttyS1", 1)])
    assert ids(result) == {"ttyS1"}
    (note,) = result.notes
    assert isinstance(note, DeviceSkipped)
    assert reason in note.reason


def test_ids_do_not_depend_on_what_was_met_first() -> None:
    """Nor on what else is there, as long as no other device has the same name."""
    candidates = [
        tty("port", 1, place="a"),
        tty("port", 2, place="b"),
        tty("ttyS0", 3),
        tty("x" * 80, 4),
        tty("x" * 81, 5),
    ]
    results = [found([ALL], each) for each in permutations(candidates)]
    assert {frozenset(ids(each)) for each in results} == {frozenset(ids(results[0]))}
    assert len(ids(results[0])) == len(candidates)
    assert ids(found([ALL], candidates[2:3])) == {"ttyS0"}


def test_devices_of_one_name_are_told_apart_by_their_place() -> None:
    """All of them, so that none is taken for the other once one is gone."""
    both = found([ALL], [tty("port", 1, place="a"), tty("port", 2, place="b")])
    paths = {info.attributes["devpath"]: key.value for key, info in both.devices[SERIAL].items()}
    assert len(set(paths.values())) == 2
    assert all(key.startswith("port-") for key in paths.values())


def test_a_name_that_cannot_be_an_id_makes_one() -> None:
    """Whatever bytes a name holds; two such names stay apart."""
    odd = [
        attrs.evolve(tty("a", number), name=name, devpath=f"/devices/{name!r}")
        for number, name in enumerate(["a\n", "a\t", "\udcff"])
    ]
    assert len(ids(found([ALL], odd))) == 3
    assert ids(found([ALL], odd[:1])) < ids(found([ALL], odd))


def test_a_resource_without_devices_is_served_unless_told_otherwise() -> None:
    shy = rule("x.local/shy", {"subsystem": "usb"}, advertise_empty=False)
    resources = found([ALL, shy], []).tree().freeze("x.local").resources
    assert dict(resources) == {SERIAL: {}}


def test_a_shy_resource_stays_served_once_it_had_a_device() -> None:
    """Otherwise a device that a container holds would vanish with its resource."""
    shy = attrs.evolve(ALL, advertise_empty=False)
    first = found([shy], [tty("ttyS0")])
    second = found([shy], [], first)
    assert dict(second.tree().freeze("x.local").resources) == {SERIAL: {}}
    assert dict(found([shy], [], second).tree().freeze("x.local").resources) == {SERIAL: {}}


def test_a_tree_belongs_to_whoever_asked_for_it() -> None:
    result = found([ALL], [tty("ttyS0")])
    result.tree().add_type("other")
    assert set(result.tree().freeze("x.local").resources) == {SERIAL}


def test_why_nothing_matches_is_said_once_until_something_did() -> None:
    """One line, with the resource, what was seen, and what ruled out the last of it."""
    rules = [rule("x.local/serial", {"subsystem": "tty", "name": "ttyUSB*"})]
    empty = found(rules, [tty("ttyS0")])
    (event,) = empty.news_since(Discovery())
    assert event == ResourceUnmatched(
        resource=SERIAL,
        candidates=1,
        reasons=(
            "[subsystem: tty, name: ttyUSB*]: 1 of 1 left, then [name: ttyUSB*] met only ttyS0",
        ),
    )
    still = found(rules, [], empty)
    assert still.news_since(empty) == ()
    assert still.unmatched[SERIAL] is empty.unmatched[SERIAL]
    full = found(rules, [tty("ttyUSB0")], still)
    assert full.news_since(still) == ()
    assert found(rules, [], full).news_since(full) != ()


def test_why_a_shy_resource_is_not_there_is_for_the_curious() -> None:
    shy = rule("x.local/shy", {"subsystem": "usb"}, advertise_empty=False)
    (event,) = found([shy], []).news_since(Discovery())
    assert isinstance(event, OptionalResourceUnmatched)
    assert event.level == "debug"


def test_matches_that_were_skipped_are_the_reason_for_having_none() -> None:
    """A few of them."""
    odd = [attrs.evolve(tty(f"ttyS{number}"), node=None) for number in range(7)]
    event = found([ALL], odd).unmatched[SERIAL]
    assert event.reasons[0] == "/devices/virtual/tty/ttyS0: it has no device node"
    assert event.reasons[-1] == "and 2 more"
    assert len(event.reasons) == 6


def test_an_unknown_numa_node_is_said_once_per_device() -> None:
    """And the device is offered without one."""
    lost = attrs.evolve(tty("ttyS0"), numa_nodes=(), numa_unknown="numa_node holds '-1'")
    first = found([ALL], [lost, tty("ttyS1", 1)])
    assert first.devices[SERIAL][DeviceId("ttyS0")].numa_nodes == ()
    assert first.news_since(Discovery()) == (
        NumaNodeUnknown(
            resource=SERIAL,
            device="/devices/virtual/tty/ttyS0",
            reason="numa_node holds '-1'",
        ),
    )
    assert found([ALL], [lost, tty("ttyS1", 1)], first).news_since(first) == ()


def test_a_scanners_own_remarks_are_said_when_they_begin() -> None:
    """And again when they come back."""
    book, remark = Rulebook([]), EntryUnreadable(path="/class/x", reason="odd")
    first = discover(book, [], before=Discovery(), remarks=[remark, remark])
    second = discover(book, [], before=first, remarks=[remark])
    third = discover(book, [], before=second)
    fourth = discover(book, [], before=third, remarks=[remark])
    news = [each.news_since(then) for then, each in [(Discovery(), first), (first, second)]]
    assert news == [(remark,), ()]
    assert third.news_since(second) == ()
    assert fourth.news_since(third) == (remark,)
