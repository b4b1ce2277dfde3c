"""The life of one resource's registration, as one transition table.

It never waits and never acts: a use case feeds it signals and carries out the commands it answers
with. Everything that decides when we serve, register, retry or give way stands in `TABLE`, and
each (phase, signal) pair is decided there.

An *incarnation* is one server on one socket of its own. It is registered at most once, because a
second Register on a socket ends in a second stream (kubelets up to 1.36) or loses the socket's
name for good (1.37). So whatever went wrong after Register was sent, the way on is a new
incarnation.

There are two ways to a kubelet (`domain.routes`), and the table is the same for both. Where the
kubelet finds us by itself, Register means: wait until it has.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from deviceplugin.domain.phases import Command, Phase, Signal, Step


def _closing(phase: Phase, *before: Command) -> Step:
    """Leave the present incarnation; no timer of it survives."""
    return Step(phase, (*before, Command.CLEAR_TIMER, Command.CLOSE))


_RENEW: Final = _closing(Phase.RENEWING)
_RENEW_FRESH: Final = _closing(Phase.RENEWING, Command.FORGET_FAILURES)
_RETREAT: Final = _closing(Phase.RETREATING)
_DRAIN: Final = _closing(Phase.DRAINING)
_STOP: Final = _closing(Phase.STOPPING)
_LIST: Final = Step(Phase.LISTED, (Command.SET_SETTLE_TIMER,))
_REST: Final = Step(Phase.RESTING, (Command.BACK_OFF,))
_START: Final = Step(Phase.STARTING, (Command.SERVE,))
_START_FRESH: Final = Step(
    Phase.STARTING, (Command.CLEAR_TIMER, Command.FORGET_FAILURES, Command.SERVE)
)
_REGISTER: Final = Step(Phase.REGISTERING, (Command.REGISTER,))
_LOOK: Final = Step(Phase.LOOKING, (Command.LOOK,))
_HOLD: Final = Step(Phase.HOLDING, (Command.BACK_OFF,))
_HOLD_SLOWLY: Final = Step(Phase.HOLDING, (Command.BACK_OFF_SLOWLY,))
_UNSERVED: Final[Mapping[Signal, Step]] = {
    Signal.KUBELET_APPEARED: _START_FRESH,
    Signal.KUBELET_ELSEWHERE: _START_FRESH,
    Signal.KUBELET_VANISHED: Step(Phase.WAITING, (Command.CLEAR_TIMER,)),
    Signal.STOP: Step(Phase.STOPPED, (Command.CLEAR_TIMER,)),
}
"""What ends a wait without a server, whatever is waited for."""

_DECIDED: Final[Mapping[Phase, Mapping[Signal, Step]]] = {
    Phase.WAITING: {
        Signal.KUBELET_APPEARED: _START_FRESH,
        Signal.KUBELET_ELSEWHERE: _START_FRESH,
        Signal.STOP: Step(Phase.STOPPED),
    },
    Phase.STARTING: {
        Signal.SERVED: _REGISTER,
        Signal.SERVING_FAILED: _RETREAT,
        Signal.FORBIDDEN: Step(Phase.BARRED, (Command.BACK_OFF_SLOWLY,)),
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_ELSEWHERE: _RENEW_FRESH,
        Signal.KUBELET_VANISHED: _DRAIN,
        Signal.STOP: _STOP,
    },
    Phase.REGISTERING: {
        Signal.ACCEPTED: Step(Phase.REGISTERED, (Command.SET_STREAM_TIMER,)),
        Signal.STREAM_OPENED: Step(Phase.GREETED),
        Signal.REFUSED: _RETREAT,
        Signal.UNCLEAR: Step(Phase.DOUBTING, (Command.SET_DOUBT_TIMER,)),
        Signal.UNREACHABLE: _HOLD,
        Signal.FORBIDDEN: _HOLD_SLOWLY,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_CONFIRMED: Step(Phase.REGISTERING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_ELSEWHERE: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.GREETED: {
        Signal.ACCEPTED: _LIST,
        # The stream is no proof: anybody may have opened it.
        Signal.UNCLEAR: Step(Phase.DOUBTING, (Command.SET_DOUBT_TIMER,)),
        Signal.REFUSED: _RETREAT,
        Signal.UNREACHABLE: _HOLD,
        Signal.FORBIDDEN: _HOLD_SLOWLY,
        # Whatever it answers, it opens no second one.
        Signal.STREAM_ENDED: _RETREAT,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_CONFIRMED: Step(Phase.GREETED, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_ELSEWHERE: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.HOLDING: {
        Signal.TIMER: _REGISTER,
        # One that finds us by itself may come at any time: then its answer is awaited.
        Signal.STREAM_OPENED: Step(Phase.GREETED, (Command.CLEAR_TIMER, Command.REGISTER)),
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_ELSEWHERE: _RENEW_FRESH,
        Signal.KUBELET_VANISHED: _DRAIN,
        Signal.STOP: _STOP,
    },
    # Not before the timer: a Register that succeeds late is to find us. Nor does a stream end it.
    Phase.DOUBTING: {
        Signal.TIMER: _RETREAT,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_CONFIRMED: Step(Phase.DOUBTING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.REGISTERED: {
        Signal.STREAM_OPENED: _LIST,
        Signal.TIMER: _RETREAT,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_CONFIRMED: Step(Phase.REGISTERED, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.LISTED: {
        Signal.TIMER: Step(Phase.STEADY, (Command.FORGET_FAILURES,)),
        Signal.STREAM_ENDED: _RETREAT,
        Signal.SOCKET_LOST: _RETREAT,
        # A kubelet up to 1.36 has forgotten us for it, and does not tell.
        Signal.SUCCESSOR_LOST: _RENEW,
        Signal.KUBELET_CONFIRMED: Step(Phase.LISTED, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.STEADY: {
        Signal.STREAM_ENDED: _RETREAT,
        Signal.SOCKET_LOST: _RENEW,
        Signal.SUCCESSOR_LOST: _RENEW,
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.RENEWING: {
        Signal.CLOSED: _START,
        Signal.KUBELET_APPEARED: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_ELSEWHERE: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_VANISHED: Step(Phase.DRAINING),
        Signal.STOP: Step(Phase.STOPPING),
    },
    Phase.RETREATING: {
        Signal.CLOSED: _REST,
        Signal.KUBELET_APPEARED: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_ELSEWHERE: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_VANISHED: Step(Phase.DRAINING),
        Signal.STOP: Step(Phase.STOPPING),
    },
    # A kubelet that died is not worth a new server: the one that follows it removes our sockets.
    # And without an old server, that one is met at once.
    Phase.RESTING: {Signal.TIMER: _LOOK, **_UNSERVED},
    Phase.LOOKING: {
        Signal.REACHABLE: _START,
        Signal.UNREACHABLE: Step(Phase.ORPHANED, (Command.BACK_OFF,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_ELSEWHERE: _RENEW_FRESH,
        Signal.KUBELET_VANISHED: _DRAIN,
        Signal.STOP: _STOP,
    },
    Phase.ORPHANED: {Signal.TIMER: _LOOK, **_UNSERVED},
    Phase.BARRED: {Signal.TIMER: _START, **_UNSERVED},
    Phase.DRAINING: {
        Signal.CLOSED: Step(Phase.WAITING),
        Signal.KUBELET_APPEARED: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_ELSEWHERE: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.STOP: Step(Phase.STOPPING),
    },
    Phase.STOPPING: {Signal.CLOSED: Step(Phase.STOPPED)},
    Phase.STOPPED: {},
}
"""The pairs that change something."""

IGNORED: Final[Mapping[Phase, frozenset[Signal]]] = MappingProxyType(
    {phase: frozenset(Signal) - decided.keys() for phase, decided in _DECIDED.items()}
)
"""The pairs that leave everything as it is. Chief among them: a kubelet.sock unlinked under a live
kubelet means nothing while a stream is open or a Register is under way; nor does another way to
it."""

TABLE: Final[Mapping[tuple[Phase, Signal], Step]] = MappingProxyType(
    {
        (phase, signal): decided.get(signal, Step(phase))
        for phase, decided in _DECIDED.items()
        for signal in Signal
    }
)
"""Every pair."""


UNHEARD: Final = frozenset({Phase.HOLDING, Phase.ORPHANED, Phase.BARRED})
"""Where no Register can be sent, and it is not the kubelet that says so."""

UNDECIDED: Final = frozenset({Phase.STARTING, Phase.REGISTERING, Phase.LOOKING})
"""Where it is being tried."""


def advance(phase: Phase, signal: Signal) -> Step:
    """Return the next phase and what must now be done."""
    return TABLE[phase, signal]
