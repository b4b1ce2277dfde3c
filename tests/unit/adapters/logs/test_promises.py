"""Names and keys that people search for. Change them as you would change an API."""

from typing import Final

from deviceplugin.adapters.logs.lines import facts
from deviceplugin.domain.event_names import event_name
from deviceplugin.testing.contracts.journal import event_kinds, example

PROMISED: Final = {
    "allocation_failed": "resource devices reason",
    "configuration_rejected": "source faults failures",
    "configuration_rejected_again": "source faults failures",
    "configuration_reloaded": "source added removed changed settings reordered",
    "configuration_unchanged": "source",
    "device_contested": "resource device reason",
    "device_disputed": "resource device reason",
    "device_skipped": "resource device reason",
    "device_stays_held": "resource device reason",
    "device_unwell": "resource device reason",
    "devices_allocated": "resource devices",
    "devices_held": "resource devices",
    "devices_released": "resource devices",
    "directory_unreadable": "path reason",
    "exclusion_undecided": "resource device reason",
    "entry_forbidden": "path reason",
    "entry_unreadable": "path reason",
    "file_left": "path reason",
    "held_not_listed": "resource devices reason",
    "holders_unknown": "reason",
    "hotplug_degraded": "source reason",
    "inventory_changed": "resource devices healthy added updated vanished",
    "kubelet_appeared": "directory",
    "kubelet_awaited": "directory reason",
    "kubelet_missing": "directory seconds",
    "kubelet_vanished": "directory",
    "metrics_served": "address",
    "metrics_unavailable": "address reason",
    "list_too_large": "resource devices size bound reason",
    "numa_node_unknown": "resource device reason",
    "optional_resource_unmatched": "resource candidates reasons",
    "preference_failed": "resource reason",
    "preparation_failed": "resource devices reason",
    "probe_impossible": "resource device reason",
    "register_blocked": "directory registry seconds",
    "registration_failed": "resource endpoint reason failures",
    "registration_failed_again": "resource endpoint reason failures",
    "registration_lost": "resource endpoint reason",
    "resource_registered": "resource endpoint",
    "resource_stopped": "resource",
    "resource_unmatched": "resource candidates reasons",
    "restart_needed": "source settings",
    "scan_doubted": "seconds",
    "scan_ended": "seconds",
    "scan_failed": "reason failures",
    "scan_recovered": "",
    "scan_returned": "reason",
    "serving_failed": "resource reason failures",
    "serving_failed_again": "resource reason failures",
    "stream_ended": "resource streams",
    "stream_opened": "resource streams",
    "watch_degraded": "reason",
}
"""Each event's keys, in the order in which a line shows them."""

RESERVED: Final = {"time", "level", "logger", "event", "message", "exception"}
"""What a JSON line says of every record."""


def test_every_event_has_the_name_and_keys_that_were_promised() -> None:
    found = {event_name(kind): " ".join(facts(example(kind))) for kind in event_kinds()}
    assert found == PROMISED


def test_no_key_hides_what_is_said_of_every_record() -> None:
    assert not RESERVED & {key for keys in PROMISED.values() for key in keys.split()}
