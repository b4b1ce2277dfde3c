"""The words of a registration's life: where a resource stands, what happens, what is done.

What follows from what is decided in `domain.lifecycle`.
"""

from enum import Enum

import attrs


class Word(Enum):
    """A word of a closed set. Each is one object, so its identity is hash enough.

    Enum's own hash is Python code, and the table is asked twice for each signal of each resource.
    """

    __hash__ = object.__hash__


class Phase(Word):
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
    RENEWING = "closing the server to start anew"
    RETREATING = "closing the server to try again later"
    RESTING = "waiting to try again"
    LOOKING = "looking whether a kubelet is there"
    ORPHANED = "there is none; waiting to look again"
    BARRED = "waiting for the permission to serve"
    DRAINING = "closing the server until a kubelet comes"
    STOPPING = "closing the server for good"
    STOPPED = "stopped"


class Signal(Word):
    """What can happen to a resource."""

    KUBELET_APPEARED = "a kubelet is there, or another one in its place"
    KUBELET_CONFIRMED = "the kubelet is the one that we are registering with"
    KUBELET_ELSEWHERE = "no Register can be sent, but plugins_registry is there to be found in"
    KUBELET_VANISHED = "the kubelet's place is gone"
    SERVED = "our server accepts connections"
    SERVING_FAILED = "our server could not start"
    FORBIDDEN = "the system refuses us the permission; nothing was sent"
    ACCEPTED = "Register succeeded"
    REFUSED = "Register failed with an answer"
    UNCLEAR = "Register got no answer"
    REACHABLE = "a kubelet takes connections"
    UNREACHABLE = "no connection to the kubelet; nothing was sent"
    STREAM_OPENED = "the kubelet called ListAndWatch"
    STREAM_ENDED = "the ListAndWatch stream ended"
    SOCKET_LOST = "our socket is gone or no longer ours"
    SUCCESSOR_LOST = "a newer server of the resource, another instance's, is gone"
    TIMER = "the timer ran out"
    CLOSED = "our server is closed"
    STOP = "the resource is to end"


class Command(Word):
    """What the use case must do, in the order given; the first four answer with a signal."""

    SERVE = "start a new incarnation; answers SERVED, SERVING_FAILED or FORBIDDEN"
    REGISTER = (
        "register it; answers ACCEPTED, REFUSED, UNCLEAR, UNREACHABLE, FORBIDDEN or SOCKET_LOST"
    )
    LOOK = "see whether a kubelet takes connections; answers REACHABLE or UNREACHABLE"
    CLOSE = "cancel what is under way, close the server; answers CLOSED"
    BACK_OFF = "count a failure and set the timer by their number, with jitter"
    BACK_OFF_SLOWLY = "the same on a longer scale: only a person can mend it"
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
