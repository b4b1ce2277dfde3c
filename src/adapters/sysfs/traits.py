"""What hardware offers to know a device by: read of devices that a rule matches, and no others."""

import re
from typing import Final

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.hardware import Hardware
from deviceplugin.adapters.sysfs.kinship import Kinship
from deviceplugin.adapters.sysfs.lineage import Lineage
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.adapters.sysfs.slots import SlotOf
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.traits import NO_TRAITS, Traits, stem

_USB_ID: Final = Fact(Kind.USB, "id")
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
_ANY_UNIQUE: Final = frozenset(
    name.partition("/")[0] for names in (*_UNIQUE_OF.values(), _UNIQUE) for name in names
)
"""Where all of these are: most directories have none."""
_ROOT_HUB: Final = re.compile(r"usb[0-9]+")
_ADDRESS: Final = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_PORTS: Final = re.compile(r"[0-9]+-([0-9.]+)")
_KINDS: Final = {"block": "disk", "net": "net", "vfio-dev": "vfio-dev"}
"""What devices are called whose names say nothing, or something else, or that udev renames."""
_INDEXES: Final = {
    "block": ("partition", "part"),
    "net": ("dev_port", "port"),
    "tty": ("device/port_number", "port"),
    "video4linux": ("index", ""),
}
"""Files that count the devices of one piece of hardware, always alike, by subsystem."""


class TraitsOf:
    """Reads traits."""

    def __init__(
        self, folders: Folders, kinship: Kinship, lineage: Lineage, hardware: Hardware
    ) -> None:
        self._folders = folders
        self._kinship = kinship
        self._lineage = lineage
        self._hardware = hardware
        self._slot = SlotOf(folders)
        self._of_hardware: dict[Folder, Traits] = {}

    def __call__(self, folder: Folder, candidate: Candidate) -> Traits:
        """Return the traits of the device in a directory."""
        if candidate.subsystem == "vfio":
            return Traits(address=self._lowest_member(candidate.name), part="vfio")
        kin = self._kinship(folder)
        usb, home = kin.usb, kin.usb or kin.pci
        places = (folder, *self._lineage.above(folder, home))
        serial = "" if _is_root_hub(usb) else self._serial(places)
        model = (self._hardware.value(folder, _USB_ID) if usb else None) or ""
        return Traits(
            model=model,
            # A USB serial number is one only among devices of one model.
            serial=f"{model}:{serial}" if serial and model else serial,
            unique=self._unique(places),
            port=self._port(usb) if usb else "",
            address=kin.pci.name if kin.pci and not usb else "",
            slot=self._slot(folder, home, candidate) if home else "",
            part="-".join(filter(None, self._parts(folder, home, candidate))),
        )

    def of_hardware(self, folder: Folder) -> Traits:
        """Return the traits of the hardware that a device is, or is part of, itself.

        That is the PCI function or USB device, or else the nearest device on any bus. All of its
        parts are told the same, whatever each of them has to be known by.
        """
        kin = self._kinship(folder)
        home = kin.hardware or kin.on_bus
        if home is None:
            return NO_TRAITS
        if home not in self._of_hardware:
            usb = kin.usb
            serial = "" if _is_root_hub(usb) else self._serial((home,))
            model = (self._hardware.value(folder, _USB_ID) if usb else None) or ""
            self._of_hardware[home] = Traits(
                model=model,
                serial=f"{model}:{serial}" if serial and model else serial,
                unique=self._unique((home,)),
                port=self._port(usb) if usb else "",
                address=kin.pci.name if kin.pci and not usb else "",
            )
        return self._of_hardware[home]

    def _lowest_member(self, group: str) -> str:
        """Return the lowest PCI address in an IOMMU group: its number is one of the kernel's."""
        members = self._folders.directory(f"/kernel/iommu_groups/{group}/devices")
        addresses = (each.name for each in self._folders.linked(members))
        return min(filter(_ADDRESS.fullmatch, addresses), default="")

    def _serial(self, places: tuple[Folder, ...]) -> str:
        """Return the serial number of the nearest that has one."""
        for place in places:
            text = self._folders.text(place, "serial")
            if text and (found := text.strip()):
                return found
        return ""

    def _unique(self, places: tuple[Folder, ...]) -> str:
        """Return the name of the nearest that no other device in the world has."""
        for place in places:
            if place.names is not None and _ANY_UNIQUE.isdisjoint(place.names):
                continue
            subsystem = (self._folders.link(place, "subsystem") or "").rpartition("/")[2]
            for name in _UNIQUE_OF.get(subsystem, _UNIQUE):
                if found := self._text(place, name):
                    return found
        return ""

    def _text(self, place: Folder, name: str) -> str:
        text = self._folders.attribute(place, name)
        return text.strip() if text else ""

    def _port(self, usb: Folder) -> str:
        """Return controller, USB version and ports: bus numbers change from boot to boot."""
        hub: Folder | None = usb
        while hub is not None and not _is_root_hub(hub):
            hub = hub.above
        controller = hub.above.name if hub and hub.above else ""
        ports = _PORTS.fullmatch(usb.name)
        version = self._text(hub, "version").partition(".")[0] if hub else ""
        return f"{controller}-usb{version}-{ports[1] if ports else 0}"

    def _parts(self, folder: Folder, home: Folder | None, candidate: Candidate) -> tuple[str, ...]:
        """Return which part of the hardware at `home` the device is, if it is not that itself."""
        if home is None or folder is home:
            return ()
        interface = self._kinship(folder).interface
        number = interface.path.removeprefix(home.path).rpartition(".")[2] if interface else ""
        return (
            f"if{number.zfill(2)}" if number else "",
            _KINDS.get(candidate.subsystem) or stem(candidate.name),
            self._index(folder, candidate),
        )

    def _index(self, folder: Folder, candidate: Candidate) -> str:
        name, label = _INDEXES.get(candidate.subsystem, ("", ""))
        index = self._text(folder, name) if name else ""
        return "" if index in {"", "0"} else f"{label}{index}"


def _is_root_hub(folder: Folder | None) -> bool:
    return folder is not None and _ROOT_HUB.fullmatch(folder.name) is not None
