"""A journal that counts."""

import time
from collections.abc import Callable
from threading import Lock

from prometheus_client import CollectorRegistry, Counter, ProcessCollector

from deviceplugin.adapters.prometheus.families import Families
from deviceplugin.domain.configuration_events import (
    ConfigurationRejected,
    ConfigurationReloaded,
    ConfigurationUnchanged,
)
from deviceplugin.domain.event_names import event_name
from deviceplugin.domain.events import (
    AllocationFailed,
    DevicesAllocated,
    Event,
    InventoryChanged,
    PreparationFailed,
    RegistrationFailed,
    RegistrationLost,
    ResourceEvent,
    ResourceRegistered,
    ResourceStopped,
    ScanFailed,
)
from deviceplugin.domain.monitoring_events import ScanEnded, StreamEnded, StreamOpened
from deviceplugin.domain.ports.driven.journal import Journal

_BEGINNING = (InventoryChanged, RegistrationFailed, ResourceRegistered, StreamOpened)
"""Events of a resource that is served. Others may come late, when it is shown no more."""


class PrometheusJournal(Journal):
    """Counts what happens, in a registry of its own: no two plugins of a process mix.

    A resource is shown from its first list or registration until it is no longer served. `now`
    returns seconds since 1970; what is read at the start counts as the first configuration.
    """

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        """Have counted nothing yet."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._now = now
        self._families = made = Families(self.registry)
        # The first that fits counts.
        self._outcomes: tuple[tuple[type[ResourceEvent], Counter, str], ...] = (
            (ResourceRegistered, made.registrations, "accepted"),
            (RegistrationFailed, made.registrations, "failed"),
            (RegistrationLost, made.registrations, "lost"),
            (DevicesAllocated, made.allocations, "granted"),
            (PreparationFailed, made.allocations, "unprepared"),
            (AllocationFailed, made.allocations, "refused"),
        )
        self._shown: set[str] = set()
        self._lock = Lock()
        self._take_over()

    def record(self, event: Event) -> None:
        """Count `event`."""
        self._families.events.labels(event_name(type(event))).inc()
        if isinstance(event, ResourceEvent):
            with self._lock:
                self._count_of(str(event.resource), event)
        else:
            self._count(event)

    def _count(self, event: Event) -> None:
        made = self._families
        match event:
            case ScanEnded():
                made.scans.labels("succeeded").inc()
                made.scan_seconds.observe(event.seconds)
            case ScanFailed():
                made.scans.labels("failed").inc()
            case ConfigurationRejected():
                made.reloads.labels("rejected").inc()
                made.reloaded_well.set(0)
            case ConfigurationReloaded():
                made.reloads.labels("reloaded").inc()
                self._take_over()
            case ConfigurationUnchanged():
                made.reloads.labels("unchanged").inc()
                self._take_over()
            case _:
                pass

    def _take_over(self) -> None:
        self._families.reloaded_well.set(1)
        self._families.reloaded_at.set(self._now())

    def _count_of(self, resource: str, event: ResourceEvent) -> None:
        made = self._families
        if isinstance(event, _BEGINNING) and resource not in self._shown:
            self._shown.add(resource)
            made.add(resource)
        if resource not in self._shown:
            return
        for kind, counter, outcome in self._outcomes:
            if isinstance(event, kind):
                counter.labels(resource, outcome).inc()
                break
        match event:
            case InventoryChanged():
                made.devices.labels(resource, "healthy").set(event.healthy)
                made.devices.labels(resource, "unhealthy").set(event.devices - event.healthy)
            case ResourceRegistered() | RegistrationLost():
                made.registered.labels(resource).set(isinstance(event, ResourceRegistered))
            case StreamOpened() | StreamEnded():
                made.streams.labels(resource).set(event.streams)
            case ResourceStopped():
                self._shown.remove(resource)
                made.remove(resource)
            case _:
                pass
