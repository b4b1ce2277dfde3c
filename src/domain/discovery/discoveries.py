"""From what a scanner saw to what is offered."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.discovery.assortment import Assortment, Skip, assort, shown
from deviceplugin.domain.discovery.events import (
    NumaNodeUnknown,
    OptionalResourceUnmatched,
    ResourceUnmatched,
)
from deviceplugin.domain.discovery.explanation import explain
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.offer import offer
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.events import DeviceSkipped, Event
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices, DeviceTree

_SHOWN: Final = 5
"""Skipped devices shown at most where a resource is left with none; the rest are counted."""


@attrs.frozen(kw_only=True, eq=False)
class Discovery:
    """What one scan came to.

    `served` are the resources to offer, with devices or without; `notes` say what is odd in this
    scan, and `unmatched` why a resource has no devices.
    """

    devices: Mapping[ResourceName, Devices] = attrs.field(factory=dict[ResourceName, Devices])
    served: frozenset[ResourceName] = frozenset()
    notes: frozenset[Event] = frozenset()
    unmatched: Mapping[ResourceName, ResourceUnmatched] = attrs.field(
        factory=dict[ResourceName, ResourceUnmatched]
    )

    def tree(self) -> DeviceTree:
        """Return a tree for whoever asked for the scan to keep."""
        tree = DeviceTree()
        for resource in sorted(self.served):
            tree.add_type(str(resource))
        for resource, devices in self.devices.items():
            for key, info in devices.items():
                tree.add_device(str(resource), key, info)
        return tree

    def under(self, older: Rulebook, newer: Rulebook) -> "Discovery":
        """Return what of this still counts once newer rules are in force.

        What no rule is about any more is not served. Why a resource has no devices is asked anew
        if its rule changed.
        """
        kept = {rule.resource for rule in newer}
        before = {rule.resource: rule for rule in older}
        same = {rule.resource for rule in newer if rule == before.get(rule.resource)}
        return attrs.evolve(
            self,
            devices={name: found for name, found in self.devices.items() if name in kept},
            served=self.served & kept,
            unmatched={name: each for name, each in self.unmatched.items() if name in same},
        )

    def news_since(self, older: "Discovery") -> tuple[Event, ...]:
        """Return the events that were not yet true in `older`, in a stable order."""
        unmatched = (
            event for name, event in self.unmatched.items() if name not in older.unmatched
        )
        return (*sorted(self.notes - older.notes, key=repr), *unmatched)


def discover(
    rules: Rulebook,
    sightings: Iterable[Sighting],
    *,
    before: Discovery,
    remarks: Iterable[Event] = (),
) -> Discovery:
    """Return what sightings come to, in whatever order they are.

    Of a candidate that some rule matches, everything must be known. `before` is the last
    discovery: a resource that once had a device stays served. `remarks` are the scanner's own.
    """
    seen = tuple(sightings)
    dealt = assort(rules, seen)
    devices = {
        rule.resource: offer(rule, dealt.found[rule.resource])
        for rule in rules
        if rule.resource in dealt.found
    }
    asked = {rule.resource for rule in rules if rule.advertise_empty}
    return Discovery(
        devices=MappingProxyType(devices),
        served=before.served | asked | devices.keys(),
        notes=frozenset({*remarks, *_notes(dealt)}),
        unmatched={
            rule.resource: before.unmatched.get(rule.resource) or _unmatched(rule, seen, dealt)
            for rule in rules
            if rule.resource not in devices
        },
    )


def _notes(dealt: Assortment) -> Iterator[Event]:
    for skip in dealt.skips:
        yield DeviceSkipped(resource=skip.resource, device=skip.device, reason=skip.reason)
    for resource, found in dealt.found.items():
        for each in found:
            if not each.numa_nodes:
                reason = each.numa_unknown
                yield NumaNodeUnknown(resource=resource, device=shown(each), reason=reason)


def _unmatched(
    rule: ResourceRule, seen: tuple[Sighting, ...], dealt: Assortment
) -> ResourceUnmatched:
    kind = ResourceUnmatched if rule.advertise_empty else OptionalResourceUnmatched
    skips = tuple(skip for skip in dealt.skips if skip.resource == rule.resource)
    rulings = explain(rule, (each.candidate for each in seen))
    reasons = _skipped(skips) or tuple(map(str, rulings))
    return kind(resource=rule.resource, candidates=len(seen), reasons=reasons)


def _skipped(skips: tuple[Skip, ...]) -> tuple[str, ...]:
    texts = tuple(f"{skip.device}: {skip.reason}" for skip in skips[:_SHOWN])
    return (*texts, f"and {len(skips) - _SHOWN} more") if len(skips) > _SHOWN else texts
