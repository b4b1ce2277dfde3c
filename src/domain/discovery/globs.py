"""Patterns as a shell writes them.

`*` is any text, `?` one character, `[a-c]` one of these, `[!a-c]` one that is none of these. The
rules are our own rather than those of `fnmatch`, so that time is bounded whatever the pattern,
letter case always counts, and this package stays free of I/O.
"""

import re
from abc import abstractmethod
from typing import Final, Protocol

import attrs

from deviceplugin.domain.errors import InvalidValueError

MAX_PATTERN: Final = 4096
"""Longest pattern: no value that sysfs shows as text is longer."""
_SPAN: Final = re.compile(r".-.|.", re.DOTALL)
_NEVER: Final = "(?!)"


class Pattern(Protocol):
    """What a whole value must look like."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The pattern as written."""
        ...

    @property
    @abstractmethod
    def literal(self) -> bool:
        """Whether it fits nothing but its own text."""
        ...

    @property
    @abstractmethod
    def weight(self) -> int:
        """How much it takes to make and to keep: of what is literal, nothing to speak of."""
        ...

    @abstractmethod
    def fits(self, value: str) -> bool:
        """Say whether the whole of `value` looks like this."""
        ...


def is_literal(text: str) -> bool:
    """Say whether nothing in `text` stands for anything else."""
    return not any(letter in text for letter in "*?[")


def literally(text: str) -> str:
    """Return the pattern that fits this text and no other."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def _weight(text: str) -> int:
    return 0 if is_literal(text) else len(text)


def _compiled(glob: "Glob") -> re.Pattern[str] | None:
    """Return what a value is compared with; None where it is the text itself."""
    if is_literal(glob.text):
        return None
    return re.compile(_translated(glob.text[:MAX_PATTERN]), re.DOTALL)


@attrs.frozen
class Glob:
    """A pattern whose wildcards stand for any characters; a `[` that is never closed is just that.

    Raises `InvalidValueError` for one that is empty or too long.
    """

    text: str
    _regex: re.Pattern[str] | None = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_compiled, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what fits nothing."""
        if not 1 <= len(self.text) <= MAX_PATTERN:
            raise InvalidValueError(f"a value must have 1 to {MAX_PATTERN} characters")

    @property
    def literal(self) -> bool:
        """Whether it fits nothing but its own text."""
        return self._regex is None

    @property
    def weight(self) -> int:
        """A character each, of one with wildcards."""
        return _weight(self.text)

    def fits(self, value: str) -> bool:
        """Say whether the whole of `value` looks like this."""
        if self._regex is None:
            return value == self.text
        return self._regex.fullmatch(value) is not None


def _parts(glob: "NodeGlob") -> tuple[Glob, ...]:
    return tuple(map(Glob, filter(None, glob.text[:MAX_PATTERN].split("/"))))


@attrs.frozen
class NodeGlob:
    """A pattern of a path below /dev; its wildcards never stand for a '/'.

    Raises `InvalidValueError` for what is no such path.
    """

    text: str
    _globs: tuple[Glob, ...] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_parts, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what could never be the path of a device node."""
        for holds, rule in _path_rules(self.text):
            if not holds:
                raise InvalidValueError(f"node {self.text!r}: {rule}")

    @property
    def literal(self) -> bool:
        """Whether it fits nothing but its own text."""
        return is_literal(self.text)

    @property
    def weight(self) -> int:
        """A character each, of one with wildcards."""
        return _weight(self.text)

    def fits(self, value: str) -> bool:
        """Say whether the whole of `value` looks like this, part by part."""
        parts = value.split("/")[1:]
        return len(parts) == len(self._globs) and all(
            glob.fits(part) for glob, part in zip(self._globs, parts, strict=True)
        )


def _path_rules(text: str) -> tuple[tuple[bool, str], ...]:
    parts = text.split("/")[1:]
    return (
        (text.startswith("/dev/"), "must be a path or a glob below /dev, such as /dev/ttyUSB*"),
        (not {"", ".", ".."} & set(parts), "must not have empty parts, '.' or '..'"),
        (len(text) <= MAX_PATTERN, f"must have at most {MAX_PATTERN} characters"),
        ("**" not in text, "'**' is not offered: write one '*' for each level of folders"),
    )


def _translated(text: str) -> str:
    """Return a regular expression that never goes back over what it has tried.

    Between two stars the leftmost place is as good as any other, so it is taken for good ("(?>"):
    otherwise a pattern of many stars could take for ever.
    """
    first, *rest = _pieces(text)
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>.*?{piece})" for piece in middle) + f".*{last}"


def _pieces(text: str) -> list[str]:
    """Return regular expressions for what stands between the stars."""
    pieces: list[list[str]] = [[]]
    at, last = 0, text.rfind("]")
    while at < len(text):
        letter = text[at]
        # Behind the last "]" nothing is closed: to look for it each time would take for ever.
        end = _closing(text, at) if letter == "[" and at < last else -1
        if end >= 0:
            negated = text[at + 1] == "!"
            pieces[-1].append(_one_of(text[at + 1 + negated : end], negated=negated))
            at = end
        elif letter == "*":
            pieces.append([])
        else:
            pieces[-1].append("." if letter == "?" else re.escape(letter))
        at += 1
    return ["".join(piece) for piece in pieces]


def _closing(text: str, at: int) -> int:
    """Return where the `[` at a place is closed; -1 if it is not.

    What comes first in brackets is a letter, also a `]`.
    """
    first = at + 1 + text.startswith("!", at + 1)
    return text.find("]", first + 1)


def _one_of(letters: str, *, negated: bool) -> str:
    """Return a regular expression for one character out of `letters`, or for any other."""
    ranges: list[str] = []
    for span in _SPAN.findall(letters):
        low, high = span[0], span[-1]
        if low <= high:
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
    if not ranges:
        return "." if negated else _NEVER
    return f"[{'^' if negated else ''}{''.join(ranges)}]"


def path_globs(root: str, pattern: str) -> tuple[Glob, ...]:
    """Return a glob for each part of a path below the folder `root`, itself right below `/`.

    None for a pattern that leads elsewhere, or that no path can fit.
    """
    first, *parts = pattern.split("/")[1:] or [""]
    if f"/{first}" != root or not parts or {"", ".", ".."} & {*parts}:
        return ()
    try:
        return tuple(Glob(part) for part in parts)
    except ValueError:
        return ()
