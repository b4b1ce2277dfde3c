"""Which hardware a device is part of, by the buses that it and what it is in are on."""

from typing import Final

import attrs

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder


@attrs.define(eq=False)  # frozen, it would take three times as long to make
class Kin:
    """The nearest of each sort of a device and what it is below: itself, if it is of that sort.

    - `pci`: a PCI function; `usb`: a USB device; `interface`: an interface of one;
    - `hardware`: a PCI function or USB device, which people know a piece of hardware by;
    - `on_bus`: a device on any bus.
    """

    pci: Folder | None = None
    usb: Folder | None = None
    interface: Folder | None = None
    hardware: Folder | None = None
    on_bus: Folder | None = None


_NONE: Final = Kin()


class Kinship:
    """The kin of any device; each directory is asked once, however many devices are below it."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._known: dict[Folder, Kin] = {}

    def __call__(self, folder: Folder) -> Kin:
        """Return the kin of the device in a directory."""
        known = self._known
        kin = known.get(folder)
        if kin is not None:
            return kin
        passed: list[Folder] = []
        here: Folder | None = folder
        while here is not None and here not in known:
            passed.append(here)
            here = here.above
        kin = _NONE if here is None else known[here]
        for each in reversed(passed):
            target = self._folders.link(each, "subsystem")
            # A device is on a bus or of a class, and what is none is just a folder.
            if target is not None and (bus := _bus(target)):
                kin = _with(each, bus, kin)
            known[each] = kin
        return kin


def _bus(target: str) -> str:
    """Return the bus that a link to a subsystem names; nothing if it names a class."""
    above, _, name = target.rpartition("/")
    return name if above[-4:] == "/bus" or above == "bus" else ""


def _with(folder: Folder, bus: str, kin: Kin) -> Kin:
    """Return the kin of a device on a bus, in a directory of this kin."""
    if bus == "pci":
        return Kin(folder, kin.usb, kin.interface, folder, folder)
    if bus == "usb":
        # "1-2:1.0" is an interface of the device at the USB port "1-2".
        if ":" in folder.name:
            return Kin(kin.pci, kin.usb, folder, kin.hardware, folder)
        return Kin(kin.pci, folder, kin.interface, folder, folder)
    return Kin(kin.pci, kin.usb, kin.interface, kin.hardware, folder)
