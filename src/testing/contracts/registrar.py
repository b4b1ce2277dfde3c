"""The laws of `Registrar`."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

import pytest

from deviceplugin.domain.errors import (
    KubeletUnreachableError,
    RegistrationRefusedError,
    RegistrationUnclearError,
    SocketLostError,
)
from deviceplugin.domain.ports.driven.kubelet import Registration
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin
from deviceplugin.testing.contracts.law import BOUND, law, soon
from deviceplugin.testing.contracts.registrar_world import RegistrarWorld
from deviceplugin.testing.contracts.scripted import ScriptedPlugin, listing

SHORT = 0.2
"""Seconds after which a caller gives a Register up that gets no answer."""


class RegistrarContract:
    """What holds for each registrar: subclass it and provide `world`."""

    turns: ClassVar[int] = 0
    """How many Registers this registrar sends at a time, so that one more must wait; 0 if any."""

    def world(self) -> AbstractAsyncContextManager[RegistrarWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_accepts_once_the_kubelet_knows_the_options(self, world: RegistrarWorld) -> None:
        """When `register` returns, the kubelet has called back; its stream is open or follows."""
        await soon(world.start_kubelet())
        for number, (preferred, pre_start) in enumerate(
            [(False, False), (False, True), (True, False), (True, True)]
        ):
            plugin = ScriptedPlugin(f"example.com/w{number}")
            front = plugin.front(preference=preferred, preparation=pre_start)
            served = await soon(world.host.serve(front))
            await soon(world.registrar.register(_of(front, served.endpoint), BOUND))
            assert world.options(plugin.resource) == front.options
            assert await soon(world.listed(plugin.resource)) == listing("a", "b")
            await soon(served.close())

    @law
    async def test_registers_many_at_once(self, world: RegistrarWorld) -> None:
        """Registrations do not wait for each other."""
        await soon(world.start_kubelet())
        plugins = [ScriptedPlugin(f"example.com/w{number}") for number in range(10)]
        await soon(_all_at_once(world, plugins))

    @law
    async def test_says_why_the_kubelet_refused(self, world: RegistrarWorld) -> None:
        """The kubelet's own text is in the message."""
        await soon(world.start_kubelet())
        world.refuse_next("the ResourceName is one I do not like")
        with pytest.raises(RegistrationRefusedError, match="is one I do not like"):
            await soon(self._register(world))

    @law
    async def test_is_refused_where_nobody_listens(self, world: RegistrarWorld) -> None:
        """A kubelet that cannot dial the endpoint says no, after it has tried for a while."""
        await soon(world.start_kubelet())
        world.put_deaf("deaf.sock")
        registration = _of(ScriptedPlugin().front(), "deaf.sock")
        patience = world.dial_seconds + BOUND
        work = asyncio.create_task(world.registrar.register(registration, patience))
        await world.pass_time(world.dial_seconds)
        with pytest.raises(RegistrationRefusedError, match="failed to dial device plugin"):
            await asyncio.wait_for(work, patience + BOUND)

    @law
    async def test_sends_nothing_for_a_socket_that_is_gone(self, world: RegistrarWorld) -> None:
        """A kubelet that starts removes sockets; it would then try to dial ours for 10 s."""
        await soon(world.start_kubelet())
        registration = _of(ScriptedPlugin().front(), "gone.sock")
        with pytest.raises(SocketLostError, match=r"gone\.sock"):
            await soon(world.registrar.register(registration, BOUND))
        await soon(self._register(world))
        await soon(world.asked(1))

    @law
    async def test_looks_at_the_socket_when_its_turn_has_come(self, world: RegistrarWorld) -> None:
        """However many wait before it: the look that counts is the one right before Register."""
        if not self.turns:
            pytest.skip("turns: this registrar lets nobody wait")
        await soon(world.start_kubelet())
        front = ScriptedPlugin().front()
        served = [await world.host.serve(front) for _ in range(self.turns)]
        for _ in served:
            world.hang_next()
        hanging = [
            asyncio.create_task(world.registrar.register(_of(front, each.endpoint), BOUND))
            for each in served
        ]
        await soon(world.asked(self.turns))
        world.put_deaf("late.sock")
        late = asyncio.create_task(world.registrar.register(_of(front, "late.sock"), BOUND))
        await asyncio.sleep(0)
        world.remove("late.sock")
        for task in hanging:
            task.cancel()
        with pytest.raises(SocketLostError):
            await soon(asyncio.wait_for(late, None))
        await asyncio.gather(*hanging, return_exceptions=True)
        for each in served:
            await soon(each.close())

    @law
    async def test_finds_no_kubelet_where_there_is_none(self, world: RegistrarWorld) -> None:
        """Nothing was sent, whether kubelet.sock is missing or a dead kubelet left it."""
        with pytest.raises(KubeletUnreachableError):
            await soon(self._register(world))
        await soon(world.start_kubelet())
        await soon(world.stop_kubelet())
        with pytest.raises(KubeletUnreachableError):
            await soon(self._register(world))

    @law
    async def test_tells_whether_a_kubelet_is_there(self, world: RegistrarWorld) -> None:
        """Without asking anything of it; the file that a dead one left is no kubelet."""
        assert not await soon(world.registrar.reachable())
        for _ in range(2):
            await soon(world.start_kubelet())
            assert await soon(world.registrar.reachable())
            await soon(world.stop_kubelet())
            assert not await soon(world.registrar.reachable())

    @law
    async def test_is_unclear_when_no_answer_comes_in_time(self, world: RegistrarWorld) -> None:
        """The caller's time bounds the wait; whether it worked is not known."""
        await soon(world.start_kubelet())
        world.hang_next()
        work = asyncio.create_task(self._register(world, SHORT))
        await world.pass_time(SHORT)
        with pytest.raises(RegistrationUnclearError):
            await soon(asyncio.wait_for(work, None))

    @law
    async def test_is_unclear_when_the_kubelet_dies_meanwhile(self, world: RegistrarWorld) -> None:
        """A connection that ends before the answer tells nothing."""
        await soon(world.start_kubelet())
        world.hang_next()
        work = asyncio.create_task(self._register(world))
        await soon(world.asked(1))
        await soon(world.stop_kubelet())
        with pytest.raises(RegistrationUnclearError):
            await soon(asyncio.wait_for(work, None))

    @law
    async def test_works_at_once_when_the_kubelet_is_back(self, world: RegistrarWorld) -> None:
        """No earlier failure delays the next try."""
        for _ in range(3):
            with pytest.raises(KubeletUnreachableError):
                await soon(self._register(world))
            await soon(world.start_kubelet())
            await soon(self._register(world))
            await soon(world.stop_kubelet())

    @law
    async def test_can_be_given_up(self, world: RegistrarWorld) -> None:
        """A cancelled Register ends, and the next one works."""
        await soon(world.start_kubelet())
        world.hang_next()
        work = asyncio.create_task(self._register(world))
        await soon(world.asked(1))
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await soon(asyncio.wait_for(work, None))
        await soon(self._register(world))

    async def _register(self, world: RegistrarWorld, seconds: float = BOUND) -> None:
        """Register a plugin of its own, and close it again."""
        front = ScriptedPlugin().front()
        served = await world.host.serve(front)
        try:
            await world.registrar.register(_of(front, served.endpoint), seconds)
        finally:
            await served.close()


async def _all_at_once(world: RegistrarWorld, plugins: list[ScriptedPlugin]) -> None:
    fronts = [plugin.front() for plugin in plugins]
    served = await asyncio.gather(*(world.host.serve(front) for front in fronts))
    registrations = [_of(front, each.endpoint) for front, each in zip(fronts, served, strict=True)]
    await asyncio.gather(*(world.registrar.register(each, BOUND) for each in registrations))
    for plugin in plugins:
        assert await world.listed(plugin.resource) == listing("a", "b")
    await asyncio.gather(*(each.close() for each in served))


def _of(front: DevicePlugin, endpoint: str) -> Registration:
    return Registration(resource=front.resource, endpoint=endpoint, options=front.options)
