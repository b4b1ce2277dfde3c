"""A node on which several instances of one plugin run, in this process and in others."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import attrs
from tests.support.stage import NAMESPACE, SOON, WIDGET, Puppet, beside

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import FakeKubelet, Limits, Profile, ResourceView

LIMITS = Limits(dial=1.0, registry_look=0.05, plugin_retry=0.05)

_SCRIPT = """
import sys, threading
from deviceplugin import DeviceInfo, DeviceTree, Manager

class Fixed:
    def scan(self, notifier):
        tree = DeviceTree()
        for key in sys.argv[4:]:
            tree.add_device("widget", key, DeviceInfo())
        notifier.notify(tree)
        threading.Event().wait()

Manager("example.com", Fixed(), plugin_dir=sys.argv[1], kubelet_root=sys.argv[2],
        registration=sys.argv[3]).run()
"""


@attrs.frozen
class Instance:
    """One running plugin of this process."""

    manager: Manager
    puppet: Puppet
    journal: MemoryJournal
    serving: "asyncio.Task[None]"

    async def stop(self) -> None:
        """End it in an orderly way."""
        self.manager.stop()
        await self.serving


class Grounds:
    """A kubelet and its directories, and any number of instances."""

    def __init__(self, root: Path, profile: Profile, registration: str) -> None:
        """Start nothing yet; the root's path is to be short."""
        self.directory = root / "device-plugins"
        self.directory.mkdir()
        self.kubelet = FakeKubelet(self.directory, profile=profile, limits=LIMITS)
        self.registration = registration
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await beside(self.kubelet.start)
        self._stack.push_async_callback(partial(beside, self.kubelet.stop))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def instance(
        self,
        *ids: str,
        timing: Timing | None = None,
        on_exit: str = "leave",
        registration: str | None = None,
    ) -> Instance:
        """Start one that finds these widgets, on a way of its own if it is named."""
        puppet, journal = Puppet(), MemoryJournal()
        manager = Manager(
            NAMESPACE,
            puppet,
            plugin_dir=str(self.directory),
            registration=registration or self.registration,
            on_exit=on_exit,
            journal=journal,
            timing=timing,
        )
        puppet.show(widget=" ".join(ids))
        instance = Instance(manager, puppet, journal, asyncio.create_task(manager.serve()))
        self._stack.push_async_callback(instance.stop)
        return instance

    def process(self, *ids: str) -> "subprocess.Popen[bytes]":
        """Start one in a process of its own, to be killed."""
        process = subprocess.Popen(  # noqa: S603 - ourselves
            [
                *(sys.executable, "-c", _SCRIPT, self.directory, self.kubelet.root),
                *(self.registration, *ids),
            ]
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    async def sees(self, wanted: Callable[[ResourceView], bool]) -> ResourceView:
        """Return the widgets once the kubelet sees them so."""
        return await beside(lambda: self.kubelet.await_resource(WIDGET, wanted, SOON))

    async def has(self, key: str) -> None:
        """Return once a list names this widget."""
        await self.sees(lambda seen: key in seen.devices)

    async def gone(self, socket: Path) -> None:
        """Return once a socket is no longer there."""
        await self.sees(lambda _: not socket.exists())

    async def has_sockets(self, count: int) -> None:
        """Return once the instances have so many sockets: a kubelet may lag behind them."""
        await self.sees(lambda _: len(self.sockets()) == count)

    async def lists(self, *healthy: str, streams: int = 1) -> ResourceView:
        """Return the widgets once these can be allocated, and so many streams are open."""

        def wanted(seen: ResourceView) -> bool:
            found = {key for key, device in seen.devices.items() if device.healthy}
            return (
                found == set(healthy)
                and seen.allocatable == len(found)
                and seen.streams == streams
            )

        return await self.sees(wanted)

    def sockets(self) -> list[Path]:
        """The instances' sockets, wherever they are."""
        places = (self.directory, self.kubelet.registry)
        return sorted(path for place in places for path in place.glob("dp-*"))


@asynccontextmanager
async def grounds(profile: Profile, registration: str) -> AsyncGenerator[Grounds]:
    """Give a node whose paths are short, and see that nothing is left on it."""
    with TemporaryDirectory() as root:
        async with Grounds(Path(root), profile, registration) as here:
            yield here
