"""Which way to the kubelet is taken follows from what was seen, and from nothing else."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.lifecycle import TABLE, UNDECIDED, UNHEARD
from deviceplugin.domain.phases import Phase, Signal
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.routes import Kubelet, RegistrationMode, Route, RouteChoice, Sight

PATIENCE: Final = 10.0
SOCKETS: Final = [FileIdentity(1, number, number) for number in range(3)]
REGISTRIES: Final = [FileIdentity(2, number, 0) for number in range(2)]


def choice(wanted: RegistrationMode = RegistrationMode.AUTO) -> RouteChoice:
    return RouteChoice(wanted=wanted, patience=PATIENCE)


def after(sights: Sequence[Sight], first: RouteChoice | None = None) -> RouteChoice:
    """Return the choice after these looks."""
    it = first or choice()
    for sight in sights:
        it = it.look(sight)
    return it


def seen(
    now: float,
    socket: FileIdentity | None = None,
    registry: FileIdentity | None = None,
    *phases: Phase,
) -> Sight:
    return Sight(now=now, socket=socket, registry=registry, phases=phases)


S, T = SOCKETS[:2]
R = REGISTRIES[0]
BY_REGISTER, BY_WATCHER = Kubelet(Route.REGISTER, S), Kubelet(Route.WATCHER, R)
STUCK: Final = sorted(UNHEARD, key=lambda phase: phase.name)
HEARD: Final = sorted(set(Phase) - UNHEARD - UNDECIDED, key=lambda phase: phase.name)


def test_auto_registers_first() -> None:
    """The watcher costs a second."""
    assert after([seen(0, S, R)]).kubelet == BY_REGISTER


def test_auto_turns_once_there_was_no_socket_for_so_long() -> None:
    assert after([seen(0, None, R), seen(9.9, None, R)]).kubelet is None
    assert after([seen(0, None, R), seen(10, None, R)]).kubelet == BY_WATCHER


@pytest.mark.parametrize("stuck", STUCK)
def test_auto_turns_once_no_register_could_be_sent_for_so_long(stuck: Phase) -> None:
    """Nobody accepts, or the system refuses us; tries in between change nothing."""
    trying = [
        seen(now, S, R, stuck if now % 2 == 0 else Phase.REGISTERING) for now in range(2, 12)
    ]
    it = after([seen(0, S, R), *trying])
    assert it.kubelet == BY_REGISTER
    turned = it.look(seen(12, S, R, stuck))
    assert turned.kubelet == BY_WATCHER
    assert turned.signal_after(it) is Signal.KUBELET_ELSEWHERE


@pytest.mark.parametrize("heard", HEARD)
def test_auto_stays_as_long_as_the_kubelet_hears_us(heard: Phase) -> None:
    """One that refuses is there; so is one that answers late."""
    sights = [seen(now, S, R, heard) for now in range(60)]
    assert after(sights).kubelet == BY_REGISTER
    between = [
        seen(0, S, R, Phase.HOLDING),
        seen(8, S, R, heard),
        seen(9, S, R, Phase.HOLDING),
        seen(18, S, R, Phase.HOLDING),
    ]
    assert after([seen(0, S, R), *between]).kubelet == BY_REGISTER


def test_one_resource_that_cannot_register_is_enough() -> None:
    sights = [seen(now, S, R, Phase.STEADY, Phase.HOLDING) for now in range(12)]
    assert after(sights).kubelet == BY_WATCHER


def test_without_plugins_registry_auto_waits_for_either() -> None:
    waiting = after([seen(0), seen(100)])
    assert waiting.kubelet is None
    assert waiting.look(seen(101, S)).kubelet == BY_REGISTER
    assert waiting.look(seen(101, None, R)).kubelet == BY_WATCHER


def test_auto_comes_back_with_the_next_kubelet() -> None:
    turned = after(
        [seen(0, S, R, Phase.HOLDING), *(seen(n, S, R, Phase.HOLDING) for n in (1, 12))]
    )
    assert turned.kubelet == BY_WATCHER
    for socket in (S, None):
        assert turned.look(seen(13, socket, R, Phase.HOLDING)).kubelet == BY_WATCHER
    back = turned.look(seen(13, T, R, Phase.STEADY))
    assert back.kubelet == Kubelet(Route.REGISTER, T)
    assert back.signal_after(turned) is Signal.KUBELET_APPEARED
    assert back.look(seen(14, T, R, Phase.HOLDING)).kubelet == Kubelet(Route.REGISTER, T)


@pytest.mark.parametrize("socket", [None, S])
def test_each_turn_is_told_as_one(socket: FileIdentity | None) -> None:
    """Also where plugins_registry came late, or went and came again: nothing else moves the stuck.

    Nobody has turned who has nowhere to turn to.
    """
    stuck = Phase.HOLDING
    alone = after([seen(now, socket, None, stuck) for now in (0, 1, 20)])
    assert not alone.given_up
    for now in (21, 23):
        turned = alone.look(seen(now, socket, R, stuck))
        assert turned.kubelet == BY_WATCHER
        assert turned.signal_after(alone) is Signal.KUBELET_ELSEWHERE
        alone = turned.look(seen(now + 1, socket, None, stuck))
        assert alone.kubelet == (None if socket is None else BY_REGISTER)


def barred() -> RouteChoice:
    """Return the choice after the system has refused us the directory for long enough."""
    tries = [seen(now, S, R, Phase.BARRED if now % 2 else Phase.STARTING) for now in range(1, 13)]
    turned = after([seen(0, S, R), *tries])
    assert turned.kubelet == BY_WATCHER
    return turned


@pytest.mark.parametrize("phase", [Phase.STEADY, *sorted(UNDECIDED, key=str), *STUCK])
def test_auto_stays_where_it_is_found_if_the_directory_was_refused(phase: Phase) -> None:
    """A kubelet that restarts changes nothing of the permission, however long it was away."""
    turned = barred()
    for socket in (None, T, None, S):
        it = turned.look(seen(20, socket, R, phase))
        assert it.kubelet == BY_WATCHER
        assert it.signal_after(turned) is None


@pytest.mark.parametrize("stuck", STUCK)
def test_auto_comes_back_to_a_directory_that_was_refused_if_nobody_finds_it(stuck: Phase) -> None:
    """Or if there is no other way any more; a mended permission is found so, too."""
    stayed = barred().look(seen(20, T, R, Phase.STEADY))
    tries = [seen(now, T, R, stuck if now % 2 else Phase.REGISTERING) for now in range(21, 30)]
    assert after(tries, stayed).kubelet == BY_WATCHER
    assert after([*tries, seen(30, T, R, stuck)], stayed).kubelet == Kubelet(Route.REGISTER, T)
    assert stayed.look(seen(21, T, None, Phase.STEADY)).kubelet == Kubelet(Route.REGISTER, T)


def test_a_refusal_that_passed_does_not_count() -> None:
    """Whoever was heard since then was not refused."""
    heard = after([seen(0, S, R), seen(1, S, R, Phase.BARRED), seen(2, S, R, Phase.STEADY)])
    turned = after([seen(3, S, R, Phase.HOLDING), seen(14, S, R, Phase.HOLDING)], heard)
    assert turned.kubelet == BY_WATCHER
    assert turned.look(seen(15, T, R, Phase.STEADY)).kubelet == Kubelet(Route.REGISTER, T)


def _in_time(sights: list[Sight]) -> list[Sight]:
    """Let each look come its `now` after the last."""
    times = accumulate(sight.now for sight in sights)
    return [attrs.evolve(sight, now=now) for sight, now in zip(sights, times, strict=True)]


histories: Final = st.lists(
    st.builds(
        Sight,
        now=st.floats(0, 6),
        socket=st.sampled_from([None, *SOCKETS]),
        registry=st.sampled_from([None, *REGISTRIES]),
        phases=st.lists(st.sampled_from(Phase), max_size=3).map(tuple),
    ),
    max_size=30,
).map(_in_time)


@pytest.mark.parametrize("wanted", [RegistrationMode.REGISTER, RegistrationMode.WATCHER])
@given(sights=histories)
def test_a_way_that_is_wanted_is_the_only_one(
    wanted: RegistrationMode, sights: list[Sight]
) -> None:
    it = choice(wanted)
    for sight in sights:
        it = it.look(sight)
        file = sight.socket if wanted is RegistrationMode.REGISTER else sight.registry
        assert (None if it.kubelet is None else it.kubelet.identity) == file
        if it.kubelet is not None:
            assert it.kubelet.route.name == wanted.name


@given(histories)
def test_what_is_chosen_is_there_and_what_is_told_is_what_changed(sights: list[Sight]) -> None:
    it = choice()
    for sight in sights:
        before, it = it, it.look(sight)
        assert it.kubelet in {None, sight.of(Route.REGISTER), sight.of(Route.WATCHER)}
        if sight.socket is not None or (it.given_up and sight.registry is not None):
            assert it.kubelet is not None
        told = it.signal_after(before)
        assert (told is None) == (it.kubelet == before.kubelet)
        assert (told is Signal.KUBELET_VANISHED) == (told is not None and it.kubelet is None)
        if told is Signal.KUBELET_ELSEWHERE:
            assert it.kubelet is not None
            assert it.kubelet.route is Route.WATCHER
        if told is not None and it.kubelet is not None and it.kubelet.route is Route.WATCHER:
            was = before.kubelet is not None and before.kubelet.route is Route.WATCHER
            assert (told is Signal.KUBELET_ELSEWHERE) == (not was)


def test_a_resource_that_is_listed_is_not_disturbed_by_another_way() -> None:
    """A kubelet whose socket was unlinked goes on with whom it knows."""
    for phase in (Phase.DOUBTING, Phase.REGISTERED, Phase.LISTED, Phase.STEADY):
        assert TABLE[phase, Signal.KUBELET_ELSEWHERE].phase is phase


@pytest.mark.parametrize("phase", [*STUCK, *sorted(UNDECIDED, key=str), Phase.RESTING])
def test_a_resource_that_is_not_heard_takes_the_other_way(phase: Phase) -> None:
    """Else it would try the old one for ever."""
    step = TABLE[phase, Signal.KUBELET_ELSEWHERE]
    assert step.phase in {Phase.RENEWING, Phase.STARTING}
