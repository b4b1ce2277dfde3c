"""Which devices of which resource are held, out of whatever names them."""

from collections.abc import Iterable, Mapping

from deviceplugin.domain.devices import DeviceId, id_as_held
from deviceplugin.domain.errors import InvalidDeviceError

Held = Mapping[str, frozenset[DeviceId]]
"""Ids by the text of their resource's name."""


def collected(pairs: Iterable[tuple[str, str]]) -> Held:
    """Return the ids of each resource; what cannot be an id is left out."""
    held: dict[str, set[DeviceId]] = {}
    for resource, text in pairs:
        try:
            held.setdefault(resource, set()).add(id_as_held(text))
        except InvalidDeviceError:
            continue  # No list can have had it, so no container holds it.
    return {resource: frozenset(ids) for resource, ids in held.items()}
