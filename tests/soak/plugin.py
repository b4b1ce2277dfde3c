"""The plugin under the soak: finds what lines of JSON tell it to, and says how big it is."""

import asyncio
import ctypes
import errno
import gc
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.stage import NAMESPACE, Puppet

from deviceplugin import DeviceInfo, Health, Manager
from deviceplugin.adapters.inotify import watches
from deviceplugin.adapters.inotify.instance import Event, Instance, open_instance
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.timing import Backoff, Timing

QUICK = Timing(
    register=0.5, stream=0.5, doubt=0.2, settle=0.05, backoff=Backoff(first=0.01, cap=0.2)
)
"""Limits that let thousands of hanging Registers pass in a soak's time."""


class _Switch:
    """Takes inotify away from the whole process, and gives it back."""

    def __init__(self) -> None:
        self.off = False

    def open(self) -> Instance:
        """Open an instance that obeys the switch."""
        self.check()
        return _Switched(open_instance(), self)

    def check(self) -> None:
        """Raise what a kernel says that has no instance left."""
        if self.off:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


class _Switched:
    """An instance that fails while the switch is off."""

    def __init__(self, inner: Instance, switch: _Switch) -> None:
        self._inner = inner
        self._switch = switch

    def fileno(self) -> int:
        """Return the real descriptor."""
        return self._inner.fileno()

    def add_watch(self, path: str, mask: int) -> int:
        """Watch, unless the switch is off."""
        self._switch.check()
        return self._inner.add_watch(path, mask)

    def rm_watch(self, wd: int) -> None:
        """End a watch."""
        self._inner.rm_watch(wd)

    def read(self, timeout: int) -> Sequence[Event]:
        """Take the events, unless the switch is off."""
        self._switch.check()
        return self._inner.read(timeout)

    def close(self) -> None:
        """Close the real one."""
        self._inner.close()


class _Silent(Journal):
    """Keeps nothing: what a journal keeps would look like a leak."""

    def record(self, event: object) -> None:
        """Forget it."""


class Controlled:
    """Carries out one line after the other, in the loop that the plugin runs in."""

    def __init__(self, puppet: Puppet, manager: Manager, switch: _Switch) -> None:
        """Take what is steered."""
        self._puppet = puppet
        self._manager = manager
        self._switch = switch
        self._released = threading.Event()

    def read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read lines to the end of the input, then stop the plugin."""
        for line in sys.stdin:
            order = json.loads(line)
            if order["do"] == "release":
                self._released.set()
            else:
                loop.call_soon_threadsafe(self._obey, order)
        self._manager.stop()

    def _obey(self, order: Mapping[str, Any]) -> None:
        match order["do"]:
            case "show":
                self._puppet.show(**{name: _found(each) for name, each in order["found"].items()})
            case "fail":
                self._puppet.fail(RuntimeError("told to"))
            case "deafen":
                self._switch.off = order["off"]
            case "hold":
                _answer(held=True)
                self._released.wait()
                self._released.clear()
            case "measure":
                gc.collect()
                # What the C library keeps for the next occasion is not what it has grown by.
                ctypes.CDLL(None).malloc_trim(0)
                _answer(**_figures())
            case "count":
                gc.collect()
                _answer(**_figures())
            case unknown:
                raise ValueError(f"no such order: {unknown!r}")


def _found(devices: Mapping[str, bool]) -> Mapping[str, DeviceInfo]:
    return {
        key: DeviceInfo(health=Health.HEALTHY if healthy else Health.UNHEALTHY)
        for key, healthy in devices.items()
    }


def _figures() -> dict[str, int]:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return {
        "kibibytes": int(fields["VmRSS"].split()[0]),
        "threads": threading.active_count(),
        "native": int(fields["Threads"]) - threading.active_count(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "tasks": len(asyncio.all_tasks()),
    }


def _answer(**said: object) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


async def _main(directory: str) -> None:
    switch, puppet = _Switch(), Puppet()
    setattr(watches, "open_instance", switch.open)  # noqa: B010 - no public seam, nor need of one
    manager = Manager(NAMESPACE, puppet, plugin_dir=directory, journal=_Silent(), timing=QUICK)
    controlled = Controlled(puppet, manager, switch)
    loop = asyncio.get_running_loop()
    threading.Thread(target=controlled.read, args=[loop], daemon=True).start()
    await manager.serve()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
