"""What stands for each secret, and where it is put."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final

import attrs

from deviceplugin.domain.recording.secrets import ADDRESS, cooked, raw, span
from deviceplugin.domain.recording.udev import FOLDER

_SHORT: Final = 6
"""A secret of fewer characters is masked only where its place says what it is: 1 may be any."""
_TELLING: Final = 8
"""One of so many characters is masked in the middle of a word, too."""
_LONG: Final = 12
"""Hexadecimal digits, so many, are one number however they are grouped."""
_HEX: Final = re.compile(r"(0x|naa\.|eui\.|wwn-0x|nmbs\.|[np]n-0x)?([0-9A-Fa-f][0-9A-Fa-f:\-]+)")
_DIGITS: Final = re.compile("[0-9a-f]+")
_UNSAFE: Final = re.compile(r"[^0-9A-Za-z#+\-.:=@_]")


@attrs.frozen
class Masks:
    """What stands for each secret: equal ones have one mask, distinct ones distinct masks.

    A mask has the form of what it hides: an address stays an address. Letters' case and what
    separates digits do not matter, unless two secrets differ by nothing else.
    """

    _exact: Mapping[str, str]
    _loose: Mapping[str, str]
    _digits: Mapping[str, int]
    _anywhere: "re.Pattern[str]"
    _here: "re.Pattern[str]"

    @classmethod
    def of(cls, secrets: Iterable[str], words: Container[str] = ()) -> "Masks":
        """Return masks for these secrets, numbered in their order.

        One that is among `words`, in small letters, is masked only where its place says what it
        is.
        """
        numbers: dict[str, int] = {}
        exact: dict[str, str] = {}
        for secret in secrets:
            number = numbers.setdefault(_bare(secret), len(numbers) + 1)
            for way in _ways(secret):
                exact.setdefault(way, _mask(way, number))
        digits = {bare: number for bare, number in numbers.items() if _is_long(bare)}
        loose = {_lower(way): mask for way, mask in reversed(exact.items())}
        ways = sorted({*loose, *digits}, key=lambda way: (-len(way), way))
        anywhere = [
            _glued(way) if _tells(way) else _bounded(way)
            for way in ways
            if len(way) >= _SHORT and way not in words
        ]
        here = [_glued(way) if _has_digit(way) else _bounded(way) for way in ways]
        return cls(exact, loose, digits, *map(_any, (anywhere, here)))

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return self._without(self._anywhere, text)

    def here(self, text: str) -> str:
        """Return a text without secrets that may be short: what it tells is who somebody is."""
        return self._without(self._here, text)

    def name(self, text: str) -> str:
        """Return a name without secrets, which texts of files are compared with byte by byte."""
        return cooked(self.path(raw(text)))

    def path(self, text: str) -> str:
        """Return a path without secrets, and without short ones in the names of udev's links."""
        folder = FOLDER.search(text)
        if folder is None:
            return self.text(text)
        return self.text(text[: folder.end()]) + self.here(text[folder.end() :])

    def whole(self, text: str) -> str:
        """Return what stands for a text that is a secret as a whole, however short it is."""
        return self._known(text) or self.text(text)

    def held(self, name: str, text: str) -> str:
        """Return the text of a file or key that has secrets by its name, without them."""
        begin, end = span(name, text)
        return self.text(text[:begin]) + self.whole(text[begin:end]) + self.text(text[end:])

    def _known(self, text: str) -> str | None:
        mask = self._exact.get(text) or self._loose.get(_lower(text))
        if mask is None:
            number = self._digits.get(_bare(text))
            mask = None if number is None else _mask(text, number)
        return mask

    def _without(self, pattern: "re.Pattern[str]", text: str) -> str:
        kept, begin = "", 0
        for match in pattern.finditer(_lower(text)):
            found = text[match.start() : match.end()]
            kept += text[begin : match.start()] + (self._known(found) or "MASKED")
            begin = match.end()
        return kept + text[begin:]


def _lower(text: str) -> str:
    """Return a text in small letters; its bytes beyond ASCII are no letters."""
    return text.encode("latin-1", "replace").lower().decode("latin-1")


def _bare(secret: str) -> str:
    """Return what two ways to write one number have in common."""
    match = _HEX.fullmatch(secret)
    if match is None:
        return secret
    digits = re.sub(r"[:\-]", "", match[2]).lower()
    return digits if ADDRESS.fullmatch(secret) or _is_long(digits) else secret


def _is_long(digits: str) -> bool:
    return re.fullmatch(rf"[0-9a-f]{{{_LONG},}}", digits) is not None and _tells(digits)


def _tells(way: str) -> bool:
    """Say whether it can be nothing else, whatever stands beside it."""
    return len(way) >= _TELLING and _has_digit(way) and len(way.strip("0")) >= _SHORT


def _has_digit(way: str) -> bool:
    return len(way) >= _SHORT and re.search("[0-9]", way) is not None


def _ways(secret: str) -> Iterator[str]:
    """Yield the ways in which a secret is written in names and files."""
    yield secret
    yield _UNSAFE.sub("_", re.sub(r"\s+", "_", secret))
    if len(secret) >= _SHORT:
        yield secret.encode("latin-1", "replace").hex()
    if ADDRESS.fullmatch(secret):
        yield _bare(secret)


def _mask(way: str, number: int) -> str:
    """Return a made-up number of the form of `way`."""
    match = _HEX.fullmatch(way)
    digits = sum(letter not in ":-" for letter in match[2]) if match else 0
    if match is None or len(way) < _SHORT or (way.isdecimal() and digits < _LONG):
        return f"MASKED{number}"
    # The second bit of an address's first byte says that nobody assigned it.
    is_address = digits == _LONG and not match[1]
    made = iter(f"02{number:010x}" if is_address else f"{number:0{digits}x}"[-digits:])
    return (match[1] or "") + "".join(
        letter if letter in ":-" else next(made) for letter in match[2]
    )


def _any(alternatives: Iterable[str]) -> "re.Pattern[str]":
    return re.compile("|".join(alternatives) or "(?!)", re.DOTALL)


def _glued(way: str) -> str:
    """Return a pattern for a secret, whatever it is a part of, and however it is grouped."""
    if not _is_long(way):
        return re.escape(way)
    return r"[:\-]?".join(way[at : at + 2] for at in range(0, len(way), 2))


def _bounded(way: str) -> str:
    """Return a pattern for a secret that is not just a part of something longer.

    That it looks behind at its end lets a search begin with what is there.
    """
    text = re.escape(way)
    pattern = rf"{text}(?<![0-9a-z]{text})(?![0-9a-z])"
    if len(way) < _SHORT and _DIGITS.fullmatch(way):
        # No part of an address or of a place on a bus.
        pattern += rf"(?<![0-9a-z][:.]{text})(?![:.][0-9a-z])"
    return pattern
