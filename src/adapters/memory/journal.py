"""A journal that can be read and waited for."""

import asyncio
from collections import defaultdict
from contextlib import suppress
from typing import TypeVar

from deviceplugin.domain.events import Event
from deviceplugin.domain.ports.driven.journal import Journal

_Kind = TypeVar("_Kind", bound=Event)


class MemoryJournal(Journal):
    """Keeps every event, in the order in which they came."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._read: dict[type[Event], int] = defaultdict(int)
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything so far."""
        return tuple(self._events)

    def record(self, event: Event) -> None:
        """Keep `event`. Safe to call from any thread."""
        self._events.append(event)
        for waiting in tuple(self._waiting):
            # A closed loop has nobody left who waits.
            with suppress(RuntimeError):
                waiting.get_loop().call_soon_threadsafe(_resolve, waiting)

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """Return the events of one kind so far."""
        return tuple(event for event in self._events if isinstance(event, kind))

    async def next(self, kind: type[_Kind]) -> _Kind:
        """Return the first event of `kind` that no earlier call for this kind returned.

        So an event that came before the call is not missed. Waits as long as it takes.
        """
        while True:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(waiting)
            try:
                event = self._unread(kind)
                if event is not None:
                    return event
                await waiting
            finally:
                self._waiting.discard(waiting)

    def _unread(self, kind: type[_Kind]) -> _Kind | None:
        while self._read[kind] < len(self._events):
            event = self._events[self._read[kind]]
            self._read[kind] += 1
            if isinstance(event, kind):
                return event
        return None


def _resolve(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
