"""The laws of configurations that come along masked."""

import pytest

from deviceplugin.app.settings.hiding import hidden, named
from deviceplugin.domain.recording.masks import Masks

MASKS = Masks.of(["GPS1", "A50285BI", "52:54:00:ab:cd:ef", "1", "match"], {"match"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("usb: {serial: GPS1}", 'usb: {serial: "MASKED1"}'),
        ("usb: {serial: 'GPS1'}", "usb: {serial: 'MASKED1'}"),
        (
            "attributes: {device/serial: {in: [x, gps1]}}",
            'attributes: {device/serial: {in: [x, "MASKED1"]}}',
        ),
        ("properties: {UNIQ: 1}", 'properties: {UNIQ: "MASKED4"}'),
        (
            "node: /dev/serial/by-id/usb-X_GPS1-if00",
            'node: "/dev/serial/by-id/usb-X_MASKED1-if00"',
        ),
        ("node: '/dev/serial/by-id/*_GPS1*'", "node: '/dev/serial/by-id/*_MASKED1*'"),
        ("count: 1  # GPS1 has 1", "count: 1  # MASKED1 has MASKED4"),
        (r'env: {A: "\x42 and A50285BI"}', 'env: {A: "B and MASKED2"}'),
        ('a: "\\x41502\\x385BI"', 'a: "MASKED2"'),
        ("a: 525400ABCDEF", 'a: "020000000003"'),
        ("match: [{name: ttyUSB*}]", "match: [{name: ttyUSB*}]"),
        ("a: &x GPS1\nserial: *x", 'a: &x "MASKED1"\nserial: *x'),
        ("a: Zo\u00eb \u2713  # \u2713", "a: Zo\u00eb \u2713  # \u2713"),
    ],
)
def test_a_secret_is_hidden_where_a_configuration_asks_for_it(text: str, expected: str) -> None:
    """And nothing else is changed: not a count, not a key of the language."""
    assert hidden(text, MASKS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("usb: {serial: A50285BI}", ["A50285BI"]),
        ("usb: {serial: [GPS1, 'X Y']}", ["GPS1", "X Y"]),
        ("attributes: {device/wwid: {in: [naa.5000c500a1b2c3d4]}}", ["naa.5000c500a1b2c3d4"]),
        (
            "env: {MAC: '3e:42:ac:11:00:02'}  # at 3e:42:ac:11:00:03",
            ["3e:42:ac:11:00:02", "3e:42:ac:11:00:03"],
        ),
        ("usb: {serial: GPS*}", []),
        ("usb: {serial: {exists: true}}", []),
        ("usb: {serial: none}", []),
        ("name: A50285BI\npci: '0000:0b:00.0'", []),
        ("", []),
    ],
)
def test_what_a_configuration_asks_for_is_a_secret_whether_it_is_there_or_not(
    text: str, expected: list[str]
) -> None:
    """A recording of a machine on which a device is not found must not tell its number."""
    assert sorted({*named(text)}) == expected
