"""Puts made-up numbers in the place of those that tell one machine from every other."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.recording.entries import Entry, File, Link, Recording, Uses
from deviceplugin.domain.recording.masks import Masks
from deviceplugin.domain.recording.secrets import FILES, KEYS, by_form, found, raw

_WORD: Final = re.compile(r"(?<![0-9a-z])[a-z]+(?![0-9a-z])")
_NO_TEXT: Final = b"\xff"
"""A byte that is nowhere in UTF-8."""


def masked(recording: Recording, more: Iterable[str] = ()) -> tuple[Recording, Masks]:
    """Return the recording without secrets, and the masks that were used.

    `more` are secrets that are known although the recording does not hold them by themselves.
    Raises `InvalidValueError` if two paths became one.
    """
    secrets = [*found(recording.entries), *_in_uses(recording.uses), *more]
    masks = Masks.of(secrets, _words(recording.entries))
    entries: dict[str, Entry] = {}
    for path, entry in recording.entries.items():
        name = masks.name(path)
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


def _words(paths: Iterable[str]) -> frozenset[str]:
    """Return the words of which the tree's names are made: what is one of them may be any."""
    return FILES.union(*(_WORD.findall(path.lower()) for path in paths if _is_sys(path)))


def _is_sys(path: str) -> bool:
    return path.startswith("/sys/")


def _masked(path: str, entry: Entry, masks: Masks) -> Entry:
    if isinstance(entry, Link):
        return Link(masks.name(entry.target))
    if not isinstance(entry, File):
        return entry
    data = _text(path.rpartition("/")[2], entry.data.decode("latin-1"), masks).encode("latin-1")
    # What was no text stays none: it is what a machine's fault may be about.
    is_healed = _is_text(data) and not _is_text(entry.data)
    return attrs.evolve(entry, data=data + _NO_TEXT if is_healed else data)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text(name: str, text: str, masks: Masks) -> str:
    """Return the text of a file of this name without secrets."""
    if name in FILES:
        return masks.held(name, text)
    if name == "uevent":
        return "\n".join(_line(line, masks) for line in text.split("\n"))
    return masks.text(text)


def _line(line: str, masks: Masks) -> str:
    key, equals, given = line.partition("=")
    return f"{key}{equals}{masks.held(key, given)}" if key in KEYS else masks.text(line)
