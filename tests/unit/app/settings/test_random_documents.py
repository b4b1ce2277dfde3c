"""Whatever is in a file: it is read or refused, each fault with its place, within bounds."""

from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.app.settings.document import compose
from deviceplugin.app.settings.faults import InvalidConfigurationError
from deviceplugin.app.settings.reader import MAX_VISITS, Reader
from deviceplugin.app.settings.resources import KEYS, read_resources
from deviceplugin.domain.discovery.matching import ResourceRule

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
