"""The laws of telling how devices fare."""

from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.inquiry import Finding, Outcome, findings, grouped
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.testing.rules import rule


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
