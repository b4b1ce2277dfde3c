"""The fixtures that are shipped, used as somebody else would."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = 'pytest_plugins = ["deviceplugin.testing.pytest_plugin"]\n'
TEST = """
import pytest
from deviceplugin.testing.kubelet import Profile

{extra}

def test_it_runs(fake_kubelet, kubelet_directory):
    assert fake_kubelet.running
    assert fake_kubelet.directory == kubelet_directory
    assert fake_kubelet.root == kubelet_directory.parent
    assert fake_kubelet.socket.is_socket()
    print("profile", fake_kubelet.profile.version)


def test_another_test_has_another(fake_kubelet):
    assert fake_kubelet.resources() == {{}}
"""
SEVERAL = """
@pytest.fixture(params=[Profile.V1_28, Profile.V1_34])
def kubelet_profile(request):
    return request.param
"""


def ran_elsewhere(place: Path, text: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the tests of somebody else's project."""
    (place / "conftest.py").write_text(CONFTEST)
    (place / "test_mine.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-W", "error", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
    )


@pytest.mark.parametrize(
    ("extra", "profiles"), [("", ["1.37"]), (SEVERAL, ["1.28", "1.34"])], ids=["newest", "several"]
)
def test_a_test_has_a_kubelet_of_its_own(tmp_path: Path, extra: str, profiles: list[str]) -> None:
    """That runs in a directory with the usual name; which Kubernetes it is can be overridden."""
    done = ran_elsewhere(tmp_path, TEST.format(extra=extra))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{2 * len(profiles)} passed" in done.stdout
    said = [line.split() for line in done.stdout.splitlines() if "profile 1" in line]
    assert [words[-1] for words in said] == profiles


def test_where_temporary_files_are_far_down_there_is_a_kubelet_nevertheless(
    tmp_path: Path,
) -> None:
    """A socket's path has 107 bytes at most."""
    far = tmp_path / ("x" * 100)
    far.mkdir()
    done = ran_elsewhere(tmp_path, TEST.format(extra=""), TMPDIR=str(far))
    assert done.returncode == 0, done.stdout + done.stderr
