"""The kubelets that all behaviours must hold with: the fake in each profile, and real ones.

`make conformance` says which real ones, and runs this where /var/lib/kubelet is its own. Where
there are none, whoever names this folder has the fakes.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.conformance.world import Kind, World

from deviceplugin.testing.kubelet import Profile

_BINARIES = [Path(each) for each in os.environ.get("CONFORMANCE_KUBELETS", "").split()]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave them out of a run of all tests: they take minutes, and have a verb of their own."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return None if named or _BINARIES else collection_path.name.startswith("test_") or None


def _version(binary: Path) -> str:
    """Return the minor of `kubelet-1.37.2`."""
    return binary.name.removeprefix("kubelet-").rpartition(".")[0]


_FAKES = [Kind(each) for name, each in vars(Profile).items() if name.startswith("V1_")]
_REALS = [Kind(Profile.named(_version(binary)), binary) for binary in _BINARIES]


@pytest.fixture(params=[*_FAKES, *_REALS], ids=lambda kind: kind.name)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Give the test a world of its own, with each kubelet in turn."""
    with ExitStack() as ending:
        yield World(request.param, ending)


@pytest.fixture(params=_REALS, ids=lambda kind: kind.name)
def real_world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Give the test a world of its own, with each real kubelet in turn."""
    with ExitStack() as ending:
        yield World(request.param, ending)
