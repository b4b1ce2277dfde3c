"""How soon a kubelet hears of what the kernel announced.

The announcement is a real one, which needs root: a device of the kernel's own is announced once
more, and with it an attribute of a device in a tree of ours is another one. Who may not announce
anything reads so in the table.
"""

import os
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

_TRIGGER = Path("/sys/class/mem/null/uevent")
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

    def told(self, *, healthy: bool, apart: float | None = None) -> float:
        """Let the device be well or not, announce it, and return in what time the kubelet knows.

        With `apart`, three announcements come before, so many seconds from one to the next: they
        bring looks that find nothing.
        """
        if apart is not None:
            for _ in range(3):
                _TRIGGER.write_text("change")
                time.sleep(apart)
        self.attribute.write_text("40\n" if healthy else "95\n")
        begin = time.monotonic()
        _TRIGGER.write_text("change")
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


def hotplug(rounds: int = 15) -> list[Result]:
    """From an announcement of the kernel to its arrival at the kubelet: one, and a burst's last.

    Four announcements are what the plugging of one device makes at the least; how far they are
    apart is the driver's doing, and decides how far the last is from the look before.
    """
    one = "a real uevent reaches the kubelet"
    bursts = {
        apart: f"the last event of a burst of four, {apart * 1e3:g} ms apart, reaches the kubelet"
        for apart in (0.005, 0.03)
    }
    if not os.access(_TRIGGER, os.W_OK):
        return [
            Result.left_out(name, "not measured: needs root, and a /sys that may be written")
            for name in (one, *bursts.values())
        ]
    with running() as plugin:
        return [
            _told(plugin, one, None, rounds),
            *(_told(plugin, name, apart, rounds) for apart, name in bursts.items()),
        ]


def _told(plugin: Running, name: str, apart: float | None, rounds: int) -> Result:
    times: list[float] = []
    for number in range(rounds):
        time.sleep(1.5)  # what follows at once is part of the burst before
        times.append(plugin.told(healthy=bool(number % 2), apart=apart))
    ours = median(times) * 1e3
    return Result(name=name, unit="ms", bare=None, ours=ours, bound=20.0, of="ours")
