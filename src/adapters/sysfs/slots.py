"""Where within its hardware a device is, for those of which nothing that is telling differs.

The kernel counts hosts, disks and inputs as it meets them; what stands here it counts within one
piece of hardware, or the hardware says it itself.
"""

import re
from typing import Final

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.domain.discovery.candidates import Candidate

_SCSI: Final = re.compile(r"[0-9]+:([0-9]+:[0-9]+:[0-9]+)")
"""Host, channel, target and unit: all but the host are counted within the hardware."""
_ATA: Final = re.compile(r"ata[0-9]+")
_HID: Final = re.compile(r"[0-9A-F]{4}:([0-9A-F]{4}:[0-9A-F]{4})\.[0-9A-F]{4,}")
"""Bus, vendor, product; and a number that is the kernel's."""
_INPUT: Final = re.compile(r"input[0-9]+")
_COUNTED: Final = ("ata", "input")
"""How names begin that are counted, of those without a colon."""
_NAMED: Final = frozenset({"i2c-dev", "iio"})
"""Subsystems whose devices have a name of their own in the file `name`."""


class SlotOf:
    """Reads where within hardware a device is."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    def __call__(self, folder: Folder, home: Folder, candidate: Candidate) -> str:
        """Return where below the hardware at `home` a device is; mostly nothing."""
        found = [self._text(folder, "name")] if candidate.subsystem in _NAMED else []
        here: Folder | None = folder
        while here is not None and here is not home:
            found.append(self._counted(here))
            here = here.above
        return "-".join(filter(None, reversed(found)))

    def _counted(self, folder: Folder) -> str:
        """Return what a directory on the way tells."""
        name = folder.name
        if ":" not in name and not name.startswith(_COUNTED):
            return ""
        if scsi := _SCSI.fullmatch(name):
            return scsi[1]
        if hid := _HID.fullmatch(name):
            return hid[1]
        if _ATA.fullmatch(name):
            port = self._text(folder, f"ata_port/{name}/port_no")
            return f"ata{port}" if port else ""
        return self._input(folder) if _INPUT.fullmatch(name) else ""

    def _input(self, folder: Folder) -> str:
        """Return an input's own name; and its number among those that are called the same.

        The kernel makes them in the order of the hardware's description.
        """
        own, above = self._text(folder, "name"), folder.above
        inputs = filter(_INPUT.fullmatch, self._folders.names(above) if above else ())
        before = sum(
            self._text(above, f"{each}/name") == own
            for each in inputs
            if above and (len(each), each) < (len(folder.name), folder.name)
        )
        return "-".join(filter(None, (own, str(before) if before else "")))

    def _text(self, folder: Folder, path: str) -> str:
        return (self._folders.attribute(folder, path) or "").strip()
