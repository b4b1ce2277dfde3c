"""A whole plugin over real gRPC, and a kubelet of each era that befalls it."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import attrs

from deviceplugin import DeviceInfo, DeviceTree, Manager, Notifier
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import (
    FakeKubelet,
    Registered,
    ResourceView,
    StreamOpened,
)

_Result = TypeVar("_Result")
Found = Mapping[str, Mapping[str, DeviceInfo]]

NAMESPACE = "example.com"
WIDGET = f"{NAMESPACE}/widget"
SOON = 10.0
"""Seconds of patience with a busy machine; what is awaited takes milliseconds."""


async def beside(work: Callable[[], _Result]) -> _Result:
    """Wait for the kubelet on a thread: the loop has a plugin to run."""
    return await asyncio.get_running_loop().run_in_executor(None, work)


def remove_tree(directory: Path) -> None:
    """Remove a directory in which a plugin may be making a socket meanwhile."""
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)


class Puppet:
    """A scanner that finds what a test shows it, or fails as told."""

    def __init__(self) -> None:
        self._orders: asyncio.Queue[Found | Exception | None] = asyncio.Queue()

    async def scan(self, notifier: Notifier) -> None:
        """Hand in what is shown."""
        while (order := await self._orders.get()) is not None:
            self._orders.task_done()
            if isinstance(order, Exception):
                raise order
            tree = DeviceTree()
            for type_name, devices in order.items():
                tree.add_type(type_name)
                for key, info in devices.items():
                    tree.add_device(type_name, key, info)
            notifier.notify(tree)

    def show(self, **types: Mapping[str, DeviceInfo] | str) -> None:
        """Find these devices: a text is ids, all healthy."""
        self._orders.put_nowait(
            {
                name: dict.fromkeys(each.split(), DeviceInfo()) if isinstance(each, str) else each
                for name, each in types.items()
            }
        )

    def fail(self, error: Exception) -> None:
        """Let the scan raise."""
        self._orders.put_nowait(error)

    async def seen(self) -> None:
        """Return when all that was shown has been handed in."""
        await self._orders.join()

    def end(self) -> None:
        """Let the scan return."""
        self._orders.put_nowait(None)


class Watched(Protocol):
    """A kubelet of any sort, as far as it can be waited for."""

    def await_resource(
        self, name: str, wanted: Callable[[ResourceView], bool], timeout: float = ...
    ) -> ResourceView:
        """Wait until a resource looks as wanted."""
        ...


_Kubelet = TypeVar("_Kubelet", bound=Watched)


@attrs.frozen(kw_only=True)
class Scene(Generic[_Kubelet]):
    """A running plugin beside a kubelet."""

    manager: Manager
    puppet: Puppet
    kubelet: _Kubelet
    serving: "asyncio.Task[None]"

    async def sees(
        self, wanted: Callable[[ResourceView], bool], resource: str = WIDGET
    ) -> ResourceView:
        """Return the resource once the kubelet sees it so."""
        return await beside(lambda: self.kubelet.await_resource(resource, wanted, SOON))


@attrs.frozen(kw_only=True)
class Stage(Scene[FakeKubelet]):
    """A running plugin, its fake kubelet, and what they did."""

    journal: MemoryJournal

    async def lists(self, *healthy: str, resource: str = WIDGET) -> ResourceView:
        """Return the resource once the kubelet has just these healthy devices, by one stream."""

        def wanted(seen: ResourceView) -> bool:
            found = {key for key, device in seen.devices.items() if device.healthy}
            return seen.streams == 1 and found == set(healthy) and seen.allocatable == len(found)

        return await self.sees(wanted, resource)

    async def registered(self, count: int, resource: str = WIDGET) -> None:
        """Return once the kubelet has registered the resource so often."""
        await self.sees(lambda _: self.registrations(resource) >= count, resource)

    async def renewed(self, old: str, resource: str = WIDGET) -> None:
        """Return once the kubelet asks another endpoint than the old one."""
        await self.sees(lambda seen: seen.endpoint not in (None, old), resource)

    def registrations(self, resource: str = WIDGET) -> int:
        """How often the kubelet registered the resource."""
        return sum(each.resource == resource for each in self.kubelet.history.of(Registered))

    def streams_opened(self, resource: str = WIDGET) -> int:
        """How often the kubelet listed the resource."""
        return sum(each.resource == resource for each in self.kubelet.history.of(StreamOpened))

    def sockets(self) -> list[Path]:
        """The plugin's sockets that are there."""
        return sorted(self.kubelet.directory.glob("dp-*.sock"))


class Raise(Protocol):
    """Raises the curtain."""

    def __call__(
        self,
        *,
        start: bool = True,
        author: Puppet | None = None,
        timing: Timing | None = None,
        **options: Any,  # noqa: ANN401 - whatever Manager takes
    ) -> AbstractAsyncContextManager[Stage]:
        """Return a stage; at its end everything of it must be gone."""
        ...
