"""What a device's `uevent` and `dev` files tell: its keys, and its device node."""

import re
from collections.abc import Mapping
from typing import Final, Literal

import attrs

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.withheld import UNREAD_KEYS
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber

_DEV: Final = re.compile(r"([0-9]{1,7}):([0-9]{1,7})")


@attrs.frozen
class NamedNode:
    """A node as the kernel announces it: where it has to be, and what it stands for."""

    path: str
    number: NodeNumber


def properties(folders: Folders, folder: Folder) -> Mapping[str, str]:
    """Return the keys of a uevent file, whatever else is in it; the first of a name counts."""
    data = folders.data(folder, "uevent")
    if data is None:
        return UNREAD_KEYS if folders.has(folder, "uevent") else {}
    lines = data.decode(errors="replace").split("\n")
    return dict([line.split("=", 1) for line in reversed(lines) if "=" in line])


def named_node(folders: Folders, folder: Folder, candidate: Candidate) -> NamedNode | None:
    """Return the node of the device in a directory; None if it has none."""
    keys = candidate.properties
    if keys is None:
        keys = properties(folders, folder)
    if keys is UNREAD_KEYS:
        keys = dict[str, str]()
    found = _DEV.fullmatch(f"{keys.get('MAJOR')}:{keys.get('MINOR')}") or _DEV.fullmatch(
        folders.text(folder, "dev") or ""
    )
    # The kernel writes "!" in a name for the "/" that a file's name cannot have.
    name = keys.get("DEVNAME", candidate.name.replace("!", "/"))
    if found is None or not _is_below_dev(name):
        return None
    kind: Literal["block", "char"] = "block" if candidate.subsystem == "block" else "char"
    return NamedNode(f"/dev/{name}", NodeNumber(kind, int(found[1]), int(found[2])))


def _is_below_dev(name: str) -> bool:
    return name.isalnum() or (
        name.isprintable() and "\ufffd" not in name and not {"", ".", ".."} & set(name.split("/"))
    )
