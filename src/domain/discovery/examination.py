"""How well the devices of a scan are, by all that is known of each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import attrs

from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.events import DeviceUnwell, ProbeImpossible
from deviceplugin.domain.discovery.health import NOT_YET, STEADY, Outcome, Probe, Steady, ailments
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.offer import Offer
from deviceplugin.domain.events import Event
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True, eq=False)
class Diagnosis:
    """The health of all devices: what is believed, why, and which probes have to be asked.

    `unsettled` says whether another look could change it though nothing else changes.
    """

    steady: Mapping[ResourceName, Mapping[DeviceId, Steady]] = attrs.field(
        factory=dict[ResourceName, Mapping[DeviceId, Steady]]
    )
    probes: frozenset[Probe] = frozenset()
    notes: frozenset[Event] = frozenset()

    @property
    def unsettled(self) -> bool:
        """Whether some looks disagree with what is believed."""
        return any(each.against for found in self.steady.values() for each in found.values())

    def of(self, resource: ResourceName, offer: Offer) -> DeviceInfo:
        """Return what is offered, in the health that is believed of it.

        What a container could not be given whole is Unhealthy, whatever looks say.
        """
        health = self.steady[resource][offer.id].health
        is_well = health is Health.HEALTHY and not offer.troubles
        return offer.info if is_well else offer.info.unhealthy()


def examine(
    rules: Iterable[ResourceRule],
    found: Mapping[ResourceName, tuple[Offer, ...]],
    before: Diagnosis,
    outcomes: Mapping[Probe, Outcome],
    at: float,
) -> Diagnosis:
    """Return the health of the units found: the worst of their members'.

    One that is new is as it looks at first.
    """
    steady: dict[ResourceName, dict[DeviceId, Steady]] = defaultdict(dict)
    probes: set[Probe] = set()
    notes: set[Event] = set()
    for rule in rules:
        older = before.steady.get(rule.resource, {})
        for offer in found.get(rule.resource, ()):
            key, reasons = offer.id, offer.troubles
            for candidate in offer.unit.members:
                probe = rule.probe and rule.probe.about(_facts(key, candidate))
                outcome = outcomes.get(probe, NOT_YET) if probe else None
                if probe:
                    probes.add(probe)
                found_ill = ailments(candidate, rule.unmet(candidate), outcome)
                reasons += found_ill
                if found_ill:
                    notes.update(_notes(rule.resource, key, found_ill, outcome))
            seen = Health.UNHEALTHY if reasons else Health.HEALTHY
            last = older.get(key)
            steady[rule.resource][key] = (
                STEADY[seen]
                if last is None
                else last.observe(
                    seen,
                    at,
                    unhealthy_after=rule.unhealthy_after,
                    healthy_after=rule.healthy_after,
                )
            )
            if offer.troubles:
                notes.update(_notes(rule.resource, key, offer.troubles, None))
    return Diagnosis(steady=dict(steady), probes=frozenset(probes), notes=frozenset(notes))


def _facts(key: DeviceId, candidate: Candidate) -> Mapping[str, str]:
    return {
        "id": key.value,
        "name": candidate.name,
        "node": candidate.node.path if candidate.node else "",
        "devpath": candidate.devpath,
    }


def _notes(
    resource: ResourceName, key: DeviceId, reasons: tuple[str, ...], outcome: Outcome | None
) -> Iterable[Event]:
    if outcome is not None and not outcome.ran:
        yield ProbeImpossible(resource=resource, device=key.value, reason=outcome.reason)
    elif reasons and outcome is not NOT_YET:
        yield DeviceUnwell(resource=resource, device=key.value, reason="; ".join(reasons))
