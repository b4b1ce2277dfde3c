"""Doors: nodes that lead to all of a device that has a node of another name, too.

That are:

- what the kernel makes of a SCSI device beside its disk: `sg0`, `bsg/0:0:0:0`, nodes of a tape;
- `ng0n1` of the NVMe namespace `nvme0n1`;
- `tpm0` and `tpmrm0` of one TPM;
- `event0`, `js0` and `mouse0` of one input device, and `hidraw0` of the HID device that it is of;
- `hiddev0` of a USB interface for such devices;
- `mtd0ro` of the flash memory `mtd0`.
"""

import re
from typing import Final

_OF_A_CLASS: Final = frozenset({"scsi_generic", "bsg", "scsi_tape", "tpm", "tpmrm", "hidraw"})
"""Classes whose devices are one with the device that they are made for."""
_NVME_GENERIC: Final = "nvme-generic"
_INPUT: Final = "input"
_MTD: Final = "mtd"
_USBMISC: Final = "usbmisc"
DOORS: Final = _OF_A_CLASS | {_NVME_GENERIC, _INPUT, _MTD, _USBMISC}
"""Subsystems whose nodes are doors."""
_NO_DEVICES: Final = frozenset({"", "/devices", "/devices/virtual"})
_AN_INPUT: Final = re.compile(r".*/input[0-9]+")


def behind(place: str, subsystem: str) -> str:
    """Return the place in sysfs of the device that a node leads to: its own, if it is no door."""
    if subsystem not in DOORS:
        return place
    above, _, name = place.rpartition("/")
    if subsystem == _NVME_GENERIC:
        return f"{above}/nvme{name.removeprefix('ng')}" if name.startswith("ng") else place
    if subsystem == _INPUT:
        return above if _AN_INPUT.fullmatch(above) else place
    if subsystem == _USBMISC:
        return above.removesuffix(f"/{subsystem}") if name.startswith("hiddev") else place
    if subsystem == _MTD:
        return place.removesuffix("ro")
    # Below what has a class of its own there is no folder for the class.
    above = above.removesuffix(f"/{subsystem}")
    return place if above in _NO_DEVICES else above
