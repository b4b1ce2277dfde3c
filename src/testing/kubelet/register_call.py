"""One Register that is being answered, and what can happen to its client meanwhile."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

import grpc

from deviceplugin.testing.kubelet.errors import RefusedError

Action: TypeAlias = Callable[[], object]

_FOR_EVER: Final = 1e9
"""Without a deadline Python's gRPC tells some aeons, not None."""


class RegisterCall:
    """The kubelet's view of a pending Register. It is over when it was answered or given up."""

    def __init__(self, context: grpc.ServicerContext, cut: Callable[[str], None]) -> None:
        """Watch the call behind `context`; `cut` closes the connection of a peer."""
        self._context = context
        self._cut = cut
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._actions: list[Action] = []
        if not context.add_callback(self._end):
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._over.set()
            actions, self._actions = self._actions, []
        for action in actions:
            action()

    @property
    def seconds_left(self) -> float | None:
        """How long the client will wait; None without a deadline."""
        left = self._context.time_remaining()
        return left if left < _FOR_EVER else None

    def when_over(self, action: Action) -> None:
        """Do something once, as soon as the call is over."""
        with self._lock:
            if not self._over.is_set():
                self._actions.append(action)
                return
        action()

    @contextmanager
    def giving_up(self, action: Action) -> Generator[None]:
        """Do something if the call ends before the block does."""
        self.when_over(action)
        try:
            yield
        finally:
            with self._lock:
                self._actions = [each for each in self._actions if each != action]

    def wait(self, seconds: float | None) -> None:
        """Wait so long, for ever if None, but not beyond the end of the call."""
        self._over.wait(seconds)

    def drop(self) -> None:
        """Close the connection that the call came on."""
        self._cut(self._context.peer())

    def refuse(self, reason: str) -> None:
        """Let Register fail with this text."""
        raise RefusedError(reason)
