"""How soon a kubelet hears of what the kernel announced.

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
class Running:
    """`deviceplugin run` on a tree of ours, with one device that the kubelet knows."""

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


@contextmanager
def running() -> Generator[Running]:
    """Start it."""
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
                yield Running(process, kubelet, sysfs.at(f"{device.path}/temperature"))
            finally:
                process.kill()
                process.wait()


def hotplug(rounds: int = 15) -> Result:
    """From an announcement of the kernel to its arrival at the kubelet."""
    times: list[float] = []
    with running() as plugin:
        for number in range(rounds):
            time.sleep(2.0)  # one that follows at once is part of a burst, and held back
            times.append(plugin.told(healthy=bool(number % 2)))
    return Result(
        name="a real uevent reaches the kubelet",
        unit="ms",
        bare=None,
        ours=median(times) * 1e3,
        bound=20.0,
        of="ours",
    )
