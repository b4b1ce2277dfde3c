"""Who fails waits: longer each time, never very long, and not in step with others."""

from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.timing import Backoff, Pace, until_next

fractions = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, 10_000), fractions, st.floats(0.001, 5), st.floats(5, 600))
def test_a_wait_is_within_the_upper_half_of_its_size_and_never_above_the_cap(
    failures: int, fraction: float, first: float, cap: float
) -> None:
    backoff = Backoff(first=first, cap=cap)
    whole = min(cap, first * 2.0 ** min(failures - 1, 60))
    assert whole / 2 <= backoff.delay(failures, fraction) <= whole <= cap


@given(st.integers(1, 200), fractions)
def test_waits_never_grow_shorter_and_double_until_the_cap(failures: int, fraction: float) -> None:
    backoff = Backoff()
    now, later = backoff.delay(failures, fraction), backoff.delay(failures + 1, fraction)
    assert now <= later <= 2 * now + 1e-9


def test_the_first_wait_is_short_and_the_longest_is_half_a_minute() -> None:
    """So a kubelet that is there but does not listen yet is met within milliseconds."""
    assert Backoff().delay(1, 0.99) <= 0.02
    assert 15 <= Backoff().delay(10_000, 0.0) <= Backoff().delay(10_000, 0.99) <= 30


def test_half_of_a_wait_is_fixed_and_chance_has_the_other_half() -> None:
    backoff = Backoff(first=1.0)
    assert [backoff.delay(3, fraction) for fraction in (0.0, 0.5, 0.75)] == [2.0, 3.0, 3.5]


@given(st.floats(2, 3600), st.floats(0, 1e7))
def test_who_waits_for_the_same_period_wakes_at_the_same_moments(
    period: float, now: float
) -> None:
    """At its multiples; one that is less than a second away is left to the next."""
    left = until_next(period, now)
    assert 1.0 <= left <= period + 1.0
    passed = (now + left) % period
    assert min(passed, period - passed) <= 1e-6


@given(st.integers(1, 10_000), st.floats(0.001, 0.1), st.integers(1, 20), st.floats(0.5, 5))
def test_the_first_looks_of_a_burst_are_close_then_each_gap_doubles_until_the_cap(
    looks: int, first: float, quick: int, cap: float
) -> None:
    pace = Pace(first=first, quick=quick, cap=cap)
    gap, further = pace.gap(looks), pace.gap(looks + 1)
    if looks <= quick:
        assert gap == first
    if looks >= quick:
        assert further == min(2 * gap, cap)
    assert pace.gap(0) == 0.0, "the first change waits for nothing"


def test_a_storm_that_does_not_end_costs_a_look_a_second_in_the_end() -> None:
    """And a dozen before, whatever is announced how often."""
    begun, looks = 0.0, 0
    while begun < 1.0:
        looks += 1
        begun += Pace().gap(looks)
    assert looks <= 12
    assert {Pace().gap(more) for more in range(looks + 1, 1000)} == {1.0}
