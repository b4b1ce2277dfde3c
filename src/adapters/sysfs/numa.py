"""NUMA nodes, where they are really known: a wrong one is worse than none.

-1 is how the kernel says "unknown". The kubelet takes it, or a node that is not there, for a place
where no container could ever run.
"""

import re
from typing import Final

from deviceplugin.adapters.sysfs.ancestry import Ancestry
from deviceplugin.adapters.sysfs.files import Files

_ONLINE: Final = "/devices/system/node/online"
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_RANGES: Final = re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")
_NO_FILE: Final = "neither it nor what it is part of has a numa_node file"
_MAX_NODES: Final = 1024
"""No kernel is built for more: CONFIG_NODES_SHIFT is 10 at most."""


_MAX_LOWER: Final = 256
"""Devices of which one is made that are looked at: an array has fewer disks."""
_GROUPS: Final = "/kernel/iommu_groups"


class Numa:
    """Tells NUMA nodes of devices.

    The nearest `numa_node` file decides, of the device and what it is part of. A device that is
    made of others (an array of disks, a bond of network cards) sits where these sit, all of them;
    one that is part of no hardware, such as a group of vfio, where the members of its IOMMU group
    do. If one of several is not known, none is.
    """

    def __init__(self, files: Files, ancestry: Ancestry) -> None:
        self._files = files
        self._ancestry = ancestry
        self._online = _online(files.text(_ONLINE))

    def nodes(self, path: str) -> tuple[tuple[int, ...], str]:
        """Return the NUMA nodes of the device at `path`, and why there are none."""
        text = self._ancestry.numa_node(path)
        if text is not None:
            return self._said(text)
        others = self._lower(path) or self._group(path)
        found: set[int] = set()
        for each in others:
            text = self._ancestry.numa_node(each)
            nodes, unknown = self._said(text) if text is not None else ((), _NO_FILE)
            if unknown:
                return (), f"of {each.rpartition('/')[2]}: {unknown}"
            found.update(nodes)
        return tuple(sorted(found)), "" if found else _NO_FILE

    def _said(self, text: str) -> tuple[tuple[int, ...], str]:
        """Return the node that a `numa_node` file tells, or why it tells none."""
        if not _NUMBER.fullmatch(text.strip()):
            return (), f"numa_node holds {text!r}"
        if int(text) not in self._online:
            return (), f"numa_node holds {text!r}, which is not online"
        return (int(text),), ""

    def _lower(self, path: str) -> tuple[str, ...]:
        """Return the hardware at the bottom of what the device is made of, by directory."""
        bottom: dict[str, None] = {}
        met = {path}
        ahead = self._made_of(path)
        while ahead and len(met) < _MAX_LOWER:
            each = ahead.pop()
            if each in met:
                continue
            met.add(each)
            lower = self._made_of(each)
            ahead += lower
            if not lower:
                bottom[each] = None
        return tuple(sorted(bottom))

    def _made_of(self, path: str) -> list[str]:
        return [*self._files.linked(f"{path}/slaves"), *self._files.linked(path, "lower_")]

    def _group(self, path: str) -> tuple[str, ...]:
        """Return the other members of the device's IOMMU group, by directory."""
        group = self._files.link(f"{path}/iommu_group") or ""
        if (self._files.link(f"{path}/subsystem") or "").endswith("class/vfio"):
            group = path
        name = group.rpartition("/")[2]
        if not name.isdecimal():
            return ()
        members = self._files.linked(f"{_GROUPS}/{name}/devices")
        return tuple(member for member in members if member != path)


def _online(text: str | None) -> frozenset[int]:
    """Return the nodes that are online; all that can be if nothing sensible tells."""
    if not _RANGES.fullmatch(text or ""):
        return frozenset(range(_MAX_NODES))
    ends = [[int(end) for end in part.split("-")] for part in (text or "").split(",")]
    return frozenset(node for part in ends for node in range(part[0], part[-1] + 1))
