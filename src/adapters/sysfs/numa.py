"""NUMA nodes, where they are really known: a wrong one is worse than none.

-1 is how the kernel says "unknown". The kubelet takes it, or a node that is not there, for a place
where no container could ever run.
"""

import re
from typing import Final

from deviceplugin.adapters.sysfs.ancestry import Ancestry
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder

_NODES: Final = "/devices/system/node"
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

    def __init__(self, folders: Folders, ancestry: Ancestry) -> None:
        self._folders = folders
        self._ancestry = ancestry
        nodes = folders.directory(_NODES)
        self._online = _online(folders.text(nodes, "online") if nodes else None)
        self._meant: dict[str, tuple[tuple[int, ...], str]] = {}

    def nodes(self, folder: Folder) -> tuple[tuple[int, ...], str]:
        """Return the NUMA nodes of the device in a directory, and why there are none."""
        text = self._ancestry.numa_node(folder)
        if text is not None:
            if text not in self._meant:
                self._meant[text] = self._said(text)
            return self._meant[text]
        others = self._lower(folder) or self._group(folder)
        found: set[int] = set()
        for each in others:
            text = self._ancestry.numa_node(each)
            nodes, unknown = self._said(text) if text is not None else ((), _NO_FILE)
            if unknown:
                return (), f"of {each.name}: {unknown}"
            found.update(nodes)
        return tuple(sorted(found)), "" if found else _NO_FILE

    def _said(self, text: str) -> tuple[tuple[int, ...], str]:
        """Return the node that a `numa_node` file tells, or why it tells none."""
        if not _NUMBER.fullmatch(text.strip()):
            return (), f"numa_node holds {text!r}"
        if int(text) not in self._online:
            return (), f"numa_node holds {text!r}, which is not online"
        return (int(text),), ""

    def _lower(self, folder: Folder) -> tuple[Folder, ...]:
        """Return the hardware at the bottom of what the device is made of."""
        bottom: dict[str, Folder] = {}
        met = {folder}
        ahead = self._made_of(folder)
        while ahead and len(met) < _MAX_LOWER:
            each = ahead.pop()
            if each in met:
                continue
            met.add(each)
            lower = self._made_of(each)
            ahead += lower
            if not lower:
                bottom[each.path] = each
        return tuple(bottom[path] for path in sorted(bottom))

    def _made_of(self, folder: Folder) -> list[Folder]:
        folders = self._folders
        slaves = folders.linked(folders.within(folder, "slaves"))
        return [*slaves, *folders.linked(folder, "lower_")]

    def _group(self, folder: Folder) -> tuple[Folder, ...]:
        """Return the other members of the device's IOMMU group."""
        group = self._folders.link(folder, "iommu_group") or ""
        if (self._folders.link(folder, "subsystem") or "").endswith("class/vfio"):
            group = folder.name
        name = group.rpartition("/")[2]
        if not name.isdecimal():
            return ()
        members = self._folders.linked(self._folders.directory(f"{_GROUPS}/{name}/devices"))
        return tuple(member for member in members if member is not folder)


def _online(text: str | None) -> frozenset[int]:
    """Return the nodes that are online; all that can be if nothing sensible tells."""
    if not _RANGES.fullmatch(text or ""):
        return frozenset(range(_MAX_NODES))
    ends = [[int(end) for end in part.split("-")] for part in (text or "").split(",")]
    return frozenset(node for part in ends for node in range(part[0], part[-1] + 1))
