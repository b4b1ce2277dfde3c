"""What needs root and Go says so in one line where there is neither, and fails nothing."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import attrs
import pytest
from tests.conformance.real import RealKubelet

ROOT: Final = Path(__file__).parents[2]
TOOLS: Final = ("awk", "bash", "dirname", "env", "make", "mount", "sh", "unshare")
NOT_ROOT: Final = "root"
NO_GO: Final = "Go"

each_lack = pytest.mark.parametrize("lack", [NOT_ROOT, NO_GO])


@attrs.frozen
class Machine:
    """A machine that lacks something, with an environment in which nothing need be installed."""

    place: Path

    @classmethod
    def without(cls, lack: str, place: Path) -> "Machine":
        """Make one on which the programs say that it lacks this."""
        tools, env = place / "tools", place / "venv"
        for folder in (tools, env / "bin"):
            folder.mkdir(parents=True)
        for name in TOOLS:
            found = shutil.which(name)
            assert found is not None, name
            (tools / name).symlink_to(found)
        _script(tools / "id", f"echo {1000 if lack == NOT_ROOT else 0}")
        if lack != NO_GO:
            _script(tools / "go", f'echo go "$@" >> {place}/called')
        _script(env / "bin" / "python", f'echo python "$@" >> {place}/called')
        for stamp in (".made", ".runtime", ".dev"):
            (env / stamp).touch()
        return cls(place)

    def make(self, *arguments: str) -> list[str]:
        """Run `make`, which must succeed, and return the lines that it prints."""
        done = subprocess.run(  # noqa: S603 - ours
            [
                str(self.place / "tools" / "make"),
                "--no-print-directory",
                f"VENV={self.place / 'venv'}",
                f"WORK={self.place / 'work'}",
                *arguments,
            ],
            cwd=ROOT,
            env={"PATH": str(self.place / "tools")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    @property
    def called(self) -> list[str]:
        """What was run of Python and Go."""
        file = self.place / "called"
        return file.read_text().splitlines() if file.exists() else []


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


@each_lack
def test_without_it_real_kubelets_are_left_out_and_the_fakes_are_asked(
    lack: str, tmp_path: Path
) -> None:
    machine = Machine.without(lack, tmp_path)
    (line,) = machine.make("conformance", "ARGS=-x")
    assert line.startswith("Skipped the real kubelets: ")
    assert lack in line
    assert machine.called == ["python -m pytest tests/conformance -x"]


@each_lack
@pytest.mark.parametrize(
    "verb", [["node-test"], ["soak", "KUBELET=1.37.2"], ["bench", "KUBELET=1.37.2"]]
)
def test_without_it_what_is_only_for_a_real_one_does_nothing(
    lack: str, verb: list[str], tmp_path: Path
) -> None:
    machine = Machine.without(lack, tmp_path)
    (line,) = machine.make(*verb)
    assert line.startswith("Skipped the ")
    assert lack in line
    assert machine.called == []


def test_a_real_kubelet_of_the_tests_does_not_run_beside_files_of_this_machines() -> None:
    """It is told before anything is written; the directory is a constant of the kubelet."""
    with pytest.raises(RuntimeError, match="tests/kubelets/alone"):
        RealKubelet(Path("/bin/true"))
