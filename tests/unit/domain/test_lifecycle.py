"""The transition table is complete, and every life that it allows is a sane one.

The second part walks through all states that can come about: not only the phase, but also what
work is under way, whether the timer runs, whether there is a server, whether its Register was sent
and whether a stream is open. A signal is fed only where it can happen.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.lifecycle import IGNORED, TABLE, advance
from deviceplugin.domain.phases import Command, Phase, Signal
from deviceplugin.domain.timing import Timing

TIMERS: Final = {
    Command.BACK_OFF,
    Command.BACK_OFF_SLOWLY,
    Command.SET_STREAM_TIMER,
    Command.SET_DOUBT_TIMER,
    Command.SET_SETTLE_TIMER,
}
WORK: Final = {Command.SERVE, Command.REGISTER, Command.LOOK, Command.CLOSE}
ANSWERS: Final[Mapping[Command | None, tuple[Signal, ...]]] = {
    None: (),
    Command.SERVE: (Signal.SERVED, Signal.SERVING_FAILED, Signal.FORBIDDEN),
    Command.REGISTER: (
        Signal.ACCEPTED,
        Signal.REFUSED,
        Signal.UNCLEAR,
        Signal.UNREACHABLE,
        Signal.FORBIDDEN,
        Signal.SOCKET_LOST,
    ),
    Command.LOOK: (Signal.REACHABLE, Signal.UNREACHABLE),
    Command.CLOSE: (Signal.CLOSED,),
}
TIMED: Final = {
    Phase.HOLDING,
    Phase.DOUBTING,
    Phase.REGISTERED,
    Phase.LISTED,
    Phase.ORPHANED,
    Phase.RESTING,
    Phase.BARRED,
}
WORKING: Final = {
    Phase.STARTING: Command.SERVE,
    Phase.REGISTERING: Command.REGISTER,
    Phase.GREETED: Command.REGISTER,
    Phase.LOOKING: Command.LOOK,
    Phase.RENEWING: Command.CLOSE,
    Phase.RETREATING: Command.CLOSE,
    Phase.DRAINING: Command.CLOSE,
    Phase.STOPPING: Command.CLOSE,
}
FOR_THE_WORLD: Final = {Phase.WAITING, Phase.STEADY, Phase.STOPPED}


@pytest.mark.parametrize("phase", Phase)
def test_every_pair_of_phase_and_signal_is_decided(phase: Phase) -> None:
    for signal in Signal:
        assert advance(phase, signal) == TABLE[phase, signal]
    assert len(TABLE) == len(Phase) * len(Signal)


@pytest.mark.parametrize("phase", Phase)
def test_what_is_ignored_changes_nothing_and_all_else_does(phase: Phase) -> None:
    for signal in Signal:
        step = TABLE[phase, signal]
        changes = step.phase is not phase or bool(step.commands)
        assert changes == (signal not in IGNORED[phase])


def test_each_phase_has_work_or_a_timer_or_waits_for_the_world_on_purpose() -> None:
    assert TIMED | WORKING.keys() | FOR_THE_WORLD == set(Phase)
    assert len(TIMED) + len(WORKING) + len(FOR_THE_WORLD) == len(Phase)


def test_nothing_happens_after_the_end() -> None:
    assert IGNORED[Phase.STOPPED] == set(Signal)


# --- all that can happen -------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Life:
    """A state of the resource and of what surrounds it."""

    phase: Phase = Phase.WAITING
    work: Command | None = None
    timer: bool = False
    served: bool = False
    """Whether a server is there."""
    sent: bool = False
    """Whether its Register may have reached a kubelet."""
    stream: bool = False
    """Whether a stream of it is open."""

    def signals(self) -> Iterator[Signal]:
        """Go through what can happen next."""
        yield from ANSWERS[self.work]
        yield from (
            Signal.KUBELET_APPEARED,
            Signal.KUBELET_CONFIRMED,
            Signal.KUBELET_ELSEWHERE,
            Signal.KUBELET_VANISHED,
            Signal.STOP,
        )
        if self.timer:
            yield Signal.TIMER
        if self.served:
            yield Signal.SOCKET_LOST
            yield Signal.SUCCESSOR_LOST
            yield Signal.STREAM_ENDED if self.stream else Signal.STREAM_OPENED

    def after(self, signal: Signal) -> "Life":
        """Return the state after a signal and the commands that answer it."""
        answered = signal in ANSWERS[self.work]
        life = attrs.evolve(
            self,
            work=None if answered else self.work,
            timer=self.timer and signal is not Signal.TIMER,
            served=(self.served or signal is Signal.SERVED) and signal is not Signal.CLOSED,
            sent=self.sent and signal is not Signal.CLOSED and not self._was_not_sent(signal),
            stream=(self.stream or signal is Signal.STREAM_OPENED)
            and signal not in {Signal.STREAM_ENDED, Signal.CLOSED},
        )
        step = advance(self.phase, signal)
        for command in step.commands:
            life = life.doing(command)
        return attrs.evolve(life, phase=step.phase)

    def _was_not_sent(self, signal: Signal) -> bool:
        nothing_sent = {Signal.UNREACHABLE, Signal.FORBIDDEN}
        return self.work is Command.REGISTER and signal in nothing_sent

    def doing(self, command: Command) -> "Life":
        """Return the state after a command, which must be a sane one."""
        if command in TIMERS:
            return attrs.evolve(self, timer=True)
        if command is Command.CLEAR_TIMER:
            return attrs.evolve(self, timer=False)
        if command not in WORK:
            return self
        assert self.work is None or command is Command.CLOSE, "two pieces of work at once"
        assert self.work is not Command.CLOSE, "closed while it closes"
        if command is Command.SERVE:
            assert not self.served, "a second server"
        if command is Command.REGISTER:
            assert self.served, "registered without a server"
            assert not self.sent, "registered twice"
        return attrs.evolve(self, work=command, sent=self.sent or command is Command.REGISTER)


@cache
def reachable() -> frozenset[Life]:
    """Return every state that can come about."""
    known = {Life()}
    fresh = list(known)
    while fresh:
        life = fresh.pop()
        for signal in life.signals():
            after = life.after(signal)
            if after not in known:
                known.add(after)
                fresh.append(after)
    return frozenset(known)


def test_every_phase_can_come_about() -> None:
    assert {life.phase for life in reachable()} == set(Phase)


def test_work_is_one_at_a_time_and_a_server_is_registered_at_most_once_unless_unreachable() -> (
    None
):
    """`Life.doing` says so for each step."""
    assert len(reachable()) > len(Phase)


@pytest.mark.parametrize("phase", Phase)
def test_the_timer_is_set_in_each_phase_that_waits_for_it_and_in_no_other(phase: Phase) -> None:
    assert {life.timer for life in reachable() if life.phase is phase} == {phase in TIMED}


@pytest.mark.parametrize("phase", Phase)
def test_each_phase_has_its_work_under_way_and_no_other_work(phase: Phase) -> None:
    assert {life.work for life in reachable() if life.phase is phase} == {WORKING.get(phase)}


def test_a_phase_that_waits_for_its_timer_decides_what_comes_after() -> None:
    for phase in TIMED:
        assert Signal.TIMER not in IGNORED[phase]


def test_a_phase_that_works_decides_every_answer_that_can_come() -> None:
    for life in reachable():
        for answer in ANSWERS[life.work]:
            assert answer not in IGNORED[life.phase], life


def test_there_is_a_server_only_where_there_should_be_one() -> None:
    serverless = {Phase.WAITING, Phase.RESTING, Phase.LOOKING, Phase.ORPHANED, Phase.BARRED}
    serverless.add(Phase.STOPPED)
    assert all(not life.served for life in reachable() if life.phase in serverless)


def test_a_stream_that_ends_is_never_ignored_while_we_count_on_it() -> None:
    """A kubelet opens no second stream to one server, so waiting for one would be for ever."""
    for phase in (Phase.GREETED, Phase.LISTED, Phase.STEADY):
        step = TABLE[phase, Signal.STREAM_ENDED]
        assert Command.CLOSE in step.commands


@pytest.mark.parametrize("lost", [Signal.SOCKET_LOST, Signal.KUBELET_APPEARED])
def test_a_lost_socket_or_another_kubelet_always_leads_to_a_new_server(lost: Signal) -> None:
    settled = {Phase.REGISTERING, Phase.GREETED, Phase.HOLDING, Phase.DOUBTING}
    settled |= {Phase.REGISTERED, Phase.LISTED, Phase.STEADY}
    for phase in settled:
        assert Command.CLOSE in TABLE[phase, lost].commands


def test_another_kubelet_starts_counting_failures_anew() -> None:
    """Else one that comes back after an hour would be met with the longest wait."""
    for phase in Phase:
        if phase not in {Phase.STOPPING, Phase.STOPPED}:
            appeared = TABLE[phase, Signal.KUBELET_APPEARED]
            assert Command.FORGET_FAILURES in appeared.commands, phase
    for life in reachable():
        if life.sent and life.phase is not Phase.STEADY and life.work is not Command.CLOSE:
            confirmed = TABLE[life.phase, Signal.KUBELET_CONFIRMED]
            assert confirmed.commands == (Command.FORGET_FAILURES,), life.phase


def test_a_vanished_kubelet_socket_means_nothing_while_it_may_be_alive() -> None:
    """A real kubelet whose socket file is unlinked goes on, and never listens again."""
    for phase in (
        Phase.REGISTERING,
        Phase.GREETED,
        Phase.DOUBTING,
        Phase.REGISTERED,
        Phase.LISTED,
        Phase.STEADY,
    ):
        assert Signal.KUBELET_VANISHED in IGNORED[phase]


def test_a_server_that_no_kubelet_knows_of_does_not_outlive_the_kubelet() -> None:
    """When it vanishes for good, its directory is to be clean."""
    for life in (each for each in reachable() if not each.sent):
        after = life.after(Signal.KUBELET_VANISHED)
        if after.phase is Phase.DRAINING:
            after = after.after(Signal.CLOSED)
        assert after.phase in {Phase.WAITING, Phase.STOPPING, Phase.STOPPED}, life


def test_after_a_failure_there_is_always_a_wait() -> None:
    """Without one a fault that stays would make a loop as fast as the machine.

    Who was well for a while may lose the socket once: it takes that while until it can again.
    """
    failures = {
        Signal.SERVING_FAILED,
        Signal.REFUSED,
        Signal.UNCLEAR,
        Signal.UNREACHABLE,
        Signal.FORBIDDEN,
        Signal.SOCKET_LOST,
        Signal.STREAM_ENDED,
    }
    for life in reachable():
        for signal in failures.intersection(life.signals()) - IGNORED[life.phase]:
            after = life.after(signal)
            if after.phase is Phase.RETREATING:
                after = after.after(Signal.CLOSED)
            once = (life.phase, signal) == (Phase.STEADY, Signal.SOCKET_LOST)
            assert after.timer or once, (life, signal)


@pytest.mark.parametrize("phase", [Phase.DOUBTING, Phase.REGISTERED])
def test_a_stream_that_does_not_come_in_time_is_a_failure(phase: Phase) -> None:
    closing = TABLE[phase, Signal.TIMER]
    assert Command.CLOSE in closing.commands
    assert Command.BACK_OFF in advance(closing.phase, Signal.CLOSED).commands


def test_no_stream_makes_an_unclear_register_a_good_one() -> None:
    """Before or after it was unclear: anybody may have opened it."""
    doubting = TABLE[Phase.GREETED, Signal.UNCLEAR]
    assert doubting == TABLE[Phase.REGISTERING, Signal.UNCLEAR]
    assert advance(doubting.phase, Signal.STREAM_OPENED).phase is doubting.phase


@pytest.mark.parametrize("phase", [Phase.REGISTERING, Phase.REGISTERED])
def test_a_stream_that_comes_is_awaited_or_is_success(phase: Phase) -> None:
    opened = TABLE[phase, Signal.STREAM_OPENED]
    assert opened.phase in {Phase.GREETED, Phase.LISTED}
    assert Command.CLOSE not in opened.commands


def test_what_was_well_for_a_while_is_renewed_at_once() -> None:
    closing = TABLE[Phase.STEADY, Signal.SOCKET_LOST]
    assert advance(closing.phase, Signal.CLOSED).commands == (Command.SERVE,)


def test_after_a_wait_a_new_server_is_made_only_for_a_kubelet_that_is_there() -> None:
    """One that comes removes what was made before it, and would have to wait for its closing."""
    for phase in (Phase.RESTING, Phase.ORPHANED):
        assert TABLE[phase, Signal.TIMER].commands == (Command.LOOK,)
        assert Command.SERVE in TABLE[phase, Signal.KUBELET_APPEARED].commands
    assert TABLE[Phase.LOOKING, Signal.REACHABLE].commands == (Command.SERVE,)


# --- how it ends ---------------------------------------------------------------------------------

WELL: Final = (
    Signal.REACHABLE,
    Signal.SERVED,
    Signal.ACCEPTED,
    Signal.CLOSED,
    Signal.STREAM_OPENED,
    Signal.TIMER,
)
"""What a well kubelet and a well machine answer, in the order in which we let them."""


def settled(life: Life) -> Life:
    """Return where a life ends when all is well from now on."""
    for _ in range(50):
        possible = set(life.signals())
        answer = next((signal for signal in WELL if signal in possible), None)
        if answer is Signal.STREAM_OPENED and not life.sent:
            answer = Signal.TIMER if life.timer else None
        if answer is None or life.phase is Phase.STEADY:
            return life
        life = life.after(answer)
    raise AssertionError(f"never settles: {life}")


def test_from_every_state_a_well_kubelet_leads_to_a_steady_registration() -> None:
    ended = {Phase.STOPPING, Phase.STOPPED}
    for life in reachable():
        if life.phase not in ended:
            end = settled(life)
            expected = Phase.WAITING if end.phase is Phase.WAITING else Phase.STEADY
            assert end.phase is expected, (life, end)


def test_a_kubelet_that_appears_is_registered_with_from_every_state() -> None:
    for life in reachable():
        if life.phase not in {Phase.STOPPING, Phase.STOPPED}:
            end = settled(life.after(Signal.KUBELET_APPEARED))
            assert (end.phase, end.served, end.sent) == (Phase.STEADY, True, True), life


def test_only_without_a_kubelet_does_a_life_wait_for_one() -> None:
    """WAITING is entered on its vanishing alone, so that the next one is told of."""
    entered = {
        (phase, signal)
        for (phase, signal), step in TABLE.items()
        if step.phase in {Phase.WAITING, Phase.DRAINING} and step.phase is not phase
    }
    assert {signal for _, signal in entered} == {Signal.KUBELET_VANISHED, Signal.CLOSED}
    assert {phase for phase, signal in entered if signal is Signal.CLOSED} == {Phase.DRAINING}


def test_another_way_to_the_kubelet_is_taken_by_whoever_is_not_registered() -> None:
    """From every state; who is registered stays so, or has lost it before."""
    for life in reachable():
        if life.phase not in {Phase.STOPPING, Phase.STOPPED}:
            end = settled(life.after(Signal.KUBELET_ELSEWHERE))
            assert (end.phase, end.served, end.sent) == (Phase.STEADY, True, True), life


def test_what_is_forbidden_is_tried_slowly_and_nothing_else_is() -> None:
    """Only a person can mend it."""
    for life in reachable():
        for signal in life.signals():
            after = life.after(signal)
            slowly = Command.BACK_OFF_SLOWLY in TABLE[life.phase, signal].commands
            forbidden = signal is Signal.FORBIDDEN
            assert slowly == forbidden, (life, signal)
            assert not forbidden or after.timer


def test_a_stream_that_opens_before_we_could_register_makes_us_try_at_once() -> None:
    """A kubelet that finds us by itself has come."""
    opened = TABLE[Phase.HOLDING, Signal.STREAM_OPENED]
    assert opened.phase is Phase.GREETED
    assert opened.commands == (Command.CLEAR_TIMER, Command.REGISTER)


def test_stop_leads_to_the_end_from_every_state_once_all_is_closed() -> None:
    for life in reachable():
        end = life.after(Signal.STOP)
        if end.phase is Phase.STOPPING:
            end = end.after(Signal.CLOSED)
        assert end == Life(phase=Phase.STOPPED), life


@given(st.lists(st.sampled_from(list(Signal)), max_size=40))
def test_no_sequence_of_signals_however_mad_leaves_the_table(signals: list[Signal]) -> None:
    phase = Phase.WAITING
    for signal in signals:
        phase = advance(phase, signal).phase
    assert phase in Phase


def test_register_may_take_longer_than_the_kubelets_own_dial() -> None:
    assert Timing().register > 10
