"""What a person reads who asks why: each line with a tone, which a terminal shows as a colour."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal

import attrs

from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.assortment import shown
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.explanation import absence
from deviceplugin.domain.discovery.inquiry import Finding, Group, Outcome, grouped
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.withheld import shown_value
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import FrozenTree

SHOWN: Final = 5
"""Devices of a group that are named; the others are counted, unless all are asked for."""

Tone = Literal["plain", "title", "good", "bad"]


@attrs.frozen
class Line:
    """A line, and how it is meant."""

    text: str
    tone: Tone = "plain"


def of_resource(
    rule: ResourceRule, findings: Sequence[Finding], ids: Mapping[str, str], *, every: bool
) -> Iterator[Line]:
    """Yield why a resource has the devices that it has, and no others.

    `ids` are ids of devices by what tells candidates apart; `every` names each device on a line of
    its own, else those that one condition ruled out are told together.
    """
    own = [each for each in findings if each.resource == rule.resource]
    by = {outcome: [each for each in own if each.outcome is outcome] for outcome in Outcome}
    count = len(by[Outcome.OFFERED])
    yield Line(f"{rule.resource}: {count} of {_devices(len(own))} that were looked at", "title")
    for alternative in rule.match:
        yield Line(f"  wants {alternative}")
        absent = absence(alternative, [each.candidate for each in own])
        if absent:
            yield Line(f"  - {absent}", "bad")
    for each in by[Outcome.OFFERED]:
        yield _offered(f"  + {_named(each.candidate)}{_as(each, ids)}", each)
    for each in by[Outcome.COMPANION]:
        yield Line(f"  & {_named(each.candidate)} {each.reason}", "good")
    for each in by[Outcome.REFUSED]:
        yield Line(f"  - {_named(each.candidate)}: {each.reason}", "bad")
    if every:
        for each in by[Outcome.RULED_OUT]:
            yield Line(f"  - {_named(each.candidate)}: {each}")
    else:
        yield from map(_group, grouped(by[Outcome.RULED_OUT]))


def of_device(findings: Sequence[Finding], ids: Mapping[str, str]) -> Iterator[Line]:
    """Yield which device it is, who has it, and why each of the others does not."""
    candidate = findings[0].candidate
    yield Line(_named(candidate), "title")
    for key, text in _facts(candidate):
        yield Line(f"  {key:<10} {text}")
    owners = [each for each in findings if each.outcome is Outcome.OFFERED]
    for each in owners:
        yield _offered(f"+ {each.resource} has it{_as(each, ids)}", each)
    hosts = [each for each in findings if each.outcome is Outcome.COMPANION]
    for each in hosts:
        yield Line(f"& {each.resource}: it {each.reason}", "good")
    if not owners and not hosts:
        yield Line("no resource has it", "bad")
    for each in findings:
        if each.outcome not in {Outcome.OFFERED, Outcome.COMPANION}:
            tone: Tone = "bad" if each.outcome is Outcome.REFUSED else "plain"
            yield Line(f"- {each.resource}: {each}", tone)


def ids_of(
    tree: FrozenTree, unwell: Mapping[str, str], *, unasked: Collection[ResourceName] = ()
) -> Mapping[str, str]:
    """Return the ids of devices by their path below /sys, else by their node.

    `unwell` has reasons by id; the probes of `unasked` resources were not asked. Shares of a
    device are counted under its own id.
    """
    units: dict[str, list[tuple[str, str]]] = {}
    for resource, devices in tree.resources.items():
        well = "probe: not asked (use --probe)" if resource in unasked else ""
        for key, info in devices.items():
            place = info.attributes.get("devpath") or next(
                (node.host_path for node in info.nodes), ""
            )
            ill = f"Unhealthy: {unwell.get(info.share_of or str(key), 'not known why')}"
            why = well if info.health is Health.HEALTHY else ill
            units.setdefault(place, []).append((info.share_of or str(key), why))
    return {place: _told(each) for place, each in units.items()}


def _told(units: Sequence[tuple[str, str]]) -> str:
    names = ", ".join(dict.fromkeys(name for name, _ in units))
    notes = dict.fromkeys(why for _, why in units if why)
    if len(units) > 1:
        notes = {f"{len(units)} shares": None, **notes}
    return f"{names} ({'; '.join(notes)})" if notes else names


def _offered(text: str, finding: Finding) -> Line:
    if not finding.reason:
        return Line(text, "good")
    is_told = finding.reason in text
    return Line(text if is_told else f"{text}: Unhealthy, {finding.reason}", "bad")


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{count} devices"


def _named(candidate: Candidate) -> str:
    return f"{candidate.name} ({shown(candidate)})"


def _as(finding: Finding, ids: Mapping[str, str]) -> str:
    """Return the id of a device, which of a group is that of all, and its node."""
    candidate = finding.candidate
    known = ids.get(finding.lead or candidate.identity)
    node = f", {candidate.node.path}" if candidate.node else ""
    return f" as {known}{node}" if known else node


def _facts(candidate: Candidate) -> Iterator[tuple[str, str]]:
    if candidate.devpath:
        yield "path", f"/sys{candidate.devpath}"
    yield "subsystem", candidate.subsystem or "none"
    yield "driver", candidate.driver or "none"
    if candidate.node:
        gone = "" if candidate.node.present else ", which is not there"
        yield "node", f"{candidate.node.path} ({candidate.node.device}){gone}"
    else:
        yield "node", "none"
    if candidate.numa_nodes:
        yield "NUMA node", ", ".join(map(str, candidate.numa_nodes))
    else:
        yield "NUMA node", f"unknown: {candidate.numa_unknown or 'nothing tells'}"
    if candidate.parent:
        yield "part of", candidate.parent


def _group(group: Group) -> Line:
    shown_ones = group.findings[:SHOWN]
    more = len(group.findings) - len(shown_ones)
    listed = ", ".join(map(_member, shown_ones)) + (f" and {more} more" if more else "")
    count = _devices(len(group.findings))
    return Line(f"  - {group.condition}: wanted {group.wanted}; {count}: {listed}")


def _member(finding: Finding) -> str:
    name = finding.candidate.name
    values = finding.miss.seen if finding.miss else ()
    return (
        name
        if values == (name,)
        else f"{name} ({' and '.join(map(shown_value, values)) or 'nothing'})"
    )
