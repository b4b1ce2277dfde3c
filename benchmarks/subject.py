"""A process to be measured, and what can be read of it from outside."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from deviceplugin.testing.kubelet import FakeKubelet, Profile

PATIENCE = 60.0


@attrs.frozen
class Subject:
    """A plugin process and the kubelet that it serves."""

    name: str
    process: "subprocess.Popen[bytes]"
    kubelet: FakeKubelet
    resources: int

    def listed(self) -> None:
        """Return when every resource is allocatable."""
        for number in range(self.resources):
            self.kubelet.await_resource(
                f"bench.example.com/r{number}", lambda seen: seen.allocatable == 1, PATIENCE
            )

    def endpoint(self) -> Path:
        """Return the socket of the first resource."""
        endpoint = self.kubelet.resource("bench.example.com/r0").endpoint
        return self.kubelet.directory / str(endpoint)

    def resident_megabytes(self) -> float:
        """Return the process's resident set."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1000

    def threads(self) -> int:
        """Return the number of the process's threads."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))


@contextmanager
def subject(module: str, resources: int) -> Iterator[Subject]:
    """Run `benchmarks.<module>` with so many resources, registered and listed."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        command = [sys.executable, "-m", f"benchmarks.{module}", directory, str(resources)]
        with FakeKubelet(directory, profile=Profile.V1_37) as kubelet:
            process = subprocess.Popen(command)  # noqa: S603 - our own module
            try:
                running = Subject(module, process, kubelet, resources)
                running.listed()
                yield running
            finally:
                process.kill()
                process.wait()
