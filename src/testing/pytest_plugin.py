"""Fixtures for pytest: a fake kubelet for each test that asks for one.

Name it in the `conftest.py` at the root of your tests, or with `pytest -p`::

    pytest_plugins = ["deviceplugin.testing.pytest_plugin"]

Then a test of a plugin in any language takes `fake_kubelet`. To choose another Kubernetes, or to
run a test with several, override `kubelet_profile`; for another place, `kubelet_directory`.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Final

import pytest

from deviceplugin.testing.kubelet import FakeKubelet, Profile

_ROOM: Final = 40
"""Bytes of a path that leave room for the directories below it, and a plugin's socket in them."""


@pytest.fixture
def kubelet_profile() -> Profile:
    """Return which Kubernetes the fake kubelet is: the newest."""
    return Profile.V1_37


@pytest.fixture
def kubelet_directory() -> Iterator[Path]:
    """Give the test an empty device plugin directory, whose parent is the kubelet's root.

    Its path is short, since that of a socket in it has 107 bytes at most: where that of temporary
    files is long, it is in /tmp.
    """
    usual = gettempdir()
    place = usual if len(os.fsencode(usual)) <= _ROOM else "/tmp"  # noqa: S108 - made by mkdtemp
    with TemporaryDirectory(prefix="kubelet-", dir=place) as root:
        directory = Path(root, "device-plugins")
        directory.mkdir()
        yield directory


@pytest.fixture
def fake_kubelet(kubelet_directory: Path, kubelet_profile: Profile) -> Iterator[FakeKubelet]:
    """Give the test a running kubelet, which ends with it."""
    with FakeKubelet(kubelet_directory, profile=kubelet_profile) as kubelet:
        yield kubelet
