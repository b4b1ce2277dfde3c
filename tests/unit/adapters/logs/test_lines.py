"""A line is one line, whatever an event carries."""

import shlex

import pytest

from deviceplugin.adapters.logs.lines import SHOWN, facts, line
from deviceplugin.domain.events import DevicesAllocated, InventoryChanged, KubeletMissing
from deviceplugin.domain.resources import ResourceName

RESOURCE = ResourceName.parse("example.com/widget")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("/var/lib", "/var/lib"),
        ("naïve", "naïve"),
        ("", '""'),
        ("two words", '"two words"'),
        ("ün=d", '"ün=d"'),
        ('a "quote"', r'"a \"quote\""'),
        ("two\nlines", r'"two\nlines"'),
        ("\x1b[31m", r'"\u001b[31m"'),
        ("\u2028", r'"\u2028"'),
        ("\udcff", r'"\udcff"'),
        (3, "3"),
        (60.0, "60"),
        (0.25, "0.25"),
        (True, "true"),
        ((), '""'),
        (("a",), "a"),
        (("a", "b c"), '"a,b c"'),
    ],
)
def test_a_value_is_quoted_when_need_be(value: str | float | tuple[str, ...], shown: str) -> None:
    assert line("name", {"key": value}) == f"name key={shown}"


def test_a_long_fact_is_cut_to_its_beginning_and_a_number() -> None:
    ids = tuple(f"d{number}" for number in range(1000))
    shown = line("name", {"devices": ids})
    assert shown == f"name devices={','.join(ids[:SHOWN])},+{1000 - SHOWN}"


def test_an_event_reads_as_name_and_facts() -> None:
    event = InventoryChanged(resource=RESOURCE, devices=2, healthy=1, added=("a", "b"))
    assert shlex.split(line("inventory_changed", facts(event))) == [
        "inventory_changed",
        "resource=example.com/widget",
        "devices=2",
        "healthy=1",
        "added=a,b",
        "updated=",
        "vanished=",
    ]
    assert facts(DevicesAllocated(resource=RESOURCE, devices=("a",)))["devices"] == ("a",)
    assert facts(KubeletMissing(directory="/plugins", seconds=60))["seconds"] == 60
