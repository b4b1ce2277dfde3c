"""How much of a list may go to what no scan found, so that a kubelet takes what one did find.

Whoever names what is held is believed, but not at any length: a file may contain anything, and a
list that is too large for a kubelet lists nothing at all.
"""

from collections.abc import Collection, Mapping
from typing import Final, TypeVar

MAX_LIST_BYTES: Final = 4 * 1024 * 1024
"""Of a list that a kubelet takes."""
MAX_HELD: Final = 10_000
"""Devices of one resource: no node has so many that containers hold and no scan finds."""
MAX_HELD_BYTES: Final = MAX_LIST_BYTES // 4
"""Of the part of a list that those take."""

_FRAME: Final = 24
_NODE: Final = 13

_Key = TypeVar("_Key")


def listed_bytes(text: str, nodes: Collection[int] = ()) -> int:
    """Return how many bytes a device of this id and these NUMA nodes has in a list, at most."""
    return len(text.encode("utf-8", "surrogatepass")) + _FRAME + _NODE * len(nodes)


def fitting(
    wanted: Mapping[_Key, Collection[int]],
    *,
    devices: int = MAX_HELD,
    size: int = MAX_HELD_BYTES,
) -> tuple[_Key, ...]:
    """Return those of `wanted`, ids with their nodes, for which there is room: the shortest first.

    So one id without end costs nobody else's.
    """
    sizes = {key: listed_bytes(str(key), nodes) for key, nodes in wanted.items()}
    if len(sizes) <= devices and sum(sizes.values()) <= size:
        return tuple(sizes)
    chosen: list[_Key] = []
    for key in sorted(sizes, key=lambda each: (sizes[each], str(each)))[: max(devices, 0)]:
        size -= sizes[key]
        if size < 0:
            break
        chosen.append(key)
    return tuple(chosen)
