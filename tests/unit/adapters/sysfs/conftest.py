"""A machine for each test."""

from pathlib import Path

import pytest

from deviceplugin.testing.sysfs import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine without devices."""
    return Machine(tmp_path)
