"""One lock for all that can change, and a bell that rings at each change."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

_Seen = TypeVar("_Seen")


class Watch:
    """Lets threads change shared state safely and wait for a state without polling."""

    def __init__(self) -> None:
        """Start with nobody waiting."""
        self._bell = threading.Condition(threading.RLock())
        self._change = _Change(self._bell)

    def changing(self) -> AbstractContextManager[object]:
        """Hold the lock, and wake all who wait when it is given back. May be nested."""
        return self._change

    def reading(self) -> AbstractContextManager[object]:
        """Hold the lock without waking anybody."""
        return self._bell

    def until(self, look: Callable[[], _Seen | None], timeout: float) -> _Seen | None:
        """Return the first result of `look` that is not None, looking again at each change.

        After `timeout` seconds return None. `look` runs under the lock: it must be short and must
        not wait.
        """
        end = time.monotonic() + timeout
        with self._bell:
            while (seen := look()) is None:
                left = end - time.monotonic()
                if left <= 0:
                    return None
                self._bell.wait(left)
            return seen


class _Change:
    """Stateless, so that one serves all threads: an admission takes the lock two dozen times."""

    def __init__(self, bell: threading.Condition) -> None:
        self._bell = bell

    def __enter__(self) -> None:
        self._bell.acquire()

    def __exit__(self, *_: object) -> None:
        self._bell.notify_all()
        self._bell.release()
