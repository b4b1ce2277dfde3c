"""The laws of a `Registrar` that waits until the kubelet has found what its `Host` serves."""

import asyncio
from abc import abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import pytest

from deviceplugin.domain.errors import (
    KubeletUnreachableError,
    RegistrationRefusedError,
    RegistrationUnclearError,
    SocketLostError,
)
from deviceplugin.domain.ports.driven.kubelet import Host, Incarnation, Registrar, Registration
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.contracts.law import BOUND, law, soon
from deviceplugin.testing.contracts.scripted import ScriptedPlugin

SHORT = 0.2
"""Seconds after which a registration that nobody takes up is given up."""


class FoundWorld(Protocol):
    """A host whose servers can be found, their registrar, and the kubelet's half of the talk."""

    @property
    @abstractmethod
    def host(self) -> Host:
        """The host."""
        ...

    @property
    @abstractmethod
    def registrar(self) -> Registrar:
        """The registrar under test."""
        ...

    @abstractmethod
    async def ask(self, endpoint: str) -> ResourceName:
        """Ask the server on `endpoint` who it is; fail unless it is a device plugin."""
        ...

    @abstractmethod
    async def tell(self, endpoint: str, error: str = "") -> None:
        """Tell it that it is registered, or the error why not."""
        ...

    @abstractmethod
    def remove(self, endpoint: str) -> None:
        """Remove the socket."""
        ...

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Let virtual time pass; where time is real, nothing need be done."""
        ...


class FoundRegistrarContract:
    """What holds for each such registrar: subclass it and provide `world`."""

    def world(self) -> AbstractAsyncContextManager[FoundWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_returns_once_the_kubelet_has_found_and_accepted(
        self, world: FoundWorld
    ) -> None:
        """And says, when asked, which resource is there."""
        front, served = await _served(world)
        registering = _registering(world, front, served)
        assert await soon(world.ask(served.endpoint)) == front.resource
        assert not registering.done()
        await soon(world.tell(served.endpoint))
        await soon(asyncio.wait_for(registering, None))
        await soon(served.close())

    @law
    async def test_says_why_the_kubelet_refused(self, world: FoundWorld) -> None:
        """The kubelet's own text is in the message."""
        front, served = await _served(world)
        registering = _registering(world, front, served)
        await soon(world.ask(served.endpoint))
        await soon(world.tell(served.endpoint, "plugin validation failed"))
        with pytest.raises(RegistrationRefusedError, match="plugin validation failed"):
            await soon(asyncio.wait_for(registering, None))
        await soon(served.close())

    @law
    async def test_knows_what_was_said_before(self, world: FoundWorld) -> None:
        """A kubelet may come as soon as the socket is there."""
        front, served = await _served(world)
        await soon(world.ask(served.endpoint))
        await soon(world.tell(served.endpoint, "no"))
        with pytest.raises(RegistrationRefusedError):
            await soon(world.registrar.register(_of(front, served), BOUND))
        await soon(world.tell(served.endpoint))
        await soon(world.registrar.register(_of(front, served), BOUND))
        await soon(served.close())

    @law
    async def test_a_kubelet_that_does_not_come_may_come_later_to_the_same_socket(
        self, world: FoundWorld
    ) -> None:
        """Nothing has happened, so nothing need be made anew."""
        front, served = await _served(world)
        for _ in range(2):
            with pytest.raises(KubeletUnreachableError, match=f"{SHORT:g} s"):
                await _given_up(world, front, served)
        registering = _registering(world, front, served)
        await soon(world.ask(served.endpoint))
        await soon(world.tell(served.endpoint))
        await soon(asyncio.wait_for(registering, None))
        await soon(served.close())

    @law
    async def test_is_unclear_when_the_kubelet_asks_and_then_says_nothing(
        self, world: FoundWorld
    ) -> None:
        """It may have registered us all the same."""
        front, served = await _served(world)
        await soon(world.ask(served.endpoint))
        with pytest.raises(RegistrationUnclearError):
            await _given_up(world, front, served)
        await soon(served.close())

    @law
    async def test_nobody_can_find_a_socket_that_is_gone(self, world: FoundWorld) -> None:
        """Removed by somebody, or closed by us: there is nothing to wait for."""
        front, served = await _served(world)
        world.remove(served.endpoint)
        with pytest.raises(SocketLostError):
            await soon(world.registrar.register(_of(front, served), BOUND))
        await soon(served.close())
        with pytest.raises(SocketLostError):
            await soon(world.registrar.register(_of(front, served), BOUND))

    @law
    async def test_can_be_given_up(self, world: FoundWorld) -> None:
        """A registration that is cancelled ends; the next one works."""
        front, served = await _served(world)
        registering = _registering(world, front, served)
        await asyncio.sleep(0)
        registering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await soon(asyncio.wait_for(registering, None))
        await soon(world.tell(served.endpoint))
        await soon(world.registrar.register(_of(front, served), BOUND))
        await soon(served.close())

    @law
    async def test_each_is_found_by_itself(self, world: FoundWorld) -> None:
        """What is said of one is not said of another."""
        first, second = await _served(world, "a"), await _served(world, "b")
        waiting = _registering(world, *second)
        await soon(world.ask(first[1].endpoint))
        await soon(world.tell(first[1].endpoint))
        await soon(world.registrar.register(_of(*first), BOUND))
        assert not waiting.done()
        assert await soon(world.ask(second[1].endpoint)) == second[0].resource
        await soon(world.tell(second[1].endpoint))
        await soon(asyncio.wait_for(waiting, None))
        for _, served in (first, second):
            await soon(served.close())

    @law
    async def test_there_is_a_place_to_be_found_in(self, world: FoundWorld) -> None:
        """Whether anybody looks there cannot be seen."""
        assert await soon(world.registrar.reachable())


async def _served(world: FoundWorld, name: str = "widget") -> tuple[DevicePlugin, Incarnation]:
    front = ScriptedPlugin(f"example.com/{name}").front()
    return front, await soon(world.host.serve(front))


def _of(front: DevicePlugin, served: Incarnation) -> Registration:
    return Registration(resource=front.resource, endpoint=served.endpoint, options=front.options)


def _registering(
    world: FoundWorld, front: DevicePlugin, served: Incarnation, seconds: float = BOUND
) -> "asyncio.Task[None]":
    return asyncio.create_task(world.registrar.register(_of(front, served), seconds))


async def _given_up(world: FoundWorld, front: DevicePlugin, served: Incarnation) -> None:
    registering = _registering(world, front, served, SHORT)
    await world.pass_time(SHORT)
    await soon(asyncio.wait_for(registering, None))
