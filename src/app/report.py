"""What a look at the hardware comes to, as a document for programs."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from deviceplugin.adapters.logs.lines import facts
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Mount
from deviceplugin.domain.event_names import event_name
from deviceplugin.domain.events import Event
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices

REPORT_VERSION: Final = 1
"""Of the shape; keys may come within a version, none goes or changes its meaning."""

Document = Mapping[str, Any]


def report(resources: Mapping[ResourceName, Devices], events: Iterable[Event]) -> Document:
    """Return what was found, sorted by name and id, and what was odd, of plain JSON values.

    Paths are the host's, wherever its /sys and /dev are mounted.
    """
    return {
        "version": REPORT_VERSION,
        "resources": [
            {"name": str(name), "devices": [_device(key, found[key]) for key in sorted(found)]}
            for name, found in sorted(resources.items())
        ],
        "problems": [_problem(event) for event in events],
    }


def _device(key: DeviceId, info: DeviceInfo) -> Document:
    return {
        "id": str(key),
        "health": info.health.value,
        "numa_nodes": list(info.numa_nodes),
        "parent": info.parent,
        "share_of": info.share_of,
        "attributes": dict(info.attributes),
        "container": {
            "nodes": [_node(node) for node in info.nodes],
            "mounts": [_mount(mount) for mount in info.mounts],
            "envs": dict(info.envs),
            "env_separator": info.env_separator,
            "annotations": dict(info.annotations),
            "cdi_devices": list(info.cdi_devices),
        },
    }


def _node(node: DeviceNode) -> Document:
    return {
        "host_path": node.host_path,
        "container_path": node.container_path,
        "permissions": node.permissions,
    }


def _mount(mount: Mount) -> Document:
    return {
        "host_path": mount.host_path,
        "container_path": mount.container_path,
        "read_only": mount.read_only,
    }


def _problem(event: Event) -> Document:
    known = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in facts(event).items()
    }
    return {"event": event_name(type(event)), "level": event.level, **known}
