"""The laws of `Host` and `Incarnation`."""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

import pytest

from deviceplugin.domain.errors import ServingError
from deviceplugin.domain.ports.driven.directory import Arrivals
from deviceplugin.domain.ports.driven.kubelet import Incarnation, Successor
from deviceplugin.testing.contracts.host_calls import IDS, HostCallsContract
from deviceplugin.testing.contracts.host_world import CallFailedError, HostWorld
from deviceplugin.testing.contracts.law import eventually, law, soon
from deviceplugin.testing.contracts.scripted import ScriptedPlugin

_Result = TypeVar("_Result")


class HostContract(HostCallsContract):
    """What holds for each host: subclass it and provide `world`."""

    @law
    async def test_the_endpoint_is_a_socket_of_its_own_in_the_directory(
        self, world: HostWorld
    ) -> None:
        """It is a bare name that ends in .sock, and the file is the one that `identity` tells."""
        served = await soon(world.host.serve(ScriptedPlugin().front()))
        assert "/" not in served.endpoint
        assert served.endpoint.endswith(".sock")
        assert served.identity == world.identity(served.endpoint)
        await soon(served.close())

    @law
    async def test_no_two_incarnations_share_an_endpoint(self, world: HostWorld) -> None:
        """A name is never used again: not for the same plugin, not after a close."""
        endpoints: list[str] = []
        for _ in range(3):
            pair = [await soon(world.host.serve(ScriptedPlugin().front())) for _ in range(2)]
            endpoints += [served.endpoint for served in pair]
            await soon(pair[0].close())
            await soon(pair[1].close())
        assert len(set(endpoints)) == len(endpoints)

    @law
    async def test_incarnations_answer_for_their_own_plugin(self, world: HostWorld) -> None:
        """Any number of servers stand side by side."""
        plugins = [ScriptedPlugin(f"example.com/w{number}") for number in range(5)]
        served = await soon(_gathered([world.host.serve(each.front()) for each in plugins]))
        for number, each in enumerate(served):
            await soon(world.allocate(each.endpoint, IDS))
            assert [len(plugin.asked) for plugin in plugins] == [1] * (number + 1) + [0] * (
                len(plugins) - number - 1
            )
        await soon(_gathered([each.close() for each in served]))

    @law
    async def test_closing_ends_streams_and_calls(self, world: HostWorld) -> None:
        """Neither an open stream nor a call that is stuck holds up the end; both are given up."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        async with aclosing(world.listings(served.endpoint)) as listings:
            await soon(anext(listings))
            plugin.gate.clear()
            stuck = asyncio.create_task(world.allocate(served.endpoint, IDS))
            await eventually(lambda: plugin.asked)
            await soon(served.close())
            assert plugin.readers == 0
            with pytest.raises(CallFailedError):
                await soon(asyncio.wait_for(stuck, None))
            with pytest.raises((CallFailedError, StopAsyncIteration)):
                await soon(anext(listings))

    @law
    async def test_closing_removes_the_socket(self, world: HostWorld) -> None:
        """Nobody is found under the name any more; a second close, at once or later, is none."""
        served = await soon(world.host.serve(ScriptedPlugin().front()))
        await soon(_gathered([served.close(), served.close()]))
        assert world.identity(served.endpoint) is None
        with pytest.raises(CallFailedError):
            await soon(world.options(served.endpoint))
        await soon(served.close())

    @law
    async def test_closing_bears_a_socket_that_is_gone(self, world: HostWorld) -> None:
        """A kubelet that starts removes our sockets; the server behind ends all the same."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        async with aclosing(world.listings(served.endpoint)) as listings:
            await soon(anext(listings))
            world.remove(served.endpoint)
            await soon(served.close())
            assert plugin.readers == 0

    @law
    async def test_closing_leaves_what_is_not_ours(self, world: HostWorld) -> None:
        """A file of somebody else's that took the name stays."""
        served = await soon(world.host.serve(ScriptedPlugin().front()))
        foreign = world.put_file(served.endpoint)
        await soon(served.close())
        assert world.identity(served.endpoint) == foreign

    @law
    async def test_closing_an_older_incarnation_spares_the_newer(self, world: HostWorld) -> None:
        """The newer one's socket and stream are as they were."""
        older_plugin, plugin = ScriptedPlugin(), ScriptedPlugin()
        older = await soon(world.host.serve(older_plugin.front()))
        newer = await soon(world.host.serve(plugin.front()))
        async with aclosing(world.listings(newer.endpoint)) as listings:
            await soon(anext(listings))
            await soon(older.close())
            assert world.identity(newer.endpoint) == newer.identity
            plugin.show(())
            assert await soon(anext(listings)) == ()
        await soon(newer.close())

    @law
    async def test_a_newer_server_of_the_resource_is_a_successor(self, world: HostWorld) -> None:
        """Alive until it is closed; no older one is, and no other resource's."""
        older = await soon(world.host.serve(ScriptedPlugin().front()))
        other = await soon(world.host.serve(ScriptedPlugin("example.com/other").front()))
        assert older.successor() is Successor.NONE
        newer = await _newer(world, than=older)
        assert older.successor() is Successor.ALIVE
        assert {newer.successor(), other.successor()} == {Successor.NONE}
        await soon(newer.close())
        await eventually(lambda: older.successor() is Successor.NONE)
        await soon(_gathered([older.close(), other.close()]))

    @law
    async def test_the_names_of_a_resource_are_known_when_they_are_gone(
        self, world: HostWorld
    ) -> None:
        """Who only heard of a newer socket knows whose it was; in doubt, of a successor."""
        served = await soon(world.host.serve(ScriptedPlugin().front()))
        kin = await soon(world.host.serve(ScriptedPlugin().front()))
        other = await soon(world.host.serve(ScriptedPlugin("example.com/other").front()))
        await soon(_gathered([kin.close(), other.close()]))
        none = (other.endpoint, "kubelet.sock", "driver-reg.sock")
        before = (kin.endpoint, served.endpoint, *none)
        assert served.successor(Arrivals(names=none)) is Successor.NONE
        assert served.successor(Arrivals(names=before)) is Successor.NONE
        assert served.successor(Arrivals(names=(*before, kin.endpoint))) is Successor.GONE
        assert served.successor(Arrivals(missed=True)) is Successor.GONE
        await soon(served.close())

    @law
    async def test_a_missing_directory_is_a_serving_error(self, world: HostWorld) -> None:
        """What cannot be served says so; nothing is left behind."""
        world.remove_directory()
        with pytest.raises(ServingError):
            await soon(world.host.serve(ScriptedPlugin().front()))


async def _newer(world: HostWorld, *, than: Incarnation) -> Incarnation:
    """Serve until one is newer as far as the clock of the file system tells."""
    while True:
        served = await soon(world.host.serve(ScriptedPlugin().front()))
        if served.identity.changed_ns > than.identity.changed_ns:
            return served
        await soon(served.close())


async def _gathered(promises: list[Coroutine[Any, Any, _Result]]) -> list[_Result]:
    return await asyncio.gather(*promises)
