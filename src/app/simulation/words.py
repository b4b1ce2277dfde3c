"""The words of one line, taken one after the other."""

import math
import shlex
from itertools import takewhile
from typing import Final, Self

import attrs

from deviceplugin.domain.errors import InvalidValueError

MOST: Final = 1_000_000
"""The largest whole number: beyond it a protocol, or the memory of a machine, has its end."""
LONGEST: Final = 86_400
"""The longest time in seconds, a day: the system's clocks take no number whatever."""
_SHOWN: Final = 40


class BadLineError(InvalidValueError):
    """A line is no command; the text says what to write instead."""


@attrs.define
class Words:
    """What is left of a line. Each method takes from it, and raises `BadLineError`."""

    usage: str = ""
    """How the command is written, for errors."""
    _left: list[str] = attrs.field(factory=list[str], alias="left")

    @classmethod
    def of(cls, line: str) -> Self:
        """Split a line as a shell does; what follows a # is not read."""
        try:
            return cls(left=shlex.split(line, comments=True))
        except ValueError as error:
            raise BadLineError(f"{error}: close the quote, or leave it out") from error

    @property
    def any(self) -> bool:
        """Whether there is a word left."""
        return bool(self._left)

    @property
    def next(self) -> str:
        """The next word, which is not taken; nothing if there is none."""
        return self._left[0] if self._left else ""

    def word(self, what: str) -> str:
        """Take the next word, whatever it is."""
        if not self._left:
            raise self.wrong(f"{what} is missing")
        return self._left.pop(0)

    def number(self, what: str, default: int | None = None, *, least: int = 0) -> int:
        """Take a whole number; `default` if no word is left."""
        if default is not None and not self._left:
            return default
        text = self.word(what)
        number = _whole(text)
        if number is None or not least <= number <= MOST:
            raise self.wrong(
                f"{what} is {_short(text)}, which is no whole number from {least} to {MOST}"
            )
        return number

    def seconds(self, what: str, default: float | None = None) -> float:
        """Take a number of seconds; `default` if no word is left."""
        if default is not None and not self._left:
            return default
        text = self.word(what)
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not 0 <= seconds <= LONGEST:
            raise self.wrong(
                f"{what} is {_short(text)}, which is no number of seconds from 0 to {LONGEST}"
            )
        return seconds

    def resource(self) -> str:
        """Take the name of a resource, not checked further: a kubelet may be asked for any."""
        name = self.word("RESOURCE")
        if "/" not in name:
            raise self.wrong(
                f"{name!r} is no resource; write it with its domain, as in example.com/{name}"
            )
        return name

    def one_of(self, what: str, *choices: str) -> str:
        """Take one of some words."""
        text = self.word(what)
        if text not in choices:
            raise self.wrong(f"{text!r} is no {what}; it is one of {', '.join(choices)}")
        return text

    def option(self, name: str) -> bool:
        """Take the next word if it is this one."""
        if self._left[:1] != [name]:
            return False
        del self._left[0]
        return True

    def repeated(self, name: str) -> int:
        """Return how many of the words from here on are this one; takes none."""
        return sum(1 for _ in takewhile(name.__eq__, self._left))

    def rest(self) -> str:
        """Take all that is left as one text."""
        text, self._left = " ".join(self._left), []
        return text

    def quoted_rest(self) -> str:
        """Take all that is left as a line of its own."""
        text, self._left = shlex.join(self._left), []
        return text

    def end(self) -> None:
        """See that nothing is left."""
        if self._left:
            raise self.wrong(f"{self._left[0]!r} is too much")

    def wrong(self, problem: str) -> BadLineError:
        """Return an error that shows how it is written."""
        return BadLineError(f"{problem}; write: {self.usage}" if self.usage else problem)


def _whole(text: str) -> int | None:
    """Return a whole number, None if it is none or has far more digits than any that counts."""
    digits = text.lstrip("0")
    if not (text.isascii() and text.isdigit()) or len(digits) > len(str(MOST)):
        return None
    return int(digits or "0")


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
