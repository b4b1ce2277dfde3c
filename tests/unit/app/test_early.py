"""What becomes of a signal that is held back. How it can end the process: tests/process."""

import signal
from collections.abc import Generator

import pytest

from deviceplugin.app.early import EarlySignals

ONE, OTHER = signal.SIGUSR1, signal.SIGUSR2


@pytest.fixture
def heard() -> Generator[list[int]]:
    """Take note of both signals, as whoever was there before."""
    came: list[int] = []
    before = {
        each: signal.signal(each, lambda number, _: came.append(number)) for each in (ONE, OTHER)
    }
    yield came
    for number, handler in before.items():
        signal.signal(number, handler)


def test_it_is_heard_by_those_before_once_it_is_given_back(heard: list[int]) -> None:
    """However often it came, and the next one too."""
    early = EarlySignals(ONE, OTHER)
    signal.raise_signal(ONE)
    signal.raise_signal(ONE)
    assert heard == []
    early.give_back()
    assert heard == [ONE]
    signal.raise_signal(OTHER)
    assert heard == [ONE, OTHER]


def test_one_is_given_back_without_the_other(heard: list[int]) -> None:
    early = EarlySignals(ONE, OTHER)
    signal.raise_signal(ONE)
    signal.raise_signal(OTHER)
    early.give_back(OTHER)
    assert heard == [OTHER]
    early.give_back()
    assert heard == [OTHER, ONE]


@pytest.mark.usefixtures("heard")
def test_one_that_was_ignored_before_is_ignored_again() -> None:
    """As after nohup."""
    signal.signal(ONE, signal.SIG_IGN)
    early = EarlySignals(ONE)
    signal.raise_signal(ONE)
    early.give_back()
    assert signal.getsignal(ONE) is signal.SIG_IGN


def test_one_that_is_ignored_is_never_heard(heard: list[int]) -> None:
    early = EarlySignals(ONE)
    signal.raise_signal(ONE)
    early.ignore(ONE)
    signal.raise_signal(ONE)
    early.give_back()
    assert heard == []
