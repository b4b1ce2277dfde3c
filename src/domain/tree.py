"""What one scan found: a tree of device types and devices."""

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.errors import (
    InvalidDeviceError,
    InvalidResourceNameError,
    InvalidValueError,
)
from deviceplugin.domain.holds import Minded
from deviceplugin.domain.resources import ResourceName

Devices = Mapping[DeviceId, DeviceInfo]
"""The devices of one resource."""


@attrs.frozen(kw_only=True)
class TreeChanges:
    """How a newer tree differs from an older one, in resources; each tuple is sorted."""

    added: tuple[ResourceName, ...] = ()
    updated: tuple[ResourceName, ...] = ()
    removed: tuple[ResourceName, ...] = ()

    def __bool__(self) -> bool:
        """Say whether anything changed."""
        return bool(self.added or self.updated or self.removed)


def _copied(resources: Mapping[ResourceName, Devices]) -> Mapping[ResourceName, Devices]:
    return MappingProxyType(
        {name: MappingProxyType(dict(found)) for name, found in resources.items()}
    )


@attrs.frozen(unsafe_hash=False)
class FrozenTree:
    """What one scan found, with full resource names; nobody can change it any more.

    `minded` is what it takes into account of what containers may hold, if its maker knows of that.
    """

    resources: Mapping[ResourceName, Devices] = attrs.field(
        factory=dict[ResourceName, Devices], converter=_copied
    )
    minded: Minded | None = attrs.field(default=None, eq=False)

    def changes_since(self, older: "FrozenTree") -> TreeChanges:
        """Return which resources came, changed in any device, or went since `older`."""
        new, old = self.resources, older.resources
        return TreeChanges(
            added=tuple(sorted(new.keys() - old.keys())),
            updated=tuple(
                sorted(name for name in new.keys() & old.keys() if new[name] != old[name])
            ),
            removed=tuple(sorted(old.keys() - new.keys())),
        )


class DeviceTree:
    """What a scanner is finding: add devices to it, then hand it to the notifier.

    It is the scanner's own and can be reused: the notifier takes a frozen copy.
    """

    def __init__(self, *, minded: Minded | None = None) -> None:
        """Start with nothing found.

        `minded` is for a scanner that is told what containers may hold.
        """
        self._minded = minded
        self._types: dict[str, dict[DeviceId, DeviceInfo]] = {}

    def add_type(self, type_name: str) -> None:
        """Name a type that is served even while it has no devices."""
        if not isinstance(type_name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidResourceNameError(repr(type_name), "a type's name must be text")
        ResourceName.of("example.com", type_name)
        self._types.setdefault(type_name, {})

    def add_device(self, type_name: str, device_id: str | DeviceId, info: DeviceInfo) -> None:
        """Add a device of a type; the same id again replaces it.

        `type_name` is the part after the manager's namespace, or a whole `domain/name`. Raises
        `InvalidResourceNameError` and `InvalidDeviceError`.
        """
        if not isinstance(info, DeviceInfo):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidDeviceError("device", info, "must be a DeviceInfo")
        key = device_id if isinstance(device_id, DeviceId) else DeviceId(device_id)
        is_text = isinstance(type_name, str)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not is_text or type_name not in self._types:
            self.add_type(type_name)
        self._types[type_name][key] = info

    def freeze(self, namespace: str) -> FrozenTree:
        """Return a frozen copy whose types are full names under `namespace`.

        A type named both short and in full is one resource. Raises `InvalidResourceNameError`.
        """
        found: dict[ResourceName, dict[DeviceId, DeviceInfo]] = {}
        for type_name, devices in self._types.items():
            found.setdefault(ResourceName.of(namespace, type_name), {}).update(devices)
        return FrozenTree(found, self._minded)

    def __repr__(self) -> str:
        """Show types with their number of devices."""
        counts = ", ".join(f"{name}: {len(devices)}" for name, devices in self._types.items())
        return f"DeviceTree({counts})"


def tree_of(found: object) -> DeviceTree:
    """Return what a scan handed in; raises `InvalidValueError` if it is no tree."""
    if isinstance(found, DeviceTree):
        return found
    forgotten = "; did it forget to return its tree?" if found is None else ""
    kind = "None" if found is None else f"a {type(found).__name__}"
    raise InvalidValueError(f"a scan hands in a DeviceTree, not {kind}{forgotten}")
