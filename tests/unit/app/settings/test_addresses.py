"""The laws of addresses."""

import pytest

from deviceplugin.app.settings.addresses import Address
from deviceplugin.domain.errors import InvalidValueError


def test_a_host_that_is_not_named_is_this_one() -> None:
    """To be open to others takes saying so."""
    assert Address.of(":9100") == Address("127.0.0.1", 9100)
    assert Address.of("0.0.0.0:9100") == Address("0.0.0.0", 9100)  # noqa: S104 - said so


def test_none_is_no_address() -> None:
    assert Address.of("none") is None


@pytest.mark.parametrize("text", ["127.0.0.1:0", "[::1]:9100", "node-1.example:65535"])
def test_an_address_reads_as_it_is_written(text: str) -> None:
    assert str(Address.of(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", ":", "9100", "::1:9100", "x:65536", "x:09", "x:-1", "-x:1", "a b:1", "None", "x:1\n"],
)
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidValueError, match=r"such as 127\.0\.0\.1:9100, or none"):
        Address.of(text)
