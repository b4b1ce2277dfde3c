"""An author's own plugin loads what it needs: each module that is loaded is memory for good."""

import subprocess
import sys
from typing import Final

import pytest

LOADED: Final = """
import sys
import attrs, grpc.aio, inotify_simple
import dependency_injector.containers
import google.protobuf.message
before = set(sys.modules)
import deviceplugin.app.container
print(*(sys.modules.keys() - before))
"""


@pytest.fixture(scope="module")
def loaded() -> frozenset[str]:
    """Return what a plugin loads that the libraries below it have not."""
    command = [sys.executable, "-c", LOADED]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    return frozenset(ran.stdout.split())


@pytest.mark.parametrize("name", ["hashlib", "_hashlib", "secrets", "yaml", "click", "rich"])
def test_no_library_is_loaded_for_what_is_not_done(loaded: frozenset[str], name: str) -> None:
    """OpenSSL's hashes, half a megabyte, are for ids that are too long; the rest for commands."""
    assert name not in loaded


@pytest.mark.parametrize(
    "package",
    [
        "deviceplugin.adapters.memory",
        "deviceplugin.adapters.recorded",
        "deviceplugin.adapters.sysfs",
        "deviceplugin.adapters.uevent",
        "deviceplugin.app.settings",
        "deviceplugin.domain.discovery",
        "deviceplugin.testing",
    ],
)
def test_no_part_of_ours_is_loaded_that_takes_no_part(
    loaded: frozenset[str], package: str
) -> None:
    """What goes by a configuration is made, and loaded, where there is one."""
    assert not [name for name in loaded if name == package or name.startswith(f"{package}.")]
