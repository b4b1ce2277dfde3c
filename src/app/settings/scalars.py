"""What is wrong with a single value: YAML takes much for a number, a date or a truth.

`0403` is the number 259 to it, `1:30` is 90, `on` is true; and what it leaves alone, such as
`1e10`, the next tool that reads the file may take for a number. So what could be one needs quotes.
"""

import re
from typing import Final

import yaml
from yaml.nodes import ScalarNode

from deviceplugin.domain.discovery.quantities import quantity

_TAG: Final = "tag:yaml.org,2002:"
_DIGITS: Final = 32
_NUMBER: Final = re.compile(rf"[0-9]{{1,{_DIGITS}}}(\.[0-9]{{1,{_DIGITS}}})?")
"""As long as it is taken: Python refuses to read and to show one of thousands of digits."""
# What YAML 1.2 and JSON Schema read as a number; PyYAML knows 1.1 alone.
_LIKE_A_NUMBER: Final = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+"
)
READINGS: Final = {
    "str": "a number to many tools",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
    "timestamp": "a date",
    "merge": "a merge key",
    "value": "a default key",
}
"""What YAML takes a single value for, by its tag."""
_HALF: Final = re.compile("[\ud800-\udfff]")
_OCTAL: Final = re.compile(r"0[0-9]+")
_SHOWN: Final = 20
_REPEATED: Final = 256
"""What is longer is not repeated to be copied."""
_COUNTED: Final = 64
"""Digits of a number that YAML may be asked for: more could take long."""


def text_fault(node: ScalarNode) -> str | None:
    """Return why a value is no text; None if it is."""
    tag, value = _tag(node), node.value
    if tag == "null" and not value:
        return "must be text, and there is nothing"
    if _HALF.search(value):
        return "has half a character (a surrogate), which no file name can have"
    if tag == "str" and (node.style is not None or not _LIKE_A_NUMBER.fullmatch(value)):
        return None
    if tag == "merge":
        return "merge keys ('<<') are not offered: write the keys out"
    if node.style is None:
        return _unquoted(tag, value)
    return f"must be text, not {READINGS.get(tag, tag)}"


def lacks_quotes(node: ScalarNode) -> bool:
    """Say whether a value is no text for the lack of quotes alone."""
    reading = _tag(node) not in {"null", "merge"} and node.style is None
    return reading and len(node.value) <= _REPEATED and text_fault(node) is not None


def _unquoted(tag: str, value: str) -> str:
    """Return what YAML takes a value for, and how to write it; whole, since it will be copied."""
    reading = f"the number {_number(value)}" if tag in {"int", "float"} else READINGS.get(tag, tag)
    if len(value) > _REPEATED:
        return f"{value[:_SHOWN]}... without quotes is {reading}; put quotes around it"
    return f"{value} without quotes is {reading}; quote it: '{value}'"


def number_fault(node: ScalarNode, wanted: str = "a number such as 5 or 0.5") -> str | None:
    """Return why a value is no number; None if it is."""
    if _tag(node) in {"int", "float"} and node.style is None and _NUMBER.fullmatch(node.value):
        return _octal_fault(node.value)
    hint = ", without quotes" if node.style is not None else ""
    return f"must be {wanted}{hint}, not {_shown(node.value)}"


def whole_fault(node: ScalarNode) -> str | None:
    """Return why a value is no number, where only whole ones count; None if it is."""
    return number_fault(node, "a whole number such as 5")


def _octal_fault(value: str) -> str | None:
    """Return why a number is not what it looks like: to YAML 1.1, unlike 1.2, 010 is 8."""
    if not _OCTAL.fullmatch(value):
        return None
    plain = value.lstrip("0") or "0"
    way_out = f"write {plain}, without a 0 first" if len(value) <= _SHOWN else "no 0 may be first"
    return f"{value[:_SHOWN]} without quotes is the number {_number(value)}; {way_out}"


def quantity_fault(node: ScalarNode) -> str | None:
    """Return why a value is no number to compare with; None if it is.

    In quotes or without; but not where YAML would make another number of it.
    """
    number = quantity(node.value)
    if number is None:
        return f"must be a number such as 5, -1, 0.5 or 0x1f, not {_shown(node.value)}"
    if node.style is None and _tag(node) == "int" and _number(node.value) != number:
        return text_fault(node)
    return None


def boolean_fault(node: ScalarNode) -> str | None:
    """Return why a value is neither true nor false; None if it is."""
    if _tag(node) == "bool" and node.style is None and node.value.lower() in {"true", "false"}:
        return None
    hint = ", without quotes" if node.style is not None else ""
    return f"must be true or false{hint}, not {_shown(node.value)}"


def _shown(value: str) -> str:
    """Return the beginning of a value, and, of what may be a number, how long one can be."""
    if len(value) <= _SHOWN:
        return repr(value)
    rule = f" (at most {_DIGITS} digits are read)" if value[:_SHOWN].isdecimal() else ""
    return f"{value[:_SHOWN] + '...'!r}{rule}"


def _tag(node: ScalarNode) -> str:
    return str(node.tag).removeprefix(_TAG)


def _number(value: str) -> object:
    """Return the number that YAML makes of a value, if that takes no time."""
    try:
        return yaml.safe_load(value) if len(value) <= _COUNTED else "that it looks like"
    except ValueError:
        return "that it looks like"
