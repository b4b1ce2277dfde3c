"""A run of the behaviours ends, however one of them does."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.process import PATIENCE

ROOT: Final = Path(__file__).parents[2]
UNFINISHED: Final = """
import threading
from tests.conformance.bare import WIDGET
from deviceplugin.testing.kubelet import Hang, Pod


def test_it_fails_amid_all_that_can_hang(world):
    kubelet, plugin, other = world.kubelet(), world.plugin(), world.plugin("other.sock", "a.b/c")
    world.listed(kubelet, plugin, "a b")
    for never in (plugin, other):
        never.on_allocate = lambda ids: threading.Event().wait()
        never.on_options = lambda context: threading.Event().wait()
    world.aside(lambda: kubelet.admit(Pod.asking("pod", {WIDGET: 1})))
    world.aside(other.register)
    world.aside(threading.Event().wait)
    plugin.await_calls("Allocate", 1)
    other.await_calls("GetDevicePluginOptions", 1)
    raise RuntimeError("on purpose")
"""


def test_a_behaviour_that_fails_half_way_lets_the_run_end(tmp_path: Path) -> None:
    """With streams, calls and threads that nobody would ever end."""
    behaviour = tmp_path / "test_unfinished.py"
    behaviour.write_text(UNFINISHED)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conformance.conftest", "-k", "1.37"]
    done = subprocess.run(  # noqa: S603 - ours
        [*command, "-c", str(ROOT / "pyproject.toml"), str(behaviour)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * PATIENCE,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "RuntimeError: on purpose" in done.stdout
    assert "1 failed" in done.stdout
