"""A newer server of the resource that goes for good is noticed, one that is only renewed isn't."""

from deviceplugin.app.use_cases.succession import Succession
from deviceplugin.domain.ports.driven.kubelet import Successor

NONE, DEAD, ALIVE = Successor.NONE, Successor.DEAD, Successor.ALIVE


def told(*looks: tuple[float, Successor]) -> list[float]:
    """Return when a loss was told, of these looks."""
    succession = Succession(2.0)
    return [now for now, successor in looks if succession.look(successor, now)]


def test_who_was_never_succeeded_has_lost_nobody() -> None:
    assert told(*((float(now), NONE) for now in range(10))) == []


def test_a_successor_that_goes_for_good_is_told_of_once() -> None:
    assert told((0, ALIVE), (1, NONE), (2, NONE), (3, NONE), (4, NONE), (9, NONE)) == [3]


def test_one_that_dies_is_as_good_as_gone() -> None:
    """Its socket stays behind."""
    assert told((0, ALIVE), (1, DEAD), (2, DEAD), (3, DEAD)) == [3]
    assert told((0, DEAD), (1, DEAD), (2, DEAD)) == [2]


def test_one_that_comes_back_in_time_was_never_gone() -> None:
    """Two instances that renew their servers must not chase each other."""
    assert told((0, ALIVE), (1, NONE), (2.9, NONE), (2.95, ALIVE), (4, NONE), (5.9, NONE)) == []
