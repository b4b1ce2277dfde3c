"""What a device is and what a container that gets it is given."""

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, Self, TypeVar

import attrs

from deviceplugin.domain.errors import InvalidDeviceError

_MAX_NUMA_NODE: Final = 2**63 - 1
MAX_ID: Final = 63
"""Longest device id, by the comment on `Device.ID` in the kubelet's API."""
_DIGEST: Final = 12
"""Hex digits that keep two shortened ids apart (48 bits)."""
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_UNSENDABLE: Final = re.compile("[\0\ud800-\udfff]")
"""NUL, which ends a text in the kernel, and what a file name that isn't UTF-8 is decoded to."""
_CDI: Final = re.compile(r"[A-Za-z][\w.-]*/[A-Za-z][\w.-]*=[A-Za-z0-9][\w.:-]*", re.ASCII)

_Value = TypeVar("_Value")


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
        _sendable("device id", self.value)


def id_as_held(text: str) -> DeviceId:
    """Return an id as a kubelet says that it is held, whatever its form.

    Raises `InvalidDeviceError` for what no kubelet could have been sent.
    """
    try:
        return DeviceId(text)
    except InvalidDeviceError:
        return ForeignId(text)


def _sendable(part: str, text: object) -> None:
    """Refuse what neither a message nor a program's environment can hold."""
    if not isinstance(text, str) or _UNSENDABLE.search(text):
        raise InvalidDeviceError(part, text, "must be text in UTF-8 without NUL")


def _absolute(part: str, path: str) -> None:
    _sendable(part, path)
    if not path.startswith("/"):
        raise InvalidDeviceError(part, path, "must be an absolute path")


def _named(part: str, pairs: Mapping[str, str]) -> None:
    for name, value in pairs.items():
        _sendable(part, name)
        _sendable(f"value of {part} {name}", value)
        if not name:
            raise InvalidDeviceError(part, name, "must have a name")


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
        _absolute("device node", self.host_path)
        if self.container_path is not self.host_path:
            _absolute("container path", self.container_path)
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
        _absolute("mount", self.host_path)
        _absolute("container path", self.container_path)


def _unique(values: Iterable[_Value]) -> tuple[_Value, ...]:
    several = tuple(values)
    return tuple(dict.fromkeys(several)) if len(several) > 1 else several


def _nodes(values: Iterable[DeviceNode]) -> tuple[DeviceNode, ...]:
    return _unique(values)


def _mounts(values: Iterable[Mount]) -> tuple[Mount, ...]:
    return _unique(values)


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return _unique(values)


def _numa(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(_unique(values)))


def frozen_mapping(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return a read-only copy, sorted by key, that later changes of `values` cannot reach."""
    return MappingProxyType(dict(sorted(values.items()))) if values else _NOTHING


def _all_are(part: str, kind: type, values: Iterable[object]) -> None:
    """Refuse what a type checker would have, while the author's own code is on the stack."""
    for value in values:
        if not isinstance(value, kind):
            raise InvalidDeviceError(part, value, f"must be a {kind.__name__}")


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
    cdi_devices: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    parent: str = ""
    share_of: str = ""
    attributes: Mapping[str, str] = attrs.field(factory=dict[str, str], converter=frozen_mapping)

    def __attrs_post_init__(self) -> None:
        """Refuse what would fail in the kubelet or the runtime, far from its cause."""
        _all_are("health", Health, (self.health,))
        _all_are("device node", DeviceNode, self.nodes)
        if self.mounts:
            _all_are("mount", Mount, self.mounts)
        for node in self.numa_nodes:
            if not 0 <= node <= _MAX_NUMA_NODE:
                rule = "must not be negative, nor beyond 63 bits; leave an unknown one out"
                raise InvalidDeviceError("NUMA node", node, rule)
        if self.envs:
            _named("environment variable", self.envs)
        if self.annotations:
            _named("annotation", self.annotations)
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
