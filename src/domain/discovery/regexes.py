"""Regular expressions whose time is bounded whatever they say.

Python's own go back over what they have tried: `(a+)+b` can keep a scan busy for ever. These are
read by rules of our own and turned into an automaton that looks at each character of a value once.
What cannot be done so (back-references, looking ahead or behind) is not offered.
"""

import re
from typing import Final

import attrs

from deviceplugin.domain.discovery.automata import (
    MAX_STATES,
    Automaton,
    Part,
    Test,
    automaton,
    either,
    one,
    repeated,
    sequence,
)
from deviceplugin.domain.errors import InvalidValueError

MAX_REGEX: Final = 1000
"""Longest expression."""
MAX_DEPTH: Final = 20
"""Deepest nesting of groups."""

_COUNT: Final = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}")


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _not(test: Test) -> Test:
    return lambda letter: not test(letter)


_CLASSES: Final[dict[str, Test]] = {
    "d": str.isdecimal,
    "D": _not(str.isdecimal),
    "s": str.isspace,
    "S": _not(str.isspace),
    "w": _is_word,
    "W": _not(_is_word),
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r"}


class _Parser:
    """Reads an expression once, from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text.removeprefix("^")
        self._skipped = len(text) - len(self._text)
        if self._text.endswith("$") and not self._text.endswith("\\$"):
            self._text = self._text[:-1]
        self._at = 0
        self._depth = 0

    def whole(self) -> Part:
        """Return what the whole text stands for."""
        part = self._choice()
        if self._at < len(self._text):
            raise self._wrong("there is no '(' to this ')'")
        return part

    def _wrong(self, reason: str) -> InvalidValueError:
        return InvalidValueError(f"{reason}, at character {self._skipped + self._at + 1}")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, reason: str) -> str:
        letter = self._peek()
        if not letter:
            raise self._wrong(reason)
        self._at += 1
        return letter

    def _choice(self) -> Part:
        branches = [self._branch()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._branch())
        return branches[0] if len(branches) == 1 else either(branches)

    def _branch(self) -> Part:
        parts: list[Part] = []
        while self._peek() not in {"", "|", ")"}:
            parts.append(self._counted(self._atom()))
        return sequence(parts)

    def _counted(self, part: Part) -> Part:
        """Return the part as often as what follows it says."""
        count = _COUNT.match(self._text, self._at)
        if count:
            low = int(count[1])
            high = (int(count[3]) if count[3] else None) if count[2] else low
            if high is not None and high < low:
                raise self._wrong("the first number of '{}' is the larger one")
            if max(low, high or 0) > MAX_STATES:
                raise self._wrong("it is too large: repeat less")
            self._at = count.end()
        elif self._peek() and self._peek() in "*+?":
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self._take("")]
        else:
            return part
        # Lazy or not is the same where the whole value has to fit.
        self._at += self._peek() == "?"
        if (self._peek() and self._peek() in "*+?") or _COUNT.match(self._text, self._at):
            raise self._wrong("there is nothing to repeat: put it in brackets, such as (ab)*")
        return repeated(part, low, high)

    def _atom(self) -> Part:
        letter = self._take("")
        if letter == "(":
            return self._group()
        if letter == "[":
            return one(self._one_of())
        if letter == ".":
            return one(lambda _: True)
        if letter == "\\":
            return one(self._escaped())
        self._at -= 1
        if letter in "*+?":
            raise self._wrong("there is nothing to repeat")
        if letter in "^$":
            raise self._wrong(
                f"{letter!r} stands at the very beginning or end; else write '\\{letter}'"
            )
        self._at += 1
        return one(letter.__eq__)

    def _group(self) -> Part:
        if self._peek() == "?":
            if not self._text.startswith("?:", self._at):
                raise self._wrong("of groups only (...) and (?:...) are offered")
            self._at += 2
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._wrong(f"groups are nested deeper than {MAX_DEPTH}")
        part = self._choice()
        self._depth -= 1
        self._take("a '(' is not closed")
        return part

    def _escaped(self) -> Test:
        letter = self._take("there is nothing after the '\\'")
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter.isascii() and not letter.isalnum():
            return letter.__eq__
        if letter in _CONTROLS:
            return _CONTROLS[letter].__eq__
        self._at -= 1
        raise self._wrong(f"'\\{letter}' is not offered")

    def _one_of(self) -> Test:
        """Return the test of brackets, `[` being read."""
        negated = self._peek() == "^"
        self._at += negated
        tests: list[Test] = []
        spans: list[tuple[str, str]] = []
        first = True
        while first or self._peek() != "]":
            first = False
            low = self._member(tests)
            if low is None:
                continue
            high = low
            if self._text.startswith("-", self._at) and self._text[self._at + 1 :][:1] != "]":
                self._at += 1
                end = self._member([])
                if end is None or end < low:
                    raise self._wrong("a range in '[]' must go from a letter to a later one")
                high = end
            spans.append((low, high))
        self._at += 1

        def test(letter: str) -> bool:
            found = any(low <= letter <= high for low, high in spans)
            return (found or any(each(letter) for each in tests)) != negated

        return test

    def _member(self, tests: list[Test]) -> str | None:
        """Return a letter in brackets; None if it is a class, which is added to the tests."""
        letter = self._take("a '[' is not closed")
        if letter != "\\":
            return letter
        letter = self._peek()
        test = self._escaped()
        if letter in _CLASSES:
            tests.append(test)
            return None
        return _CONTROLS.get(letter, letter)


def _compiled(regex: "Regex") -> Automaton:
    text = regex.text
    if not 1 <= len(text) <= MAX_REGEX:
        raise InvalidValueError(f"a regular expression must have 1 to {MAX_REGEX} characters")
    try:
        return automaton(_Parser(text).whole())
    except InvalidValueError as error:
        raise InvalidValueError(f"regular expression {text[:80]!r}: {error}") from error


@attrs.frozen
class Regex:
    r"""A regular expression that a whole value has to fit, in time linear in the value's length.

    Offered are letters, `.`, `[...]`, `(...)`, `|`, `*`, `+`, `?`, `{m,n}`, `\d`, `\w`, `\s` and
    their opposites. Raises `InvalidValueError`, which names the character that is wrong.
    """

    text: str
    _automaton: Automaton = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_compiled, takes_self=True)
    )

    @property
    def literal(self) -> bool:
        """Whether it fits nothing but its own text: that is not looked for."""
        return False

    @property
    def weight(self) -> int:
        """As many as its automaton has states."""
        return len(self._automaton.states)

    def fits(self, value: str) -> bool:
        """Say whether the whole of `value` looks like this."""
        return self._automaton.accepts(value)
