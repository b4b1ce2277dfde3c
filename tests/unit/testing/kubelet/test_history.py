"""What a test shows of a kubelet fits to be read."""

import pytest

from deviceplugin.testing.kubelet import Profile
from deviceplugin.testing.kubelet.history import History, Registered, Started
from deviceplugin.testing.kubelet.watch import Watch


def test_a_history_has_a_length_and_shows_its_records_in_order() -> None:
    history = History(Watch())
    assert (len(history), repr(history)) == (0, "History:")
    history.add(Started())
    history.add(Registered(resource="example.com/widget", endpoint="dp-1.sock"))
    assert len(history) == 2
    first, started, registered = repr(history).splitlines()
    assert first == "History:"
    assert started.startswith(" Started(")
    assert "endpoint='dp-1.sock'" in registered


@pytest.mark.parametrize("version", ["1.28", "1.34", "1.36", "1.37"])
def test_a_profile_reads_as_its_version(version: str) -> None:
    """The name of a test that is run for each of them stays short."""
    assert str(Profile.named(version)) == version
