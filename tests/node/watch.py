"""How long devices are away: allocatable, looked at all the time."""

import threading
import time
from types import TracebackType
from typing import Final, Self

import grpc
from tests.node.daemon import awaited
from tests.node.node import Node

_LOOK_AGAIN: Final = 0.011
"""Seconds between two looks: PodResources answers a hundred in a second, for all who ask."""
_QUIET: Final = 50
"""Looks that see nothing missing, after which nothing more is going to happen."""


class Watch:
    """A context manager; inside, nobody else may ask PodResources."""

    def __init__(self, node: Node, resource: str, count: int) -> None:
        """Look whether there are so many devices."""
        self._node = node
        self._resource = resource
        self._count = count
        self._looks: list[tuple[float, bool]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        awaited(lambda: any(complete for _, complete in self._looks))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Go on until all has been there for a while."""
        try:
            first = len(self._looks)
            awaited(lambda: _rests(self._looks[first:]), check=self._node.check)
        finally:
            self._over.set()
            self._thread.join()

    @property
    def gap(self) -> float:
        """The most seconds between two complete looks with incomplete ones between them."""
        longest, complete_at, missing = 0.0, self._looks[0][0], False
        for at, complete in self._looks:
            if complete and missing:
                longest = max(longest, at - complete_at)
            if complete:
                complete_at = at
            missing = not complete
        return longest

    def _look(self) -> None:
        while not self._over.wait(_LOOK_AGAIN):
            try:
                seen = len(self._node.allocatable(self._resource))
            except grpc.RpcError:
                seen = 0
            self._looks.append((time.monotonic(), seen == self._count))


def _rests(looks: list[tuple[float, bool]]) -> bool:
    last = looks[-_QUIET:]
    return len(last) == _QUIET and all(complete for _, complete in last)
