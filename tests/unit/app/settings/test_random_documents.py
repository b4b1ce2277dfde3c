"""Whatever is in a file: it is read or refused, each fault with its place, within bounds."""

import json
from contextlib import suppress
from typing import Any, Final, cast

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.support.witness import weight

from deviceplugin.app.settings.document import compose
from deviceplugin.app.settings.faults import InvalidConfigurationError
from deviceplugin.app.settings.reader import MAX_VISITS, Reader
from deviceplugin.app.settings.resources import KEYS, read_resources
from deviceplugin.app.settings.schema import schema
from deviceplugin.domain.discovery.matching import ResourceRule

VALIDATOR: Final[Any] = Draft202012Validator(schema())

WORDS = st.sampled_from(
    [
        *(
            "name",
            "match",
            "x",
            "example.com/x",
            "subsystem",
            "attributes",
            "node",
            "/dev/*",
            "tty",
        ),
        *("driver", "parents", "pci", "8086:*", "usb", "properties", "range", "regex", "(a+)+$"),
        *("glob", "[", "in", "not_in", "exists", "true", "0403", "1:30", "~", "0x1f", "gt", "1e9"),
        *("command", "/bin/x", "{node}", "file", "interval", "timeout", "<<", "&a", "*a", "!!int"),
        *KEYS,
    ]
)
TEXTS = WORDS | st.text(max_size=12)
VALUES: st.SearchStrategy[object] = st.recursive(
    TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=16,
)

ROOM = 64 * 1024
ROOM_EACH = 1024
"""Bytes that rules may take: any, and further ones for each character that is read."""
PATTERNS = st.text(alphabet="ab()[]{}*?+|\\^$-,0159.:{}{}()", min_size=1, max_size=60)


def flow(value: object, quote: str) -> str:
    """Return a value as YAML in flow style; what is not quoted may mean anything."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        pairs = (f"{flow(key, quote)}: {flow(each, quote)}" for key, each in items)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        entries = cast("list[object]", value)
        return "[" + ", ".join(flow(each, quote) for each in entries) + "]"
    return f"{quote}{value}{quote}"


def check(refused: InvalidConfigurationError) -> None:
    """Fail unless a refusal says why, within bounds."""
    assert 1 <= len(refused.faults) <= 3 * MAX_VISITS


def read(text: str) -> tuple[ResourceRule, ...]:
    """Return the rules of a text, and fail unless each fault has its place."""
    reader = Reader("file")
    try:
        node = compose(text, "file")
        rules = () if node is None else read_resources(reader, node, "example.com")
    except InvalidConfigurationError as refused:
        check(refused)
        return ()
    assert reader.visits <= MAX_VISITS
    assert weight(rules) <= ROOM + ROOM_EACH * len(text)
    lines = text.count("\n") + text.count("\r") + text.count("\x85") + 1
    for fault in reader.faults:
        assert fault.place is not None
        assert 1 <= fault.place.line <= lines + text.count("\u2028") + text.count("\u2029")
        assert fault.text
    return rules


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    read(text)


@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=6), max_size=4), st.sampled_from("\"' "))
def test_no_resources_break_the_reading(resources: list[object], quote: str) -> None:
    read(flow(resources, quote.strip()))


@given(st.dictionaries(TEXTS, VALUES, max_size=6), st.sampled_from("\"' "))
def test_a_bad_resource_hides_no_good_one(bad: dict[str, object], quote: str) -> None:
    """All that is wrong is told at once, so the others are read as well."""
    good = "{name: good, match: [{subsystem: tty}]}"
    odd = flow(bad, quote.strip())
    try:
        compose(f"[{odd}]", "file")
    except InvalidConfigurationError:
        return
    rules = read(f"[{odd}, {good}]")
    assert "good" in [rule.resource.name for rule in rules]


@st.composite
def aliased(draw: st.DrawFn) -> str:
    """Draw a document whose values repeat each other: lists of lists, and merged keys."""
    lines = ["- &n0 " + flow(draw(VALUES), "'")]
    for number in range(1, draw(st.integers(2, 9))):
        earlier = st.integers(0, number - 1).map("*n{}".format)
        names = draw(st.lists(earlier, min_size=1, max_size=9))
        form = draw(
            st.sampled_from(["[{}]", "{{match: [{}]}}", "{{name: x, <<: {}}}", "{{{}: x}}"])
        )
        lines.append(f"- &n{number} {form.format(', '.join(names))}")
    return "\n".join(lines)


@given(aliased())
def test_no_aliases_break_the_reading(text: str) -> None:
    """By aliases, a short file says more than any other."""
    read(text)


@given(PATTERNS, st.sampled_from(["regex", "glob"]))
def test_no_pattern_breaks_the_reading(pattern: str, operator: str) -> None:
    """Nor does it grow: an expression can repeat what is repeated."""
    quoted = pattern.replace("'", "''")
    read(f"[{{name: x, match: [{{name: {{{operator}: '{quoted}'}}}}]}}]")


@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=2), max_size=2))
def test_what_the_schema_refuses_is_refused(resources: list[object]) -> None:
    """Whatever it is; what the schema cannot tell is listed in docs/configuration.md."""
    document = {"version": 1, "resources": resources}
    if not VALIDATOR.is_valid(document):
        reader = Reader("file")
        node = compose(json.dumps(resources), "file")
        assert node is not None
        with suppress(InvalidConfigurationError):
            read_resources(reader, node, "example.com")
            assert reader.faults
