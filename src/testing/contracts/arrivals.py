"""The laws of `PluginDirectory` about the sockets that come to it."""

import asyncio
from contextlib import AbstractAsyncContextManager

from deviceplugin.domain.ports.driven.directory import Arrivals
from deviceplugin.testing.contracts.directory_world import DirectoryWorld
from deviceplugin.testing.contracts.law import law
from deviceplugin.testing.contracts.watching import given_up, waiting_on, woken

SOCKET = "kubelet.sock"
LONG = 3600.0
"""Seconds that no test waits for: whoever returns before was woken."""


class ArrivalsContract:
    """What each plugin directory tells of them: a part of `DirectoryContract`."""

    def world(self) -> AbstractAsyncContextManager[DirectoryWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_tells_each_socket_that_came(self, world: DirectoryWorld) -> None:
        """Once and in order, gone or not, whenever it is asked; other files it need not tell."""
        directory = world.directory
        for _ in range(2):
            world.appear("one.sock")
            world.appear("two.sock")
            world.vanish("one.sock")
            world.appear("noise")
            assert directory.arrivals() == Arrivals(names=("one.sock", "two.sock"))
            world.replace("two.sock")
            await given_up(await waiting_at(world))
            world.appear("one.sock")
            assert directory.arrivals().names == ("two.sock", "one.sock")
            assert directory.arrivals() == Arrivals()
            for name in ("one.sock", "two.sock", "noise"):
                world.vanish(name)

    @law
    async def test_hears_of_sockets_beside_it(self, world: DirectoryWorld) -> None:
        """Wakes for them and tells of them, in one order with its own; its files are others."""
        waiting = await waiting_at(world)
        world.appear_beside("one.sock")
        await woken(waiting)
        waiting = await waiting_at(world)
        world.appear("two.sock")
        world.appear_beside("three.sock")
        await woken(waiting)
        assert world.directory.arrivals().names[-2:] == ("two.sock", "three.sock")
        assert world.directory.identity("three.sock") is None

    @law
    async def test_what_is_told_of_is_no_wake_lost(self, world: DirectoryWorld) -> None:
        """Who asked what came is woken for the next change as before."""
        world.appear(SOCKET)
        assert world.directory.arrivals().names == (SOCKET,)
        waiting = await waiting_at(world)
        world.vanish(SOCKET)
        await woken(waiting)


async def waiting_at(world: DirectoryWorld) -> asyncio.Task[None]:
    """Return a call of `changed` that really waits."""
    return await waiting_on(lambda: world.directory.changed(LONG))
