"""The soak: `make soak` runs it for thousands of rounds."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("kubelet", ["1.28", "1.37"])
def test_a_short_soak_strands_and_leaks_nothing(kubelet: str) -> None:
    """A plugin in a process of its own, the devices and an accident changing at each round."""
    ended = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "tests.soak", "--rounds", "30", "--kubelet", kubelet],
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "stranded: 0" in ended.stdout
    assert "after 30 rounds" in ended.stdout
