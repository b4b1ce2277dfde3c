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
_MAX_NODES: Final = 1024
"""No kernel is built for more: CONFIG_NODES_SHIFT is 10 at most."""


class Numa:
    """Tells NUMA nodes of devices."""

    def __init__(self, files: Files, ancestry: Ancestry) -> None:
        self._ancestry = ancestry
        self._online = _online(files.text(_ONLINE))

    def nodes(self, path: str) -> tuple[tuple[int, ...], str]:
        """Return the NUMA nodes of the device at `path`, and why there are none."""
        text = self._ancestry.numa_node(path)
        if text is None:
            return (), "neither it nor what it is part of has a numa_node file"
        if not _NUMBER.fullmatch(text.strip()):
            return (), f"numa_node holds {text!r}"
        if int(text) not in self._online:
            return (), f"numa_node holds {text!r}, which is not online"
        return (int(text),), ""


def _online(text: str | None) -> frozenset[int]:
    """Return the nodes that are online; all that can be if nothing sensible tells."""
    if not _RANGES.fullmatch(text or ""):
        return frozenset(range(_MAX_NODES))
    ends = [[int(end) for end in part.split("-")] for part in (text or "").split(",")]
    return frozenset(node for part in ends for node in range(part[0], part[-1] + 1))
