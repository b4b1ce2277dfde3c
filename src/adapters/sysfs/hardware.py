"""The PCI and USB hardware that a device is part of; each value of it is read once a scan."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from deviceplugin.adapters.sysfs.ancestry import Nearest
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.hardware import hex_text, pair


class Hardware:
    """What the nearest PCI function, USB device and USB interface of any device say they are."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.pci = Nearest(lambda path: path if self._sort(path) == "pci" else None)
        self.usb = Nearest(lambda path: path if self._sort(path) == "usb" else None)
        self.interface = Nearest(lambda path: path if self._sort(path) == "interface" else None)
        self._values: dict[tuple[str, str], str | None] = {}

    def value(self, path: str, fact: Fact) -> str | None:
        """Return what the hardware of the device at `path` is; None if it is not on that bus."""
        nearest = self.pci if fact.kind is Kind.PCI else self.usb
        if fact.key == "interface":
            nearest = self.interface
        home = nearest(path)
        if home is None:
            return None
        key = (home, str(fact))
        if key not in self._values:
            self._values[key] = _VALUES[str(fact)](self, home)
        return self._values[key]

    def text(self, path: str) -> str | None:
        """Return the text of a file."""
        return self._files.text(path)

    def _sort(self, path: str) -> str:
        """Return "pci", "usb" or "interface" (of a USB device), or nothing."""
        target = self._files.link(f"{path}/subsystem") or ""
        if target.endswith("bus/pci"):
            return "pci"
        if target.endswith("bus/usb"):
            return "interface" if ":" in path.rpartition("/")[2] else "usb"
        return ""


def _pair(first: str, second: str) -> Callable[[Hardware, str], str | None]:
    return lambda found, home: pair(found.text(f"{home}/{first}"), found.text(f"{home}/{second}"))


def _hex(name: str) -> Callable[[Hardware, str], str | None]:
    def read(found: Hardware, home: str) -> str | None:
        text = found.text(f"{home}/{name}")
        return hex_text(text) if text else None

    return read


_VALUES: Final[Mapping[str, Callable[[Hardware, str], str | None]]] = MappingProxyType(
    {
        "pci.id": _pair("vendor", "device"),
        "pci.subsystem": _pair("subsystem_vendor", "subsystem_device"),
        "pci.class": _hex("class"),
        "usb.id": _pair("idVendor", "idProduct"),
        "usb.serial": lambda found, home: found.text(f"{home}/serial") or None,
        "usb.interface": _hex("bInterfaceNumber"),
    }
)
