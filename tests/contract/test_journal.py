"""Each journal obeys the laws of `Journal`."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import attrs

from deviceplugin.adapters.logs import LoggingJournal
from deviceplugin.adapters.logs.lines import facts, line
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.prometheus import PrometheusJournal
from deviceplugin.app.use_cases.tell_all import TellAll
from deviceplugin.domain.event_names import event_name
from deviceplugin.domain.events import Event
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.testing.contracts.journal import JournalContract, JournalWorld


@attrs.frozen
class _MemoryWorld:
    journal: MemoryJournal = attrs.field(factory=MemoryJournal)

    def notes(self) -> Sequence[object]:
        return self.journal.events

    def note_of(self, event: Event) -> object:
        return event


class _Kept(logging.Handler):
    """Keeps records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


class _LoggingWorld:
    """A logger of its own, with a handler that keeps what it is given."""

    def __init__(self) -> None:
        logger = logging.getLogger("test of laws")
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        self._kept = _Kept()
        logger.handlers = [self._kept]
        self.journal = LoggingJournal(logger)

    def notes(self) -> Sequence[object]:
        return [each.getMessage() for each in self._kept.records]

    def note_of(self, event: Event) -> object:
        return line(event_name(type(event)), facts(event))


class TestLoggingJournal(JournalContract):
    """Records of the standard library."""

    @contextmanager
    def world(self) -> Generator[JournalWorld]:
        yield _LoggingWorld()


class TestMemoryJournal(JournalContract):
    """Kept for the reader."""

    @contextmanager
    def world(self) -> Generator[JournalWorld]:
        yield _MemoryWorld()


class _PrometheusWorld:
    """Counts have no order: each counted event is a note of its name."""

    def __init__(self) -> None:
        self.journal = PrometheusJournal()

    def notes(self) -> Sequence[object]:
        return [
            sample.labels["event"]
            for family in self.journal.registry.collect()
            for sample in family.samples
            if sample.name == "deviceplugin_events_total"
            for _ in range(int(sample.value))
        ]

    def note_of(self, event: Event) -> object:
        return event_name(type(event))


class TestPrometheusJournal(JournalContract):
    """Counters."""

    keeps_order = False

    @contextmanager
    def world(self) -> Generator[JournalWorld]:
        yield _PrometheusWorld()


@attrs.frozen
class _LastOfTwoWorld:
    """What the second of two journals takes note of."""

    kept: MemoryJournal = attrs.field(factory=MemoryJournal)

    @property
    def journal(self) -> Journal:
        return TellAll([MemoryJournal(), self.kept])

    def notes(self) -> Sequence[object]:
        return self.kept.events

    def note_of(self, event: Event) -> object:
        return event


class TestTellAll(JournalContract):
    """Each of several."""

    @contextmanager
    def world(self) -> Generator[JournalWorld]:
        yield _LastOfTwoWorld()
