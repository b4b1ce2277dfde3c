"""The kit serves test runs, and never needs one."""

import subprocess
import sys
from pathlib import Path
from typing import Final

THIRD_PARTY: Final = """
from deviceplugin.testing.contracts.chance import ChanceContract

class Loaded:
    def fraction(self):
        return 1.5

class TestLoaded(ChanceContract):
    def chance(self):
        return Loaded()
"""


def _run(*arguments: str, check: bool = True) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=check).stdout  # noqa: S603 - ours


def test_importing_the_kit_imports_no_test_framework() -> None:
    """The fake kubelet runs from a plain installation, which has none."""
    shown = _run(
        "-c",
        "import sys, deviceplugin.testing, deviceplugin.testing.loop\n"
        "print({'pytest', 'hypothesis'} & set(sys.modules))",
    )
    assert shown == "set()\n"


def test_a_law_that_fails_in_somebodys_test_run_shows_why(tmp_path: Path) -> None:
    """A bare AssertionError would tell nothing of what was found."""
    (tmp_path / "test_theirs.py").write_text(THIRD_PARTY)
    shown = _run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), check=False)
    assert "1 failed" in shown
    assert "where False = all(" in shown
