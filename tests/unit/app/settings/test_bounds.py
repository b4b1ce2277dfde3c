"""The bounds of what one file may ask for: beyond them is a fault with its place, as any other."""

from pathlib import Path
from typing import Final

import pytest

from deviceplugin.app.settings import OPTIONS, InvalidConfigurationError, load
from deviceplugin.app.settings.faults import Fault
from deviceplugin.app.settings.operators import OPERATORS
from deviceplugin.app.settings.resources import KEYS

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
