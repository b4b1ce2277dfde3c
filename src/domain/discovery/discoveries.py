"""From what a scanner saw to what is offered."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.arrangement import NOWHERE, Arrangement, arrange
from deviceplugin.domain.discovery.assortment import Skip, shown
from deviceplugin.domain.discovery.events import (
    DeviceContested,
    DeviceDisputed,
    DeviceSkipped,
    DeviceStaysHeld,
    ExclusionUndecided,
    NumaNodeUnknown,
    OptionalResourceUnmatched,
    ResourceUnmatched,
)
from deviceplugin.domain.discovery.examination import Diagnosis, examine
from deviceplugin.domain.discovery.explanation import explain
from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.discovery.holding import whereabouts_of
from deviceplugin.domain.discovery.identity import Identities
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.events import Event
from deviceplugin.domain.holds import NOTHING_HELD, Holds, Minded
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.sharing import shared
from deviceplugin.domain.tree import Devices, DeviceTree

_NO_OUTCOMES: Final[Mapping[Probe, Outcome]] = MappingProxyType({})
_WAY_OUT: Final = (
    "Narrow one of them with 'exclude', or let the first one win with 'on_conflict: first'"
)
_Offered = tuple[Arrangement, Diagnosis, Mapping[ResourceName, Devices]]
_SHOWN: Final = 5
"""Skipped devices shown at most where a resource is left with none; the rest are counted."""


@attrs.frozen(kw_only=True, eq=False)
class Discovery:
    """What one scan came to.

    `served` are the resources to offer, with devices or without; `notes` say what is odd in this
    scan, and `unmatched` why a resource has no devices. `identities` are the ids given that are
    remembered, and `diagnosis` is what is believed of the health of each. `minded` is what is held
    and was taken into account, by the `arrangement` of the devices. `dispute` says which devices
    nobody gets because several resources claim them, where that is an error, and what to do.
    """

    devices: Mapping[ResourceName, Devices] = attrs.field(factory=dict[ResourceName, Devices])
    served: frozenset[ResourceName] = frozenset()
    notes: frozenset[Event] = frozenset()
    unmatched: Mapping[ResourceName, ResourceUnmatched] = attrs.field(
        factory=dict[ResourceName, ResourceUnmatched]
    )
    identities: Identities = attrs.field(factory=Identities)
    arrangement: Arrangement = attrs.field(factory=Arrangement)
    diagnosis: Diagnosis = attrs.field(factory=Diagnosis)
    minded: Minded = attrs.field(factory=Minded)
    dispute: str = ""

    def tree(self) -> DeviceTree:
        """Return a tree for whoever asked for the scan to keep."""
        tree = DeviceTree(minded=self.minded)
        for resource in sorted(self.served):
            tree.add_type(str(resource))
        for resource, devices in self.devices.items():
            name = str(resource)
            for key, info in devices.items():
                tree.add_device(name, key, info)
        return tree

    def has_minded(self, held: Holds) -> bool:
        """Say whether the same comes of it if just this is held.

        So it is if what is held now beyond what was is offered as it is held, and nothing that is
        free now was in the way.
        """
        new = held - self.minded.held
        stay = all(hold.id in self.devices.get(hold.resource, {}) for hold in new)
        return stay and self.minded.in_the_way <= held

    def places_of(self, held: Holds) -> frozenset[str]:
        """Return where what is held was, as far as that is remembered, and what came with it."""
        return whereabouts_of(held, self.arrangement.whereabouts)

    def minding(self, held: Holds) -> "Discovery":
        """Return the same, with what is held now; for what `has_minded` it."""
        if held == self.minded.held:
            return self
        return attrs.evolve(self, minded=attrs.evolve(self.minded, held=held))

    def under(self, older: Rulebook, newer: Rulebook) -> "Discovery":
        """Return what of this still counts for a discovery by newer rules.

        What no rule is about any more is not served. Why a resource has no devices is asked anew
        if its rule changed.
        """
        kept = {rule.resource for rule in newer}
        before = {rule.resource: rule for rule in older}
        same = {rule.resource for rule in newer if rule == before.get(rule.resource)}
        return attrs.evolve(
            self,
            served=self.served & kept,
            unmatched={name: each for name, each in self.unmatched.items() if name in same},
        )

    def news_since(self, older: "Discovery") -> tuple[Event, ...]:
        """Return the events that were not yet true in `older`, in a stable order."""
        unmatched = (
            event for name, event in self.unmatched.items() if name not in older.unmatched
        )
        return (*sorted(self.notes - older.notes, key=repr), *unmatched)


def discover(  # noqa: PLR0913 - the parts of one scan, by name
    rules: Rulebook,
    sightings: Iterable[Sighting],
    *,
    before: Discovery,
    remarks: Iterable[Event] = (),
    outcomes: Mapping[Probe, Outcome] = _NO_OUTCOMES,
    at: float = 0.0,
    held: Holds = NOTHING_HELD,
) -> Discovery:
    """Return what sightings come to, in whatever order they are.

    Of a candidate that some rule matches, everything must be known. `before` is the last
    discovery: a resource that once had a device stays served, and a device keeps its id. `remarks`
    are the scanner's own, `outcomes` what probes have answered by `at`, in seconds by some clock.
    What containers may have `held` stays with its resource under its id, or is not offered.
    """
    seen = tuple(sightings)

    def arranged(last: Mapping[ResourceName, Devices]) -> _Offered:
        found = arrange(
            rules,
            seen,
            before=last,
            identities=before.identities,
            held=held,
            whereabouts=before.arrangement.whereabouts if held else NOWHERE,
        )
        diagnosis = examine(rules, found.offers, before.diagnosis, outcomes, at)
        return found, diagnosis, _devices(rules, found, diagnosis)

    found, diagnosis, devices = arranged(before.devices)
    if any(_has_ill(devices[each]) for each in found.waiting):
        # What is believed to be ill only now gives its place to what waits for one.
        found, diagnosis, devices = arranged(devices)
    asked = {rule.resource for rule in rules if rule.advertise_empty}
    return Discovery(
        devices=MappingProxyType(devices),
        served=before.served | asked | devices.keys(),
        notes=frozenset({*remarks, *_notes(found), *_doubts(rules, seen), *diagnosis.notes}),
        unmatched={
            rule.resource: before.unmatched.get(rule.resource) or _unmatched(rule, seen, found)
            for rule in rules
            if rule.resource not in devices
        },
        identities=found.identities,
        arrangement=found,
        diagnosis=diagnosis,
        minded=Minded(held=held, in_the_way=found.in_the_way),
        dispute=_dispute(found.disputed),
    )


def _devices(
    rules: Rulebook, found: Arrangement, diagnosis: Diagnosis
) -> Mapping[ResourceName, Devices]:
    return {
        rule.resource: shared(
            {each.id: diagnosis.of(rule.resource, each) for each in found.offers[rule.resource]},
            rule.provision.count,
        )
        for rule in rules
        if rule.resource in found.offers
    }


def _has_ill(devices: Devices) -> bool:
    return any(each.health is Health.UNHEALTHY for each in devices.values())


def _dispute(disputed: Sequence[Skip]) -> str:
    conflicts = [skip for skip in disputed if skip.is_contested]
    texts = _shown(conflicts, lambda skip: f"{skip.device}: {skip.resource}, but {skip.reason}")
    return f"resources claim the same device: {'; '.join(texts)}. {_WAY_OUT}" if texts else ""


def _notes(found: Arrangement) -> Iterator[Event]:
    # One event for each conflict: of those who would not have got the device anyway.
    for skip in (each for each in found.disputed if each.is_contested):
        reason = f"{skip.reason}, so that nobody gets it. {_WAY_OUT}"
        yield DeviceDisputed(resource=skip.resource, device=skip.device, reason=reason)
    for skip in found.skips:
        kind = DeviceContested if skip.is_contested else DeviceSkipped
        kind = DeviceStaysHeld if skip.is_held else kind
        yield kind(resource=skip.resource, device=skip.device, reason=skip.reason)
    for resource, offers in found.offers.items():
        for unit in (each.unit for each in offers):
            if not unit.numa_nodes:
                device, reason = shown(unit.lead), unit.numa_unknown
                yield NumaNodeUnknown(resource=resource, device=device, reason=reason)


def _doubts(rules: Rulebook, seen: Iterable[Sighting]) -> Iterator[Event]:
    for candidate in (each.candidate for each in seen if each.candidate.withholds):
        for rule in rules.about(candidate.subsystem):
            doubt = rule.doubt(candidate)
            if doubt:
                yield ExclusionUndecided(
                    resource=rule.resource,
                    device=shown(candidate),
                    reason=f"whether [{doubt}] leaves it out depends on what cannot be read",
                )


def _unmatched(
    rule: ResourceRule, seen: tuple[Sighting, ...], found: Arrangement
) -> ResourceUnmatched:
    kind = ResourceUnmatched if rule.advertise_empty else OptionalResourceUnmatched
    all_ = (*found.disputed, *found.skips)
    skips = tuple(skip for skip in all_ if skip.resource == rule.resource)
    rulings = explain(rule, (each.candidate for each in seen))
    reasons = _shown(skips, lambda skip: f"{skip.device}: {skip.reason}")
    reasons = reasons or tuple(map(str, rulings))
    return kind(resource=rule.resource, candidates=len(seen), reasons=reasons)


def _shown(skips: Sequence[Skip], text: Callable[[Skip], str]) -> tuple[str, ...]:
    """Return the texts of the first few; the rest are counted."""
    more = [f"and {len(skips) - _SHOWN} more"] if len(skips) > _SHOWN else []
    return (*map(text, skips[:_SHOWN]), *more)
