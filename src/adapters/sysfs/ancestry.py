"""What a device has from the hardware that it is part of: driver, NUMA node, parent."""

from collections.abc import Callable
from functools import partial
from typing import Final, Generic, TypeVar

from deviceplugin.adapters.sysfs.files import printable
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.kinship import Kinship
from deviceplugin.adapters.sysfs.memory import Folder

_Found = TypeVar("_Found")

_GROUP_CLASS: Final = "class/vfio"
_GROUPS: Final = "/devices/virtual/vfio"


class Nearest(Generic[_Found]):
    """What the nearest of a directory and those that it is in has, below /devices.

    Each directory is looked at once, however many devices are below it; one that is known to have
    nothing of the `name` is not.
    """

    def __init__(self, name: str, look: Callable[[Folder], _Found | None]) -> None:
        self._name = name
        self._look = look
        self._found: dict[Folder, _Found | None] = {}

    def __call__(self, folder: Folder) -> _Found | None:
        """Return what `look` finds in the nearest directory in which it finds something."""
        known = self._found
        if folder in known:
            return known[folder]
        passed: list[Folder] = []
        here: Folder | None = folder
        found: _Found | None = None
        while here is not None:
            if here in known:
                found = known[here]
                break
            passed.append(here)
            if here.names is None or self._name in here.names:
                found = self._look(here)
                if found is not None:
                    break
            here = here.above
        for each in passed:
            known[each] = found
        return found


class Ancestry:
    """The nearest driver, `numa_node` file and parent of any device."""

    def __init__(self, folders: Folders, kinship: Kinship) -> None:
        self._folders = folders
        self._kinship = kinship
        # Functions, not methods: what refers to itself is not gone when nobody needs it any more.
        self.numa_node = Nearest("numa_node", partial(_numa_node, folders))
        """What the nearest `numa_node` file holds; None if there is no such file."""
        self._driver = Nearest("driver", partial(_driver, folders))
        self._iommu_group = Nearest("iommu_group", partial(_iommu_group, folders))

    def driver(self, folder: Folder) -> str:
        """Return the device's driver, else its nearest ancestor's, else nothing."""
        return self._driver(folder) or ""

    def parent(self, folder: Folder) -> str:
        """Return the PCI address or USB port that the device is part of.

        For what is on neither bus it is the nearest ancestor on any.
        """
        if folder.above is None:
            return ""
        kin = self._kinship(folder.above)
        nearest = kin.hardware or kin.on_bus
        return printable(nearest.name) if nearest else ""

    def hardware_path(self, folder: Folder) -> str:
        """Return where the PCI function or USB device is that the device is, or is part of.

        For what is on neither bus it is the nearest device on any.
        """
        kin = self._kinship(folder)
        nearest = kin.hardware or kin.on_bus
        return printable(nearest.path) if nearest else ""

    def iommu_group(self, folder: Folder) -> str:
        """Return the number of the IOMMU group of the hardware; of a group of vfio, its own."""
        if (self._folders.link(folder, "subsystem") or "").endswith(_GROUP_CLASS):
            return folder.name if folder.name.isdecimal() else ""
        return self._iommu_group(folder) or ""

    def vfio_groups(self, folder: Folder) -> tuple[str, ...]:
        """Return where vfio has the hardware's group, with an IOMMU or without one."""
        number = self._iommu_group(folder)
        return tuple(f"{_GROUPS}/{mode}{number}" for mode in ("", "noiommu-")) if number else ()


def _iommu_group(folders: Folders, folder: Folder) -> str | None:
    name = (folders.link(folder, "iommu_group") or "").rpartition("/")[2]
    return name if name.isdecimal() else None


def _driver(folders: Folders, folder: Folder) -> str | None:
    target = folders.link(folder, "driver")
    return target and printable(target.rpartition("/")[2])


def _numa_node(folders: Folders, folder: Folder) -> str | None:
    text = folders.text(folder, "numa_node")
    return "" if text is None and folders.has(folder, "numa_node") else text
