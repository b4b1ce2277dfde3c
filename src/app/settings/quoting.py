"""Finds the value that needs quotes, where a document is none for the lack of them.

A text may begin with no sign that means something to YAML (`*` an alias, `@` nothing yet), and go
on after no closing bracket. YAML tells of that in its own words, often behind the value.
"""

import re
from typing import Final

import yaml
from yaml.error import Mark

_BEGUN: Final = frozenset(
    {"while scanning an alias", "while scanning an anchor", "while scanning a block scalar"}
)
_UNSTARTED: Final = "cannot start any token"
_UNDEFINED: Final = "found undefined alias"
_REST: Final = re.compile(r"(?:(?!\s#|:\s|:$)[^\n])*", re.MULTILINE)
_WORD: Final = re.compile(r"[^\s,\]}]*")
_REPEATED: Final = 80
"""What is longer is not repeated to be copied."""


def quotes_needed(text: str, error: yaml.MarkedYAMLError) -> tuple[Mark, str] | None:
    """Return where in `text` the value is that needs quotes, and that; None if there is none."""
    problem, mark = error.problem or "", error.problem_mark
    if error.context in _BEGUN and error.context_mark:
        mark = error.context_mark
    elif mark is None or not (_UNSTARTED in problem or problem.startswith(_UNDEFINED)):
        return _glued(text, problem, mark)
    if text[mark.index : mark.index + 1].isspace():
        return None
    value = _value(text, mark.index)
    if problem.startswith(_UNDEFINED):
        return mark, f"this is no YAML: {problem}; if it is text, {quoted(value)}"
    return mark, f"{_shown(value)} without quotes is no text to YAML; {quoted(value)}"


def quoted(value: str) -> str:
    """Return how a value is to be written, whole if it can be copied."""
    if len(value) > _REPEATED or "'" in value or not value.isprintable():
        return "put quotes around it"
    return f"quote it: '{value}'"


def _glued(text: str, problem: str, mark: Mark | None) -> tuple[Mark, str] | None:
    """Return where a value goes on after a bracket, or has one in it."""
    if mark is None or not problem.startswith("expected ") or not 0 < mark.index < len(text):
        return None
    before, at = text[mark.index - 1], text[mark.index]
    inside = at in "[{" and not (before.isspace() or before in ",[{")
    if before in "]}" or inside:
        return mark, (
            "a bracket or brace beside other text is no text to YAML; put quotes around the "
            "whole value"
        )
    return None


def _value(text: str, index: int) -> str:
    """Return the value that begins here: the rest of its line, or of its place in a list."""
    rest = _REST.match(text, index)
    whole = rest[0].rstrip() if rest else ""
    if any(each in whole for each in ",]}"):
        word = _WORD.match(whole)
        return word[0] if word else whole
    return whole


def _shown(value: str) -> str:
    return value if len(value) <= _REPEATED and value.isprintable() else f"{value[:1]}..."
