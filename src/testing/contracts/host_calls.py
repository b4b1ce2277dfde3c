"""The laws of what a kubelet sees through a `Host`."""

import asyncio
from contextlib import AbstractAsyncContextManager, aclosing

import pytest

from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, DeviceNode, Health, Mount
from deviceplugin.domain.errors import (
    AllocationClashError,
    AllocationTimeoutError,
    NotOfferedError,
    UnhealthyDeviceError,
    UnknownDeviceError,
)
from deviceplugin.domain.inventory import ListedDevice
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.preference import Wish
from deviceplugin.testing.contracts.host_world import CallFailedError, HostWorld
from deviceplugin.testing.contracts.law import eventually, law, soon
from deviceplugin.testing.contracts.scripted import ScriptedPlugin, listing

IDS = (DeviceId("a"), DeviceId("b"))
GRANT = Grant(
    nodes=(
        DeviceNode("/dev/null"),
        DeviceNode("/dev/zero", container_path="/dev/nought", permissions="r"),
    ),
    mounts=(Mount("/usr/lib/x"), Mount("/var/x", container_path="/x", read_only=False)),
    envs={"A": "1", "B": ""},
    annotations={"example.com/note": "naïve"},
    cdi_devices=("example.com/widget=a",),
)
FAILURES = (
    UnknownDeviceError(["z"]),
    UnhealthyDeviceError(["a"]),
    AllocationClashError("device path", "/dev/x", ("/dev/a", "/dev/b")),
    AllocationTimeoutError("allocate", 5),
    RuntimeError("the card is on fire"),
)


class HostCallsContract:
    """Each call is answered as the plugin answers it. A part of `HostContract`."""

    def world(self) -> AbstractAsyncContextManager[HostWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_the_options_are_those_of_the_powers(self, world: HostWorld) -> None:
        """All four combinations of powers are told as they are."""
        for pre_start in (False, True):
            for preferred in (False, True):
                front = ScriptedPlugin().front(preference=preferred, preparation=pre_start)
                served = await soon(world.host.serve(front))
                assert await soon(world.options(served.endpoint)) == Options(pre_start, preferred)
                await soon(served.close())

    @law
    async def test_the_first_list_is_the_full_one(self, world: HostWorld) -> None:
        """A stream begins with every device: its health, and its NUMA nodes if they are known."""
        plugin = ScriptedPlugin()
        shown = (
            ListedDevice(DeviceId("a"), Health.HEALTHY),
            ListedDevice(DeviceId("b"), Health.UNHEALTHY, (0, 1)),
        )
        served = await soon(world.host.serve(plugin.front()))
        for each in (shown, ()):
            plugin.show(each)
            async with aclosing(world.listings(served.endpoint)) as listings:
                assert await soon(anext(listings)) == each
        await soon(served.close())

    @law
    async def test_each_newer_list_follows(self, world: HostWorld) -> None:
        """A reader that keeps up sees every list, in order; one more reader changes nothing."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        async with aclosing(world.listings(served.endpoint)) as listings:
            await soon(anext(listings))
            async with aclosing(world.listings(served.endpoint)) as others:
                await soon(anext(others))
                for count in range(3):
                    plugin.show(listing(f"n{count}"))
                    assert await soon(anext(listings)) == listing(f"n{count}")
            await eventually(lambda: plugin.readers == 1)
            plugin.show(())
            assert await soon(anext(listings)) == ()
        await soon(served.close())

    @law
    async def test_a_cancelled_stream_is_given_up(self, world: HostWorld) -> None:
        """When the kubelet goes away, the plugin's generator is closed."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        async with aclosing(world.listings(served.endpoint)) as listings:
            await soon(anext(listings))
            assert plugin.readers == 1
        await eventually(lambda: plugin.readers == 0)
        await soon(served.close())

    @law
    async def test_a_retired_resource_ends_its_streams(self, world: HostWorld) -> None:
        """The last list arrives, then the stream ends without an error."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        async with aclosing(world.listings(served.endpoint)) as listings:
            await soon(anext(listings))
            plugin.show(listing("last"))
            plugin.retire()
            assert [each async for each in listings] == [listing("last")]
        await soon(served.close())

    @law
    async def test_a_grant_arrives_whole(self, world: HostWorld) -> None:
        """The plugin is asked for the ids as named, and each part of its grant arrives."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        for grant in (Grant(), GRANT):
            plugin.grant = grant
            assert await soon(world.allocate(served.endpoint, IDS)) == grant
        assert plugin.asked == [IDS, IDS]
        await soon(served.close())

    @law
    async def test_a_preference_arrives_as_it_is(self, world: HostWorld) -> None:
        """The plugin is asked the kubelet's wish; its choice arrives, none included."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        wish = Wish(available=IDS, must_include=IDS[:1], size=1)
        for choice in ((), IDS[:1]):
            plugin.choice = choice
            assert tuple(await soon(world.prefer(served.endpoint, wish))) == choice
        assert plugin.asked == [wish, wish]
        await soon(served.close())

    @law
    async def test_a_preparation_is_asked_for(self, world: HostWorld) -> None:
        """The plugin prepares the ids as named."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        await soon(world.prepare(served.endpoint, IDS))
        assert plugin.asked == [IDS]
        await soon(served.close())

    @law
    async def test_an_error_arrives_with_its_class_and_text(self, world: HostWorld) -> None:
        """Whatever a plugin raises fails that call alone, and says why."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        for failure in FAILURES:
            plugin.failure = failure
            for call in (world.allocate, world.prepare):
                with pytest.raises(CallFailedError) as failed:
                    await soon(call(served.endpoint, IDS))
                assert failed.value.kind == world.kind_of(failure)
                assert str(failure) in failed.value.text
        plugin.failure = None
        assert await soon(world.allocate(served.endpoint, IDS)) == Grant()
        await soon(served.close())

    @law
    async def test_a_power_that_is_missing_is_not_offered(self, world: HostWorld) -> None:
        """A call that the options do not offer fails as such."""
        front = ScriptedPlugin().front(preference=False, preparation=False)
        served = await soon(world.host.serve(front))
        with pytest.raises(CallFailedError) as preferred:
            await soon(world.prefer(served.endpoint, Wish(available=IDS, size=1)))
        with pytest.raises(CallFailedError) as prepared:
            await soon(world.prepare(served.endpoint, IDS))
        expected = world.kind_of(NotOfferedError())
        assert preferred.value.kind == prepared.value.kind == expected
        await soon(served.close())

    @law
    async def test_calls_do_not_wait_for_one_another(self, world: HostWorld) -> None:
        """While a call and a stream are under way, others are answered."""
        plugin = ScriptedPlugin()
        served = await soon(world.host.serve(plugin.front()))
        plugin.gate.clear()
        async with aclosing(world.listings(served.endpoint)) as listings:
            slow = asyncio.create_task(world.allocate(served.endpoint, IDS))
            await eventually(lambda: plugin.asked)
            assert await soon(world.options(served.endpoint)) == Options(True, True)
            assert await soon(anext(listings))
            plugin.gate.set()
            assert await soon(asyncio.wait_for(slow, None)) == Grant()
        await soon(served.close())
