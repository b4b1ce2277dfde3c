"""The container runtime of the node: containerd with runc, and our images in it."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.node.daemon import Daemon, awaited
from tests.node.images import PAUSE, write_images

ROOT: Final = Path("/var/lib/containerd")
SOCKET: Final = Path("/run/containerd/containerd.sock")

# A shim may not be able to lower its score, and need not here: restrict_oom_score_adj.
_CONFIGURATION: Final = f"""\
version = 2
root = "{ROOT}"
state = "{SOCKET.parent}"
disabled_plugins = ["io.containerd.internal.v1.opt"]

[grpc]
address = "{SOCKET}"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{PAUSE}"
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/run/cni/bin"
conf_dir = "/run/cni/net.d"

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""


class Runtime:
    """A containerd that has nothing but our images when it starts, if `ROOT` is empty."""

    def __init__(self, log: Path) -> None:
        """Start it; returns when it has the images."""
        configuration = Path("/run/containerd.toml")
        configuration.write_text(_CONFIGURATION)
        self._daemon = Daemon(["containerd", "--config", str(configuration)], log)
        awaited(_answers, check=self._daemon.check)
        with TemporaryDirectory() as directory:
            images = Path(directory, "images.tar")
            write_images(images)
            _ctr("images", "import", "--no-unpack", str(images))

    def check(self) -> None:
        """Raise `DaemonDiedError` unless it runs."""
        self._daemon.check()

    def end(self) -> None:
        """End all containers, and itself."""
        awaited(_killed, lambda tasks: not tasks, check=self.check)
        # They outlive containerd, if they are not over before.
        awaited(_shims, lambda shims: not shims, check=self.check)
        assert self._daemon.end() == 0


def _ctr(*arguments: str) -> str:
    command = ["ctr", "--address", str(SOCKET), "--namespace", "k8s.io", *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout  # noqa: S603


def _answers() -> bool:
    try:
        return bool(_ctr("version"))
    except subprocess.CalledProcessError:
        return False


def _killed() -> Sequence[str]:
    """Kill every task, and return which there were; containerd removes what has ended."""
    tasks = _ctr("tasks", "list", "--quiet").split()
    for task in tasks:
        with suppress(subprocess.CalledProcessError):  # it has ended by itself
            _ctr("tasks", "kill", "--signal", "SIGKILL", task)
    return tasks


def _shims() -> Sequence[str]:
    """Return the command lines of the shims; every process here is of this node."""
    lines = list[str]()
    for each in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - names are enough
        with suppress(OSError):
            lines.append(Path("/proc", each, "cmdline").read_text().replace("\0", " "))
    return [line for line in lines if "containerd-shim" in line]
