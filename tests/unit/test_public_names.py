"""`import deviceplugin` is cheap, and all the same everything is there."""

import subprocess
import sys

import pytest

import deviceplugin


def test_every_public_name_is_there_when_it_is_asked_for() -> None:
    """And none is imported before."""
    command = [sys.executable, "-c", "import sys, deviceplugin; print('attrs' in sys.modules)"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"False\n"  # noqa: S603 - ours
    assert set(deviceplugin.__all__) <= set(dir(deviceplugin))
    for name in deviceplugin.__all__:
        assert getattr(deviceplugin, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'Manger'"):
        getattr(deviceplugin, "Manger")  # noqa: B009 - a wrong name is what is asked for
