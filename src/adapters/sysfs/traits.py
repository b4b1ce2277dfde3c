"""What hardware offers to know a device by: read of devices that a rule matches, and no others."""

import re
from collections.abc import Callable
from typing import Final

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.hardware import Hardware
from deviceplugin.adapters.sysfs.lineage import Lineage
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.traits import Traits, stem

_USB_ID: Final = Fact(Kind.USB, "id")
_SERIAL: Final = ("serial",)
_UNIQUE: Final = ("wwid", "uuid", "unique_id")
_UNIQUE_OF: Final = {
    "block": ("wwid", "uuid", "dm/uuid", "md/uuid"),
    "infiniband": ("node_guid",),
    "mmc": ("cid",),
    "pci": ("unique_id",),
    "scsi": ("wwid",),
    "usb": (),
}
"""Files with a name that no other device in the world has, by subsystem; else `_UNIQUE`."""
_PORTS: Final = re.compile(r"[0-9]+-([0-9.]+)")
_INDEXES: Final = {
    "block": ("partition", "part"),
    "tty": ("device/port_number", "port"),
    "video4linux": ("index", ""),
}
"""Files that count the devices of one piece of hardware, always alike, by subsystem."""


class TraitsOf:
    """Reads traits, each directory's once a scan."""

    def __init__(self, files: Files, lineage: Lineage, hardware: Hardware) -> None:
        self._files = files
        self._lineage = lineage
        self._hardware = hardware
        self._texts: dict[tuple[str, tuple[str, ...]], str] = {}

    def __call__(self, path: str, candidate: Candidate) -> Traits:
        """Return the traits of the device in a directory."""
        usb, pci = self._hardware.usb(path), self._hardware.pci(path)
        home = usb or pci
        places = (path, *self._lineage.above(path, home or ""))
        serial = "" if _is_root_hub(usb) else self._nearest(self._serial, places)
        model = (self._hardware.value(path, _USB_ID) if usb else None) or ""
        # A USB serial number is one only among devices of one model.
        return Traits(
            model=model,
            serial=f"{model}:{serial}" if serial and model else serial,
            unique=self._nearest(self._unique, places),
            port=self._port(usb) if usb else "",
            address=(pci or "").rpartition("/")[2] if not usb else "",
            part="-".join(filter(None, self._parts(path, home, candidate))),
        )

    def _nearest(self, look: Callable[[str], str], places: tuple[str, ...]) -> str:
        """Return what is found first, from the nearest place on."""
        return next((found for place in places if (found := look(place))), "")

    def _serial(self, place: str) -> str:
        return self._text(place, _SERIAL)

    def _unique(self, place: str) -> str:
        subsystem = (self._files.link(f"{place}/subsystem") or "").rpartition("/")[2]
        return self._text(place, _UNIQUE_OF.get(subsystem, _UNIQUE))

    def _text(self, place: str, names: tuple[str, ...]) -> str:
        key = (place, names)
        if key not in self._texts:
            self._texts[key] = self._first(place, names)
        return self._texts[key]

    def _first(self, place: str, names: tuple[str, ...]) -> str:
        """Return the first text in a directory; most of these files are mostly not there."""
        for name in names:
            path = f"{place}/{name}"
            text = (self._files.text(path) or "").strip() if self._files.has(path) else ""
            if text:
                return text
        return ""

    def _port(self, usb: str) -> str:
        """Return controller, USB version and ports: bus numbers change from boot to boot."""
        hub = usb
        while not _is_root_hub(hub) and hub.startswith("/devices/"):
            hub = hub.rpartition("/")[0]
        controller = hub.rpartition("/")[0].rpartition("/")[2]
        ports = _PORTS.fullmatch(usb.rpartition("/")[2])
        version = self._text(hub, ("version",)).partition(".")[0]
        return f"{controller}-usb{version}-{ports[1] if ports else 0}"

    def _parts(self, path: str, home: str | None, candidate: Candidate) -> tuple[str, ...]:
        """Return which part of the hardware at `home` the device is, if it is not that itself."""
        if home is None or path == home:
            return ()
        interface = (self._hardware.interface(path) or "").removeprefix(home).rpartition(".")[2]
        return (
            f"if{interface.zfill(2)}" if interface else "",
            "disk" if candidate.subsystem == "block" else stem(candidate.name),
            self._index(path, candidate),
        )

    def _index(self, path: str, candidate: Candidate) -> str:
        name, label = _INDEXES.get(candidate.subsystem, ("", ""))
        index = self._text(path, (name,)) if name else ""
        return "" if index in {"", "0"} else f"{label}{index}"


def _is_root_hub(path: str | None) -> bool:
    return re.fullmatch(r"usb[0-9]+", (path or "").rpartition("/")[2]) is not None
