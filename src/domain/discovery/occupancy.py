"""When a device is the host's own: what must not be given to a container unless one means it."""

from collections.abc import Iterable, Mapping

from deviceplugin.domain.discovery.doors import behind
from deviceplugin.domain.discovery.quantities import quantity
from deviceplugin.domain.discovery.withheld import UNREAD


def taken_places(uses: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return what each place in sysfs is used for: that of a device in use, and all above it.

    `uses` are places with what for. A disk is in use if one of its partitions is, and its
    controller is, too; what is beside them is not.
    """
    taken: dict[str, str] = {}
    for place, use in sorted(uses):
        above = place
        while above and taken.setdefault(above, use) == use:
            above = above.rpartition("/")[0]
    return taken


def uses_of(
    place: str, subsystem: str, virtual_functions: str | None, taken: Mapping[str, str]
) -> tuple[str, ...]:
    """Return what the host uses a device for.

    `virtual_functions` is what the `sriov_numvfs` file of its PCI function holds.
    """
    found = [taken[each] for each in (place, behind(place, subsystem)) if each in taken]
    if virtual_functions is UNREAD:
        found.append("may have virtual functions: nobody can read how many")
    number = quantity(virtual_functions or "")
    if number:
        found.append(f"has {virtual_functions} virtual functions")
    return tuple(dict.fromkeys(found))
