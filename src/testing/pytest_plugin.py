"""Fixtures for pytest: a fake kubelet for each test that asks for one.

Name it in the `conftest.py` at the root of your tests, or with `pytest -p`::

    pytest_plugins = ["deviceplugin.testing.pytest_plugin"]

Then a test of a plugin in any language takes `fake_kubelet`. To choose another Kubernetes, or to
run a test with several, override `kubelet_profile`; for another place, `kubelet_directory`.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from deviceplugin.testing.kubelet import FakeKubelet, Profile


@pytest.fixture
def kubelet_profile() -> Profile:
    """Return which Kubernetes the fake kubelet is: the newest."""
    return Profile.V1_37


@pytest.fixture
def kubelet_directory() -> Iterator[Path]:
    """Give the test an empty device plugin directory, whose parent is the kubelet's root.

    Its path is short, since that of a socket in it has 107 bytes at most.
    """
    with TemporaryDirectory(prefix="kubelet-") as root:
        directory = Path(root, "device-plugins")
        directory.mkdir()
        yield directory


@pytest.fixture
def fake_kubelet(kubelet_directory: Path, kubelet_profile: Profile) -> Iterator[FakeKubelet]:
    """Give the test a running kubelet, which ends with it."""
    with FakeKubelet(kubelet_directory, profile=kubelet_profile) as kubelet:
        yield kubelet
