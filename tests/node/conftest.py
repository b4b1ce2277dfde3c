"""A node for each test: kubelet, runtime, and the plugin as an operator runs it.

`make node-test` says which kubelet, and runs this in namespaces of its own. Without it there is
nothing to collect here.
"""

import os
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from tests.node.accelerators import Accelerators
from tests.node.node import Node
from tests.node.plugin import Operator

_KUBELET: Final = os.environ.get("NODE_KUBELET", "")
collect_ignore_glob = [] if _KUBELET else ["test_*.py"]


@pytest.fixture
def logs(request: pytest.FixtureRequest) -> Path:
    """Return a folder for what the test's processes say; it stays."""
    folder = Path(os.environ["NODE_LOGS"], request.node.name)
    folder.mkdir()
    return folder


@pytest.fixture
def node(logs: Path) -> Generator[Node]:
    """Run a node, which must not have died when the test is over."""
    with Node(Path(_KUBELET), logs) as running:
        yield running
        running.check()


@pytest.fixture
def operator(tmp_path: Path, logs: Path) -> Generator[Operator]:
    """Run plugins in the test's directory, and stop them at its end."""
    operator = Operator(tmp_path, logs)
    with ExitStack() as ending:
        ending.callback(operator.stop_all)
        yield operator


@pytest.fixture
def accelerators(tmp_path: Path) -> Generator[Accelerators]:
    """Give this machine accelerators that come and go."""
    hardware = Accelerators(tmp_path)
    yield hardware
    hardware.clear()
