"""Each journal obeys the laws of `Journal`."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import attrs

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.events import Event
from deviceplugin.testing.contracts.journal import JournalContract, JournalWorld


@attrs.frozen
class _MemoryWorld:
    journal: MemoryJournal = attrs.field(factory=MemoryJournal)

    def notes(self) -> Sequence[object]:
        return self.journal.events

    def note_of(self, event: Event) -> object:
        return event


class TestMemoryJournal(JournalContract):
    """Kept for the reader."""

    @contextmanager
    def world(self) -> Generator[JournalWorld]:
        yield _MemoryWorld()
