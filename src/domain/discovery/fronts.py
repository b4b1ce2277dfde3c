"""One device that sysfs shows twice: with a device node, and beside that without one.

A device without a node can have something else to give. It has not if a device that has a node
matches, too, and is below it, or above it in one subsystem: sysfs has a serial port as ttyUSB0 on
its bus and as ttyUSB0 of class tty, and below a graphics card its connectors.
"""

from collections.abc import Iterable, Mapping

import attrs

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.guests import above
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Sighting
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True, eq=False)
class Fronts:
    """The devices with a node that match: the first below each path, and those at a path."""

    below: Mapping[tuple[ResourceName, str], Candidate]
    at: Mapping[tuple[ResourceName, str], Candidate]

    def of(self, rule: ResourceRule, candidate: Candidate) -> Candidate | None:
        """Return the device with a node that a device without one is only another view of."""
        front = self.below.get((rule.resource, candidate.devpath))
        if front is not None or not self.at:
            return front
        found = (self.at.get((rule.resource, path)) for path in above(candidate.devpath))
        return next(
            (each for each in found if each and each.subsystem == candidate.subsystem), None
        )


def _has_fronts(rule: ResourceRule) -> bool:
    """Say whether a device without a node would be a unit of its own."""
    return rule.provision.gives_more and rule.provision.group_by is None


def fronts_of(rules: Iterable[ResourceRule], sightings: Iterable[Sighting]) -> Fronts:
    """Return those of the rules by which a device without a node would be a unit of its own."""
    below: dict[tuple[ResourceName, str], Candidate] = {}
    at: dict[tuple[ResourceName, str], Candidate] = {}
    concerned = any(map(_has_fronts, rules))
    with_node = [each for each in sightings if concerned and each.claims and each.candidate.node]
    for each in sorted(with_node, key=lambda one: one.candidate.identity):
        for rule in filter(_has_fronts, each.claims):
            at[rule.resource, each.candidate.devpath] = each.candidate
            for path in above(each.candidate.devpath):
                below.setdefault((rule.resource, path), each.candidate)
    return Fronts(below=below, at=at)
