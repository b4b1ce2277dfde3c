"""The laws of telling how devices fare."""

from collections.abc import Mapping, Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.asking import asking
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.inquiry import Finding, Outcome, findings, grouped
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import Companion, GroupBy, Provision, Relation
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook, Sighting, lacking
from deviceplugin.testing.rules import alternative, rule


def candidate(name: str, minor: int | None = None, subsystem: str = "tty") -> Candidate:
    """Return a device; with a node, if it has a minor number."""
    node = None if minor is None else Node(path=f"/dev/{name}", number=f"4:{minor}")
    devpath = f"/devices/{subsystem}/{name}"
    return Candidate(name=name, subsystem=subsystem, devpath=devpath, driver="", node=node)


def told(rules: list[ResourceRule], *candidates: Candidate) -> list[tuple[str, str, str]]:
    """Return resource, device and what is said, of each finding."""
    return [
        (each.resource.name, each.candidate.name, str(each)) for each in all_of(rules, *candidates)
    ]


def all_of(rules: list[ResourceRule], *candidates: Candidate) -> tuple[Finding, ...]:
    """Return the findings of devices of which all is known."""
    sightings = [
        Sighting(each, tuple(rule for rule in rules if rule.matches(each))) for each in candidates
    ]
    return findings(Rulebook(rules), sightings)


def test_each_device_has_a_finding_for_each_resource() -> None:
    """Who has it, why one that matches does not, and the first condition that ruled it out."""
    first = rule("x.local/first", {"subsystem": "tty", "name": "ttyUSB0"})
    second = rule("x.local/second", {"subsystem": "tty", "name": "ttyUSB*"})
    usb, other, bare = candidate("ttyUSB0", 1), candidate("ttyS0", 2), candidate("ttyUSB9")
    assert told([first, second], usb, other, bare) == [
        ("first", "ttyS0", "name: wanted ttyUSB0, seen 'ttyS0'"),
        ("first", "ttyUSB0", "offered"),
        ("first", "ttyUSB9", "name: wanted ttyUSB0, seen 'ttyUSB9'"),
        ("second", "ttyS0", "name: wanted ttyUSB*, seen 'ttyS0'"),
        ("second", "ttyUSB0", "its device node already belongs to x.local/first"),
        ("second", "ttyUSB9", "it has no device node"),
    ]


def test_of_several_alternatives_the_closest_says_why() -> None:
    wanted = rule("x.local/x", {"subsystem": "misc"}, {"subsystem": "tty", "name": "ttyUSB*"})
    (finding,) = all_of([wanted], candidate("ttyS0", 1))
    assert (str(finding), finding.passed) == ("name: wanted ttyUSB*, seen 'ttyS0'", 1)


def test_groups_are_of_one_condition_and_the_closest_come_first() -> None:
    """A device of another subsystem is not what somebody misses."""
    wanted = rule("x.local/x", {"subsystem": "tty", "name": "ttyUSB*"})
    ttys = [candidate(f"ttyS{number}", number) for number in range(9)]
    groups = grouped(all_of([wanted], candidate("kvm", 9, "misc"), *ttys))
    assert [(group.condition, len(group.findings)) for group in groups] == [
        ("name", 9),
        ("subsystem", 1),
    ]


NAMES = st.sampled_from(["ttyS0", "ttyS1", "ttyUSB0", "ttyUSB1", "kvm"])
RULES = st.lists(
    st.lists(
        st.fixed_dictionaries({"name": st.sampled_from(["tty*", "ttyUSB*", "kvm", "x"])}),
        min_size=1,
    ),
    max_size=3,
)


@given(st.sets(NAMES), RULES)
def test_findings_are_whole_and_agree_with_the_rules(
    names: set[str], wanted: list[list[dict[str, str]]]
) -> None:
    """Each pair once; ruled out is what does not match; at most one resource has a device."""
    rules = [rule(f"x.local/r{number}", *match) for number, match in enumerate(wanted)]
    devices = [candidate(name, number) for number, name in enumerate(sorted(names))]
    found = all_of(rules, *devices)
    assert len({(each.resource, each.candidate.identity) for each in found}) == len(found)
    assert len(found) == len(rules) * len(devices)
    by_name = {each.resource: each for each in rules}
    for each in found:
        is_out = each.outcome is Outcome.RULED_OUT
        assert is_out == (each.miss is not None)
        assert is_out != by_name[each.resource].matches(each.candidate)
    owned = [each.candidate.identity for each in found if each.outcome is Outcome.OFFERED]
    assert len(set(owned)) == len(owned)
    assert sum(len(group.findings) for group in grouped(found)) == sum(
        each.outcome is Outcome.RULED_OUT for each in found
    )


BOTH = pytest.mark.parametrize("on_conflict", OnConflict)
GLOBS = st.sampled_from(["*", "a*", "b*", "a0", "b1", "none"])


def companion(relation: Relation, name: str, *, optional: bool) -> Companion:
    """Return what comes along by its name."""
    return Companion(relation=relation, wanted=alternative({"name": name}), optional=optional)


COMPANIONS = st.builds(
    companion, relation=st.sampled_from(Relation), name=GLOBS, optional=st.booleans()
)
PROVISIONS = st.builds(
    Provision,
    companions=st.lists(COMPANIONS, max_size=1).map(tuple),
    group_by=st.sampled_from([None, GroupBy("hardware")]),
    count=st.sampled_from([1, 2]),
    limit=st.sampled_from([None, 1]),
)


def part(name: str, card: int, subsystem: str, *, has_node: bool) -> Candidate:
    """Return a device that is part of a card."""
    return attrs.evolve(
        candidate(name, int(name[1:]) if has_node else None, subsystem),
        devpath=f"/devices/card{card}/{name}",
        hardware_path=f"/devices/card{card}",
    )


PARTS = st.builds(
    part,
    name=st.sampled_from(["a0", "a1", "b2", "b3", "c4"]),
    card=st.integers(0, 1),
    subsystem=st.sampled_from(["misc", "block"]),
    has_node=st.sampled_from([True, True, False]),
)


def given_out(discovery: Discovery) -> Mapping[str, set[str]]:
    """Return the paths of the nodes that are given out, by resource."""
    return {
        resource.name: {node.host_path for info in devices.values() for node in info.nodes}
        for resource, devices in discovery.devices.items()
    }


def told_of(found: Sequence[Finding]) -> Mapping[str, set[str]]:
    """Return the paths of the nodes of devices that are said to be given out, by resource."""
    told: dict[str, set[str]] = {}
    for each in found:
        if each.outcome in {Outcome.OFFERED, Outcome.COMPANION}:
            nodes = told.setdefault(each.resource.name, set())
            if each.candidate.node:
                nodes.add(each.candidate.node.path)
    return told


@BOTH
@given(
    st.lists(PARTS, unique_by=lambda each: each.name, max_size=5),
    st.lists(st.tuples(GLOBS, PROVISIONS), min_size=1, max_size=3),
)
def test_what_is_told_is_what_a_scan_offers(
    on_conflict: OnConflict, devices: list[Candidate], wanted: list[tuple[str, Provision]]
) -> None:
    """Whatever the rules, and what is done about conflicts; whoever is asked after as well.

    All that matches and is not offered has a reason, and so has a resource that has nothing.
    """
    rules = [
        attrs.evolve(rule(f"x.local/r{number}", {"name": name}), provision=provision)
        for number, (name, provision) in enumerate(wanted)
    ]
    book = Rulebook(rules, on_conflict=on_conflict)
    sightings = [book.judge(each, lacking) for each in devices]
    scanned = discover(book, sightings, before=Discovery())
    found = findings(book, sightings)
    assert told_of(found) == given_out(scanned)
    everybody = Rulebook([*rules, asking(devices=[each.devpath for each in devices] or ["/x"])])
    assert findings(book, [everybody.judge(each, lacking) for each in devices]) == found
    by_name = {each.resource: each for each in rules}
    for each in found:
        if each.outcome is not Outcome.COMPANION:
            is_out = each.outcome is Outcome.RULED_OUT
            assert is_out != by_name[each.resource].matches(each.candidate)
        assert each.reason or each.miss or each.outcome is Outcome.OFFERED
    assert all(each.reasons for each in scanned.unmatched.values())


@BOTH
def test_a_disputed_device_is_nobodys_and_takes_no_place(on_conflict: OnConflict) -> None:
    """Both of those who claim it are told who else does; a limit counts what is really offered."""
    several = attrs.evolve(rule("x.local/a", {"name": "m*"}), provision=Provision(limit=1))
    one = rule("x.local/b", {"name": "ma"})
    book = Rulebook([several, one], on_conflict=on_conflict)
    seen = [book.judge(candidate(name, n), lacking) for n, name in enumerate(["ma", "mb", "mc"])]
    told = [(each.resource.name, each.candidate.name, str(each)) for each in findings(book, seen)]
    belongs, full = "its device node already belongs to x.local/a", "the limit of 1 is reached"
    if on_conflict is OnConflict.FIRST:
        assert told[:4] == [
            ("a", "ma", "offered"),
            ("a", "mb", full),
            ("a", "mc", full),
            ("b", "ma", belongs),
        ]
    else:
        assert told[:4] == [
            ("a", "ma", "x.local/b claims it, too, so that nobody gets it"),
            ("a", "mb", "offered"),
            ("a", "mc", full),
            ("b", "ma", f"{belongs}, so that nobody gets it"),
        ]


def test_nobody_gets_a_disputed_device_by_its_view_without_a_node() -> None:
    """Such as the port on its bus, which has the same name: what hides that is still there."""
    along = Companion(relation=Relation.SIBLINGS, wanted=alternative({"subsystem": "tty"}))
    several = attrs.evolve(
        rule("x.local/a", {"name": "t0"}), provision=Provision(companions=(along,))
    )
    book = Rulebook(
        [several, rule("x.local/b", {"subsystem": "tty"})], on_conflict=OnConflict.ERROR
    )
    bus = attrs.evolve(candidate("t0", None, "usb-serial"), hardware_path="/usb")
    port = attrs.evolve(candidate("t0", 1), devpath=f"{bus.devpath}/tty/t0", hardware_path="/usb")
    seen = [book.judge(each, lacking) for each in (bus, port)]
    assert given_out(discover(book, seen, before=Discovery())) == {}
    assert {each.outcome for each in findings(book, seen)} <= {Outcome.REFUSED, Outcome.RULED_OUT}


def test_all_of_a_group_that_is_not_offered_are_told_why() -> None:
    """The reason is that of the group, whichever of its members is asked after."""
    groups = attrs.evolve(
        rule("x.local/a", {"name": "*"}),
        provision=Provision(limit=1, group_by=GroupBy("hardware")),
    )
    book = Rulebook([groups])
    seen = [
        book.judge(attrs.evolve(candidate(f"p{n}", n), hardware_path=f"/c{n // 2}"), lacking)
        for n in range(4)
    ]
    told = {each.candidate.name: str(each) for each in findings(book, seen)}
    full = "the limit of 1 is reached"
    assert told == {"p0": "offered", "p1": "offered", "p2": full, "p3": full}
