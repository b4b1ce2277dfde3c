"""The laws of `Journal`."""

import threading
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, get_type_hints

import attrs

from deviceplugin.domain import (
    configuration_events,
    events,
    held_events,
    leftover_events,
    monitoring_events,
)
from deviceplugin.domain.discovery import events as discovery_events
from deviceplugin.domain.events import Event, ResourceEvent, ScanFailed
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.resources import ResourceName

_SAMPLES: dict[Any, object] = {
    str: "some text",
    int: 3,
    float: 1.5,
    ResourceName: ResourceName.parse("example.com/widget"),
    tuple[str, ...]: ("a", "b"),
}
_OWN = (events, configuration_events, held_events, leftover_events, monitoring_events)
_MODULES = {each.__name__ for each in (*_OWN, discovery_events)}
_ODD_TEXTS = (
    "",
    "two\nlines",
    "\0\x1b[31m",
    'a "quoted" = text',
    "na\u00efve \u2028",
    "\udcff",
    "x" * 99999,
)


def event_kinds(root: type[Event] = Event) -> tuple[type[Event], ...]:
    """Return each class of events that can happen."""
    below = [kind for each in root.__subclasses__() for kind in event_kinds(each)]
    itself = [] if root in {Event, ResourceEvent} or root.__module__ not in _MODULES else [root]
    return (*itself, *below)


def example(kind: type[Event]) -> Event:
    """Return an event of this class, with some value for each of its facts."""
    hints = get_type_hints(kind)
    return kind(**{field.name: _SAMPLES[hints[field.name]] for field in attrs.fields(kind)})


class JournalWorld(Protocol):
    """A journal, and the power to see what it took note of."""

    @property
    @abstractmethod
    def journal(self) -> Journal:
        """The journal under test."""
        ...

    @abstractmethod
    def notes(self) -> Sequence[object]:
        """Return what was taken note of, oldest first."""
        ...

    @abstractmethod
    def note_of(self, event: Event) -> object:
        """Return what `notes` must show for `event`."""
        ...


class JournalContract:
    """What holds for each journal: subclass it and provide `world`.

    One that only counts has no order: `keeps_order` says so.
    """

    keeps_order = True

    def world(self) -> AbstractContextManager[JournalWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    def test_takes_note_of_every_event_in_order(self) -> None:
        """No kind of event is lost, doubled or moved."""
        happened = [example(kind) for kind in event_kinds()] * 2
        with self.world() as world:
            for event in happened:
                world.journal.record(event)
            notes, wanted = list(world.notes()), [world.note_of(event) for event in happened]
            if not self.keeps_order:
                notes, wanted = sorted(notes, key=repr), sorted(wanted, key=repr)
            assert notes == wanted

    def test_bears_any_text(self) -> None:
        """A reason may come from anywhere: none raises, or is taken for several events."""
        with self.world() as world:
            for text in _ODD_TEXTS:
                world.journal.record(ScanFailed(reason=text, failures=1))
            assert len(world.notes()) == len(_ODD_TEXTS)

    def test_takes_note_in_any_thread(self) -> None:
        """A scanner's thread may record, while others do."""
        with self.world() as world:
            threads = [threading.Thread(target=self._record_some, args=[world]) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(world.notes()) == 8 * 50

    def _record_some(self, world: JournalWorld) -> None:
        for number in range(50):
            world.journal.record(ScanFailed(reason="odd", failures=number))
