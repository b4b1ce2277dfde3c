"""What is offered of a unit: what a container gets that is given it."""

from collections.abc import Callable, Iterator, Mapping

import attrs

from deviceplugin.domain.allocation import Request
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Mount
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Fact
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import MountRule
from deviceplugin.domain.discovery.templates import Own, Template, facts_of
from deviceplugin.domain.discovery.units import Unit
from deviceplugin.domain.errors import AllocationClashError, InvalidValueError

_ValueOf = Callable[[Own | Fact], str | None]


@attrs.frozen(kw_only=True, eq=False)
class Offer:
    """A unit under its id; `troubles` say why no container can be given it, if so."""

    unit: Unit
    id: DeviceId
    info: DeviceInfo
    troubles: tuple[str, ...] = ()


def offer(rule: ResourceRule, unit: Unit, key: DeviceId) -> Offer:
    """Return what is offered of a unit of the resource, as if it was well.

    Troubles are: something that should come along is missing, a fact for a template is, or two
    parts of it want one place.
    """
    lead = unit.members[0]
    node = lead.node
    facts = {
        "subsystem": lead.subsystem,
        "driver": lead.driver or "",
        "devpath": lead.devpath,
        "devnum": node.number if node else "",
    }
    # Most units are one device with one node: of these nothing can be wrong, and there are many.
    is_simple = not rule.provision.gives_more and not rule.provision.container_path
    is_simple = is_simple and len(unit.members) == 1 and not unit.troubles
    bare = DeviceInfo(
        nodes=[DeviceNode(node.path, permissions=rule.permissions)] if is_simple and node else (),
        numa_nodes=unit.numa_nodes,
        parent=lead.parent,
        attributes={name: value for name, value in facts.items() if value},
    )
    if is_simple and node:
        return Offer(unit=unit, id=key, info=bare)
    try:
        info = _provided(rule, unit, key, bare)
        Request(rule.resource, {key: info}).default()
    except (AllocationClashError, InvalidValueError) as error:
        paths = [each.node.path for each in unit.members if each.node]
        plain = attrs.evolve(bare, nodes=[DeviceNode(path) for path in paths])
        return Offer(unit=unit, id=key, info=plain, troubles=(*unit.troubles, str(error)))
    gives = info.nodes or info.mounts or info.envs or info.annotations
    nothing = () if gives else ("there is nothing that a container could be given",)
    return Offer(unit=unit, id=key, info=info, troubles=(*unit.troubles, *nothing))


def _provided(rule: ResourceRule, unit: Unit, key: DeviceId, bare: DeviceInfo) -> DeviceInfo:
    provision = rule.provision
    nodes = list(_nodes(rule, unit, key))
    value_of = facts_of(
        unit.lead, device_id=key.value, container_path=nodes[0].container_path if nodes else ""
    )
    return attrs.evolve(
        bare,
        nodes=nodes,
        mounts=[_mount(each, value_of) for each in provision.mounts],
        envs=_texts(provision.envs, value_of),
        env_separator=provision.env_separator if provision.envs else None,
        annotations=_texts(provision.annotations, value_of),
    )


def _nodes(rule: ResourceRule, unit: Unit, key: DeviceId) -> Iterator[DeviceNode]:
    for each in unit.members:
        yield from _node(each, key, rule.provision.container_path, rule.permissions)
    for companion, guest in unit.companions:
        permissions = companion.permissions or rule.permissions
        yield from _node(guest, key, companion.container_path, permissions)


def _node(
    candidate: Candidate, key: DeviceId, where: Template | None, permissions: str
) -> Iterator[DeviceNode]:
    if candidate.node is None:
        return
    path = candidate.node.path
    if where is None:
        yield DeviceNode(path, permissions=permissions)
        return
    there = where.fill(facts_of(candidate, device_id=key.value, container_path=""))
    if there.endswith("/"):
        there += path.rpartition("/")[2]
    yield DeviceNode(path, container_path=there, permissions=permissions)


def _mount(mount: MountRule, value_of: _ValueOf) -> Mount:
    host = mount.host_path.fill(value_of)
    there = mount.container_path.fill(value_of) if mount.container_path else host
    return Mount(host, container_path=there, read_only=mount.read_only)


def _texts(pairs: tuple[tuple[Template, Template], ...], value_of: _ValueOf) -> Mapping[str, str]:
    return {name.fill(value_of): text.fill(value_of) for name, text in pairs}
