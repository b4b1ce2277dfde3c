"""Ids of PCI and USB hardware, as people write them and as sysfs shows them.

Of all the ways to write one ("0x8086", "8086", "56C0") there is one by which they are compared:
digits a-f in small letters, without "0x", vendor and device joined by a colon.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.globs import MAX_PATTERN, is_literal
from deviceplugin.domain.discovery.withheld import Withheld
from deviceplugin.domain.errors import InvalidValueError

_PREFIX: Final = re.compile(r"(?:^|(?<=:))0x")
"""Each number may have one, at its beginning."""
_HEX_GLOB: Final = re.compile(r"[0-9a-f*?\[\]!-]+")
_VENDOR: Final = 4
_CLASS: Final = 6
_INTERFACE: Final = 2


def hex_text(text: str) -> str:
    """Return hexadecimal digits in the form in which they are compared."""
    digits = text.strip().lower()
    # As sysfs has it, and so most of all.
    if digits[:2] == "0x" and "x" not in digits[2:]:
        return digits[2:]
    return _PREFIX.sub("", digits)


def pair(vendor: str | None, device: str | None) -> str | None:
    """Return vendor and device in one text, "8086:56c0"; None if one of them is not known.

    What cannot be read stays so.
    """
    for each in (vendor, device):
        if isinstance(each, Withheld):
            return each
    return f"{hex_text(vendor)}:{hex_text(device)}" if vendor and device else None


def hardware_text(fact: Fact, text: str) -> str:
    """Return a text or glob of a configuration in the form in which `fact` is compared.

    Raises `InvalidValueError` for what no hardware can have.
    """
    if len(text) > MAX_PATTERN:
        raise InvalidValueError(f"a value must have 1 to {MAX_PATTERN} characters")
    return _FORMS[fact.kind, fact.key](text)


def _pair(text: str) -> str:
    vendor, colon, device = hex_text(text).partition(":")
    if not colon or not _is_hex(vendor, _VENDOR) or not _is_hex(device, _VENDOR):
        raise InvalidValueError(
            f"{text[:80]!r} must be 'vendor:device', each of four hexadecimal digits, such as "
            "'8086:56c0'; a '*' stands for any"
        )
    return f"{vendor}:{device}"


def _class(text: str) -> str:
    digits = hex_text(text)
    if not _is_hex(digits, _CLASS):
        raise InvalidValueError(
            f"{text[:80]!r} must be a class of six hexadecimal digits, such as '030000'; "
            "'03*' is any display"
        )
    return digits


def _interface(text: str) -> str:
    digits = hex_text(text)
    if is_literal(digits):
        digits = digits.zfill(_INTERFACE)
    if not _is_hex(digits, _INTERFACE):
        raise InvalidValueError(
            f"{text[:80]!r} must be an interface's number, two hexadecimal digits such as '01'"
        )
    return digits


def _as_it_is(text: str) -> str:
    return text


def _is_hex(digits: str, length: int) -> bool:
    fits = _HEX_GLOB.fullmatch(digits) is not None
    return fits and (len(digits) == length or not is_literal(digits))


_FORMS: Final[Mapping[tuple[Kind, str], Callable[[str], str]]] = MappingProxyType(
    {
        (Kind.PCI, "id"): _pair,
        (Kind.PCI, "subsystem"): _pair,
        (Kind.PCI, "class"): _class,
        (Kind.USB, "id"): _pair,
        (Kind.USB, "serial"): _as_it_is,
        (Kind.USB, "interface"): _interface,
    }
)
