"""What happened to the kubelet, in order."""

import time
from collections.abc import Iterator
from typing import TypeVar

import attrs

from deviceplugin.testing.kubelet.watch import Watch


def _now() -> float:
    return time.monotonic()


@attrs.frozen(kw_only=True)
class Record:
    """Something that happened, and when by the monotonic clock."""

    at: float = attrs.field(factory=_now, eq=False)


@attrs.frozen(kw_only=True)
class Started(Record):
    """The kubelet listens on kubelet.sock."""


@attrs.frozen(kw_only=True)
class Stopped(Record):
    """The kubelet is gone: all its connections are closed."""


@attrs.frozen(kw_only=True)
class CheckpointWritten(Record):
    """The checkpoint file was replaced."""


@attrs.frozen(kw_only=True)
class ResourceRecord(Record):
    """Something about one resource."""

    resource: str


@attrs.frozen(kw_only=True)
class EndpointRecord(ResourceRecord):
    """Something about one endpoint, named as the plugin named it."""

    endpoint: str


@attrs.frozen(kw_only=True)
class RegisterAsked(EndpointRecord):
    """A plugin called Register."""

    version: str


@attrs.frozen(kw_only=True)
class OptionsRead(EndpointRecord):
    """The plugin was reached and has told its options."""


@attrs.frozen(kw_only=True)
class Registered(EndpointRecord):
    """The endpoint is the one to ask for the resource; its devices are not known yet."""


@attrs.frozen(kw_only=True)
class Refused(EndpointRecord):
    """Register failed with this text, whether or not the plugin still heard it."""

    reason: str


@attrs.frozen(kw_only=True)
class StreamOpened(EndpointRecord):
    """ListAndWatch was called."""


@attrs.frozen(kw_only=True)
class ListReceived(EndpointRecord):
    """A full list arrived, of so many devices and bytes."""

    devices: int
    size: int


@attrs.frozen(kw_only=True)
class StreamEnded(EndpointRecord):
    """ListAndWatch ended, and why."""

    reason: str


@attrs.frozen(kw_only=True)
class PreferenceAsked(ResourceRecord):
    """GetPreferredAllocation is being called with this."""

    available: frozenset[str]
    must_include: frozenset[str]
    size: int


@attrs.frozen(kw_only=True)
class AllocateAsked(ResourceRecord):
    """Allocate is being called for these ids, in this order."""

    container: str
    ids: tuple[str, ...]


@attrs.frozen(kw_only=True)
class PreStartAsked(ResourceRecord):
    """PreStartContainer is being called for these ids."""

    container: str
    ids: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Unserved(Record):
    """A part of the kubelet could not start, and the rest goes on without it, as the real one."""

    part: str
    reason: str


@attrs.frozen(kw_only=True)
class SocketRecord(Record):
    """Something about a socket in plugins_registry."""

    socket: str


@attrs.frozen(kw_only=True)
class InfoAsked(SocketRecord):
    """GetInfo is being called."""


@attrs.frozen(kw_only=True)
class StatusSent(SocketRecord):
    """NotifyRegistrationStatus is being called: with an error, or none if the plugin is in."""

    error: str


@attrs.frozen(kw_only=True)
class Deregistered(SocketRecord):
    """The socket is gone or another one; the plugin behind it is not asked any more."""


_Record = TypeVar("_Record", bound=Record)


class History:
    """All records since the fake was made, over all its restarts. Safe to read from any thread."""

    def __init__(self, watch: Watch) -> None:
        """Ring the bell of `watch` at each record."""
        self._watch = watch
        self._records: list[Record] = []

    def add(self, record: Record) -> None:
        """Write down what has just happened."""
        with self._watch.changing():
            self._records.append(record)

    def __iter__(self) -> Iterator[Record]:
        """Yield what has happened until now."""
        with self._watch.reading():
            return iter(tuple(self._records))

    def __len__(self) -> int:
        """Return how many records there are until now."""
        with self._watch.reading():
            return len(self._records)

    def __repr__(self) -> str:
        """Show the records, one a line."""
        return "\n ".join(["History:", *map(repr, self)])

    def of(self, kind: type[_Record], resource: str | None = None) -> tuple[_Record, ...]:
        """Return the records of one kind, of one resource if that is named."""
        return tuple(
            record
            for record in self
            if isinstance(record, kind) and resource in (None, getattr(record, "resource", None))
        )

    def await_more(self, known: int, *, timeout: float) -> tuple[Record, ...]:
        """Wait for records beyond the first `known` ones and return them; none after `timeout`."""

        def look() -> tuple[Record, ...] | None:
            return tuple(self._records[known:]) or None

        return self._watch.until(look, timeout) or ()

    def await_count(
        self,
        kind: type[_Record],
        count: int,
        resource: str | None = None,
        *,
        timeout: float = 5.0,
    ) -> tuple[_Record, ...]:
        """Wait until there are at least `count` such records and return them all.

        Raises `TimeoutError` that tells what there is instead.
        """

        def look() -> tuple[_Record, ...] | None:
            found = self.of(kind, resource)
            return found if len(found) >= count else None

        found = self._watch.until(look, timeout)
        if found is None:
            message = (
                f"fewer than {count} {kind.__name__} after {timeout} s; history: {list(self)}"
            )
            raise TimeoutError(message)
        return found
