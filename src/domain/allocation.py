"""The rule that turns device ids into what a container gets."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import attrgetter
from typing import TypeVar

import attrs

from deviceplugin.domain.devices import (
    DeviceId,
    DeviceInfo,
    DeviceNode,
    Health,
    Mount,
)
from deviceplugin.domain.errors import (
    AllocationClashError,
    MovedDeviceError,
    UnhealthyDeviceError,
    UnknownDeviceError,
)
from deviceplugin.domain.given import frozen_mapping
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices

_Value = TypeVar("_Value", bound=Hashable)


@attrs.frozen(kw_only=True, unsafe_hash=False)
class Grant:
    """What one container is given."""

    nodes: tuple[DeviceNode, ...] = ()
    mounts: tuple[Mount, ...] = ()
    envs: Mapping[str, str] = attrs.field(factory=dict[str, str], converter=frozen_mapping)
    annotations: Mapping[str, str] = attrs.field(factory=dict[str, str], converter=frozen_mapping)
    cdi_devices: tuple[str, ...] = ()


@attrs.frozen(unsafe_hash=False)
class Request:
    """What one container asks for: the devices, sorted by id, each known and healthy."""

    resource: ResourceName
    devices: Devices

    def default(self) -> Grant:
        """Return what the devices bring along, merged without loss.

        Equal parts are given once; different values of one environment variable are joined, in
        the order of the ids, if their devices say how. The answer does not depend on the order in
        which the kubelet named the ids. Raises `AllocationClashError` if two devices want one
        place for different things.
        """
        infos = tuple(self.devices.values())
        nodes = _merged_nodes(node for info in infos for node in info.nodes)
        mounts = _merged_mounts(mount for info in infos for mount in info.mounts)
        _check_apart(nodes, mounts)
        return Grant(
            nodes=nodes,
            mounts=mounts,
            envs=_joined(infos),
            annotations=_merged("annotation", (info.annotations for info in infos)),
            cdi_devices=tuple(dict.fromkeys(name for info in infos for name in info.cdi_devices)),
        )


def select(resource: ResourceName, devices: Devices, ids: Iterable[DeviceId]) -> Request:
    """Return the request for `ids` out of what is advertised.

    An id may be asked for again at any time: init containers and restarts do, and there is no
    release call. Raises `UnknownDeviceError` or `UnhealthyDeviceError` naming every such id, with
    the device nodes that it has or had, and grants nothing.
    """
    wanted = sorted(set(ids), key=attrgetter("value"))
    known = {key: devices[key] for key in wanted if key in devices}
    ill = {
        key.value: tuple(node.host_path for node in info.nodes)
        for key, info in known.items()
        if info.health is not Health.HEALTHY
    }
    if len(known) < len(wanted):
        unknown = [key.value for key in wanted if key not in known]
        raise UnknownDeviceError(unknown, unhealthy=ill, paths=ill)
    if ill:
        raise UnhealthyDeviceError(ill, paths=ill)
    return Request(resource, known)


Given = Mapping[DeviceId, frozenset[str]]
"""The host paths of the device nodes that containers were given last, by device."""


def given_nodes(request: Request, grant: Grant) -> Given:
    """Return which of the granted device nodes are those of each device asked for."""
    granted = {node.host_path for node in grant.nodes}
    return {key: _paths(info.nodes) & granted for key, info in request.devices.items()}


def check_in_place(given: Given, request: Request) -> None:
    """Raise `MovedDeviceError` if a device no longer has a node that was given for it.

    A container that restarts is made of what its pod was given, without another Allocate: the
    node may be gone, or be another device by now. One of which nothing is known passes.
    """
    now = {key: _paths(info.nodes) for key, info in request.devices.items()}
    gone = {key.value: given[key] for key in now if not given.get(key, frozenset()) <= now[key]}
    if gone:
        raise MovedDeviceError(gone, {key.value: paths for key, paths in now.items()})


def _paths(nodes: Iterable[DeviceNode]) -> frozenset[str]:
    return frozenset(node.host_path for node in nodes)


def _merged_nodes(nodes: Iterable[DeviceNode]) -> tuple[DeviceNode, ...]:
    """One node a container path; one wanted with several permissions gets all of them."""
    merged: dict[str, DeviceNode] = {}
    for node in nodes:
        seen = merged.setdefault(node.container_path, node)
        if seen.host_path != node.host_path:
            raise AllocationClashError(
                "device path", node.container_path, (seen.host_path, node.host_path)
            )
        if seen.permissions != node.permissions:
            both = "".join(
                letter for letter in "rwm" if letter in seen.permissions + node.permissions
            )
            merged[node.container_path] = attrs.evolve(seen, permissions=both)
    return tuple(merged.values())


def _merged_mounts(mounts: Iterable[Mount]) -> tuple[Mount, ...]:
    by_path = ((mount.container_path, mount) for mount in mounts)
    return tuple(_unique("mount path", by_path, show=_shown_mount).values())


def _check_apart(nodes: Iterable[DeviceNode], mounts: Iterable[Mount]) -> None:
    """A mount over a device node would hide it."""
    taken = {mount.container_path: mount for mount in mounts}
    for node in nodes:
        if (mount := taken.get(node.container_path)) is not None:
            values = (f"device {node.host_path}", f"mount of {_shown_mount(mount)}")
            raise AllocationClashError("path", node.container_path, values)


def _shown_mount(mount: Mount) -> str:
    return f"{mount.host_path} ({'read-only' if mount.read_only else 'writable'})"


def _joined(infos: Iterable[DeviceInfo]) -> dict[str, str]:
    """Return a value for each variable; each text of several is in it once."""
    wanted: dict[str, dict[str, str | None]] = {}
    for info in infos:
        for name, text in info.envs.items():
            wanted.setdefault(name, {}).setdefault(text, info.env_separator)
    return {name: _one_text(name, texts) for name, texts in wanted.items()}


def _one_text(name: str, texts: Mapping[str, str | None]) -> str:
    """Return the texts with what all of them want in between."""
    values, separators = tuple(texts), {*texts.values()}
    separator = separators.pop()
    if len(values) > 1 and (separator is None or separators):
        raise AllocationClashError("environment variable", name, values[:2])
    return (separator or "").join(values)


def _merged(kind: str, parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return _unique(kind, (item for part in parts for item in part.items()), show=str)


def _unique(
    kind: str, items: Iterable[tuple[str, _Value]], *, show: Callable[[_Value], str]
) -> dict[str, _Value]:
    """Return the items as a mapping; equal ones fall together, different ones clash."""
    merged: dict[str, _Value] = {}
    for key, value in items:
        seen = merged.setdefault(key, value)
        if seen != value:
            raise AllocationClashError(kind, key, (show(seen), show(value)))
    return merged
