"""Reads YAML nodes by the rules of our language; notes every fault and goes on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NoReturn, TypeVar

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from deviceplugin.app.settings.document import MAX_BYTES
from deviceplugin.app.settings.faults import Fault, InvalidConfigurationError, Place
from deviceplugin.app.settings.quoting import quoted
from deviceplugin.app.settings.scalars import (
    READINGS,
    boolean_fault,
    lacks_quotes,
    number_fault,
    quantity_fault,
    text_fault,
    whole_fault,
)
from deviceplugin.domain.discovery.facts import Kind
from deviceplugin.domain.discovery.globs import Pattern
from deviceplugin.domain.errors import InvalidValueError

MAX_VISITS: Final = 50_000
"""Values read of one document, those counted again that an alias repeats."""
MAX_LETTERS: Final = 2 * MAX_BYTES
"""Letters of them, counted alike."""
MAX_WEIGHT: Final = 100_000
"""What the patterns of one document weigh together: each alone has a bound of its own."""

_TAG: Final = "tag:yaml.org,2002:"
_TAGS: Final = frozenset({"map", "seq", *READINGS})
_NODE, _PATH = Kind.NODE.value, Kind.DEVPATH.value
_SHOWN: Final = 80

_Parsed = TypeVar("_Parsed")
_Value = TypeVar("_Value")
_Weighed = TypeVar("_Weighed", bound=Pattern)


class Reader:
    """Reads the nodes of one source. What is not as it should be is noted, and reads as None."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.faults: list[Fault] = []
        self.visits = 0
        """How many values were looked at."""
        self.letters = 0
        """How much text there is in them."""
        self.weight = 0
        """What the patterns in them weigh."""

    def note(self, node: Node, text: str) -> None:
        """Note what is wrong with a node."""
        self.faults.append(Fault(source=self.source, text=text, place=place(node)))

    def mapping(
        self, node: Node, *, required: Iterable[str] = (), optional: Iterable[str] = ()
    ) -> Mapping[str, Node]:
        """Return values by key, of those keys that are allowed; each once."""
        keys = (*required, *optional)
        pairs = self.pairs(node)
        for name, (key, value) in pairs.items():
            if name not in keys:
                self.note(key, _unknown(name, value, keys))
        if isinstance(node, MappingNode):
            for missing in [key for key in required if key not in pairs]:
                self.note(node, f"needs the key {missing!r}")
        return {name: value for name, (_, value) in pairs.items() if name in keys}

    def pairs(self, node: Node) -> Mapping[str, tuple[Node, Node]]:
        """Return the keys and values of a mapping by the text of the key; the first of a name."""
        if not self._is_plain(node):
            return {}
        if not isinstance(node, MappingNode):
            self.note(node, f"must have keys and values (key: value), not {_sort(node)}")
            return {}
        found: dict[str, tuple[Node, Node]] = {}
        for key, value in node.value:
            name = self.text(key)
            if name in found:
                line = place(found[name][0]).line
                self.note(key, f"the key {_short(name)} is already in line {line}")
            elif name is not None:
                found[name] = (key, value)
        return found

    def items(self, node: Node) -> Sequence[Node]:
        """Return the entries of a list."""
        if not self._is_plain(node):
            return ()
        if isinstance(node, SequenceNode):
            entries: list[Node] = node.value
            return entries
        self.note(node, f"must be a list, each entry after a '- ', not {_sort(node)}")
        return ()

    def text(self, node: Node) -> str | None:
        """Return text, as it is written."""
        return self._scalar(node, "text", text_fault)

    def number(self, node: Node) -> str | None:
        """Return the text of a number."""
        return self._scalar(node, "a number", number_fault)

    def whole_number(self, node: Node) -> str | None:
        """Return the text of a number, where only a whole one has a meaning."""
        return self._scalar(node, "a whole number", whole_fault)

    def quantity(self, node: Node) -> str | None:
        """Return the text of a number to compare with: of any sign, decimal or 0x..."""
        return self._scalar(node, "a number", quantity_fault)

    def boolean(self, node: Node) -> bool | None:
        """Return true or false."""
        text = self._scalar(node, "true or false", boolean_fault)
        return None if text is None else text.lower() == "true"

    def parsed(self, node: Node, parse: Callable[[str], _Parsed]) -> _Parsed | None:
        """Return what `parse` makes of text; what it refuses is not worth quotes that lack."""
        if isinstance(node, ScalarNode) and lacks_quotes(node):
            before = len(self.faults)
            self.checked(node, node.value, parse)
            if len(self.faults) > before:
                return None
        return self.checked(node, self.text(node), parse)

    def pattern(self, node: Node, parse: Callable[[str], _Weighed]) -> _Weighed | None:
        """Return the pattern that `parse` makes of text.

        Raises `InvalidConfigurationError` if all patterns up to here are too much together.
        """
        found = self.parsed(node, parse)
        self.weight += found.weight if found else 0
        if self.weight > MAX_WEIGHT:
            self._stop(
                node,
                f"the patterns up to here are more than {MAX_WEIGHT} together: of one with "
                "wildcards each character counts, of a regular expression each state, and "
                "'{m,n}' makes as many copies: write fewer, or shorter ones",
            )
        return found

    def checked(
        self, node: Node, value: _Value | None, make: Callable[[_Value], _Parsed]
    ) -> _Parsed | None:
        """Return what is made of a value; its `InvalidValueError` is what is wrong with a node."""
        try:
            return None if value is None else make(value)
        except InvalidValueError as error:
            self.note(node, str(error))
            return None

    def _scalar(
        self, node: Node, wanted: str, fault: Callable[[ScalarNode], str | None]
    ) -> str | None:
        if not self._is_plain(node):
            return None
        if not isinstance(node, ScalarNode):
            self.note(node, f"must be {wanted}, not {_sort(node)}{_without_quotes(node)}")
            return None
        if wrong := fault(node):
            self.note(node, wrong)
            return None
        text: str = node.value
        return text

    def _stop(self, node: Node, text: str) -> NoReturn:
        """Note what is wrong with a node, and read no further."""
        self.note(node, text)
        raise InvalidConfigurationError(self.faults)

    def _is_plain(self, node: Node) -> bool:
        """Say whether a node is of a sort that the language has; count how many were looked at.

        By aliases, a short file can have more of them than any other.
        """
        self.visits += 1
        self.letters += len(node.value) if isinstance(node, ScalarNode) else 0
        if self.visits > MAX_VISITS:
            self._stop(node, f"more than {MAX_VISITS} values once aliases are followed")
        if self.letters > MAX_LETTERS:
            self._stop(node, f"more than {MAX_LETTERS} letters once aliases are followed")
        if node.tag.removeprefix(_TAG) in _TAGS:
            return True
        self.note(node, f"tags such as {_short(node.tag)} are not offered")
        return False


def place(node: Node) -> Place:
    """Return where a node begins."""
    mark = node.start_mark
    return Place(mark.line + 1, mark.column + 1)


def _sort(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "keys and values"
    if isinstance(node, SequenceNode):
        return "a list"
    return "nothing" if node.tag.endswith(":null") else "a single value"


def _without_quotes(node: Node) -> str:
    """Return how to write what lacks quotes: `{name}` is a key without a value to YAML."""
    if not isinstance(node, MappingNode) or not node.flow_style or len(node.value) != 1:
        return ""
    ((key, value),) = node.value
    if not isinstance(key, ScalarNode) or key.style or value.value != "":
        return ""
    return f"; {quoted(f'{{{key.value}}}')}"


def _unknown(key: str, value: Node, allowed: Sequence[str]) -> str:
    near = [_NODE] if _is_for_node(value, allowed) else get_close_matches(key[:_SHOWN], allowed, 1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key {_short(key)}: {meant}allowed are {', '.join(allowed)}"


def _is_for_node(value: Node, allowed: Sequence[str]) -> bool:
    """Say whether what looks like the path of a node stands where conditions do."""
    if isinstance(value, SequenceNode) and value.value:
        value = value.value[0]
    is_path = isinstance(value, ScalarNode) and value.value.startswith("/dev/")
    return is_path and _NODE in allowed and _PATH in allowed


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
