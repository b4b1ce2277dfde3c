"""The laws of hardware ids."""

import pytest

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.conditions import demand
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.hardware import hex_text, pair
from deviceplugin.domain.errors import InvalidValueError


@pytest.mark.parametrize(
    ("fact", "text", "value", "fits"),
    [
        (Fact(Kind.PCI, "id"), "8086:56c0", "8086:56c0", True),
        (Fact(Kind.PCI, "id"), "8086:56C0", "8086:56c0", True),
        (Fact(Kind.PCI, "id"), "0x8086:0x56c0", "8086:56c0", True),
        (Fact(Kind.PCI, "id"), "8086:*", "8086:1234", True),
        (Fact(Kind.PCI, "id"), "8086:56c?", "8086:56c1", True),
        (Fact(Kind.PCI, "id"), "*:*", "10de:2204", True),
        (Fact(Kind.PCI, "id"), "8086:56c0", "10de:56c0", False),
        (Fact(Kind.PCI, "class"), "0x030000", "030000", True),
        (Fact(Kind.PCI, "class"), "03*", "038000", True),
        (Fact(Kind.PCI, "class"), "0X03*", "038000", True),
        (Fact(Kind.PCI, "id"), "0x*:0x*", "10de:2204", True),
        (Fact(Kind.USB, "interface"), "0x1", "01", True),
        (Fact(Kind.USB, "interface"), "1", "01", True),
        (Fact(Kind.USB, "interface"), "01", "01", True),
        (Fact(Kind.USB, "interface"), "0A", "0a", True),
        (Fact(Kind.USB, "serial"), "A*", "A1", True),
        (Fact(Kind.USB, "serial"), "a*", "A1", False),
    ],
)
def test_an_id_is_the_same_however_it_is_written(
    fact: Fact, text: str, value: str, *, fits: bool
) -> None:
    """In capitals or not, with 0x or without; a serial number is text."""
    assert demand(fact, text).holds(Candidate(name="x", hardware={str(fact): value})) == fits


@pytest.mark.parametrize(
    ("fact", "text", "said"),
    [
        (Fact(Kind.PCI, "id"), "8086", "vendor:device"),
        (Fact(Kind.PCI, "id"), "8086:", "vendor:device"),
        (Fact(Kind.PCI, "id"), "8086:56c0:1", "vendor:device"),
        (Fact(Kind.PCI, "id"), "808:56c0", "four hexadecimal digits"),
        (Fact(Kind.PCI, "id"), "18086:56c0", "four hexadecimal digits"),
        (Fact(Kind.PCI, "id"), "intel:56c0", "four hexadecimal digits"),
        (Fact(Kind.USB, "id"), "10c4:zz*", "four hexadecimal digits"),
        (Fact(Kind.PCI, "class"), "0300", "six hexadecimal digits"),
        (Fact(Kind.PCI, "id"), "0x0x8086:1111", "four hexadecimal digits"),
        (Fact(Kind.USB, "id"), "8086:0x0x1111", "four hexadecimal digits"),
        (Fact(Kind.PCI, "id"), "[0x8]086:0000", "four hexadecimal digits"),
        (Fact(Kind.PCI, "class"), "*0x3", "six hexadecimal digits"),
        (Fact(Kind.PCI, "class"), "0x0x030000", "six hexadecimal digits"),
        (Fact(Kind.USB, "interface"), "0x0x1", "two hexadecimal digits"),
        (Fact(Kind.PCI, "id"), f"8086:{'*' * 5000}", "1 to 4096 characters"),
        (Fact(Kind.USB, "interface"), f"{' ' * 5000}1", "1 to 4096 characters"),
        (Fact(Kind.USB, "interface"), "100", "two hexadecimal digits"),
        (Fact(Kind.USB, "interface"), "if0", "two hexadecimal digits"),
    ],
)
def test_what_no_hardware_can_have_is_refused(fact: Fact, text: str, said: str) -> None:
    """With what an id looks like."""
    with pytest.raises(InvalidValueError) as caught:
        demand(fact, text)
    assert said in str(caught.value)


def test_hardware_has_just_these_keys() -> None:
    for kind, key in ((Kind.PCI, "serial"), (Kind.USB, "class"), (Kind.USB, "")):
        with pytest.raises(InvalidValueError, match="must be one of"):
            Fact(kind, key)


def test_half_an_id_is_none() -> None:
    assert pair("0x8086", None) is pair("", "0x1") is None
    assert pair("0x8086", "0x56C0") == "8086:56c0"
    assert hex_text(" 0x0A\n") == "0a"


@pytest.mark.parametrize("key", ["", "A=B", "A B", "A\nB", "x" * 256])
def test_a_property_is_a_key_of_a_uevent_file(key: str) -> None:
    with pytest.raises(InvalidValueError, match="uevent"):
        Fact(Kind.PROPERTY, key)
