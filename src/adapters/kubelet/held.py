"""Which devices of which resource are held, out of whatever names them."""

from collections.abc import Iterable, Mapping

from deviceplugin.domain.devices import DeviceId, id_as_held
from deviceplugin.domain.errors import InvalidDeviceError, InvalidResourceNameError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Held, Holdings

HeldByName = Mapping[str, Held]
"""What is held by the text of the resource's name."""


def collected(entries: Iterable[tuple[str, str, Iterable[int]]]) -> HeldByName:
    """Return what is held of each resource, by (resource, id, NUMA nodes).

    What cannot be an id is left out, and so are negative nodes, which stand for none.
    """
    held: dict[str, dict[DeviceId, set[int]]] = {}
    for resource, text, nodes in entries:
        try:
            known = held.setdefault(resource, {}).setdefault(id_as_held(text), set())
        except InvalidDeviceError:
            continue  # No list can have had it, so no container holds it.
        known.update(node for node in nodes if node >= 0)
    return {
        resource: {key: tuple(sorted(nodes)) for key, nodes in each.items()}
        for resource, each in held.items()
    }


def by_resource(held: HeldByName, *, complete: bool) -> Mapping[ResourceName, Holdings]:
    """Return what is held of each resource; what cannot be one's name is left out."""
    found: dict[ResourceName, Holdings] = {}
    for text, devices in held.items():
        try:
            found[ResourceName.parse(text)] = Holdings(held=devices, complete=complete)
        except InvalidResourceNameError:
            continue  # None of ours.
    return found
