"""The laws of files: whatever is in them, there is an answer, soon, and it says where."""

import os
import re
from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from deviceplugin.app.settings import Configuration, InvalidConfigurationError, load
from deviceplugin.app.settings.document import MAX_BYTES

GOOD = "version: 1\nresources:\n- name: x\n  match: [{name: y}]\n"


def outcome(path: Path) -> Configuration | list[str]:
    """Return the configuration of a file, or what is wrong, each without the file's name."""
    try:
        return load(str(path), {}, {})
    except InvalidConfigurationError as error:
        return [str(fault).removeprefix(f"{path}:") for fault in error.faults]


def wrong(tmp_path: Path, data: str | bytes) -> str:
    """Return the one fault of a file with these data."""
    path = tmp_path / "config.yaml"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    found = outcome(path)
    assert isinstance(found, list)
    (fault,) = found
    return fault


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: is empty"),
        ("# nothing\n---\n", "1:1: is empty"),
        ("version: 1\n\tresources: []\n", "2:1: there is a tab: YAML is indented with spaces"),
        ("version: 1\nresources: [,]\n", "2:13: this is no YAML"),
        ('{"version": 1, "resources": [}', "1:30: this is no YAML"),
        ("version: 1\n---\nversion: 1\n", "2:1: there is a second document"),
        ("version: *a\n", "1:10: this is no YAML: found undefined alias"),
        ("version: 1\na\x07b: 1\n", r"2:2: the character '\x07' must not be in YAML"),
        ("- version: 1\n", "1:1: must have keys and values (key: value), not a list"),
        ("just text", "1:1: must have keys and values (key: value), not a single value"),
        ("resources: []\n", "1:1: needs the key 'version'"),
        ("version: '1'\n", "1:10: version must be the number 1: no other is known"),
        ("version: 2\n", "1:10: version must be the number 1: no other is known"),
        ("version: [1]\n", "1:10: version must be the number 1: no other is known"),
        ("version:\n", "1:9: version must be the number 1: no other is known"),
        ("version: 1\nresources:\n", "2:11: must be a list, each entry after a '- ', not nothing"),
        ("version: 1\nresources: null\n", "2:12: must be a list, each entry after a '- ', not"),
        ("version: 1\nresorces: []\n", "2:1: unknown key 'resorces': did you mean 'resources'?"),
        ("version: 1\nversion: 1\n", "2:1: the key 'version' is already in line 1"),
        ("version: 1\n<<: {log_level: info}\n", "2:1: merge keys ('<<') are not offered"),
        ("version: 1\non: 1\n", "2:1: on without quotes is true or false; quote it: 'on'"),
        ("version: 1\n? [a]\n: 1\n", "2:3: must be text, not a list"),
        ("version: 1\nrescan_seconds: '5'\n", "2:17: must be a number such as 5 or 0.5, without"),
        ("version: 1\nrescan_seconds: 1:30\n", "2:17: must be a number such as 5 or 0.5, not"),
        (
            "version: 1\nrescan_seconds: 010\n",
            "2:17: 010 without quotes is the number 8; write 10",
        ),
        ("version: 1\nrescan_seconds: .inf\n", "2:17: must be a number such as 5 or 0.5, not"),
        ("version: 1\nrescan_seconds: 0\n", "2:17: '0' must be a number of seconds, 0.1 to"),
        ("version: 1\nlog_level: off\n", "2:12: 'off' must be one of debug, info, warning"),
        ("version: 1\nmetrics: 9100\n", "2:10: '9100' must be HOST:PORT, such as 127.0.0.1:9100"),
        (
            "version: 1\ndomain: 1.5\n",
            "2:9: 1.5 without quotes is the number 1.5; quote it: '1.5'",
        ),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    """A line and a column, both from 1, then what is wrong and what is allowed."""
    fault = wrong(tmp_path, text)
    assert fault.startswith(said)
    assert "\n" not in fault


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("*kvm", "2:9: this is no YAML: found undefined alias 'kvm'; if it is text, quote it:"),
        ("*kvm", "quote it: '*kvm'"),
        ("*kvm # none", "quote it: '*kvm'"),
        ("*a b", "quote it: '*a b'"),
        ("[x, *y, z]", "2:13: this is no YAML: found undefined alias 'y'; if it is text, quote"),
        ("*", "2:9: * without quotes is no text to YAML; quote it: '*'"),
        ("{a: *}", "2:13: * without quotes is no text to YAML; quote it: '*'"),
        ("*/usb1/*", "2:9: */usb1/* without quotes is no text to YAML; quote it: '*/usb1/*'"),
        ("&*", "2:9: &* without quotes is no text to YAML; quote it: '&*'"),
        ("@tty", "2:9: @tty without quotes is no text to YAML; quote it: '@tty'"),
        ("%tty", "2:9: %tty without quotes is no text to YAML; quote it: '%tty'"),
        ("`tty", "2:9: `tty without quotes is no text to YAML; quote it: '`tty'"),
        ("|x", "2:9: |x without quotes is no text to YAML; quote it: '|x'"),
        ("[@a'b]", "2:10: @a'b without quotes is no text to YAML; put quotes around it"),
        (f"@{'x' * 99}", "2:9: @... without quotes is no text to YAML; put quotes around it"),
        ("[a-c]x", "2:14: a bracket or brace beside other text is no text to YAML; put quotes"),
        ("{node}-x", "2:15: a bracket or brace beside other text is no text to YAML; put quotes"),
        ("{b: ttyUSB[0-9]*}", "2:19: a bracket or brace beside other text is no text to YAML"),
        ("{b: x-{node}}", "2:15: a bracket or brace beside other text is no text to YAML"),
        ("{node}", "2:9: must be text, not keys and values; quote it: '{node}'"),
        ("{usb.serial|none}", "must be text, not keys and values; quote it: '{usb.serial|none}'"),
        ("{A: b}", "2:9: must be text, not keys and values"),
    ],
)
def test_a_text_that_lacks_quotes_is_told_of_them(tmp_path: Path, value: str, said: str) -> None:
    """Where it begins, and as it is to be written: YAML's own words name neither."""
    fault = wrong(tmp_path, f"version: 1\ndomain: {value}\n")
    assert said in fault
    assert ("quote" in fault) == (value != "{A: b}")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"version: 1\n# caf\xe9\n", "2:6: is not UTF-8"),
        ("version: 1\n".encode("utf-16"), "1:1: is not UTF-8"),
        (b"\0", r"1:1: the character '\x00' must not be in YAML"),
    ],
)
def test_a_file_is_utf_8(tmp_path: Path, data: bytes, said: str) -> None:
    assert wrong(tmp_path, data).startswith(said)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """Some editors write one."""
    path = tmp_path / "config.yaml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert isinstance(outcome(path), Configuration)


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(GOOD)
    for name, reason in (
        ("missing", "No such file or directory"),
        ("", "Is a directory"),
        ("config.yaml/x", "Not a directory"),
        ("a\0b", "embedded null byte"),
    ):
        with pytest.raises(InvalidConfigurationError) as caught:
            load(f"{tmp_path}/{name}", {}, {})
        assert str(caught.value) == f"{tmp_path}/{name}: cannot be read: {reason}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(GOOD)
    path.chmod(0)
    assert outcome(path) == [" cannot be read: Permission denied"]


def test_a_file_without_resources_offers_the_presets(tmp_path: Path) -> None:
    """So that one can change a setting and nothing else; an empty list is an empty list."""
    path = tmp_path / "config.yaml"
    path.write_text("version: 1\nlog_level: debug\n")
    configuration = load(str(path), {}, {})
    assert configuration.rules == load(None, {}, {}).rules
    path.write_text("version: 1\nresources: []\n")
    assert load(str(path), {}, {}).rules == ()


def test_an_alias_stands_for_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "version: 1\nresources:\n- name: x\n  match: &all [{name: y}]\n- name: z\n  match: *all\n"
    )
    one, two = load(str(path), {}, {}).rules
    assert one.match == two.match


def bomb() -> str:
    """Return a short text that aliases make to thousands of millions of values."""
    conditions = ", ".join(["*c"] * 999)
    alternatives = ", ".join(["*m"] * 999)
    entries = ", ".join(["*r"] * 999)
    return (
        f"version: 1\nresources: [&r {{name: x, match: [&m {{name: [&c y, {conditions}]}}, "
        f"{alternatives}]}}, {entries}]\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(bomb(), "more than 50000 values once aliases", id="aliases"),
        pytest.param("a: &a [*a]\nversion: 1\nresources: *a", "", id="an alias in itself"),
        pytest.param("resources: &a [*a]", "", id="a list of itself"),
        pytest.param("[" * 500_000, "nested deeper than 16", id="brackets"),
        pytest.param("{" * 500_000, "nested deeper than 16", id="braces"),
        pytest.param("{a: " * 100_000, "nested deeper than 16", id="mappings"),
        pytest.param("- " * 400_000, "nested deeper than 16", id="dashes"),
        pytest.param("? " * 400_000, "nested deeper than 16", id="keys"),
        pytest.param("- a\n" * 200_000, "more than 50000 values", id="entries"),
        pytest.param("x" * 1_000_000, "", id="one long word"),
        pytest.param("version: 1\n" + "'" + "x" * 900_000, "", id="an open quote"),
        pytest.param("#" * MAX_BYTES + "\n", "too large", id="a file too large"),
        pytest.param("version: " + "1" * 900_000, "version must be", id="a long number"),
        pytest.param("version: 1\n" + "x" * 900_000 + ": 1", "no YAML", id="a long key"),
    ],
)
def test_no_file_takes_long(tmp_path: Path, text: str, said: str) -> None:
    """What is too large, too deep or endless is refused in bounded time and memory."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    begin = process_time()
    found = outcome(path)
    assert process_time() - begin < 20
    assert isinstance(found, list)
    assert any(said in fault for fault in found)
    assert max(map(len, found)) < 1000


def test_the_largest_sensible_file_is_read(tmp_path: Path) -> None:
    """A thousand resources are no problem."""
    path = tmp_path / "config.yaml"
    entries = (f"- name: x{number}\n  match: [{{name: y}}]\n" for number in range(1000))
    path.write_text("version: 1\nresources:\n" + "".join(entries))
    found = outcome(path)
    assert isinstance(found, Configuration)
    assert len(found.rules) == 1000


PHRASES = (
    *("\n  ", "\n    ", "version: 1", "resources:", "name:", "match:", "attributes:", "node:"),
    *("log_level:", "0403", "on", "x", "&a", "*a", "<<:", "!!str", "---", "..."),
)
WORDS = st.sampled_from([*"[]{},'\"&*!|>#%@?:-~\n\t", *PHRASES])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(), st.lists(WORDS).map(" ".join), st.binary()))
@example("version: 1\nresources: [{name: x, match: [{attributes: {a: [b, '']}}]}]")
def test_any_file_gives_a_configuration_or_says_what_is_wrong(
    tmp_path: Path, data: str | bytes
) -> None:
    """Each fault is a line with a place in the file."""
    check(tmp_path / "config.yaml", data)


def check(path: Path, data: str | bytes) -> None:
    """Fail unless a file with these data is read, or each fault is a line with its place."""
    path.write_bytes(data.encode("utf-8", "replace") if isinstance(data, str) else data)
    found = outcome(path)
    if isinstance(found, list):
        assert found
        assert [fault for fault in found if not FAULT.fullmatch(fault)] == []


FAULT = re.compile(r"[1-9][0-9]*:[1-9][0-9]*: .+")
OTHER_KEYS = ["permissions", "allocation_policy", "advertise_empty", "parents"]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Return a file that is nearly right: good keys, in good places, with odd values."""
    values = st.sampled_from(
        ["x", "0403", "''", "[a, b]", "[]", "{}", "~", "on", "'*'", "/dev/x*", "r", "packed"]
    )
    keys = ["subsystem", "name", "driver", "devpath", "node", "nodes"]
    conditions = st.dictionaries(st.sampled_from(keys), values, max_size=3)
    attributes = st.dictionaries(st.sampled_from(["a", "../a", "a/b", "1"]), values, max_size=2)
    lines = ["version: 1", "resources:"]
    for _ in range(draw(st.integers(0, 3))):
        lines.append(f"- name: {draw(values)}")
        lines += [f"  {key}: {draw(values)}" for key in draw(st.sets(st.sampled_from(OTHER_KEYS)))]
        lines.append("  match:")
        for _ in range(draw(st.integers(0, 2))):
            pairs = [f"{key}: {value}" for key, value in draw(conditions).items()]
            inner = ", ".join(f"{key}: {value}" for key, value in draw(attributes).items())
            lines.append(f"  - {{{', '.join([*pairs, f'attributes: {{{inner}}}'])}}}")
    return "\n".join(lines)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents())
def test_a_file_that_is_nearly_right_is_read_or_corrected(tmp_path: Path, text: str) -> None:
    """No fault of a resource hides in a rule that is used, and none is raised as anything else."""
    check(tmp_path / "config.yaml", text)
