"""Events are facts: nobody changes them, and each says who should care."""

import inspect
from typing import get_args

import attrs
import pytest

from deviceplugin.domain import events
from deviceplugin.domain.events import (
    Event,
    KubeletMissing,
    Level,
    RegistrationFailed,
    RegistrationFailedAgain,
    ResourceEvent,
    ServingFailed,
    ServingFailedAgain,
)

KINDS: list[type[Event]] = [
    kind
    for _, kind in inspect.getmembers(events, inspect.isclass)
    if issubclass(kind, Event) and kind not in {Event, ResourceEvent}
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_has_a_level_and_says_what_happened(kind: type[Event]) -> None:
    assert kind.level in get_args(Level)
    assert kind.__doc__


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_cannot_be_changed_and_its_facts_are_named(kind: type[Event]) -> None:
    facts = attrs.fields(kind)
    assert all(fact.kw_only for fact in facts)
    event = kind(**dict.fromkeys([fact.name for fact in facts], "x"))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        event.anything = "y"  # type: ignore[attr-defined]
    assert event == kind(**dict.fromkeys([fact.name for fact in facts], "x"))


def test_a_failure_for_the_same_reason_again_is_of_interest_to_the_curious_alone() -> None:
    for first, again in (
        (RegistrationFailed, RegistrationFailedAgain),
        (ServingFailed, ServingFailedAgain),
    ):
        assert issubclass(again, first)
        assert (first.level, again.level) == ("warning", "debug")


def test_events_of_other_facts_differ() -> None:
    assert KubeletMissing(directory="/a", seconds=60.0) != KubeletMissing(
        directory="/b", seconds=60.0
    )
