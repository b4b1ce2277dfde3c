"""Run a whole plugin: watch the kubelet, scan, advertise, until told to stop."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from deviceplugin.app.use_cases.advertise import Advertise
from deviceplugin.app.use_cases.latest_tree import LatestTree
from deviceplugin.app.use_cases.scan import RunScanner
from deviceplugin.app.use_cases.watch_kubelet import WatchKubelet
from deviceplugin.domain.ports.driven.directory import PluginDirectory
from deviceplugin.domain.ports.driven.hotplug import Hotplug
from deviceplugin.domain.routes import Route

if TYPE_CHECKING:
    # A plugin without a configuration does without the memory.
    from deviceplugin.app.use_cases.watch_configuration import WatchConfiguration


@attrs.frozen(kw_only=True)
class RunPlugin:
    """Ends when the scanner returns or `stop` is called: streams closed, sockets removed.

    What is `beside` it runs as long.
    """

    namespace: str
    run_scanner: RunScanner
    advertise: Advertise
    watch_kubelet: WatchKubelet
    directories: Mapping[Route, PluginDirectory]
    hotplugs: Sequence[Hotplug] = ()
    watch_configuration: "WatchConfiguration | None" = None
    beside: Sequence[Callable[[], Coroutine[None, None, None]]] = ()
    _stop: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    def stop(self) -> None:
        """Let the plugin end. Call it in the loop that runs it."""
        self._stop.set()

    async def __call__(self) -> None:
        """Run to the end. Whatever ends it, nothing of it is left running."""
        latest = LatestTree(self.namespace)
        try:
            async with asyncio.TaskGroup() as tasks, self.advertise:
                scanning = tasks.create_task(self.run_scanner(latest, self.advertise.doubt))
                others = [
                    tasks.create_task(self.watch_kubelet.run()),
                    tasks.create_task(self._follow(latest)),
                    scanning,
                ]
                others += [tasks.create_task(run()) for run in self.beside]
                if self.watch_configuration is not None:
                    others.append(tasks.create_task(self.watch_configuration.run()))
                try:
                    await self._end(scanning)
                finally:
                    latest.stop()
                    for task in others:
                        task.cancel()
        finally:
            latest.stop()
            for directory in self.directories.values():
                directory.close()
            for hotplug in self.hotplugs:
                hotplug.close()
            if self.watch_configuration is not None:
                self.watch_configuration.close()

    async def _end(self, scanning: "asyncio.Task[None]") -> None:
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({scanning, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()

    async def _follow(self, latest: LatestTree) -> None:
        while True:
            tree = await latest.next()
            self.run_scanner.heard()
            await self.advertise(tree)
