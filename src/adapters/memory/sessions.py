"""What a kubelet keeps of the servers that registered."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress

import attrs

from deviceplugin.adapters.memory.host import MemoryIncarnation
from deviceplugin.adapters.memory.tasks import ended
from deviceplugin.domain.devices import Health
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.resources import ResourceName


@attrs.define(eq=False)
class Session:
    """One registered server: its options, and the lists that came through its stream."""

    resource: ResourceName
    server: MemoryIncarnation
    options: Options
    listings: list[Listing] = attrs.field(factory=list[Listing], init=False)
    connected: bool = attrs.field(default=True, init=False)

    @property
    def devices(self) -> Listing | None:
        """The last list; all Unhealthy once the stream has ended; None before the first."""
        if not self.listings:
            return None
        if self.connected:
            return self.listings[-1]
        return tuple(attrs.evolve(each, health=Health.UNHEALTHY) for each in self.listings[-1])


class Sessions:
    """The table of sessions, by resource; calls `changed` when there is something new to see."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._current: dict[ResourceName, Session] = {}
        self._streams: dict[Session, asyncio.Task[None]] = {}

    def get(self, resource: ResourceName) -> Session | None:
        """Return the session of the server that registered last."""
        return self._current.get(resource)

    def streams(self, resource: ResourceName) -> int:
        """Return how many streams of the resource are open."""
        return sum(session.resource == resource for session in self._streams)

    def open(self, session: Session, gate: asyncio.Event) -> None:
        """Take `session` for its resource from now on; open its stream once `gate` is set."""
        stream = asyncio.create_task(self._listen(session, gate))
        self._current[session.resource] = session
        self._streams[session] = stream
        # Not a `finally` in the task: one that is cancelled before its first step never runs it.
        stream.add_done_callback(lambda _: self._end(session))
        self._changed()

    async def cut(self, resource: ResourceName) -> None:
        """End the resource's streams."""
        await ended(*[task for each, task in self._streams.items() if each.resource == resource])

    async def forget(self) -> None:
        """End all streams and know nothing."""
        self._current.clear()
        await ended(*self._streams.values())

    async def _listen(self, session: Session, gate: asyncio.Event) -> None:
        await gate.wait()
        # However a stream ends, a kubelet survives it.
        with suppress(Exception):
            await self._take(session)

    async def _take(self, session: Session) -> None:
        async with aclosing(session.server.listings()) as listings:
            async for listing in listings:
                session.listings.append(listing)
                self._changed()

    def _end(self, session: Session) -> None:
        """Disconnect what has the session's name: up to 1.36 that may be a newer session."""
        session.connected = False
        del self._streams[session]
        current = self._current.get(session.resource)
        if current is not None and current in self._streams:
            self._streams[current].cancel()
        self._changed()
