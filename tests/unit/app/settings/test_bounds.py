"""The bounds of what one file may ask for: beyond them is a fault with its place, as any other."""

from pathlib import Path
from typing import Final

import pytest

from deviceplugin.app.settings import OPTIONS, InvalidConfigurationError, load
from deviceplugin.app.settings.conditions import read_alternatives
from deviceplugin.app.settings.document import compose
from deviceplugin.app.settings.faults import Fault
from deviceplugin.app.settings.operators import OPERATORS
from deviceplugin.app.settings.reader import MAX_WEIGHT, Reader
from deviceplugin.app.settings.resources import KEYS
from deviceplugin.domain.discovery.regexes import Regex

LONG: Final = 5000
"""Digits: Python neither reads nor shows a whole number of more than 4300."""
NUMBERS: Final = {
    "nines": "9" * LONG,
    "zeros": "0" * LONG,
    "octal": "0" + "7" * LONG,
    "negative": "-" + "9" * LONG,
    "signed": "+" + "9" * LONG,
    "decimals": "0." + "3" * LONG,
    "both": "9" * LONG + "." + "9" * LONG,
    "hexadecimal": "0x" + "f" * LONG,
    "binary": "0b" + "1" * LONG,
    "underscored": "1_" * LONG + "1",
    "sexagesimal": "1:" * LONG + "30",
    "exponent": "1e" + "9" * LONG,
    "quoted": "'" + "9" * LONG + "'",
}
RESOURCE: Final = "version: 1\nresources:\n- name: x\n  match: [{name: y}]\n"
PROBE: Final = f"{RESOURCE}  probe: {{file: /x, "
EXCLUDE: Final = f"{RESOURCE}  exclude: [{{name: {{"


def faults(tmp_path: Path, text: str) -> tuple[Fault, ...]:
    """Return what is wrong with a file."""
    path = tmp_path / "plugin.yaml"
    path.write_text(text)
    try:
        load(str(path), {}, {})
    except InvalidConfigurationError as error:
        return error.faults
    return ()


def texts(value: str) -> list[str]:
    """Return files that have a value in line 6: as each setting, key of a resource and operand."""
    return [
        *(f"version: 1\nresources: []\n\n\n{name}:\n  {value}\n" for name in OPTIONS),
        *(f"{RESOURCE}  {key}:\n    {value}\n" for key in KEYS if key != "match"),
        *(f"{PROBE}{key}:\n      {value}}}\n" for key in ("interval", "timeout")),
        *(f"{EXCLUDE}{each}:\n      {value}}}}}]\n" for each in OPERATORS),
        f"{EXCLUDE}range: [1,\n      {value}]}}}}]\n",
    ]


@pytest.mark.parametrize("number", [*NUMBERS.values()], ids=[*NUMBERS])
def test_a_number_of_any_length_is_a_fault_with_its_place(tmp_path: Path, number: str) -> None:
    """Or text, if it is in quotes and text may stand there."""
    for text in texts(number):
        found = faults(tmp_path, text)
        assert found or number.startswith("'")
        for fault in found:
            assert fault.place is not None
            assert fault.place.line in {5, 6}


@pytest.mark.parametrize("key", ["count", "limit", "unhealthy_after", "healthy_after"])
def test_a_number_that_is_too_long_says_how_long_one_may_be(tmp_path: Path, key: str) -> None:
    """In the words of a person: the whole of it is shown to nobody."""
    (fault,) = faults(tmp_path, f"{RESOURCE}  {key}: {'9' * LONG}\n")
    assert "at most 32 digits are read" in fault.text
    assert len(fault.text) < 200


MANY: Final = 120_000
"""What the patterns of each of these files weigh, at least: more than any may."""
PATTERNS: Final = {
    "states": ("{regex: '(.?){490}x%d'}", 980),
    "alternatives": ("{regex: '(ab|c|){160}x%d'}", 600),
    "stars": ("'" + "*a" * 400 + "%d'", 800),
    "open brackets": ("'" + "[" * 3900 + "%d'", 3900),
    "closed brackets": ("'" + "[ab]" * 900 + "%d'", 3600),
    "lists": ("[" + ", ".join(["'*a%d'"] * 100) + "]", 300),
    "not in": ("{not_in: ['" + "?" * 500 + "%d']}", 500),
    "nodes": ("x, node: '/dev/" + "a*/" * 1000 + "%d'", 3000),
}


@pytest.mark.parametrize(("pattern", "each"), [*PATTERNS.values()], ids=[*PATTERNS])
def test_the_patterns_of_one_file_have_a_bound_together(
    tmp_path: Path, pattern: str, each: int
) -> None:
    """However many fit into it: the place is that of the first which is too much."""
    lines = [f"    - name: {pattern.replace('%d', str(at))}" for at in range(MANY // each)]
    entries = (line if ", node:" not in line else f"    - {{{line[6:]}}}" for line in lines)
    path = tmp_path / "plugin.yaml"
    path.write_text("version: 1\nresources:\n- name: x\n  match:\n" + "\n".join(entries))
    (fault,) = faults(tmp_path, path.read_text())
    assert "100000 together" in fault.text
    assert fault.place is not None
    assert 4 + (MAX_WEIGHT - 2 * each) // (2 * each) <= fault.place.line <= 5 + MAX_WEIGHT // each


@pytest.mark.parametrize("where", ["match", "exclude", "healthy_when", "with"])
def test_the_bound_of_patterns_holds_wherever_they_stand(tmp_path: Path, where: str) -> None:
    """Of conditions, of parents, and of what comes along."""
    name, node = f"'{'*a' * 2000}'", f"'/dev/{'*a' * 2000}'"
    entry = {
        "with": f"{{node: {node}}}, {{siblings: {{parents: {{name: {name}}}}}}}",
        "match": f"{{parents: {{attributes: {{a: {name}}}}}}}, {{node: [{node}]}}",
    }.get(where, f"{{properties: {{A: {name}}}}}, {{devpath: {name}}}")
    text = f"{RESOURCE}- name: y\n  {where}: [{', '.join([entry] * 20)}]\n"
    text += "" if where == "match" else "  match: [{name: y}]\n"
    (fault,) = faults(tmp_path, text)
    assert "100000 together" in fault.text
    assert fault.place is not None
    assert fault.place.line == 6


def test_no_work_is_done_for_patterns_beyond_the_bound() -> None:
    """What weighs at all is counted as it is made, and reading ends there."""
    pattern = "(.?){490}"
    reader = Reader("file")
    node = compose("[" + ", ".join([f"{{name: {{regex: '{pattern}'}}}}"] * 1000) + "]", "file")
    assert node is not None
    with pytest.raises(InvalidConfigurationError):
        read_alternatives(reader, node)
    assert MAX_WEIGHT < reader.weight <= MAX_WEIGHT + Regex(pattern).weight


def test_plain_text_weighs_nothing(tmp_path: Path) -> None:
    """A list of the serial numbers of a whole fleet is an ordinary thing."""
    serials = ", ".join(f"SERIAL-{number:08}" for number in range(20_000))
    assert not faults(tmp_path, f"{RESOURCE}  exclude: [{{usb: {{serial: [{serials}]}}}}]\n")


@pytest.mark.parametrize("letters", [60_000, 900_000])
def test_text_that_aliases_repeat_has_a_bound(tmp_path: Path, letters: int) -> None:
    """Short files can say much."""
    text = f"{RESOURCE}  env:\n    A: &a '{'x' * letters}'\n"
    text += "".join(f"    A{number}: *a\n" for number in range(2 * 1024 * 1024 // letters + 1))
    assert "letters once aliases are followed" in faults(tmp_path, text)[-1].text
