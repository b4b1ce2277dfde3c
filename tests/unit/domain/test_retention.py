"""What vanished is let go when two looks agree that nobody holds it, and for no other reason."""

from collections.abc import Iterable

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.retention import Clearance, Holdings, Look, named
from deviceplugin.domain.timing import Release

A, B, C = map(DeviceId, "abc")
EVERY = frozenset({A, B, C})
TIMING = Release(apart=10.0)
NOBODY = Holdings(complete=True)
SILENT = Holdings()


def look(
    begun: float, *answers: Holdings, stream: int = 1, ids: Iterable[DeviceId] = (A,)
) -> Look:
    """Return a look at vanished devices."""
    return Look(stream=stream, begun=begun, vanished=dict.fromkeys(ids, 1), answers=answers)


def released(*looks: Look, timing: Release = TIMING) -> list[frozenset[DeviceId]]:
    """Return what each look releases."""
    clearance, steps = Clearance(), list[frozenset[DeviceId]]()
    for each in looks:
        verdict = clearance.judge(each, timing)
        clearance = verdict.clearance
        steps.append(verdict.released)
    return steps


def lets_go(*looks: Look) -> bool:
    """Say whether the last look releases a device."""
    return released(*looks)[-1] == frozenset({A})


def test_two_looks_that_agree_release() -> None:
    assert not lets_go(look(0, NOBODY))
    assert lets_go(look(0, NOBODY), look(10, NOBODY))


def test_looks_that_are_too_near_are_as_one() -> None:
    assert not lets_go(look(0, NOBODY), look(9.9, NOBODY))
    assert lets_go(look(0, NOBODY), look(9.9, NOBODY), look(10, NOBODY))


def test_a_look_between_that_names_it_starts_anew() -> None:
    holds = Holdings(held={A: ()}, complete=True)
    assert not lets_go(look(0, NOBODY), look(10, holds))
    assert not lets_go(look(0, NOBODY), look(10, holds), look(20, NOBODY))
    assert lets_go(look(0, NOBODY), look(10, holds), look(20, NOBODY), look(30, NOBODY))


def test_a_look_that_learns_nothing_neither_releases_nor_contradicts() -> None:
    assert not lets_go(look(0, NOBODY), look(10, SILENT))
    assert not lets_go(look(0, NOBODY), look(10))
    assert lets_go(look(0, NOBODY), look(10, SILENT), look(20, NOBODY))
    assert not lets_go(look(0, SILENT), look(10, NOBODY))
    assert not lets_go(look(0), look(10, NOBODY))


def test_looks_on_two_streams_do_not_agree() -> None:
    """Another stream may be another kubelet's, which was sent its list later."""
    assert not lets_go(look(0, NOBODY), look(10, NOBODY, stream=2))
    assert not lets_go(look(0, NOBODY), look(10, NOBODY, stream=2), look(20, NOBODY))


def test_a_device_that_came_back_in_between_is_asked_about_anew() -> None:
    """It was healthy for a while, so a container may have got it."""
    again = attrs.evolve(look(10, NOBODY), vanished={A: 3})
    assert not lets_go(look(0, NOBODY), again)
    assert lets_go(look(0, NOBODY), again, attrs.evolve(again, begun=20.0))


def test_one_that_is_found_when_a_look_begins_is_forgotten_by_the_rule() -> None:
    assert not lets_go(look(0, NOBODY), look(10, NOBODY, ids=()), look(20, NOBODY))


@pytest.mark.parametrize("held", [frozenset({A}), EVERY])
def test_one_that_any_source_names_is_kept(held: frozenset[DeviceId]) -> None:
    """A source that knows every pod may know less of each than another one."""
    doubt = Holdings(held=dict.fromkeys(held, ()))
    assert not lets_go(*(look(10.0 * number, NOBODY, doubt) for number in range(100)))
    assert not lets_go(look(0, NOBODY), look(10, doubt), look(20, NOBODY))
    assert lets_go(look(0, NOBODY), look(10, doubt), look(20, NOBODY), look(30, NOBODY))


ids = st.frozensets(st.sampled_from([A, B, C]), max_size=2)
nodes = st.lists(st.integers(0, 3), unique=True).map(sorted).map(tuple)
held_with_nodes = st.dictionaries(st.sampled_from([A, B, C]), nodes, max_size=2)
partial = st.builds(Holdings, held=held_with_nodes, complete=st.just(False))
whole = st.builds(Holdings, held=held_with_nodes, complete=st.just(True))


@st.composite
def histories(draw: st.DrawFn, *, most: int = 8) -> list[Look]:
    """Return looks in the order of time."""
    now, looks = 0.0, list[Look]()
    for _ in range(draw(st.integers(0, most))):
        now += draw(st.sampled_from([10.0, 4.0, 0.0]))
        looks.append(
            Look(
                stream=draw(st.sampled_from([1, 1, 1, 2])),
                begun=now,
                vanished=draw(st.dictionaries(st.sampled_from([A, B, C]), st.integers(1, 2))),
                answers=tuple(draw(st.lists(st.one_of(partial, whole), max_size=2))),
            )
        )
    return looks


@given(histories())
def test_nothing_is_ever_released_without_two_looks_that_agree(looks: list[Look]) -> None:
    """Each of them by a source that knows all, of one vanishing, on one stream, with time between.

    And no look in between contradicts.
    """
    for number, gone in enumerate(released(*looks)):
        last = looks[number]
        for key in gone:
            firsts = [place for place in range(number) if agree(looks[place], last, key)]
            assert any(
                not any(claims(each, key) for each in looks[place : number + 1])
                for place in firsts
            )


def claims(each: Look, key: DeviceId) -> bool:
    """Say whether any source names the device."""
    return any(key in answer.held for answer in each.answers)


def denies(each: Look, key: DeviceId) -> bool:
    """Say whether none does, though one that knows all containers answered."""
    return any(answer.complete for answer in each.answers) and not claims(each, key)


def agree(first: Look, last: Look, key: DeviceId) -> bool:
    """Say whether two looks deny the same vanishing, far enough from each other."""
    return (
        denies(first, key)
        and denies(last, key)
        and first.vanished.get(key) == last.vanished[key]
        and first.stream == last.stream
        and last.begun - first.begun >= TIMING.apart
    )


@given(histories(), st.lists(st.lists(partial, max_size=2), min_size=8, max_size=8))
def test_what_an_incomplete_source_says_never_releases_sooner(
    looks: list[Look], more: list[list[Holdings]]
) -> None:
    """Whatever it is, it can only keep: up to each look, no more is let go than without it."""
    with_more = [
        attrs.evolve(each, answers=(*each.answers, *extra))
        for each, extra in zip(looks, more, strict=False)
    ]
    without = [
        attrs.evolve(each, answers=tuple(a for a in each.answers if a.complete)) for each in looks
    ]
    for later, sooner in zip(first_release(with_more), first_release(without), strict=True):
        assert later >= sooner


def first_release(looks: list[Look]) -> tuple[float, ...]:
    """Return the number of the first look that releases each device; far away if none does."""
    steps = released(*looks)
    return tuple(
        next((float(number) for number, gone in enumerate(steps) if key in gone), float("inf"))
        for key in (A, B, C)
    )


@given(histories())
def test_nothing_is_released_that_has_not_vanished(looks: list[Look]) -> None:
    for each, gone in zip(looks, released(*looks), strict=True):
        assert gone <= each.vanished.keys()


@given(histories())
def test_without_a_source_that_knows_all_everything_is_kept(looks: list[Look]) -> None:
    """For ever."""
    blind = [
        attrs.evolve(each, answers=tuple(a for a in each.answers if not a.complete))
        for each in looks
    ]
    assert not any(released(*blind))


@given(histories(), st.sampled_from([A, B, C]))
def test_each_device_is_judged_by_itself(looks: list[Look], key: DeviceId) -> None:
    alone = [
        attrs.evolve(each, vanished={k: v for k, v in each.vanished.items() if k == key})
        for each in looks
    ]
    assert [gone & {key} for gone in released(*looks)] == released(*alone)


def test_the_nodes_of_a_device_are_those_that_any_source_knows() -> None:
    """One may know none, and a device may sit at several."""
    answers = (Holdings(held={A: (), B: (1,)}), Holdings(held={A: (2, 0), C: ()}, complete=True))
    assert named(answers) == {A: (0, 2), B: (1,), C: ()}


@given(ids)
def test_what_nobody_names_is_let_go_by_the_second_look(doubted: frozenset[DeviceId]) -> None:
    """Whatever is said of others."""
    answers = (NOBODY, Holdings(held=dict.fromkeys(doubted, ())))
    steps = released(look(0.0, *answers, ids=EVERY), look(10.0, *answers, ids=EVERY))
    assert steps == [frozenset(), EVERY - doubted]
