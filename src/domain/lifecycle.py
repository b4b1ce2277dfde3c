"""The life of one resource's registration, as one transition table.

It never waits and never acts: a use case feeds it signals and carries out the commands it answers
with. Everything that decides when we serve, register, retry or give way stands in `TABLE`, and
each (phase, signal) pair is decided there.

An *incarnation* is one server on one socket of its own. It is registered at most once, because a
second Register on a socket ends in a second stream (kubelets up to 1.36) or loses the socket's
name for good (1.37). So whatever went wrong after Register was sent, the way on is a new
incarnation.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

import attrs


class Phase(Enum):
    """Where a resource stands."""

    WAITING = "waiting for a kubelet"
    STARTING = "starting a server"
    REGISTERING = "registering"
    GREETED = "listed before the answer to Register"
    HOLDING = "served; the kubelet cannot be reached yet"
    DOUBTING = "Register's outcome is unclear"
    REGISTERED = "registered, not listed yet"
    LISTED = "listed"
    STEADY = "listed for a while"
    LOOKING = "the stream ended; looking whether a kubelet is there"
    ORPHANED = "the kubelet that listed us is gone"
    RENEWING = "closing the server to start anew"
    RETREATING = "closing the server to try again later"
    RESTING = "waiting to try again"
    DRAINING = "closing the server until a kubelet comes"
    STOPPING = "closing the server for good"
    STOPPED = "stopped"


class Signal(Enum):
    """What can happen to a resource."""

    KUBELET_APPEARED = "kubelet.sock is there, or another one in its place"
    KUBELET_CONFIRMED = "kubelet.sock is the one that we are registering with"
    KUBELET_VANISHED = "kubelet.sock is gone"
    SERVED = "our server accepts connections"
    SERVING_FAILED = "our server could not start"
    ACCEPTED = "Register succeeded"
    REFUSED = "Register failed with an answer"
    UNCLEAR = "Register got no answer"
    REACHABLE = "a kubelet takes connections"
    UNREACHABLE = "no connection to the kubelet; nothing was sent"
    STREAM_OPENED = "the kubelet called ListAndWatch"
    STREAM_ENDED = "the ListAndWatch stream ended"
    SOCKET_LOST = "our socket is gone or no longer ours"
    TIMER = "the timer ran out"
    CLOSED = "our server is closed"
    STOP = "the resource is to end"


class Command(Enum):
    """What the use case must do, in the order given; the first four answer with a signal."""

    SERVE = "start a new incarnation; answers SERVED or SERVING_FAILED"
    REGISTER = "register it; answers ACCEPTED, REFUSED, UNCLEAR, UNREACHABLE or SOCKET_LOST"
    LOOK = "see whether a kubelet takes connections; answers REACHABLE or UNREACHABLE"
    CLOSE = "cancel what is under way, close the server; answers CLOSED"
    BACK_OFF = "count a failure and set the timer by their number, with jitter"
    SET_STREAM_TIMER = "set the timer to the time the kubelet has to open its stream"
    SET_DOUBT_TIMER = "set the timer to the time in which an unclear Register may still succeed"
    SET_SETTLE_TIMER = "set the timer to the time after which a stream counts as steady"
    CLEAR_TIMER = "forget the timer"
    FORGET_FAILURES = "start counting failures from zero"


@attrs.frozen
class Step:
    """The answer to a signal: the next phase and what must be done now."""

    phase: Phase
    commands: tuple[Command, ...] = ()


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

_DECIDED: Final[Mapping[Phase, Mapping[Signal, Step]]] = {
    Phase.WAITING: {
        Signal.KUBELET_APPEARED: _START_FRESH,
        Signal.STOP: Step(Phase.STOPPED),
    },
    Phase.STARTING: {
        Signal.SERVED: _REGISTER,
        Signal.SERVING_FAILED: _RETREAT,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_VANISHED: _DRAIN,
        Signal.STOP: _STOP,
    },
    Phase.REGISTERING: {
        Signal.ACCEPTED: Step(Phase.REGISTERED, (Command.SET_STREAM_TIMER,)),
        Signal.STREAM_OPENED: Step(Phase.GREETED),
        Signal.REFUSED: _RETREAT,
        Signal.UNCLEAR: Step(Phase.DOUBTING, (Command.SET_DOUBT_TIMER,)),
        Signal.UNREACHABLE: _HOLD,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_CONFIRMED: Step(Phase.REGISTERING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.GREETED: {
        Signal.ACCEPTED: _LIST,
        Signal.UNCLEAR: _LIST,
        Signal.REFUSED: _RETREAT,
        Signal.UNREACHABLE: _HOLD,
        # Whatever it answers, it opens no second one.
        Signal.STREAM_ENDED: _RETREAT,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_CONFIRMED: Step(Phase.GREETED, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.HOLDING: {
        Signal.TIMER: _REGISTER,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_VANISHED: _DRAIN,
        Signal.STOP: _STOP,
    },
    Phase.DOUBTING: {
        Signal.STREAM_OPENED: _LIST,
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
        Signal.KUBELET_CONFIRMED: Step(Phase.LISTED, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    # A kubelet that died is not worth a new server: the one that follows it removes our sockets.
    Phase.STEADY: {
        Signal.STREAM_ENDED: _LOOK,
        Signal.SOCKET_LOST: _RENEW,
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.STOP: _STOP,
    },
    Phase.LOOKING: {
        Signal.REACHABLE: _RENEW,
        Signal.UNREACHABLE: Step(Phase.ORPHANED, (Command.BACK_OFF,)),
        Signal.KUBELET_CONFIRMED: Step(Phase.LOOKING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_VANISHED: _DRAIN,
        Signal.STOP: _STOP,
    },
    Phase.ORPHANED: {
        Signal.TIMER: _LOOK,
        Signal.SOCKET_LOST: _RETREAT,
        Signal.KUBELET_CONFIRMED: Step(Phase.ORPHANED, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_APPEARED: _RENEW_FRESH,
        Signal.KUBELET_VANISHED: _DRAIN,
        Signal.STOP: _STOP,
    },
    Phase.RENEWING: {
        Signal.CLOSED: _START,
        Signal.KUBELET_APPEARED: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_VANISHED: Step(Phase.DRAINING),
        Signal.STOP: Step(Phase.STOPPING),
    },
    Phase.RETREATING: {
        Signal.CLOSED: _REST,
        Signal.KUBELET_APPEARED: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
        Signal.KUBELET_VANISHED: Step(Phase.DRAINING),
        Signal.STOP: Step(Phase.STOPPING),
    },
    Phase.RESTING: {
        Signal.TIMER: _START,
        Signal.KUBELET_APPEARED: _START_FRESH,
        Signal.KUBELET_VANISHED: Step(Phase.WAITING, (Command.CLEAR_TIMER,)),
        Signal.STOP: Step(Phase.STOPPED, (Command.CLEAR_TIMER,)),
    },
    Phase.DRAINING: {
        Signal.CLOSED: Step(Phase.WAITING),
        Signal.KUBELET_APPEARED: Step(Phase.RENEWING, (Command.FORGET_FAILURES,)),
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
kubelet means nothing while a stream is open or a Register is under way."""

TABLE: Final[Mapping[tuple[Phase, Signal], Step]] = MappingProxyType(
    {
        (phase, signal): decided.get(signal, Step(phase))
        for phase, decided in _DECIDED.items()
        for signal in Signal
    }
)
"""Every pair."""


def advance(phase: Phase, signal: Signal) -> Step:
    """Return the next phase and what must now be done."""
    return TABLE[phase, signal]
