"""What is offered of a device: its id, which stays the same, and what a container gets."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Final

from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.tree import Devices

_DIGEST: Final = 12
"""Hex digits that tell devices of one name apart."""


def offer(rule: ResourceRule, found: Sequence[Candidate]) -> Devices:
    """Return the devices of one resource, each with an id of its own."""
    names = Counter(_plain(candidate) for candidate in found)
    return {
        _id(candidate, alone=names[_plain(candidate)] == 1): _info(rule, candidate)
        for candidate in found
    }


def _plain(candidate: Candidate) -> str:
    return "".join(letter if letter.isprintable() else "_" for letter in candidate.name)


def _id(candidate: Candidate, *, alone: bool) -> DeviceId:
    """Return the name, with a hash of the device's place if the name does not tell it apart.

    All devices of one name get the hash, so that it does not matter which of them was found first.
    """
    name = _plain(candidate)
    if alone and name == candidate.name:
        return DeviceId.shorten(name)
    place = candidate.identity.encode("utf-8", "surrogatepass")
    return DeviceId.shorten(f"{name}-{hashlib.sha256(place).hexdigest()[:_DIGEST]}")


def _info(rule: ResourceRule, candidate: Candidate) -> DeviceInfo:
    node = candidate.node
    facts = {
        "subsystem": candidate.subsystem,
        "driver": candidate.driver or "",
        "devpath": candidate.devpath,
        "devnum": node.number if node else "",
    }
    return DeviceInfo(
        health=Health.HEALTHY if node and node.present else Health.UNHEALTHY,
        nodes=[DeviceNode(node.path, permissions=rule.permissions)] if node else (),
        numa_nodes=candidate.numa_nodes,
        parent=candidate.parent,
        attributes={key: value for key, value in facts.items() if value},
    )
