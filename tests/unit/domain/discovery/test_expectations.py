"""The laws of the operators by which a rule says what it wants."""

from collections.abc import Sequence
from fractions import Fraction
from operator import ge, gt, le, lt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.expectations import (
    COMPARISONS,
    AllOf,
    AnyOf,
    Compared,
    Exists,
    Expectation,
    NoneOf,
    in_range,
)
from deviceplugin.domain.discovery.globs import Glob
from deviceplugin.domain.discovery.quantities import quantity
from deviceplugin.domain.discovery.regexes import Regex
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.testing.rules import rule

NONE: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("wanted", "holding", "others"),
    [
        (AnyOf([Glob("a*"), Glob("b")]), [("ab",), ("x", "b")], [NONE, ("c",), ("B",)]),
        (NoneOf([Glob("a*"), Glob("b")]), [NONE, ("c",)], [("ab",), ("x", "b")]),
        (AnyOf([Regex("a|b")]), [("a",), ("b",)], [NONE, ("ab",)]),
        (Exists(), [("",), ("x",)], [NONE]),
        (Exists(wanted=False), [NONE], [("",), ("x",)]),
        (Compared("gt", "5"), [("6",), ("0x10",), ("5.5",)], [NONE, ("5",), ("x",), ("",)]),
        (Compared("ge", "0x10"), [("16",), ("0x10",)], [("15",), ("10h",)]),
        (Compared("lt", "0"), [("-1",), ("-0x1",)], [("0",), ("",), ("none",)]),
        (Compared("le", "1.5"), [("1.5",), ("1",)], [("1.51",)]),
        (in_range("1", "3"), [("1",), ("2.5",), ("3",)], [NONE, ("0",), ("4",), ("two",)]),
        (AllOf((NoneOf([Glob("0")]), Compared("lt", "9"))), [("5",)], [("0",), ("9",), NONE]),
    ],
)
def test_an_operator_means_what_it_says(
    wanted: Expectation, holding: Sequence[tuple[str, ...]], others: Sequence[tuple[str, ...]]
) -> None:
    """What is no number is neither less nor greater; what is not there is in no list."""
    assert [seen for seen in holding if not wanted.holds(seen)] == []
    assert [seen for seen in others if wanted.holds(seen)] == []


@given(st.integers(-(2**70), 2**70), st.integers(-(2**70), 2**70))
def test_numbers_are_compared_as_numbers(seen: int, limit: int) -> None:
    """However they are written, and however large they are."""
    for operator, compare in {"gt": gt, "ge": ge, "lt": lt, "le": le}.items():
        for text in (str(seen), hex(seen), f" {seen} "):
            assert Compared(operator, hex(limit)).holds((text,)) == compare(seen, limit)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", Fraction(42)),
        ("-1", Fraction(-1)),
        ("0x2A", Fraction(42)),
        ("0403", Fraction(403)),
        ("1.25\n", Fraction(5, 4)),
        ("", None),
        ("x", None),
        ("1e3", None),
        ("1_000", None),
        ("0x", None),
        ("\u0661", None),
        ("1.", None),
        ("9" * 33, None),
        ("2.5 GT/s PCIe", None),
    ],
)
def test_a_number_is_decimal_or_says_that_it_is_not(text: str, number: Fraction | None) -> None:
    """As sysfs shows it; whatever is longer than any number there is none."""
    assert quantity(text) == number


@given(st.text(max_size=40))
def test_no_text_breaks_a_comparison(text: str) -> None:
    for operator in COMPARISONS:
        Compared(operator, "1").holds((text,))


def test_what_could_never_or_always_hold_is_refused() -> None:
    """With what is allowed."""
    with pytest.raises(InvalidValueError, match="at least one operator"):
        AllOf(())
    with pytest.raises(InvalidValueError, match="at least one value"):
        NoneOf([])
    with pytest.raises(InvalidValueError, match="number such as"):
        Compared("gt", "many")
    with pytest.raises(InvalidValueError, match="which is more than"):
        in_range("3", "1")


def test_a_miss_tells_the_value_that_is_no_number() -> None:
    """Otherwise nobody would see why a comparison does not hold."""
    wanted = rule("x.local/x", {"attributes": {"size": in_range("1", "0x10")}})
    seen = Candidate(name="x", attributes={"size": "unknown"})
    assert str(wanted.miss(seen)) == "attributes.size: wanted ge 1 and le 0x10, seen 'unknown'"


def test_what_is_wanted_reads_as_it_is_written() -> None:
    texts = [
        str(NoneOf([Glob("a"), Glob("b")])),
        str(AllOf((Exists(), Compared("gt", "0x1")))),
        str(Exists(wanted=False)),
        str(AnyOf([Regex("a+")])),
    ]
    assert texts == ["not a or b", "any value and gt 0x1", "no value", "a+"]


def test_a_list_of_several_operators_tells_where_to_look() -> None:
    """The shortest list that one of them has; what is not wanted tells nothing."""
    both = AllOf((NoneOf([Glob("x")]), AnyOf([Glob("a"), Glob("b")]), AnyOf([Glob("c")])))
    assert both.patterns == (Glob("c"),)
    assert AllOf((Exists(),)).patterns is None
