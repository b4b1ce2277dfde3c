"""Servers without sockets: a name in a directory stands for each."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

import attrs

from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.tasks import ended
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import NotOfferedError, ServingError, ServingForbiddenError
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driven.directory import NO_ARRIVALS, Arrivals, FileIdentity
from deviceplugin.domain.ports.driven.kubelet import Host, Incarnation, Successor
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin, Options
from deviceplugin.domain.preference import Wish
from deviceplugin.domain.resources import ResourceName

_Answer = TypeVar("_Answer")
_NUMBERS = itertools.count(1)
"""Of the names of all hosts."""


class MemoryIncarnation(Incarnation):
    """A plugin that answers whoever finds it by its file."""

    def __init__(
        self,
        plugin: DevicePlugin,
        endpoint: str,
        directory: MemoryDirectory,
        others: Callable[[], Iterable["MemoryIncarnation"]],
        resource_of: Callable[[str], ResourceName | None],
    ) -> None:
        self.plugin = plugin
        self._others = others
        self._resource_of = resource_of
        self._endpoint = endpoint
        self._directory = directory
        self._identity = directory.put(endpoint)
        self._calls: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def endpoint(self) -> str:
        """The file's name."""
        return self._endpoint

    @property
    def identity(self) -> FileIdentity:
        """The file."""
        return self._identity

    @property
    def is_there(self) -> bool:
        """Whether the file is there."""
        return self._directory.identity(self._endpoint) == self._identity

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    async def listings(self) -> AsyncGenerator[Listing]:
        """Open a stream and yield what comes through it.

        Raises `ConnectionResetError` if `close` ends it, else what the plugin raises.
        """
        sent: asyncio.Queue[Listing | None] = asyncio.Queue()
        stream = self._begin(self._send(sent))
        stream.add_done_callback(lambda _: sent.put_nowait(None))
        try:
            while (listing := await sent.get()) is not None:
                yield listing
            self._outcome(stream)
        finally:
            await ended(stream)

    async def options(self) -> Options:
        """Ask for the options."""
        return await self._call(_returned(self.plugin.options))

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Ask for what a container gets."""
        return await self._call(self.plugin.devices.allocate(ids))

    async def prefer(self, wish: Wish) -> Sequence[DeviceId]:
        """Ask which devices a container had better get."""
        if self.plugin.preference is None:
            raise NotOfferedError("the options offer no preference")
        return await self._call(self.plugin.preference.prefer(wish))

    async def prepare(self, ids: Sequence[DeviceId]) -> None:
        """Ask to make devices ready."""
        if self.plugin.preparation is None:
            raise NotOfferedError("the options offer no preparation")
        await self._call(self.plugin.preparation.prepare(ids))

    def successor(self, arrivals: Arrivals = NO_ARRIVALS) -> Successor:
        """Return what there is of newer ones of the resource; the dead leave nothing here."""
        newer = any(
            other.plugin.resource == self.plugin.resource
            and other.identity.changed_ns > self._identity.changed_ns
            and other.is_there
            for other in self._others()
        )
        if newer:
            return Successor.ALIVE
        came = map(self._resource_of, arrivals.after(self._endpoint))
        gone = arrivals.missed or self.plugin.resource in came
        return Successor.GONE if gone else Successor.NONE

    async def close(self) -> None:
        """End all calls and remove the file, if it is still ours."""
        self._closed = True
        if self._directory.identity(self._endpoint) == self._identity:
            self._directory.remove(self._endpoint)
        await ended(*self._calls)

    async def _call(self, work: Coroutine[Any, Any, _Answer]) -> _Answer:
        call = self._begin(work)
        try:
            await asyncio.wait({call})
        finally:
            await ended(call)
        return self._outcome(call)

    async def _send(self, sent: asyncio.Queue[Listing | None]) -> None:
        async with aclosing(self.plugin.devices.watch()) as listings:
            async for listing in listings:
                sent.put_nowait(listing)

    def _begin(self, work: Coroutine[Any, Any, _Answer]) -> asyncio.Task[_Answer]:
        """Begin what `close` ends."""
        call = asyncio.create_task(work, name=f"call on {self._endpoint}")
        self._calls.add(call)
        call.add_done_callback(self._over)
        return call

    def _over(self, call: asyncio.Task[Any]) -> None:
        self._calls.discard(call)
        if not call.cancelled():
            # Whoever called may be gone.
            call.exception()

    def _outcome(self, call: asyncio.Task[_Answer]) -> _Answer:
        if call.cancelled():
            raise ConnectionResetError(f"{self._endpoint} was closed")
        return call.result()


@attrs.frozen
class Company:
    """Hosts whose servers know of each other, and the resource of each name there ever was."""

    hosts: list["MemoryHost"] = attrs.field(factory=list["MemoryHost"])
    resources: dict[str, ResourceName] = attrs.field(factory=dict[str, ResourceName])

    def served(self) -> Sequence[MemoryIncarnation]:
        """Return the servers of all of them."""
        return [each for host in self.hosts for each in host.served]


class MemoryHost(Host):
    """Serves plugins in a `MemoryDirectory`; gives each incarnation a name of its own."""

    def __init__(self, directory: MemoryDirectory, company: "Company | None" = None) -> None:
        self._directory = directory
        self._company = company or Company()
        self._company.hosts.append(self)
        self._served: list[MemoryIncarnation] = []
        self._failures: list[ServingError] = []

    async def serve(self, plugin: DevicePlugin) -> MemoryIncarnation:
        """Return once `plugin` can be found."""
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.pop(0)
        name = f"plugin-{next(_NUMBERS)}.sock"
        self._company.resources[name] = plugin.resource
        try:
            served = MemoryIncarnation(
                plugin,
                name,
                self._directory,
                self._company.served,
                self._company.resources.get,
            )
        except FileNotFoundError as error:
            raise ServingError(str(error)) from error
        self._served = [each for each in self._served if not each.closed]
        self._served.append(served)
        return served

    @property
    def served(self) -> tuple[MemoryIncarnation, ...]:
        """The servers that are not closed, oldest first; their files may be gone."""
        return tuple(each for each in self._served if not each.closed)

    def dial(self, endpoint: str) -> MemoryIncarnation | None:
        """Return the server that listens on the file that has this name now."""
        identity = self._directory.identity(endpoint)
        return next((each for each in self.served if each.identity == identity), None)

    def fail_serving(self, times: int = 1, *, reason: str = "the disk is full") -> None:
        """Let the next calls of `serve` raise `ServingError`."""
        self._failures += [ServingError(reason) for _ in range(times)]

    def permit_serving(self) -> None:
        """Let calls of `serve` fail no more."""
        self._failures.clear()

    def forbid_serving(self, times: int = 1) -> None:
        """Let the next calls of `serve` raise `ServingForbiddenError`."""
        self._failures += [ServingForbiddenError("bind: Permission denied") for _ in range(times)]


async def _returned(options: Options) -> Options:
    return options
