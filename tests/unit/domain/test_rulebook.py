"""The laws of all rules together."""

import pytest

from deviceplugin.domain.candidates import Candidate
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.rulebook import Rulebook, Scope
from deviceplugin.testing.rules import rule


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
    assert book.claims(Candidate(name="ttyS0", subsystem="tty")) == (first, second)
    assert book.claims(Candidate(name="ttyS1", subsystem="tty")) == (second,)
    assert book.claims(Candidate(name="kvm", subsystem="misc")) == ()


def test_a_resource_has_one_rule() -> None:
    with pytest.raises(InvalidValueError, match="only one rule"):
        Rulebook([rule("x.local/a", {"name": "a"}), rule("x.local/a", {"name": "b"})])
