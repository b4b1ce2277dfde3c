"""Our plugin, whole, beside a kubelet of either kind."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import attrs
from tests.conformance.kubelets import Kubelet
from tests.conformance.world import healthy_ids
from tests.support.daemons import Daemons
from tests.support.stage import NAMESPACE, WIDGET, Puppet, Scene, beside

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import Pod, PodAdmitted, Registered, ResourceView

if TYPE_CHECKING:
    from concurrent.futures import Future

LOOK_AGAIN: Final = 0.001
"""Seconds between two looks at what there is to allocate."""


@attrs.frozen(kw_only=True)
class Stage(Scene[Kubelet]):
    """Our plugin at work beside a kubelet of either kind."""

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


class Allocatable:
    """A context manager that looks at a resource all the time, from before it is entered on."""

    def __init__(self, kubelet: Kubelet, resource: str = WIDGET) -> None:
        """Nobody looks yet."""
        self._kubelet = kubelet
        self._resource = resource
        self._over = threading.Event()
        self._first = threading.Event()
        self._looking = Daemons()
        self._seen: Future[set[int]] | None = None

    async def __aenter__(self) -> Self:
        """Return when it has looked once."""
        self._seen = self._looking.submit(self._look)
        await beside(self._first.wait)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop looking."""
        self._over.set()

    async def seen(self) -> set[int]:
        """Stop looking, and return how many there were to allocate, at any look."""
        self._over.set()
        assert self._seen is not None
        return await asyncio.wrap_future(self._seen)

    def _look(self) -> set[int]:
        seen = set[int]()
        try:
            while True:
                over = self._over.wait(LOOK_AGAIN)
                seen.add(self._kubelet.resource(self._resource).allocatable)
                self._first.set()
                if over:
                    return seen
        finally:
            self._first.set()


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
