"""Which devices of which resource are held, out of whatever names them."""

from collections.abc import Iterable, Mapping
from typing import Final

from deviceplugin.domain.devices import DeviceId, id_as_held
from deviceplugin.domain.errors import (
    HoldersUnknownError,
    InvalidDeviceError,
    InvalidResourceNameError,
)
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings
from deviceplugin.domain.room import fitting

MAX_ENTRIES: Final = 100_000
"""Of all resources together: what names more is not read to its end."""
MAX_NODES: Final = 1024
"""NUMA nodes that Linux can number."""

HeldByName = Mapping[str, Holdings]
"""What is held by the text of the resource's name."""


def collected(entries: Iterable[tuple[str, str, Iterable[int]]], *, complete: bool) -> HeldByName:
    """Return what is held of each resource, by (resource, id, NUMA nodes).

    What cannot be an id is left out, and so are nodes that no machine has; a negative one stands
    for none. Of a resource of which more is named than a list has room for, as much as it has is
    kept: see `domain.room`. Raises `HoldersUnknownError` if there are more than `MAX_ENTRIES`.
    """
    named: dict[str, dict[str, set[int]]] = {}
    for number, (resource, text, nodes) in enumerate(entries):
        if number == MAX_ENTRIES:
            reason = f"names more than {MAX_ENTRIES} devices: no node has so many"
            raise HoldersUnknownError(reason)
        known = named.setdefault(resource, {}).setdefault(text, set())
        known.update(node for node in nodes if 0 <= node < MAX_NODES)
    return {resource: _holdings(each, complete=complete) for resource, each in named.items()}


def _holdings(named: Mapping[str, set[int]], *, complete: bool) -> Holdings:
    """Return what there is room for; who had to leave something out does not know everything."""
    fit = fitting(named)
    held: dict[DeviceId, tuple[int, ...]] = {}
    for text in fit:
        try:
            held[id_as_held(text)] = tuple(sorted(named[text]))
        except InvalidDeviceError:
            continue  # No list can have had it, so no container holds it.
    left_out = len(named) - len(fit)
    return Holdings(held=held, complete=complete and not left_out, left_out=left_out)


def by_resource(held: HeldByName) -> Mapping[ResourceName, Holdings]:
    """Return what is held of each resource; what cannot be one's name is left out."""
    found: dict[ResourceName, Holdings] = {}
    for text, devices in held.items():
        try:
            found[ResourceName.parse(text)] = devices
        except InvalidResourceNameError:
            continue  # None of ours.
    return found
