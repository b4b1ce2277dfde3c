"""The laws of health: what is believed of a device, and how soon."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.health import (
    APART,
    NOT_YET,
    PLACEHOLDERS,
    Outcome,
    Probe,
    Steady,
    ailments,
)
from deviceplugin.domain.errors import InvalidValueError

HEALTHY, UNHEALTHY = Health.HEALTHY, Health.UNHEALTHY
looks = st.lists(st.tuples(st.booleans(), st.floats(0, 5)), max_size=40)
counts = st.integers(1, 5)


def believed(
    first: Health, seen: list[tuple[Health, float]], unhealthy: int, healthy: int
) -> list[Health]:
    """Return what is believed after each look; each so many seconds after the last."""
    steady, at, found = Steady(first), 0.0, [first]
    for each, seconds in seen:
        at += seconds
        steady = steady.observe(each, at, unhealthy_after=unhealthy, healthy_after=healthy)
        found.append(steady.health)
    return found


@given(st.sampled_from(Health), looks, counts, counts)
def test_nothing_is_believed_that_was_not_just_seen(
    first: Health, seen: list[tuple[bool, float]], unhealthy: int, healthy: int
) -> None:
    """What is believed changes only to what this very look saw."""
    as_health = [(HEALTHY if each else UNHEALTHY, seconds) for each, seconds in seen]
    found = believed(first, as_health, unhealthy, healthy)
    for (now, _), before, after in zip(as_health, found, found[1:], strict=False):
        assert after in {before, now}


@given(st.sampled_from(Health), counts, counts)
def test_as_many_looks_in_a_row_as_asked_for_are_believed(
    first: Health, unhealthy: int, healthy: int
) -> None:
    """Not one less."""
    other = UNHEALTHY if first is HEALTHY else HEALTHY
    needed = unhealthy if first is HEALTHY else healthy
    found = believed(first, [(other, APART)] * needed, unhealthy, healthy)
    assert found == [first] * needed + [other]


@given(st.sampled_from(Health), st.integers(2, 5))
def test_a_look_that_agrees_begins_the_count_anew(first: Health, needed: int) -> None:
    other = UNHEALTHY if first is HEALTHY else HEALTHY
    flapping = [(each, APART) for each in [*[other] * (needed - 1), first] * 10]
    assert set(believed(first, flapping, needed, needed)) == {first}


def test_looks_of_one_burst_are_one() -> None:
    """A device that flaps ten times a second has not been ill for three looks."""
    burst = [(UNHEALTHY, 0.05)] * 20
    assert believed(HEALTHY, burst[:19], 2, 1)[-1] is HEALTHY
    assert believed(HEALTHY, [*burst, (UNHEALTHY, APART)], 2, 1)[-1] is UNHEALTHY
    assert believed(HEALTHY, burst[:1], 1, 1)[-1] is UNHEALTHY, "one look is enough if it is said"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "either 'command' or 'file'"),
        ({"command": ("/bin/true",), "file": "/run/x"}, "either 'command' or 'file'"),
        ({"command": ("true",)}, "absolute path"),
        ({"file": "run/x"}, "absolute path"),
        ({"command": ("/bin/x", "{serial}")}, "{serial} must be one of {id}, {name}"),
        ({"file": "/run/{}"}, "must be one of"),
        ({"file": "/run/\0"}, "NUL"),
        ({"file": "/run/x", "interval": 0}, "0.1 to 86400"),
        ({"file": "/run/x", "timeout": 1e9}, "0.1 to 86400"),
    ],
)
def test_a_probe_that_cannot_be_asked_is_refused(parts: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Probe(**parts)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@example({"id": "{}", "name": "{x}", "node": "{serial}", "devpath": ""})
@given(st.fixed_dictionaries({name: st.text(max_size=20) for name in PLACEHOLDERS}))
def test_a_probe_is_told_of_its_device_and_led_nowhere_else(facts: dict[str, str]) -> None:
    """What a device is called is no part of a path, and no further argument."""
    command = Probe(command=("/bin/check", "{node}", "x={id}")).about(facts).command
    node, key = (facts[each].replace("\0", "") for each in ("node", "id"))
    assert command == ("/bin/check", node, f"x={key}")
    file = Probe(file="/run/health/x-{name}").about(facts).file
    assert file.startswith("/run/health/x-")
    assert file.count("/") == 3


NODE = Node(path="/dev/x", number="1:3")
WELL = Candidate(name="x", node=NODE)
GONE = Candidate(name="x", node=Node(path="/dev/x", number="1:3", present=False))


@pytest.mark.parametrize(
    ("candidate", "unmet", "outcome", "reasons"),
    [
        (WELL, (), None, ()),
        (WELL, (), Outcome(healthy=True), ()),
        (GONE, (), None, ("its device node /dev/x is not there",)),
        (GONE, (), Outcome(healthy=True), ("its device node /dev/x is not there",)),
        (WELL, ("too hot",), None, ("healthy_when: too hot",)),
        (WELL, (), NOT_YET, ("probe: its probe has not answered yet",)),
        (WELL, (), Outcome(healthy=False, reason="ill"), ("probe: ill",)),
        (WELL, (), Outcome(healthy=False, reason="no", ran=False), ("no probe: no",)),
    ],
)
def test_a_device_is_well_only_if_all_that_is_asked_says_so(
    candidate: Candidate,
    unmet: tuple[str, ...],
    outcome: Outcome | None,
    reasons: tuple[str, ...],
) -> None:
    """A probe that has not answered, or cannot be asked, says nothing of the kind."""
    assert ailments(candidate, unmet, outcome) == reasons
