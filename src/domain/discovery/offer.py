"""What is offered of a device: what a container gets that is given it."""

from collections.abc import Mapping, Sequence

from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.tree import Devices


def offer(
    rule: ResourceRule,
    found: Sequence[Candidate],
    ids: Mapping[str, DeviceId],
    health: Mapping[DeviceId, Health],
) -> Devices:
    """Return the devices of one resource; `ids` are by what tells candidates apart."""
    return {
        (key := ids[candidate.identity]): _info(rule, candidate, health[key])
        for candidate in found
    }


def _info(rule: ResourceRule, candidate: Candidate, health: Health) -> DeviceInfo:
    node = candidate.node
    facts = {
        "subsystem": candidate.subsystem,
        "driver": candidate.driver or "",
        "devpath": candidate.devpath,
        "devnum": node.number if node else "",
    }
    return DeviceInfo(
        health=health,
        nodes=[DeviceNode(node.path, permissions=rule.permissions)] if node else (),
        numa_nodes=candidate.numa_nodes,
        parent=candidate.parent,
        attributes={key: value for key, value in facts.items() if value},
    )
