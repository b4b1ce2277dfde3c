"""The kubelet in memory does what real ones were seen to do, and misbehaves on demand."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final

import attrs
import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.kubelet import MemoryKubelet
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, Health
from deviceplugin.domain.errors import (
    KubeletUnreachableError,
    NotOfferedError,
    RegistrationError,
    RegistrationRefusedError,
    RegistrationUnclearError,
    ServingError,
    SocketLostError,
)
from deviceplugin.domain.ports.driven.kubelet import Incarnation, Registration
from deviceplugin.domain.preference import Wish
from deviceplugin.testing.contracts.scripted import ScriptedPlugin, listing
from deviceplugin.testing.loop import run

IDS: Final = (DeviceId("a"),)


@attrs.frozen
class Plane:
    """A plugin, a kubelet, and all that is between them."""

    clock: ManualClock
    directory: MemoryDirectory
    kubelet: MemoryKubelet
    plugin: ScriptedPlugin

    async def serve(self) -> Incarnation:
        """Serve the plugin."""
        return await self.kubelet.serve(self.plugin.front())

    async def register(self, served: Incarnation, seconds: float = 15) -> None:
        """Register one of its servers."""
        registration = Registration(
            resource=self.plugin.resource,
            endpoint=served.endpoint,
            options=self.plugin.front().options,
        )
        await self.kubelet.register(registration, seconds)

    async def fails(self, served: Incarnation, seconds: float = 15) -> RegistrationError:
        """Return how a Register fails for which the caller has this long."""
        task = asyncio.create_task(self.register(served, seconds))
        await self.clock.advance(seconds)
        with pytest.raises(RegistrationError) as failed:
            await task
        return failed.value

    @property
    def streams(self) -> int:
        """How many streams the kubelet has open."""
        return self.kubelet.streams(self.plugin.resource)

    @property
    def allocatable(self) -> int:
        """How many devices it would hand out."""
        return self.kubelet.allocatable(self.plugin.resource)


@asynccontextmanager
async def plane() -> AsyncGenerator[Plane]:
    """Yield one whose kubelet runs."""
    clock = ManualClock()
    directory = MemoryDirectory(clock)
    async with MemoryKubelet(directory, clock) as kubelet:
        kubelet.start()
        made = Plane(clock, directory, kubelet, ScriptedPlugin())
        yield made
        for each in kubelet.host.served:
            await each.close()


def law(statement: Callable[[Plane], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Make a test of a statement about a plane."""

    async def within() -> None:
        async with plane() as made:
            await statement(made)

    def test() -> None:
        run(within())

    return test


@law
async def test_its_start_removes_every_socket_and_nothing_else(plane: Plane) -> None:
    served = await plane.serve()
    plane.directory.put("kubelet_internal_checkpoint")
    before = plane.directory.identity("kubelet.sock")
    await plane.kubelet.restart()
    assert plane.directory.names() == ("kubelet.sock", "kubelet_internal_checkpoint")
    assert plane.directory.identity("kubelet.sock") != before
    assert isinstance(await plane.fails(served), SocketLostError)


@law
async def test_its_death_changes_no_file_and_ends_every_stream(plane: Plane) -> None:
    await plane.register(await plane.serve())
    await plane.clock.settle()
    names = plane.directory.names()
    assert (plane.streams, plane.allocatable, plane.plugin.readers) == (1, 2, 1)
    await plane.kubelet.stop()
    assert plane.directory.names() == names
    assert (plane.streams, plane.allocatable, plane.plugin.readers) == (0, 0, 0)


@law
async def test_a_bound_socket_may_not_listen_yet(plane: Plane) -> None:
    """kubelet.sock appears before anybody listens on it."""
    await plane.kubelet.stop()
    plane.kubelet.start(listening=False)
    served = await plane.serve()
    assert isinstance(await plane.fails(served), KubeletUnreachableError)
    plane.kubelet.listen()
    await plane.register(served)


@law
async def test_unlinking_its_socket_cuts_it_off_while_streams_live(plane: Plane) -> None:
    served = await plane.serve()
    await plane.register(served)
    await plane.clock.settle()
    plane.directory.remove("kubelet.sock")
    assert plane.streams == 1
    assert isinstance(await plane.fails(served), KubeletUnreachableError)
    plane.directory.put("kubelet.sock")
    assert isinstance(await plane.fails(served), KubeletUnreachableError)


@law
async def test_a_stream_that_ends_leaves_devices_unhealthy(plane: Plane) -> None:
    """However it ends; and only another Register brings them back."""
    resource = plane.plugin.resource
    for _ in range(2):
        await plane.register(await plane.serve())
        await plane.kubelet.until(lambda: plane.allocatable == 2)
        await plane.kubelet.cut_stream(resource)
        assert (plane.streams, plane.allocatable) == (0, 0)
        healths = {each.health for each in plane.kubelet.devices(resource) or ()}
        assert healths == {Health.UNHEALTHY}
    with pytest.raises(LookupError):
        await plane.kubelet.allocate(resource, IDS)


@law
async def test_the_end_of_an_older_stream_takes_the_newer_one_along(plane: Plane) -> None:
    """Up to 1.36 it is looked up by the resource's name alone."""
    older, newer = await plane.serve(), await plane.serve()
    await plane.register(older)
    await plane.register(newer)
    await plane.clock.settle()
    assert plane.streams == 2
    await older.close()
    await plane.clock.settle()
    assert (plane.streams, plane.allocatable) == (0, 0)


@law
async def test_a_second_register_of_a_socket_is_a_second_stream(plane: Plane) -> None:
    served = await plane.serve()
    await plane.register(served)
    await plane.register(served)
    assert plane.streams == 2
    assert len(plane.kubelet.registrations) == 2


@law
async def test_a_refusal_has_its_reason_and_no_effect(plane: Plane) -> None:
    plane.kubelet.refuse_next(2, reason="not today")
    served = await plane.serve()
    for _ in range(2):
        failed = await plane.fails(served)
        assert isinstance(failed, RegistrationRefusedError)
        assert str(failed) == "not today"
    assert plane.kubelet.options(plane.plugin.resource) is None
    await plane.register(served)


@pytest.mark.parametrize("completing", [False, True])
@pytest.mark.parametrize("knob", [MemoryKubelet.lose_next, MemoryKubelet.hang_next])
def test_an_answer_that_is_lost_may_hide_success(
    knob: Callable[..., None], *, completing: bool
) -> None:
    """A kubelet of 1.28 or 1.34 goes on when its caller has given up."""

    @law
    async def statement(plane: Plane) -> None:
        knob(plane.kubelet, completing=completing)
        failed = await plane.fails(await plane.serve())
        assert isinstance(failed, RegistrationUnclearError)
        await plane.clock.settle()
        assert plane.streams == completing
        assert (plane.kubelet.options(plane.plugin.resource) is not None) == completing

    statement()


@pytest.mark.parametrize("answers_first", [False, True])
def test_the_stream_opens_before_or_after_the_answer(*, answers_first: bool) -> None:
    """Both were seen, so both can be asked for."""

    @law
    async def statement(plane: Plane) -> None:
        plane.kubelet.answers_first = answers_first
        await plane.register(await plane.serve())
        assert plane.plugin.readers == (not answers_first)
        await plane.kubelet.until(lambda: plane.plugin.readers)

    statement()


@law
async def test_a_server_that_closes_in_time_to_be_asked_is_refused(plane: Plane) -> None:
    served = await plane.serve()
    register = asyncio.create_task(plane.register(served))
    await plane.kubelet.until(lambda: plane.kubelet.registrations)
    await served.close()
    await plane.clock.advance(15)
    with pytest.raises(RegistrationRefusedError, match="failed to"):
        await register


@law
async def test_it_asks_the_server_that_registered_last(plane: Plane) -> None:
    resource = plane.plugin.resource
    await plane.register(await plane.serve())
    await plane.kubelet.until(lambda: plane.kubelet.devices(resource))
    assert await plane.kubelet.allocate(resource, IDS) == Grant()
    wish = Wish(available=IDS, size=1)
    assert await plane.kubelet.prefer(resource, wish) == ()
    await plane.kubelet.prepare(resource, IDS)
    assert plane.plugin.asked == [IDS, wish, IDS]


@law
async def test_it_knows_each_list_of_a_stream(plane: Plane) -> None:
    resource = plane.plugin.resource
    assert plane.kubelet.devices(resource) is None
    assert plane.kubelet.listings(resource) == ()
    await plane.register(await plane.serve())
    await plane.clock.settle()
    plane.plugin.show(listing("c"))
    await plane.kubelet.until(lambda: plane.kubelet.devices(resource) == listing("c"))
    assert plane.kubelet.listings(resource) == (listing("a", "b"), listing("c"))


@law
async def test_a_plugin_that_breaks_its_stream_only_ends_it(plane: Plane) -> None:
    class Broken(ScriptedPlugin):
        async def watch(self) -> AsyncGenerator[Any]:
            yield listing("a")
            raise RuntimeError("odd")

    broken = Broken()
    served = await plane.kubelet.serve(broken.front())
    await plane.register(served)
    await plane.clock.settle()
    assert plane.streams == 0


@law
async def test_serving_fails_on_demand(plane: Plane) -> None:
    plane.kubelet.host.fail_serving(2, reason="no room")
    for _ in range(2):
        with pytest.raises(ServingError, match="no room"):
            await plane.serve()
    await plane.serve()


@law
async def test_what_is_not_offered_is_refused(plane: Plane) -> None:
    front = plane.plugin.front(preference=False, preparation=False)
    served = await plane.kubelet.serve(front)
    await plane.register(served)
    with pytest.raises(NotOfferedError):
        await plane.kubelet.prefer(plane.plugin.resource, Wish(available=IDS, size=1))
    with pytest.raises(NotOfferedError):
        await plane.kubelet.prepare(plane.plugin.resource, IDS)
