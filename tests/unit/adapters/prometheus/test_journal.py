"""The laws of counting: each number is what happened, and no label has values without end."""

import re
from pathlib import Path
from typing import Any

import pytest

from deviceplugin.adapters.prometheus import PrometheusJournal
from deviceplugin.domain.configuration_events import (
    ConfigurationRejected,
    ConfigurationRejectedAgain,
    ConfigurationReloaded,
    ConfigurationUnchanged,
)
from deviceplugin.domain.events import (
    AllocationFailed,
    DevicesAllocated,
    Event,
    InventoryChanged,
    PreparationFailed,
    RegistrationFailed,
    RegistrationFailedAgain,
    RegistrationLost,
    ResourceRegistered,
    ResourceStopped,
    ScanFailed,
)
from deviceplugin.domain.monitoring_events import ScanEnded, StreamEnded, StreamOpened
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.contracts.journal import event_kinds, example

WIDGET = ResourceName.parse("example.com/widget")
OF_WIDGET: dict[str, Any] = {"resource": WIDGET}
DOCUMENT = Path(__file__).parents[4] / "docs" / "metrics.md"
START = 1000.0


class Counted:
    """A journal whose numbers can be asked for."""

    def __init__(self) -> None:
        self.time = START
        self.journal = PrometheusJournal(now=lambda: self.time)

    def after(self, *events: Event) -> "Counted":
        """Let these happen."""
        for event in events:
            self.journal.record(event)
        return self

    def value(self, name: str, **labels: str) -> float | None:
        """Return a number; None if it is not shown."""
        return self.journal.registry.get_sample_value(f"deviceplugin_{name}", labels)

    def series(self, resource: ResourceName) -> int:
        """Return how many numbers are shown of a resource."""
        samples = [each for family in self.journal.registry.collect() for each in family.samples]
        return sum(each.labels.get("resource") == str(resource) for each in samples)


def test_what_is_read_at_the_start_is_in_force() -> None:
    counted = Counted()
    assert counted.value("config_last_reload_successful") == 1
    assert counted.value("config_last_reload_success_timestamp_seconds") == START
    for outcome in ("reloaded", "unchanged", "rejected"):
        assert counted.value("config_reloads_total", outcome=outcome) == 0


def test_a_configuration_that_is_rejected_is_seen_until_a_good_one_comes() -> None:
    """Each is counted, those with the same faults too."""
    counted = Counted()
    rejected: dict[str, Any] = {"source": "f", "faults": ("x",)}
    counted.time += 5
    counted.after(
        ConfigurationRejected(**rejected, failures=1),
        ConfigurationRejectedAgain(**rejected, failures=2),
    )
    assert counted.value("config_reloads_total", outcome="rejected") == 2
    assert counted.value("config_last_reload_successful") == 0
    assert counted.value("config_last_reload_success_timestamp_seconds") == START
    counted.after(ConfigurationUnchanged(source="f"))
    assert counted.value("config_last_reload_successful") == 1
    assert counted.value("config_last_reload_success_timestamp_seconds") == START + 5
    counted.after(ConfigurationReloaded(source="f"))
    assert counted.value("config_reloads_total", outcome="reloaded") == 1


def test_devices_are_shown_as_they_are_listed() -> None:
    counted = Counted().after(InventoryChanged(**OF_WIDGET, devices=5, healthy=3))
    shown: dict[str, str] = {"resource": "example.com/widget"}
    assert counted.value("devices", **shown, health="healthy") == 3
    assert counted.value("devices", **shown, health="unhealthy") == 2
    assert counted.value("registered", **shown) == 0


def test_registrations_are_counted_by_outcome() -> None:
    """500 failures are 500, though the log has one line a reason."""
    failed: dict[str, Any] = {**OF_WIDGET, "endpoint": "a", "reason": "busy"}
    counted = Counted().after(
        RegistrationFailed(**failed, failures=1),
        *(RegistrationFailedAgain(**failed, failures=number) for number in range(2, 501)),
        ResourceRegistered(**OF_WIDGET, endpoint="a"),
    )
    shown: dict[str, str] = {"resource": "example.com/widget"}
    assert counted.value("registrations_total", **shown, outcome="failed") == 500
    assert counted.value("registrations_total", **shown, outcome="accepted") == 1
    assert counted.value("registered", **shown) == 1
    counted.after(RegistrationLost(**OF_WIDGET, endpoint="a", reason="cut"))
    assert counted.value("registrations_total", **shown, outcome="lost") == 1
    assert counted.value("registered", **shown) == 0


def test_allocations_are_counted_by_outcome() -> None:
    refused: dict[str, Any] = {**OF_WIDGET, "devices": ("a",), "reason": "gone"}
    counted = Counted().after(
        StreamOpened(**OF_WIDGET, streams=1),
        DevicesAllocated(**OF_WIDGET, devices=("a",)),
        AllocationFailed(**refused),
        PreparationFailed(**refused),
        PreparationFailed(**refused),
    )
    shown: dict[str, str] = {"resource": "example.com/widget"}
    assert counted.value("allocations_total", **shown, outcome="granted") == 1
    assert counted.value("allocations_total", **shown, outcome="refused") == 1
    assert counted.value("allocations_total", **shown, outcome="unprepared") == 2


def test_open_streams_are_shown() -> None:
    counted = Counted().after(
        StreamOpened(**OF_WIDGET, streams=1), StreamOpened(**OF_WIDGET, streams=2)
    )
    assert counted.value("streams", resource="example.com/widget") == 2
    counted.after(StreamEnded(**OF_WIDGET, streams=1), StreamEnded(**OF_WIDGET, streams=0))
    assert counted.value("streams", resource="example.com/widget") == 0


def test_scans_are_counted_and_timed() -> None:
    counted = Counted().after(ScanEnded(seconds=0.02), ScanFailed(reason="x", failures=1))
    assert counted.value("scans_total", outcome="succeeded") == 1
    assert counted.value("scans_total", outcome="failed") == 1
    assert counted.value("scan_duration_seconds_bucket", le="0.01") == 0
    assert counted.value("scan_duration_seconds_bucket", le="0.03") == 1
    assert counted.value("scan_duration_seconds_count") == 1


@pytest.mark.parametrize("kind", event_kinds())
def test_every_event_is_counted_by_its_name(kind: type[Event]) -> None:
    """So what has no metric of its own can be watched as well, such as a probe that cannot run."""
    event = example(kind)
    counted = Counted().after(event, event)
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    assert counted.value("events_total", event=name) == 2


def test_a_resource_that_is_served_no_more_leaves_nothing() -> None:
    """Whatever comes late: names can come and go without end."""
    counted = Counted()
    late = [example(kind) for kind in event_kinds()]
    for number in range(20):
        resource = ResourceName("example.com", f"r{number}")
        counted.after(
            InventoryChanged(resource=resource, devices=1, healthy=1),
            StreamOpened(resource=resource, streams=1),
        )
        assert counted.series(resource) >= 9
        counted.after(
            ResourceStopped(resource=resource),
            StreamEnded(resource=resource, streams=0),
            DevicesAllocated(resource=resource, devices=("a",)),
            RegistrationLost(resource=resource, endpoint="a", reason="x"),
            ResourceStopped(resource=resource),
        )
        assert counted.series(resource) == 0
    counted.after(*late)


def test_two_plugins_of_a_process_do_not_mix() -> None:
    first, second = Counted(), Counted()
    first.after(ScanEnded(seconds=1))
    assert second.value("scans_total", outcome="succeeded") == 0


def test_the_document_promises_what_is_shown() -> None:
    """Name, sort and labels of each, as they are scraped, but for those of every process."""
    counted = Counted().after(
        InventoryChanged(**OF_WIDGET, devices=1, healthy=1), ScanEnded(seconds=1)
    )
    shown = {
        (family.name, family.type, ", ".join(f"`{each}`" for each in _labels(family)))
        for family in counted.journal.registry.collect()
        if family.name.startswith("deviceplugin_")
    }
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*?) ?\|", DOCUMENT.read_text(), re.MULTILINE)
    assert {(name.removesuffix("_total"), sort, labels) for name, sort, labels in rows} == shown


def _labels(family: Any) -> list[str]:  # noqa: ANN401 - of a library without a name for it
    names = {name: None for sample in family.samples for name in sample.labels}
    return [name for name in names if name != "le"]
