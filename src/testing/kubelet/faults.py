"""What the kubelet is told to do wrong, or slowly."""

import threading
from enum import Enum
from typing import Protocol

import attrs


class PendingCall(Protocol):
    """A Register that awaits its answer, as the steps of a script see it."""

    def refuse(self, reason: str) -> None:
        """Fail the call with the code UNKNOWN and this text."""
        ...

    def wait(self, seconds: float | None) -> None:
        """Wait so long, for ever if None, but not beyond the end of the call or the kubelet."""
        ...

    def drop(self) -> None:
        """Close the connection that the call came on."""
        ...


class Step:
    """What befalls one Register. The base does nothing."""

    def before(self, call: PendingCall) -> None:
        """Act before the kubelet looks at the request."""

    def after(self, call: PendingCall) -> None:
        """Act when all is done except to answer."""


@attrs.frozen
class Refuse(Step):
    """Fail with a reason, without dialling back."""

    reason: str

    def before(self, call: PendingCall) -> None:
        """Refuse at once."""
        call.refuse(self.reason)


@attrs.frozen
class Hang(Step):
    """Neither dial back nor answer until the client gives up."""

    def before(self, call: PendingCall) -> None:
        """Wait for the end of the call, and then still do nothing."""
        call.wait(None)
        call.refuse("hung")


@attrs.frozen
class Late(Step):
    """Do everything, but answer so many seconds later."""

    seconds: float

    def after(self, call: PendingCall) -> None:
        """Hold the answer back."""
        call.wait(self.seconds)


@attrs.frozen
class DropEarly(Step):
    """Cut the connection before dialling back; what follows depends on the profile."""

    def before(self, call: PendingCall) -> None:
        """Cut, and wait until the call knows it."""
        call.drop()
        call.wait(None)


@attrs.frozen
class DropLate(Step):
    """Register the plugin and cut the connection in place of the answer."""

    def after(self, call: PendingCall) -> None:
        """Cut, and wait until the call knows it."""
        call.drop()
        call.wait(None)


class ListOrder(Enum):
    """When ListAndWatch reaches the plugin, seen from the answer to Register."""

    NATURAL = "natural"
    """Both are on their way and chance decides, as in the kubelet."""
    BEFORE = "before"
    """The first list was awaited for a moment before Register is answered."""
    AFTER = "after"
    """Register's answer is out before ListAndWatch is called."""
    RANDOM = "random"
    """`BEFORE` or `AFTER`, by the seed."""


@attrs.define
class Faults:
    """The script of a fake kubelet. Change it at any time; it outlives restarts."""

    clean_to_bind: float = 0.0
    """Seconds between the cleaning of the directory and the new kubelet.sock."""
    bind_to_listen: float = 0.0
    """Seconds for which kubelet.sock is there and refuses connections."""
    pods_unheard: float = 0.0
    """Seconds after a start for which pod-resources shows no pod: the kubelet has to hear from
    others which pods are its own. Meanwhile nobody seems to hold anything."""
    list_order: ListOrder = ListOrder.NATURAL
    _script: list[tuple[str | None, Step]] = attrs.field(
        factory=list[tuple[str | None, Step]], init=False
    )
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, eq=False, repr=False)

    def on_register(self, step: Step, *, times: int = 1, resource: str | None = None) -> None:
        """Let `step` befall the next `times` Registers, of any resource or of one."""
        with self._lock:
            self._script.extend([(resource, step)] * times)

    def take(self, resource: str) -> Step:
        """Return and use up the step that is due for a Register of `resource`."""
        with self._lock:
            for index, (wanted, step) in enumerate(self._script):
                if wanted in (None, resource):
                    del self._script[index]
                    return step
        return Step()
