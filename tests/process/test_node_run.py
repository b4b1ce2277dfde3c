"""What `make node-test` runs in leaves nothing, also when what runs there fails or is killed.

As root only: it mounts, and makes cgroups.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs
import pytest
from tests.support.process import eventually

ROOT: Final = Path(__file__).parents[2]
NEEDED: Final = ("busybox", "setpriv", "unshare")
CGROUPS: Final = Path("/sys/fs/cgroup")
WATCHED: Final = (
    "/",
    "/dev",
    "/run",
    "/mnt",
    "/var/log",
    "/var/lib/kubelet",
    "/var/lib/containerd",
)

BODY: Final = """#!/bin/bash
# In place of the tests: what a node does to a machine, and then an end of its own.
for each in {cgroups}/ {cgroups}/*/; do
    if [ -d "$each$NODE_CGROUP" ]; then
        mkdir "$each$NODE_CGROUP/pod"
        setsid sleep {marker} < /dev/null > /dev/null 2>&1 &
        # A cpuset without processors takes nobody.
        {{ echo $! > "$each$NODE_CGROUP/pod/cgroup.procs"; }} 2> /dev/null
    fi
done
for each in /var/lib/kubelet /var/lib/containerd /mnt; do
    mount -t tmpfs tmpfs "$each"
    touch "$each/{marker}"
done
touch "/run/{marker}" "/dev/{marker}" "/var/log/{marker}" "$TMPDIR/{marker}"
echo "$NODE_CGROUP" > {place}/cgroup
touch {place}/ready
{end}
"""


def why_not() -> str:
    """Return why no node can run here; nothing if one can."""
    if os.geteuid() != 0:
        return "needs root"
    lacking = [name for name in NEEDED if shutil.which(name) is None]
    if lacking:
        return f"needs {', '.join(lacking)}"
    probe = ["unshare", "--mount", "--pid", "--net", "--fork", "mount", "-t", "tmpfs", "t", "/mnt"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:  # noqa: S603
        return "namespaces are not permitted"
    return "" if os.access(CGROUPS, os.W_OK) else "cgroups cannot be made"


@attrs.frozen(kw_only=True)
class Machine:
    """What a run could leave something of."""

    mounts: tuple[str, ...]
    files: frozenset[str]
    cgroups: frozenset[str]

    @classmethod
    def seen(cls, marker: str) -> "Machine":
        """Look at this one; of files only at those whose names have the marker."""
        hierarchies = (CGROUPS, *CGROUPS.iterdir())
        return cls(
            mounts=tuple(sorted(Path("/proc/self/mounts").read_text().splitlines())),
            files=frozenset(
                str(each) for place in WATCHED for each in Path(place).glob(f"*{marker}*")
            ),
            cgroups=frozenset(
                str(each) for place in hierarchies for each in place.glob("deviceplugin-node-*")
            ),
        )


@attrs.frozen
class Run:
    """One run, whose tests are a script of ours."""

    place: Path
    marker: str

    def start(self, end: str) -> "subprocess.Popen[str]":
        """Start it; its tests dirty the node, and then do what `end` says."""
        body = self.place / "body"
        body.write_text(
            BODY.format(cgroups=CGROUPS, marker=self.marker, place=self.place, end=end)
        )
        body.chmod(0o755)
        return subprocess.Popen(  # noqa: S603 - ours
            [ROOT / "tests" / "node" / "run", body, "no-kubelet", self.place / "logs"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def sleepers(self) -> list[str]:
        """Return the processes of it that still run."""
        found: list[str] = []
        for each in Path("/proc").iterdir():
            with suppress(OSError):
                if self.marker in (each / "cmdline").read_text().split("\0"):
                    found.append(each.name)
        return found

    def is_dirty(self) -> bool:
        """Whether it has done its worst."""
        return (self.place / "ready").exists()


@pytest.fixture
def run() -> Iterator[Run]:
    """Give the test a run with a place and a number of its own."""
    if reason := why_not():
        pytest.skip(reason)
    for folder in ("/var/lib/kubelet", "/var/lib/containerd"):
        Path(folder).mkdir(exist_ok=True)
    with TemporaryDirectory() as place:
        yield Run(Path(place), f"86400.{os.getpid()}")


@pytest.mark.parametrize(
    ("end", "signalled", "code"),
    [
        ("exit 0", None, 0),
        ("exit 3", None, 3),
        ("sleep {marker}", signal.SIGTERM, 137),
    ],
    ids=["passed", "failed", "asked-to-end"],
)
def test_nothing_is_left_however_it_ends(
    run: Run, end: str, signalled: signal.Signals | None, code: int
) -> None:
    """No process, no mount, no file, no cgroup; and the code is that of the tests."""
    before = Machine.seen(run.marker)
    process = run.start(end.format(marker=run.marker))
    eventually(run.is_dirty)
    if signalled is not None:
        assert run.sleepers()
        process.send_signal(signalled)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (code, "")
    assert run.sleepers() == []
    assert Machine.seen(run.marker) == before


def test_what_a_killed_run_could_not_remove_the_next_one_does(run: Run) -> None:
    """Its processes and mounts go with it all the same."""
    before = Machine.seen(run.marker)
    process = run.start(f"sleep {run.marker}")
    eventually(run.is_dirty)
    process.kill()
    process.communicate()
    eventually(lambda: not run.sleepers())
    left = Machine.seen(run.marker)
    assert (left.mounts, left.files) == (before.mounts, before.files)
    assert left.cgroups > before.cgroups
    later = run.start("exit 0")
    later.communicate(timeout=30)
    assert later.returncode == 0
    assert Machine.seen(run.marker) == before
