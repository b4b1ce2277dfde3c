"""Our plugin, whole, beside a kubelet of either kind."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
from tests.conformance.kubelets import Kubelet
from tests.conformance.world import healthy_ids
from tests.support.stage import NAMESPACE, WIDGET, Puppet, beside

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import Pod, PodAdmitted, Registered, ResourceView

SOON = 10.0


@attrs.frozen(kw_only=True)
class Stage:
    """Our plugin at work beside a kubelet."""

    kubelet: Kubelet
    puppet: Puppet
    manager: Manager
    serving: "asyncio.Task[None]"

    async def sees(
        self, wanted: Callable[[ResourceView], bool], resource: str = WIDGET
    ) -> ResourceView:
        """Return a resource once the kubelet sees it so."""
        return await beside(lambda: self.kubelet.await_resource(resource, wanted, SOON))

    async def lists(self, *healthy: str, resource: str = WIDGET, streams: int = 1) -> ResourceView:
        """Return a resource once just these devices are healthy, by so many streams."""
        return await self.sees(
            lambda seen: seen.streams == streams and healthy_ids(seen) == set(healthy), resource
        )

    async def stop(self) -> None:
        """End the plugin in an orderly way."""
        self.manager.stop()
        await self.serving

    async def registered(self, count: int) -> None:
        """Return once the kubelet has registered the plugin so often."""
        await self.sees(lambda _: len(self.kubelet.history.of(Registered)) >= count)

    async def admit(self, pod: Pod) -> PodAdmitted:
        """Admit a pod."""
        verdict = await beside(lambda: self.kubelet.admit(pod))
        assert isinstance(verdict, PodAdmitted), verdict
        return verdict

    def sockets(self) -> list[Path]:
        """The sockets of plugins that are there, in whichever directory."""
        places = (self.kubelet.directory, self.kubelet.directory.parent / "plugins_registry")
        return sorted(path for place in places for path in place.glob("dp-*.sock"))


@asynccontextmanager
async def running(
    kubelet: Kubelet,
    puppet: Puppet | None = None,
    *,
    registration: str = "auto",
    timing: Timing | None = None,
) -> AsyncGenerator[Stage]:
    """Run our plugin, be it beside another one."""
    puppet = puppet or Puppet()
    manager = Manager(
        NAMESPACE,
        puppet,
        plugin_dir=str(kubelet.directory),
        registration=registration,
        journal=MemoryJournal(),
        timing=timing,
    )
    serving = asyncio.create_task(manager.serve())
    try:
        yield Stage(kubelet=kubelet, puppet=puppet, manager=manager, serving=serving)
    finally:
        manager.stop()
        await serving


@asynccontextmanager
async def staged(
    kubelet: Kubelet,
    puppet: Puppet | None = None,
    *,
    registration: str = "auto",
    timing: Timing | None = None,
) -> AsyncGenerator[Stage]:
    """Run our plugin; at the end nothing of it is left, nor of any that ran beside it."""
    async with running(kubelet, puppet, registration=registration, timing=timing) as stage:
        yield stage
    root = kubelet.directory.parent
    assert [*root.glob("*/dp-*"), *root.glob("*/.dp-*")] == []
