"""The laws of configurations that come along masked."""

import pytest

from deviceplugin.app.settings.hiding import hidden
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
