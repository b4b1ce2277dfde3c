"""The laws of asking after single devices."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.asking import asking
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.globs import Glob, literally
from deviceplugin.domain.errors import InvalidValueError


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_text_taken_literally_fits_itself_and_nothing_else(text: str, other: str) -> None:
    glob = Glob(literally(text))
    assert glob.fits(text)
    assert glob.fits(other) == (text == other)


def test_a_device_is_asked_after_by_either_path() -> None:
    """Brackets and stars in it are only that."""
    asked = asking(nodes=["/dev/a[b]"], devices=["/devices/x*"])
    assert asked.matches(Candidate(name="1", paths=("/dev/a[b]",)))
    assert asked.matches(Candidate(name="2", devpath="/devices/x*"))
    assert not asked.matches(Candidate(name="3", paths=("/dev/ab",), devpath="/devices/xy"))


def test_nothing_is_not_asked_after() -> None:
    with pytest.raises(InvalidValueError):
        asking()
