"""Work on sockets: one piece at a time for each, and a rest after a failure (goroutinemap)."""

import threading
import time
from collections.abc import Callable
from typing import TypeAlias

import attrs

from deviceplugin.testing.kubelet.errors import RefusedError, UnwelcomeError
from deviceplugin.testing.kubelet.limits import Limits

Work: TypeAlias = Callable[[], None]
"""What is done; it raises `UnwelcomeError` or `RefusedError` if it failed."""


@attrs.frozen(kw_only=True)
class _Rest:
    """How long a socket is left alone."""

    seconds: float
    until: float


class Operations:
    """Each runs on a thread of its own. After failures the rest of a socket doubles."""

    def __init__(self, limits: Limits) -> None:
        """Begin with nothing to do."""
        self._limits = limits
        self._lock = threading.Lock()
        self._over = False
        self._rests: dict[str, _Rest] = {}
        self._busy: dict[str, threading.Thread] = {}

    def begin(self, socket: str, work: Work) -> None:
        """Work for a socket, unless it is being worked for, or rests."""
        with self._lock:
            rest = self._rests.get(socket)
            resting = rest is not None and time.monotonic() <= rest.until
            if self._over or socket in self._busy or resting:
                return
            thread = threading.Thread(
                target=self._run, args=(socket, work), name="fake-kubelet-plugin", daemon=True
            )
            self._busy[socket] = thread
            thread.start()

    def stop(self) -> None:
        """Begin nothing any more."""
        with self._lock:
            self._over = True

    def join(self) -> None:
        """Wait for what has begun."""
        with self._lock:
            threads = tuple(self._busy.values())
        for thread in threads:
            thread.join()

    def _run(self, socket: str, work: Work) -> None:
        failed = True
        try:
            work()
            failed = False
        except (UnwelcomeError, RefusedError):
            pass  # whoever failed has said so in the history
        finally:
            with self._lock:
                before = self._rests.pop(socket, None)
                if failed:
                    self._rests[socket] = self._longer(before)
                del self._busy[socket]

    def _longer(self, before: _Rest | None) -> _Rest:
        limits = self._limits
        seconds = limits.plugin_retry if before is None else 2 * before.seconds
        seconds = min(seconds, limits.plugin_retry_most)
        return _Rest(seconds=seconds, until=time.monotonic() + seconds)
