"""From a file to YAML nodes, within bounds of size, depth and time.

Nodes keep what a person wrote: text, tag and place of each scalar, and keys that occur twice. The
objects that YAML makes of them do not.
"""

import os
from typing import Final

import yaml
from yaml.nodes import Node
from yaml.reader import ReaderError

from deviceplugin.app.settings.faults import Fault, InvalidConfigurationError, Place
from deviceplugin.app.settings.quoting import quotes_needed

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 16
"""The language itself needs 11."""
MAX_NODES: Final = 50_000


def read_file(path: str) -> str:
    """Return the text of a file. Raises `InvalidConfigurationError`."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - open takes what a shell hands over, too
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
        raise _broken(path, f"cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise _broken(path, f"is too large: at most {MAX_BYTES} bytes are read")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        place = _place(data[: error.start].decode())
        raise _broken(path, "is not UTF-8: save it as such", place) from error


def compose(text: str, source: str) -> Node | None:
    """Return the one document in `text`; None if there is nothing in it.

    Raises `InvalidConfigurationError` for what is no YAML, or too much of it.
    """
    try:
        return _compose(text)
    except ReaderError as error:
        place = _place(text[: error.position])
        reason = f"the character {chr(error.character)!r} must not be in YAML"
        raise _broken(source, reason, place) from error
    except yaml.MarkedYAMLError as error:
        needed = quotes_needed(text, error)
        mark, reason = needed or (error.problem_mark or error.context_mark, _reason(error))
        at = Place(mark.line + 1, mark.column + 1) if mark else None
        raise _broken(source, reason, at) from error


def _compose(text: str) -> Node | None:
    loader = _Loader(text)
    try:
        node: Node | None = loader.get_single_node()
        return node
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """Stops at a depth and a number of nodes that no sensible configuration has.

    In pure Python on purpose: the one in C has no hook for this, and its stack can overflow.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._nodes = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        """Return the next node, as long as there are not too many."""
        self._nodes += 1
        if self._depth >= MAX_DEPTH or self._nodes > MAX_NODES:
            reason = f"more than {MAX_NODES} values, or nested deeper than {MAX_DEPTH}"
            raise yaml.MarkedYAMLError(
                problem=reason, problem_mark=parent.start_mark if parent else None
            )
        self._depth += 1
        try:
            node: Node | None = super().compose_node(parent, index)
            return node
        finally:
            self._depth -= 1


def _reason(error: yaml.MarkedYAMLError) -> str:
    """Return what is wrong in words of a person who edits the file."""
    problem = error.problem or "no reason is given"
    if "'\\t'" in problem:
        return "there is a tab: YAML is indented with spaces"
    if error.context and "single document" in error.context:
        return "there is a second document: a configuration is one"
    context = f"{error.context}, " if error.context else ""
    return f"this is no YAML: {context}{problem}"


def _place(before: str) -> Place:
    """Return the place after the text `before`."""
    lines = before.split("\n")
    return Place(len(lines), len(lines[-1]) + 1)


def _broken(source: str, text: str, place: Place | None = None) -> InvalidConfigurationError:
    return InvalidConfigurationError([Fault(source=source, text=text, place=place)])
