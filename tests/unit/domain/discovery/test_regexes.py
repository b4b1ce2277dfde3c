"""The laws of regular expressions."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from types import FrameType
from warnings import catch_warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.witness import weight

from deviceplugin.domain.discovery.regexes import MAX_REGEX, Regex
from deviceplugin.domain.errors import InvalidValueError

atoms = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\w", r"\.", "[]a]", "[a-]", r"[\d.]", "1"]
)
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("(?:{}|)".format, inner),
        st.builds(
            "({}){}".format, inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,}", "{0,2}"])
        ),
    ),
    max_leaves=6,
)


@given(expressions, st.text(alphabet="abc1.]-", max_size=6))
def test_an_expression_means_what_it_means_in_python(text: str, value: str) -> None:
    """As far as it goes: people know these rules; only the time is our own."""
    expected = re.fullmatch(text, value, re.DOTALL) is not None
    assert Regex(text).fits(value) == expected
    assert Regex(f"^{text}$").fits(value) == expected


@given(st.text(alphabet="ab()[]{}*+?|\\^$-,.:12", max_size=12))
def test_what_python_refuses_is_refused(text: str) -> None:
    """And of what is taken, the meaning is the same."""
    try:
        ours = Regex(text)
    except InvalidValueError:
        return
    with catch_warnings(action="ignore"):  # Python may give "[||]" another meaning one day
        theirs = re.compile(text, re.DOTALL)
    for value in ("", "a", "b", "ab", "aab", "1", "{", "a{", ":", "-"):
        assert ours.fits(value) == (theirs.fullmatch(value) is not None)


@pytest.mark.parametrize(
    "text",
    [
        "(a+)+b",
        "(a|a)*b",
        "(a*)*b",
        "(a?){300}a{300}b",
        ".*" * 400 + "b",
        "(.*.*.*)*b",
        "((a|aa)+)+b",
        "(a|b|ab)*c{1,50}",
    ],
)
def test_no_expression_takes_for_ever(text: str) -> None:
    """On the longest value that sysfs has: those that hang Python's own among them."""
    regex, begin = Regex(text), process_time()
    assert not regex.fits("a" * 4096)
    assert process_time() - begin < 10


def test_a_part_may_be_repeated_as_often_as_there_is_room_for() -> None:
    """Whether it must be there or may be."""
    assert Regex("a{0,499}").fits("a" * 499)
    assert not Regex("a{0,499}").fits("a" * 500)
    assert Regex("a{2,400}b?").fits("aab")
    assert Regex("(" * 20 + "a" + ")" * 20 + "{900}").fits("a" * 900)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1 to 1000 characters"),
        ("x" * (MAX_REGEX + 1), "1 to 1000 characters"),
        ("a(b", "a '(' is not closed, at character 4"),
        ("a)b", "there is no '(' to this ')', at character 2"),
        ("[a", "a '[' is not closed"),
        ("*a", "there is nothing to repeat, at character 1"),
        ("a**", "there is nothing to repeat"),
        ("a{2}{3}", "there is nothing to repeat"),
        ("a{3,2}", "the larger one"),
        ("a{1001}", "too large"),
        ("(a{100}){100}", "too large"),
        ("((((a{9}){99}){99}){99}){99}", "too large"),
        ("((((a{0}b){1000}){1000}){1000}){1000}", "too large"),
        ("(" * 21 + "a" + ")" * 21, "deeper than 20"),
        ("[b-a]", "later one"),
        ("a\\", "nothing after"),
        (r"\b", "not offered"),
        (r"(a)\1", "not offered"),
        ("(?=a)", "only (...) and (?:...)"),
        ("(?i)a", "only (...) and (?:...)"),
        ("a^b", "beginning or end"),
        ("a$b", "beginning or end"),
    ],
)
def test_an_expression_that_cannot_be_used_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        Regex(text)
    assert said in str(caught.value)


def test_a_whole_value_has_to_fit() -> None:
    """As with globs; the dot stands for any character."""
    assert Regex("A[0-9]+").fits("A12")
    assert not Regex("A[0-9]+").fits("A12B")
    assert not Regex("A[0-9]+").fits("BA12")
    assert Regex("a.b").fits("a\nb")
    assert Regex("a") == Regex("a") != Regex("b")


def calls(work: Callable[[], object]) -> int:
    """Return how many functions something calls: so much work it is, on any machine."""
    seen = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal seen
        seen += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return seen


def attempt(text: str) -> None:
    """Make an expression, or do not."""
    with suppress(InvalidValueError):
        Regex(text)


@pytest.mark.parametrize(
    "text",
    [
        "(((()){99}){99}){5}",
        "((((a{0}){1000}){1000}){1000}){1000}",
        "(" + "()" * 400 + "){1000}",
        "(((a?){99}){99}){99}",
        "((((a{9}){99}){99}){99}){99}",
        "(" * 20 + "a" + "{1000})" * 20 + "{1000}",
        "(|(|(|){999}){999}){999}",
        "((()*)*){900}",
        "(a{499}|b{499}){400}",
        "(" * 19 + "()" + "){1000}" * 19,
    ],
)
def test_repetition_is_judged_before_it_is_carried_out(text: str) -> None:
    """What is empty stays so however often it is repeated, and what is too large is not built."""
    assert calls(lambda: attempt(text)) <= 200 + 60 * len(text)


@given(expressions)
def test_making_one_takes_no_more_than_its_text_and_its_states(text: str) -> None:
    """So a bound of both is one of the time."""
    regex = Regex(text)
    assert calls(lambda: Regex(text)) <= 200 + 60 * (len(text) + regex.weight)


@pytest.mark.parametrize("text", ["()", "(()|)", "a{0}", "(a{0}){9}", "(()){99}", "(){0,}", "()+"])
def test_what_is_empty_fits_the_empty_text_alone(text: str) -> None:
    """As in Python, and beside other parts as well."""
    assert Regex(text).fits("")
    assert not Regex(text).fits("a")
    assert Regex(f"(a{text}b|{text})c").fits("abc")
    assert Regex(f"(a{text}b|{text})c").fits("c")


def test_what_is_remembered_of_values_is_bounded() -> None:
    """By the size of the automaton: letters that no value had before are no end of steps."""
    regex = Regex("(.?){490}")
    values = ["".join(map(chr, range(first, first + 480))) for first in range(65, 5000, 480)]
    assert all(map(regex.fits, values))
    assert weight(regex) <= 64 * 1024 + 1024 * regex.weight
