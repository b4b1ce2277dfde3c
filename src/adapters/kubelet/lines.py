"""Connections to kubelets, each shared by all who call the same one at the same time."""

from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import asynccontextmanager

import attrs
import grpc.aio


@attrs.define
class _Line:
    channel: grpc.aio.Channel
    calls: int = 0


@attrs.frozen
class Lines:
    """Opens a channel for the first call to a kubelet, and closes it after the last.

    A hundred resources that come back at one time need one connection, not a hundred. Whoever
    comes after a call that failed gets a new one: a channel that lost its peer waits for seconds
    before it dials again, and knows nothing of a kubelet that has come since.
    """

    _open: Callable[[], grpc.aio.Channel]
    _lines: dict[Hashable, _Line] = attrs.field(factory=dict[Hashable, _Line], init=False)

    @asynccontextmanager
    async def to(self, kubelet: Hashable) -> AsyncGenerator[grpc.aio.Channel]:
        """Lend the channel to a kubelet, whatever tells it from the next one at its socket."""
        line = self._lines.get(kubelet)
        if line is None:
            line = self._lines[kubelet] = _Line(self._open())
        line.calls += 1
        try:
            yield line.channel
        except BaseException:
            self._retire(kubelet, line)
            raise
        finally:
            line.calls -= 1
            if not line.calls:
                self._retire(kubelet, line)
                await line.channel.close()

    def _retire(self, kubelet: Hashable, line: _Line) -> None:
        """Lend it to nobody else."""
        if self._lines.get(kubelet) is line:
            del self._lines[kubelet]
