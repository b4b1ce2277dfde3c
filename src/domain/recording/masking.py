"""Puts made-up numbers in the place of those that tell one machine from every other."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.recording.entries import Entry, File, Link, Recording, Uses
from deviceplugin.domain.recording.secrets import ADDRESS, FILES, KEYS, by_form, cooked, found, raw

_SHORT: Final = 6
"""A secret of fewer characters is masked only where its place says what it is: 1 may be any."""
_HEX: Final = re.compile(r"(0x|naa\.|eui\.|wwn-0x|nmbs\.)?([0-9A-Fa-f][0-9A-Fa-f:\-]+)")
_NO_TEXT: Final = b"\xff"
"""A byte that is nowhere in UTF-8."""
_UNSAFE: Final = re.compile(r"[^0-9A-Za-z#+\-.:=@_]")


@attrs.frozen
class Masks:
    """What stands for each secret: equal ones have one mask, distinct ones distinct masks.

    A mask has the form of what it hides: an address stays an address. `text` masks whatever is in
    a text.
    """

    _masks: Mapping[str, str]
    _pattern: "re.Pattern[str]"

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Masks":
        """Return masks for these secrets, numbered in their order."""
        numbers: dict[str, int] = {}
        masks: dict[str, str] = {}
        for secret in secrets:
            number = numbers.setdefault(_bare(secret), len(numbers) + 1)
            for way in _ways(secret):
                masks.setdefault(way, _mask(way, number))
        longest = sorted((each for each in masks if len(each) >= _SHORT), key=len, reverse=True)
        alternatives = "|".join(map(_bounded, longest)) or "(?!)"
        return cls(masks, re.compile(alternatives))

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return self._pattern.sub(lambda match: self._masks[match[0]], text)

    def name(self, text: str) -> str:
        """Return a name without secrets, which texts of files are compared with byte by byte."""
        return cooked(self.text(raw(text)))

    def whole(self, text: str) -> str:
        """Return what stands for a text that is a secret as a whole, however short it is."""
        return self._masks.get(text) or self.text(text)


def masked(recording: Recording, more: Iterable[str] = ()) -> tuple[Recording, Masks]:
    """Return the recording without secrets, and the masks that were used.

    `more` are secrets that are known although the recording does not hold them by themselves.
    Raises `InvalidValueError` if two paths became one.
    """
    masks = Masks.of([*found(recording.entries), *_in_uses(recording.uses), *more])
    entries: dict[str, Entry] = {}
    for path, entry in recording.entries.items():
        name = cooked(masks.text(_udev_name(raw(path), masks)))
        if name in entries:
            raise InvalidValueError(f"masks would make one of two entries: {name}")
        entries[name] = _masked(path, entry, masks)
    return Recording(entries, uses=_without(recording.uses, masks)), masks


def _in_uses(uses: Uses) -> Iterator[str]:
    pairs = {**(uses.interfaces or {}), **uses.unknown}
    for text in (*pairs, *pairs.values(), *(uses.disks or {}).values()):
        yield from by_form(raw(text))


def _without(uses: Uses, masks: Masks) -> Uses:
    disks, interfaces = uses.disks, uses.interfaces
    return Uses(
        disks=disks and {number: masks.name(use) for number, use in disks.items()},
        interfaces=interfaces
        and {masks.name(name): masks.name(use) for name, use in interfaces.items()},
        unknown={question: masks.name(reason) for question, reason in uses.unknown.items()},
    )


def _masked(path: str, entry: Entry, masks: Masks) -> Entry:
    if isinstance(entry, Link):
        return Link(masks.name(entry.target))
    if not isinstance(entry, File):
        return entry
    text = entry.data.decode("latin-1")
    name = path.rpartition("/")[2]
    if name == "vpd_pg80":
        text = text[:4] + _value(text[4:], masks)
    elif name in FILES:
        text = _value(text, masks)
    elif name == "uevent":
        text = "\n".join(_line(line, masks) for line in text.split("\n"))
    data = masks.text(text).encode("latin-1")
    # What was no text stays none: it is what a machine's fault may be about.
    is_healed = _is_text(data) and not _is_text(entry.data)
    return attrs.evolve(entry, data=data + _NO_TEXT if is_healed else data)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _value(text: str, masks: Masks) -> str:
    """Return a file's text with what it holds as a whole masked; white space around it stays."""
    value = text.strip(" \t\r\n\0")
    before, _, after = text.partition(value) if value else (text, "", "")
    return f"{before}{masks.whole(value)}{after}"


def _line(line: str, masks: Masks) -> str:
    key, equals, given = line.partition("=")
    value = given.strip(' "\t\r')
    if key not in KEYS or not value:
        return line
    before, _, after = given.partition(value)
    return f"{key}{equals}{before}{masks.whole(value)}{after}"


def _udev_name(path: str, masks: Masks) -> str:
    """Return a path below /dev/*/by-id with the pieces of its name masked, short ones too."""
    folder, slash, name = path.rpartition("/")
    if not path.startswith("/dev/") or "/by-" not in folder:
        return path
    pieces = re.split(r"([_\-])", name)
    return f"{folder}{slash}{''.join(masks.whole(piece) for piece in pieces)}"


def _bare(secret: str) -> str:
    """Return what two ways to write one number have in common."""
    match = _HEX.fullmatch(secret)
    if match is None or not ADDRESS.fullmatch(secret):
        return secret
    return re.sub(r"[:\-]", "", match[2]).lower()


def _ways(secret: str) -> Iterator[str]:
    """Yield the ways in which a secret is written in names and files."""
    yield secret
    yield _UNSAFE.sub("_", re.sub(r"\s+", "_", secret))
    if ADDRESS.fullmatch(secret):
        bare = _bare(secret)
        yield from (secret.lower(), secret.upper(), bare, bare.upper(), f"enx{bare}")


def _mask(way: str, number: int) -> str:
    """Return a made-up number of the form of `way`."""
    if way.startswith("enx") and len(way) == len("enx") + 12:
        return f"enx02{number:010x}"
    match = _HEX.fullmatch(way)
    if match is None or len(way) < _SHORT or way.isdecimal():
        return f"MASKED{number}"
    digits = sum(letter not in ":-" for letter in match[2])
    # The second bit of an address's first byte says that nobody assigned it.
    is_address = re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", way)
    made = iter(f"02{number:010x}" if is_address else f"{number:0{digits}x}"[-digits:])
    return (match[1] or "") + "".join(
        letter if letter in ":-" else next(made) for letter in match[2]
    )


def _bounded(secret: str) -> str:
    """Return a pattern for a secret that is not just a part of something longer."""
    return rf"(?<![0-9A-Za-z]){re.escape(secret)}(?![0-9A-Za-z])"
