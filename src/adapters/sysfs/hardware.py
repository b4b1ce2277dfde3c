"""What the PCI and USB hardware is that a device is part of; each value is read once a scan."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.kinship import Kinship
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.hardware import hex_text, pair
from deviceplugin.domain.discovery.withheld import Withheld


class Hardware:
    """What the nearest PCI function, USB device and USB interface of any device say they are."""

    def __init__(self, folders: Folders, kinship: Kinship) -> None:
        self._folders = folders
        self._kinship = kinship
        self._values: dict[tuple[Folder, str], str | None] = {}

    def value(self, folder: Folder, fact: Fact) -> str | None:
        """Return what the hardware of a device is; None if it is not on that bus."""
        kin = self._kinship(folder)
        if fact.key == "interface":
            home = kin.interface
        else:
            home = kin.pci if fact.kind is Kind.PCI else kin.usb
        if home is None:
            return None
        key = (home, fact.text)
        if key not in self._values:
            self._values[key] = _VALUES[fact.text](self._folders, home)
        return self._values[key]


_Read = Callable[[Folders, Folder], str | None]


def _pair(first: str, second: str) -> _Read:
    return lambda folders, home: pair(folders.text(home, first), folders.text(home, second))


def _hex(name: str) -> _Read:
    def read(folders: Folders, home: Folder) -> str | None:
        text = folders.text(home, name)
        return text if isinstance(text, Withheld) else hex_text(text) if text else None

    return read


def _serial(folders: Folders, home: Folder) -> str | None:
    text = folders.text(home, "serial")
    return text if text or isinstance(text, Withheld) else None


_VALUES: Final[Mapping[str, _Read]] = MappingProxyType(
    {
        "pci.id": _pair("vendor", "device"),
        "pci.subsystem": _pair("subsystem_vendor", "subsystem_device"),
        "pci.class": _hex("class"),
        "usb.id": _pair("idVendor", "idProduct"),
        "usb.serial": _serial,
        "usb.interface": _hex("bInterfaceNumber"),
    }
)
