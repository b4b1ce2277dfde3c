"""A process to be measured, the kubelet that it serves, and what can be read of both."""

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

import attrs
from inotify_simple import flags
from tests.conformance.kubelets import Kubelet
from tests.conformance.real import KUBELET_DIRECTORY, RealKubelet

from deviceplugin.adapters.inotify.instance import open_instance
from deviceplugin.testing.kubelet import FakeKubelet, ListReceived, Profile

PATIENCE: Final = 60.0
_LOOK_AGAIN: Final = 0.005


@attrs.frozen
class Kind:
    """Which kubelet: the fake one of 1.37, or the real one that a program is."""

    binary: Path | None = None

    @property
    def name(self) -> str:
        """Its name in reports."""
        return "fake kubelet" if self.binary is None else f"real {self.binary.name}"

    @contextmanager
    def kubelet(self) -> Generator[Kubelet]:
        """Run it, on a directory of its own."""
        if self.binary is not None:
            (KUBELET_DIRECTORY / "device-plugins").mkdir(exist_ok=True)
            for left in (KUBELET_DIRECTORY / "device-plugins").iterdir():
                left.unlink()
            with RealKubelet(self.binary) as real:
                yield real
            return
        with (
            TemporaryDirectory(ignore_cleanup_errors=True) as directory,
            FakeKubelet(directory, profile=Profile.V1_37) as fake,
        ):
            yield fake


@attrs.frozen
class Subject:
    """A plugin process and the kubelet that it serves."""

    process: "subprocess.Popen[bytes]"
    orders: IO[bytes]
    kubelet: Kubelet
    resources: int

    def listed(self) -> None:
        """Return when every resource is allocatable. Raises `TimeoutError`."""
        end = time.monotonic() + PATIENCE
        while not self._is_listed():
            if time.monotonic() > end:
                raise TimeoutError(
                    f"after {PATIENCE} s there is only {self.kubelet.node_status()}"
                )
            time.sleep(_LOOK_AGAIN)

    def _is_listed(self) -> bool:
        node = self.kubelet.node_status()
        return sum(each.allocatable > 0 for each in node.values()) == self.resources

    def endpoint(self) -> Path:
        """Return the socket of the only resource."""
        (socket,) = set(self.kubelet.directory.glob("*.sock")) - {
            self.kubelet.directory / "kubelet.sock"
        }
        return socket

    def last_list(self, since: float) -> float:
        """Return when the last of the resources was listed first after a moment."""
        first: dict[str, float] = {}
        for record in self.kubelet.history.of(ListReceived):
            if record.at > since:
                first.setdefault(record.resource, record.at)
        return max(first.values())

    def tell(self, healthy: bool) -> None:  # noqa: FBT001 - one fact
        """Let its one device fall ill or recover."""
        self.orders.write(json.dumps(healthy).encode() + b"\n")
        self.orders.flush()

    def resident_megabytes(self) -> float:
        """Return the process's resident set."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1000


@contextmanager
def subject(module: str, resources: int, kind: Kind, *more: str) -> Generator[Subject]:
    """Run `benchmarks.<module>` with so many resources, registered and listed."""
    with kind.kubelet() as kubelet:
        command = [sys.executable, "-m", f"benchmarks.{module}"]
        given, orders = os.pipe()
        process = subprocess.Popen(  # noqa: S603 - our own module
            [*command, str(kubelet.directory), str(resources), *more], stdin=given
        )
        os.close(given)
        try:
            with os.fdopen(orders, "wb") as told:
                running = Subject(process, told, kubelet, resources)
                running.listed()
                yield running
        finally:
            process.kill()
            process.wait()


class Appearance:
    """Notes the moment at which kubelet.sock appears in a directory, from its making on."""

    def __init__(self, directory: Path) -> None:
        """Watch from now on; call `moment` once, after the kubelet was started."""
        self._inotify = open_instance()
        self._inotify.add_watch(str(directory), int(flags.CREATE))
        self._moment = 0.0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def moment(self) -> float:
        """Return when it appeared, by the monotonic clock."""
        self._thread.join(PATIENCE)
        self._inotify.close()
        return self._moment

    def _watch(self) -> None:
        while not self._moment:
            select.select([self._inotify.fileno()], [], [], PATIENCE)
            now = time.monotonic()
            if any(event.name == "kubelet.sock" for event in self._inotify.read(timeout=0)):
                self._moment = now
