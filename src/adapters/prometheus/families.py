"""The metrics: what each counts, and by which labels.

Names and labels are promises: people draw and alarm by them. Labels have few values: resources
that are served, words that stand here, and names of events.
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

RELOADS: Final = ("reloaded", "unchanged", "rejected")
HEALTH: Final = ("healthy", "unhealthy")
REGISTRATIONS: Final = ("accepted", "failed", "lost")
ALLOCATIONS: Final = ("granted", "refused", "unprepared")
SCANS: Final = ("succeeded", "failed")
SECONDS: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Bounds of the durations of scans; 30 seconds is what one may take."""


class Families:
    """One of each, in a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Make them, with all values at 0."""
        self.reloaded_well = Gauge(
            "deviceplugin_config_last_reload_successful",
            "1 if the configuration, as it was last read, is in force; 0 if it was rejected",
            registry=registry,
        )
        self.reloaded_at = Gauge(
            "deviceplugin_config_last_reload_success_timestamp_seconds",
            "When a configuration that can be used was last read, in seconds since 1970",
            registry=registry,
        )
        self.reloads = Counter(
            "deviceplugin_config_reloads_total",
            "Configurations read since the start: reloaded, unchanged or rejected",
            ["outcome"],
            registry=registry,
        )
        self.devices = Gauge(
            "deviceplugin_devices",
            "Devices that are advertised: healthy or unhealthy",
            ["resource", "health"],
            registry=registry,
        )
        self.registered = Gauge(
            "deviceplugin_registered",
            "1 while the kubelet knows the resource, else 0",
            ["resource"],
            registry=registry,
        )
        self.registrations = Counter(
            "deviceplugin_registrations_total",
            "Registrations: accepted, failed, or lost and to be made again",
            ["resource", "outcome"],
            registry=registry,
        )
        self.streams = Gauge(
            "deviceplugin_streams",
            "Open ListAndWatch streams: the kubelet has one",
            ["resource"],
            registry=registry,
        )
        self.allocations = Counter(
            "deviceplugin_allocations_total",
            "Containers that asked for devices: granted, refused, or unprepared to start",
            ["resource", "outcome"],
            registry=registry,
        )
        self.scans = Counter(
            "deviceplugin_scans_total",
            "Looks at the hardware: succeeded or failed",
            ["outcome"],
            registry=registry,
        )
        self.scan_seconds = Histogram(
            "deviceplugin_scan_duration_seconds",
            "How long looks at the hardware took that succeeded",
            registry=registry,
            buckets=SECONDS,
        )
        self.events = Counter(
            "deviceplugin_events_total",
            "What happened, by the name that it has in the log",
            ["event"],
            registry=registry,
        )
        for outcome in RELOADS:
            self.reloads.labels(outcome)
        for outcome in SCANS:
            self.scans.labels(outcome)

    def add(self, resource: str) -> None:
        """Show a resource, with all values at 0."""
        for health in HEALTH:
            self.devices.labels(resource, health)
        self.registered.labels(resource)
        for outcome in REGISTRATIONS:
            self.registrations.labels(resource, outcome)
        self.streams.labels(resource)
        for outcome in ALLOCATIONS:
            self.allocations.labels(resource, outcome)

    def remove(self, resource: str) -> None:
        """Show a resource no more that was added."""
        for health in HEALTH:
            self.devices.remove(resource, health)
        self.registered.remove(resource)
        for outcome in REGISTRATIONS:
            self.registrations.remove(resource, outcome)
        self.streams.remove(resource)
        for outcome in ALLOCATIONS:
            self.allocations.remove(resource, outcome)
