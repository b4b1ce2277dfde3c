"""How soon a kubelet hears of what the kernel announced, and what a plugin at rest wakes up for.

The announcement is a real one, which needs root: a device of the kernel's own is announced once
more, and with it an attribute of a device in a tree of ours is another one.
"""

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import attrs

from benchmarks.results import Result
from deviceplugin.testing.kubelet import FakeKubelet, Profile
from deviceplugin.testing.sysfs import FakeSysfs

TRIGGER = Path("/sys/class/mem/null/uevent")
_RESOURCE = "bench.example.com/null"
_CONFIGURATION = """\
version: 1
domain: bench.example.com
resources:
  - name: "null"
    match: [{subsystem: widget}]
    healthy_when: [{attributes: {temperature: {lt: 90}}}]
"""


@attrs.frozen
class _Running:
    process: "subprocess.Popen[bytes]"
    kubelet: FakeKubelet
    attribute: Path

    def told(self, *, healthy: bool) -> float:
        """Let the device be well or not, announce something, and return when the kubelet knows."""
        self.attribute.write_text("40\n" if healthy else "95\n")
        begin = time.monotonic()
        TRIGGER.write_text("change")
        self.kubelet.await_resource(_RESOURCE, lambda seen: seen.allocatable == int(healthy))
        return time.monotonic() - begin

    def wakes(self) -> int:
        """Return how often its threads have gone to sleep so far."""
        found = 0
        for status in Path(f"/proc/{self.process.pid}/task").glob("*/status"):
            lines = status.read_text(encoding="ascii").splitlines()
            found += sum(
                int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt")
            )
        return found


@contextmanager
def _running() -> Generator[_Running]:
    with TemporaryDirectory() as directory:
        place = Path(directory)
        sysfs = FakeSysfs(place)
        device = sysfs.child("null", subsystem="widget", number=(1, 3))
        sysfs.write(f"{device.path}/temperature", "40")
        (place / "plugin.yaml").write_text(_CONFIGURATION, encoding="ascii")
        (place / "plugins").mkdir()
        command = [sys.executable, "-m", "deviceplugin.app", "run"]
        command += ["--config", str(place / "plugin.yaml"), "--sys-root", str(sysfs.root)]
        command += ["--plugin-dir", str(place / "plugins"), "--kubelet-root", directory]
        with FakeKubelet(place / "plugins", profile=Profile.V1_37) as kubelet:
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603 - our own
            try:
                kubelet.await_resource(_RESOURCE, lambda seen: seen.allocatable == 1)
                yield _Running(process, kubelet, sysfs.at(f"{device.path}/temperature"))
            finally:
                process.kill()
                process.wait()


def hotplug(rounds: int = 15) -> Result:
    """From an announcement of the kernel to its arrival at the kubelet."""
    times: list[float] = []
    with _running() as running:
        for number in range(rounds):
            time.sleep(2.0)  # one that follows at once is part of a burst, and held back
            times.append(running.told(healthy=bool(number % 2)))
    return Result(
        name="a real uevent reaches the kubelet",
        unit="ms",
        bare=None,
        ours=median(times) * 1e3,
        bound=20.0,
        of="ours",
    )


def idle(seconds: float = 30.0) -> Result:
    """Wake-ups of the whole process, its look at the kubelet's socket each second included."""
    with _running() as running:
        time.sleep(5)
        before = running.wakes()
        time.sleep(seconds)
        wakes = running.wakes() - before
    return Result(
        name="wake-ups in 10 s at rest, looks at kubelet.sock included",
        unit="",
        bare=None,
        ours=wakes / seconds * 10,
        bound=None,
        of="ours",
    )
