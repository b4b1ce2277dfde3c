"""What in a recording tells one machine from every other: serial numbers and addresses.

By the names of files, as Linux documents them in Documentation/ABI, by keys of uevent files, and
by the form of what is unmistakable wherever it stands.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from deviceplugin.domain.recording.entries import Entry, File, Link

FILES: Final = frozenset(
    {
        "serial",
        "serial_number",
        "serial_no",
        "product_serial",
        "board_serial",
        "chassis_serial",
        "product_uuid",
        "uuid",
        "wwid",
        "wwn",
        "unique_id",
        "eui",
        "nguid",
        "uniq",
        "cid",
        "guid",
        "node_guid",
        "sys_image_guid",
        "port_guid",
        "port_name",
        "node_name",
        "fabric_name",
        "sas_address",
        "host_sas_address",
        "permanent_address",
        "address",
        "imei",
        "iccid",
        "vpd_pg80",
    }
)
"""Names of files that hold one, whole."""
KEYS: Final = frozenset(
    {
        "SERIAL",
        "ID_SERIAL",
        "ID_SERIAL_SHORT",
        "UNIQ",
        "HID_UNIQ",
        "PARTUUID",
        "WWN",
        "ID_WWN",
        "ID_WWN_WITH_EXTENSION",
        "MAC",
        "HWADDR",
        "UUID",
        "POWER_SUPPLY_SERIAL_NUMBER",
        "NVME_SUBSYSNQN",
    }
)
"""Keys of a uevent file that hold one, perhaps in quotes."""

_MAC: Final = r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}"
_GUID: Final = r"[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){3,7}"
_UUID: Final = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_WWN: Final = r"(?:naa\.|eui\.|wwn-0x|nmbs\.)[0-9A-Fa-f]{16,32}"
_ONE_WIRE: Final = r"[0-9A-Fa-f]{2}-[0-9A-Fa-f]{12}"
ADDRESS: Final = re.compile(rf"{_MAC}|{_GUID}|{_UUID}|{_WWN}|{_ONE_WIRE}|0x[0-9A-Fa-f]+")
"""What is a number by its form, whatever its letters' case."""
_UNMISTAKABLE: Final = re.compile(
    rf"(?<![0-9A-Za-z:.])(?:{_MAC}|{_GUID}|{_UUID}|{_WWN}|{_ONE_WIRE})(?![0-9A-Za-z:])"
)
_NETWORK_NAME: Final = re.compile(r"(?<![0-9A-Za-z])enx([0-9a-f]{12})(?![0-9A-Za-z])")
_PCI: Final = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}(\.[0-7])?")
_UDEV_ID: Final = re.compile(
    r"^/dev/[a-z0-9/]+/by-id/[^/]*_([^/_]+?)(?:-(?:if|part|event|video|index|mouse|kbd)[^/]*)?$"
)
_UDEV_UUID: Final = re.compile(r"^/dev/[a-z0-9/]+/by-(?:part)?uuid/([^/]+)$")
_NOBODY: Final = re.compile(
    r"[0Ff.:\-]*|0x0*|\(?null\)?|n/?a|none|unknown|default string|not specified|to be filled.*|"
    r"system serial number|usb|static|random",
    re.IGNORECASE | re.DOTALL,
)


def identifies(text: str) -> bool:
    """Say whether a value tells one thing from another: no filler, and no place on a bus."""
    return not _NOBODY.fullmatch(text) and not _PCI.fullmatch(text)


def found(entries: Mapping[str, Entry]) -> Iterator[str]:
    """Yield each secret that stands somewhere in a recording, in the order of paths."""
    for path, entry in entries.items():
        yield from _in_name(raw(path))
        if isinstance(entry, Link):
            yield from by_form(raw(entry.target))
        elif isinstance(entry, File):
            text = entry.data.decode("latin-1")
            yield from held(path, text)
            yield from by_form(text)


def raw(name: str) -> str:
    """Return a name with a character for each of its bytes, as texts of files are compared."""
    return name.encode("utf-8", "surrogateescape").decode("latin-1")


def cooked(text: str) -> str:
    """Return the name that has these bytes."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def held(path: str, text: str) -> Iterator[str]:
    """Yield the secrets that a file of this name holds because of its name.

    What is the name of a directory that it is in, such as a controller's, is no number.
    """
    *places, name = raw(path).split("/")
    if name in FILES:
        value = _unit_serial(text) if name == "vpd_pg80" else text.strip(" \t\r\n\0")
        if identifies(value) and value not in places:
            yield value
    if name == "uevent":
        for key, _, given in (line.partition("=") for line in text.split("\n")):
            value = given.strip(' "\t\r')
            if key in KEYS and identifies(value):
                yield value


def _unit_serial(text: str) -> str:
    """Return the number in a SCSI page: four bytes, then text."""
    return text[4:].strip(" \t\r\n\0")


def _in_name(path: str) -> Iterator[str]:
    yield from by_form(path)
    for pattern in (_UDEV_ID, _UDEV_UUID):
        match = pattern.match(path)
        if match and identifies(match[1]):
            yield match[1]


def by_form(text: str) -> Iterator[str]:
    """Yield what in a text is unmistakably an address, whatever it stands for."""
    for each in _UNMISTAKABLE.findall(text):
        if identifies(each):
            yield each
    for digits in _NETWORK_NAME.findall(text):
        yield ":".join(digits[at : at + 2] for at in range(0, 12, 2))
