"""What a device has from the hardware that it is part of: driver, NUMA node, parent."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from deviceplugin.adapters.sysfs.files import Files, printable

_DEVICES: Final = "/devices"
_HARDWARE: Final = frozenset({"pci", "usb"})
"""Buses whose names people know a piece of hardware by."""

_Found = TypeVar("_Found")


class Nearest(Generic[_Found]):
    """What the nearest of a directory and its ancestors below /devices has.

    Each directory is looked at once, however many devices are below it.
    """

    def __init__(self, look: Callable[[str], _Found | None]) -> None:
        self._look = look
        self._found: dict[str, _Found | None] = {_DEVICES: None, "": None}

    def __call__(self, path: str) -> _Found | None:
        """Return what `look` finds in the nearest directory in which it finds something."""
        passed: list[str] = []
        while path not in self._found:
            passed.append(path)
            found = self._look(path)
            if found is not None:
                self._found[path] = found
                break
            path = path.rpartition("/")[0]
        for each in passed:
            self._found[each] = self._found[path]
        return self._found[path]


class Ancestry:
    """The nearest driver, `numa_node` file and parent of any device."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._driver = Nearest(self._own_driver)
        self._numa_node = Nearest(self._own_numa_node)
        self._hardware = Nearest(self._own_name_as_hardware)
        self._on_bus = Nearest(self._own_name_on_bus)
        self._hardware_path = Nearest(
            lambda path: path if self._own_name_as_hardware(path) else None
        )
        self._path_on_bus = Nearest(lambda path: path if self._bus(path) else None)
        self._iommu_group = Nearest(self._own_iommu_group)

    def driver(self, path: str) -> str:
        """Return the device's driver, else its nearest ancestor's, else nothing."""
        return self._driver(path) or ""

    def numa_node(self, path: str) -> str | None:
        """Return what the nearest `numa_node` file holds; None if there is no such file."""
        return self._numa_node(path)

    def parent(self, path: str) -> str:
        """Return the PCI address or USB port that the device is part of.

        For what is on neither bus it is the nearest ancestor on any.
        """
        above = path.rpartition("/")[0]
        return self._hardware(above) or self._on_bus(above) or ""

    def hardware_path(self, path: str) -> str:
        """Return where the PCI function or USB device is that the device is, or is part of.

        For what is on neither bus it is the nearest device on any.
        """
        return printable(self._hardware_path(path) or self._path_on_bus(path) or "")

    def iommu_group(self, path: str) -> str:
        """Return the number of the IOMMU group of the hardware; of a group of vfio, its own."""
        if (self._files.link(f"{path}/subsystem") or "").endswith("class/vfio"):
            name = path.rpartition("/")[2]
            return name if name.isdecimal() else ""
        return self._iommu_group(path) or ""

    def _own_iommu_group(self, path: str) -> str | None:
        name = (self._files.link(f"{path}/iommu_group") or "").rpartition("/")[2]
        return name if name.isdecimal() else None

    def _own_driver(self, path: str) -> str | None:
        target = self._files.link(f"{path}/driver")
        return target and printable(target.rpartition("/")[2])

    def _own_numa_node(self, path: str) -> str | None:
        file = f"{path}/numa_node"
        return self._files.text(file) or "" if self._files.has(file) else None

    def _own_name_as_hardware(self, path: str) -> str | None:
        name, bus = path.rpartition("/")[2], self._bus(path)
        # "1-2:1.0" is an interface of the device at the USB port "1-2".
        is_interface = bus == "usb" and ":" in name
        return printable(name) if bus in _HARDWARE and not is_interface else None

    def _own_name_on_bus(self, path: str) -> str | None:
        return printable(path.rpartition("/")[2]) if self._bus(path) else None

    def _bus(self, path: str) -> str:
        """Return the bus that a device is on; nothing for one of a class, or for no device."""
        target = self._files.link(f"{path}/subsystem") or ""
        above, _, name = target.rpartition("/")
        return name if above.rpartition("/")[2] == "bus" else ""
