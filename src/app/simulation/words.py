"""The words of one line, taken one after the other."""

import math
import shlex
from typing import Self

import attrs

from deviceplugin.domain.errors import InvalidValueError


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
        if not (text.isascii() and text.isdigit()) or int(text) < least:
            raise self.wrong(f"{what} is {text!r}, which is no whole number from {least} on")
        return int(text)

    def seconds(self, what: str, default: float | None = None) -> float:
        """Take a number of seconds; `default` if no word is left."""
        if default is not None and not self._left:
            return default
        text = self.word(what)
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not 0 <= seconds < math.inf:
            raise self.wrong(f"{what} is {text!r}, which is no number of seconds")
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
