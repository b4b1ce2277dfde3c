"""What a plugin says, as plain values: no wire message goes further than `link` and `answers`."""

from collections.abc import Mapping
from typing import Final

import attrs

HEALTHY: Final = "Healthy"
"""The one text that makes a device allocatable; the kubelet compares bytes."""


@attrs.frozen(kw_only=True)
class Device:
    """One device of a list. `nodes` is None without topology; they need not exist."""

    id: str
    health: str = HEALTHY
    nodes: tuple[int, ...] | None = None

    @property
    def healthy(self) -> bool:
        """Whether the health is exactly `Healthy`."""
        return self.health == HEALTHY

    @property
    def has_topology(self) -> bool:
        """Whether any NUMA node is named, -1 included: that makes the whole resource aligned."""
        return bool(self.nodes)


@attrs.frozen(kw_only=True)
class Options:
    """The answer of GetDevicePluginOptions, which alone counts (not the options in Register)."""

    pre_start: bool = False
    preferred: bool = False


@attrs.frozen(kw_only=True)
class DeviceSpec:
    """A device node that a container gets. The permissions are passed on as they are."""

    container_path: str
    host_path: str
    permissions: str


@attrs.frozen(kw_only=True)
class Mount:
    """A bind mount that a container gets."""

    container_path: str
    host_path: str
    read_only: bool = False


@attrs.frozen(kw_only=True)
class Answer:
    """What one container is to get: one answer to Allocate, or several merged into one."""

    envs: Mapping[str, str] = attrs.field(factory=dict[str, str])
    annotations: Mapping[str, str] = attrs.field(factory=dict[str, str])
    devices: tuple[DeviceSpec, ...] = ()
    mounts: tuple[Mount, ...] = ()
    cdi_devices: tuple[str, ...] = ()
