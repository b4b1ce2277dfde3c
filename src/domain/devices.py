"""What a device is and what a container that gets it is given."""

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, Self

import attrs

from deviceplugin.domain.errors import InvalidDeviceError
from deviceplugin.domain.given import (
    a_text,
    absolute,
    frozen_mapping,
    named,
    one,
    sendable,
    several,
)

_MAX_NUMA_NODE: Final = 2**63 - 1
MAX_ID: Final = 63
"""Longest device id, by the comment on `Device.ID` in the kubelet's API."""
_DIGEST: Final = 12
"""Hex digits that keep two shortened ids apart (48 bits)."""
_CDI: Final = re.compile(r"[A-Za-z][\w.-]*/[A-Za-z][\w.-]*=[A-Za-z0-9][\w.:-]*", re.ASCII)


class Health(Enum):
    """Whether a device may be handed out; the value is the kubelet's exact text."""

    HEALTHY = "Healthy"
    UNHEALTHY = "Unhealthy"


@attrs.frozen(order=True, cache_hash=True)
class DeviceId:
    """The id of a device within its resource: 1 to 63 printable characters.

    Raises `InvalidDeviceError`. Use `shorten` for identities that may be longer.
    """

    value: str

    def __attrs_post_init__(self) -> None:
        """Refuse what the API has no room for."""
        a_text("device id", self.value)
        if not 1 <= len(self.value) <= MAX_ID:
            rule = (
                f"must have 1 to {MAX_ID} characters; DeviceId.shorten makes a stable id of more"
            )
            raise InvalidDeviceError("device id", self.value, rule)
        if not self.value.isprintable():
            raise InvalidDeviceError("device id", self.value, "must be of printable characters")

    @classmethod
    def shorten(cls, text: str, length: int = MAX_ID) -> Self:
        """Return `text` as an id; a longer one keeps its beginning and gets a stable hash.

        `length` is how long it may be, from 14 on.
        """
        a_text("device id", text)
        if len(text) <= length:
            return cls(text)
        from hashlib import sha256  # noqa: PLC0415 - it brings all of OpenSSL's hashes along

        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
        return cls(f"{text[: length - _DIGEST - 1]}-{digest}")

    def __str__(self) -> str:
        """Return the id's text."""
        return self.value


@attrs.frozen(order=True, cache_hash=True)
class ForeignId(DeviceId):
    """An id that a kubelet knows and that none of ours could be: from a plugin that was before us.

    Raises `InvalidDeviceError` for what no kubelet could have been sent.
    """

    def __attrs_post_init__(self) -> None:
        """Refuse what no message can hold."""
        sendable("device id", self.value)


def id_as_held(text: str) -> DeviceId:
    """Return an id as a kubelet says that it is held, whatever its form.

    Raises `InvalidDeviceError` for what no kubelet could have been sent.
    """
    try:
        return DeviceId(text)
    except InvalidDeviceError:
        return ForeignId(text)


def _own_path(part: "DeviceNode | Mount") -> str:
    return part.host_path


@attrs.frozen
class DeviceNode:
    """A device node that the container may open, through the device cgroup.

    `container_path` is the host's path if left out. `permissions` are letters of r (read), w
    (write) and m (create the node), the least that makes sense by default. Raises
    `InvalidDeviceError`.
    """

    host_path: str
    container_path: str = attrs.field(
        default=attrs.Factory(_own_path, takes_self=True), kw_only=True
    )
    permissions: str = attrs.field(default="rw", kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse relative paths and permissions that no runtime knows."""
        absolute("device node", self.host_path)
        if self.container_path is not self.host_path:
            absolute("container path", self.container_path)
        a_text("permissions", self.permissions)
        letters = set(self.permissions)
        if not letters or letters - set("rwm") or len(letters) != len(self.permissions):
            rule = "must be one or more of the letters r, w and m, each once"
            raise InvalidDeviceError("permissions", self.permissions, rule)


@attrs.frozen
class Mount:
    """A file or directory of the host that the container sees, read-only unless said otherwise.

    A bind mount gives no right to open a device: use `DeviceNode` for that.
    """

    host_path: str
    container_path: str = attrs.field(
        default=attrs.Factory(_own_path, takes_self=True), kw_only=True
    )
    read_only: bool = attrs.field(default=True, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse relative paths."""
        absolute("mount", self.host_path)
        absolute("container path", self.container_path)
        one("read_only", bool, self.read_only)


def _nodes(values: Iterable[DeviceNode]) -> tuple[DeviceNode, ...]:
    return several("device node", DeviceNode, values)


def _mounts(values: Iterable[Mount]) -> tuple[Mount, ...]:
    return several("mount", Mount, values)


def _names(values: Iterable[str]) -> tuple[str, ...]:
    return several("CDI device", str, values)


def _numa(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(several("NUMA node", int, values)))


@attrs.frozen(kw_only=True, unsafe_hash=False)
class DeviceInfo:
    """One schedulable unit: its state, and what a container that is given it gets.

    - `env_separator`: what stands between the values that several devices of one container have
      for one variable; None: there can be only one value.
    - `numa_nodes`: where it sits; empty when unknown (sysfs says -1), which the kubelet takes as
      "no preference". A node of -1 would fit nowhere and is refused.
    - `cdi_devices`: fully qualified CDI names, `vendor/class=name`.
    - `parent`: the hardware it is part of, such as a card; allocation policies keep or part its
      children.
    - `share_of`: the id of the device, if this is one of several units that stand for it.
    - `attributes`: whatever else the scanner knows, for people and policies.

    Raises `InvalidDeviceError`.
    """

    health: Health = Health.HEALTHY
    nodes: tuple[DeviceNode, ...] = attrs.field(default=(), converter=_nodes)
    mounts: tuple[Mount, ...] = attrs.field(default=(), converter=_mounts)
    envs: Mapping[str, str] = attrs.field(factory=dict[str, str], converter=frozen_mapping)
    env_separator: str | None = None
    annotations: Mapping[str, str] = attrs.field(factory=dict[str, str], converter=frozen_mapping)
    numa_nodes: tuple[int, ...] = attrs.field(default=(), converter=_numa)
    cdi_devices: tuple[str, ...] = attrs.field(default=(), converter=_names)
    parent: str = ""
    share_of: str = ""
    attributes: Mapping[str, str] = attrs.field(factory=dict[str, str], converter=frozen_mapping)

    def __attrs_post_init__(self) -> None:
        """Refuse what would fail in the kubelet or the runtime, far from its cause."""
        one("health", Health, self.health)
        if self.env_separator is not None:
            sendable("environment separator", self.env_separator)
        a_text("parent", self.parent)
        a_text("share_of", self.share_of)
        for node in self.numa_nodes:
            if not 0 <= node <= _MAX_NUMA_NODE:
                rule = "must not be negative, nor beyond 63 bits; leave an unknown one out"
                raise InvalidDeviceError("NUMA node", node, rule)
        if self.envs:
            named("environment variable", self.envs)
        if self.annotations:
            named("annotation", self.annotations)
        for name in self.envs:
            if "=" in name:
                raise InvalidDeviceError("environment variable", name, "must not contain '='")
        for name in self.cdi_devices:
            if not _CDI.fullmatch(name):
                rule = "must read vendor/class=name, of letters, digits, '_', '-' and '.'"
                raise InvalidDeviceError("CDI device", name, rule)

    def unhealthy(self) -> Self:
        """Return a copy that the kubelet must not hand out."""
        if self.health is Health.UNHEALTHY:
            return self
        return attrs.evolve(self, health=Health.UNHEALTHY)
