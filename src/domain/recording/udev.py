"""What in the names that udev gives to links below /dev tells one machine from others."""

import re
from collections.abc import Iterator
from typing import Final

FOLDER: Final = re.compile(r"(?:^|/)by-(?!path/)[a-z]+/")
"""What the name of a link by what is known of its device stands behind; a place is no secret."""

_BASE: Final = re.compile(
    r"(?P<base>.*?)(?:-(?:if|port|part|event|video|index|mouse|kbd|joystick|lun)[^/_]*"
    r"|-[0-9]+:[0-9]+[^/_]*)?",
    re.DOTALL,
)
_LONG: Final = re.compile(
    # A WWN behind the digit that says what it is, and what else is too long for a name.
    r"(?<![0-9A-Za-z])(?:[1-38]?([0-9A-Fa-f]{32}|[0-9A-Fa-f]{16})|([0-9A-Za-z]{32,}))"
    r"(?![0-9A-Za-z])"
)
_ARRAY: Final = re.compile(r"md-name-([^:]+):.*", re.DOTALL)
_DIGIT: Final = re.compile("[0-9]")
"""What has none where a number would be is the end of a model's name: USB_Serial."""
_NAMESPACE: Final = re.compile(r"[0-9]{1,3}")
_NAMED: Final = frozenset({"dm", "md", "lvm"})
"""Kinds of links whose names end in a name, if in no number."""


def numbers(path: str) -> Iterator[str]:
    """Yield what in the path of a link is a number of its device, or the name of its machine."""
    folder, _, name = path.rpartition("/")
    kind = folder.rpartition("/")[2]
    if not path.startswith("/dev/"):
        return
    if kind in {"by-uuid", "by-partuuid"}:
        yield name
    elif kind == "by-id":
        yield from _in_id(name)


def _in_id(name: str) -> Iterator[str]:
    for match in _LONG.finditer(name):
        yield match[1] or match[2]
    array = _ARRAY.fullmatch(name)
    if array:
        yield array[1]
    bus, _, rest = name.partition("-")
    shape = _BASE.fullmatch(rest)
    base = shape["base"] if shape else rest
    *others, last = base.split("_")
    if bus == "virtio":
        yield base
    elif others and bus not in _NAMED and _DIGIT.search(last):
        yield last
        if bus == "nvme" and _NAMESPACE.fullmatch(last) and len(others) > 1:
            yield others[-1]
