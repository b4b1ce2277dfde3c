"""What in a recording tells one machine from every other: serial numbers and addresses.

By the names of files, as Linux documents them in Documentation/ABI, by keys of uevent files, and
by the form of what is unmistakable wherever it stands.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from deviceplugin.domain.recording import udev
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
        "phys_switch_id",
        "phys_port_id",
        "macaddress",
        "wwnn",
        "wwpn",
        "subsysnqn",
        "hostnqn",
        "chassis_asset_tag",
        "board_asset_tag",
    }
)
"""Names of files that hold one; `span` says where."""
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
        "ID_FS_UUID",
        "ID_PART_ENTRY_UUID",
        "ID_SCSI_SERIAL",
        "ID_USB_SERIAL",
        "ID_USB_SERIAL_SHORT",
        "SERIAL_NUMBER",
        "UNIQUE_ID",
        "W1_SLAVE_ID",
    }
)
"""Keys of a uevent file that hold one, perhaps in quotes."""

_QUALIFIED: Final = frozenset({"subsysnqn", "hostnqn", "NVME_SUBSYSNQN"})
_BLANK: Final = ' "\t\r\n\0'

_MAC: Final = r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}"
_GUID: Final = r"[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){3,7}"
_UUID: Final = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_WWN: Final = (
    r"(?:(?:naa\.|eui\.|wwn-0x|nmbs\.|[np]n-0x)[0-9A-Fa-f]{16,32}"
    r"|nvme\.[0-9a-f]{4}-[0-9a-f]+-[0-9a-f]+-[0-9a-f]{8})"
)
_ARRAY: Final = r"[0-9A-Fa-f]{8}(?::[0-9A-Fa-f]{8}){3}"
_VOLUME: Final = r"[0-9A-Za-z]{6}(?:-[0-9A-Za-z]{4}){5}-[0-9A-Za-z]{6}"
ADDRESS: Final = re.compile(rf"{_MAC}|{_GUID}|{_UUID}|{_WWN}|{_ARRAY}|0x[0-9A-Fa-f]+")
"""What is a number by its form, whatever its letters' case."""
_UNMISTAKABLE: Final = re.compile(
    rf"(?<![0-9A-Za-z:.])(?:{_MAC}|{_GUID}|{_UUID}|{_WWN}|{_ARRAY}|{_VOLUME})(?![0-9A-Za-z:])"
)
_NETWORK_NAME: Final = re.compile(r"(?<![0-9A-Za-z])[a-z]{2}x([0-9a-f]{12})(?![0-9A-Za-z])")
"""Of any kind of interface that is named by its address: enx, wlx, wwx."""
_ONE_WIRE: Final = re.compile(
    r"(?<![0-9A-Za-z\-])[0-9A-Fa-f]{2}-([0-9A-Fa-f]{12})(?![0-9A-Za-z\-])"
)
_QUALIFIED_NAME: Final = re.compile(
    # What the standard has a disk without a name of its own call itself: two ids, then its number.
    r"nqn\.2014\.08\.org\.nvmexpress:[0-9A-Fa-f]{8}(.{1,20})|nqn\.[0-9-]{7}\.[^:]+:(?!uuid:)(.+)",
    re.DOTALL,
)
_PCI: Final = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}(\.[0-7])?")
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
        begin, end = span(name, text)
        if identifies(text[begin:end]) and text[begin:end] not in places:
            yield text[begin:end]
    if name == "uevent":
        for key, _, given in (line.partition("=") for line in text.split("\n")):
            begin, end = span(key, given) if key in KEYS else (0, 0)
            if identifies(given[begin:end]):
                yield given[begin:end]


def span(name: str, text: str) -> tuple[int, int]:
    """Return where in the text of a file or key of this name the number begins and ends."""
    begin, end = 0, len(text)
    if name == "vpd_pg80":
        begin = min(4, end)  # A SCSI page: four bytes, then text.
    if name in _QUALIFIED:
        match = _QUALIFIED_NAME.search(text)
        begin, end = match.span(match.lastindex or 0) if match else (0, 0)
    while begin < end and text[begin] in _BLANK:
        begin += 1
    while begin < end and text[end - 1] in _BLANK:
        end -= 1
    if name == "W1_SLAVE_ID":
        begin = max(begin, end - 12)  # As its directory has it, behind zeros.
    return begin, end


def _in_name(path: str) -> Iterator[str]:
    yield from by_form(path)
    yield from filter(identifies, udev.numbers(path))


def by_form(text: str) -> Iterator[str]:
    """Yield what in a text is unmistakably an address, whatever it stands for."""
    yield from filter(identifies, _UNMISTAKABLE.findall(text))
    yield from filter(identifies, _ONE_WIRE.findall(text))
    for digits in _NETWORK_NAME.findall(text):
        yield ":".join(digits[at : at + 2] for at in range(0, 12, 2))
