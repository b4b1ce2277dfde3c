"""A limit on calls, as golang.org/x/time/rate keeps it."""

import threading
import time
from collections.abc import Callable


class Rate:
    """Tokens that come in at a steady rate, up to a number; each call takes one. Thread-safe."""

    def __init__(
        self, per_second: float, burst: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with all tokens there."""
        self._per_second = per_second
        self._burst = burst
        self._now = now
        self._lock = threading.Lock()
        self._tokens = float(burst)
        self._at = now()

    def allows(self) -> bool:
        """Take a token; tell whether there was one."""
        with self._lock:
            now = self._now()
            gained = max(0.0, now - self._at) * self._per_second
            self._tokens, self._at = min(float(self._burst), self._tokens + gained), now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True
