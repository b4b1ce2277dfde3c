"""The laws of all rules together."""

import attrs
import pytest

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Scope, Sighting, lacking
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.testing.rules import Conditions, alternative, rule


@pytest.mark.parametrize(
    ("match", "scope"),
    [
        ([{"subsystem": "tty", "name": "*"}], Scope(subsystems=frozenset({"tty"}))),
        ([{"subsystem": "t*"}], Scope(everywhere=True)),
        ([{"driver": "vfio-pci"}], Scope(everywhere=True)),
        ([{"node": "/dev/kvm"}], Scope(nodes=frozenset({"/dev/kvm"}))),
        ([{"node": "/dev/tty*", "subsystem": "tty"}], Scope(nodes=frozenset({"/dev/tty*"}))),
        (
            [{"subsystem": "tty"}, {"subsystem": "usb"}, {"node": "/dev/x"}],
            Scope(subsystems=frozenset({"tty", "usb"}), nodes=frozenset({"/dev/x"})),
        ),
    ],
)
def test_a_scanner_looks_no_further_than_the_rules_ask(
    match: list[dict[str, str]], scope: Scope
) -> None:
    """All devices of an alternative are in its narrowest place."""
    assert Rulebook([rule("x.local/x", *match)]).scope == scope


def test_the_scope_of_no_rules_is_nothing() -> None:
    assert Rulebook().scope == Scope()


def test_only_rules_that_can_match_are_tried_on_a_subsystem() -> None:
    """In their order."""
    tty = rule("x.local/tty", {"subsystem": "tty"})
    both = rule("x.local/both", {"subsystem": "usb"}, {"subsystem": "t*"})
    any_ = rule("x.local/any", {"node": "/dev/x"})
    book = Rulebook([tty, both, any_])
    assert book.about("tty") == (tty, both, any_)
    assert book.about("usb") == (both, any_)
    assert book.about("") == (any_,)


def test_claims_are_in_the_order_of_the_file() -> None:
    first = rule("x.local/b", {"subsystem": "tty", "name": "ttyS0"})
    second = rule("x.local/a", {"subsystem": "tty"})
    book = Rulebook([first, second])
    for name, subsystem, claims in (
        ("ttyS0", "tty", (first, second)),
        ("ttyS1", "tty", (second,)),
        ("kvm", "misc", ()),
    ):
        candidate = Candidate(name=name, subsystem=subsystem)
        assert book.judge(candidate, lacking) == Sighting(candidate, claims)


def test_what_rules_need_to_know_is_learnt_once() -> None:
    """However many of them need it, and nothing that none of them needs."""
    asked: list[frozenset[Fact]] = []

    def learn(candidate: Candidate, facts: frozenset[Fact]) -> Candidate:
        asked.append(facts)
        values = {fact.key: "1" for fact in facts}
        return attrs.evolve(candidate, attributes={**candidate.attributes, **values})

    both: Conditions = {"attributes": {"a": "1", "b": "1"}}
    other: Conditions = {"attributes": {"a": "2", "c": "1"}}
    book = Rulebook([rule("x.local/x", both), rule("x.local/y", other), rule("x.local/z", both)])
    sighting = book.judge(Candidate(name="x"), learn)
    assert [claim.resource.name for claim in sighting.claims] == ["x", "z"]
    assert sighting.candidate.attributes == {"a": "1", "b": "1"}
    assert asked == [{Fact(Kind.ATTRIBUTE, "a")}, {Fact(Kind.ATTRIBUTE, "b")}]


def test_what_a_device_lacks_it_does_not_have() -> None:
    """A candidate of which all there is is known can be judged without a look."""
    wanted = rule("x.local/x", {"driver": "*"}, {"attributes": {"a": "*"}})
    sighting = Rulebook([wanted]).judge(Candidate(name="x"), lacking)
    assert sighting.claims == ()
    assert (sighting.candidate.driver, sighting.candidate.attributes) == ("", {"a": None})


def test_a_resource_has_one_rule() -> None:
    with pytest.raises(InvalidValueError, match="only one rule"):
        Rulebook([rule("x.local/a", {"name": "a"}), rule("x.local/a", {"name": "b"})])


_TTYS = rule("x.local/x", {"subsystem": "tty"})
_LINKED = (alternative({"node": "/dev/serial/by-id/x*"}),)


@pytest.mark.parametrize(
    "ttys", [attrs.evolve(_TTYS, exclude=_LINKED), attrs.evolve(_TTYS, healthy_when=_LINKED)]
)
def test_a_node_that_only_decides_about_devices_is_looked_up_too(ttys: ResourceRule) -> None:
    """Otherwise nobody would know that a device has it."""
    scope = Scope(subsystems=frozenset({"tty"}), nodes=frozenset({"/dev/serial/by-id/x*"}))
    assert Rulebook([ttys]).scope == scope


def test_parents_are_learnt_of_before_what_they_have() -> None:
    """Step by step, and each once."""
    asked: list[frozenset[Fact]] = []
    above = Candidate(name="1-2", driver="")

    def learn(candidate: Candidate, facts: frozenset[Fact]) -> Candidate:
        asked.append(facts)
        known = attrs.evolve(above, attributes={fact.key: "1" for fact in facts if fact.level})
        return attrs.evolve(candidate, parents=(known,))

    wanted = rule("x.local/x", {"parents": [{"attributes": {"a": "1"}}]})
    assert Rulebook([wanted]).judge(Candidate(name="x"), learn).claims == (wanted,)
    assert asked == [{Fact(Kind.PARENT)}, {Fact(Kind.ATTRIBUTE, "a", level=1)}]
