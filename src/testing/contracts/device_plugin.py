"""The laws of the driving port: what a kubelet may rely on when it asks about one resource."""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import ClassVar, Protocol

import pytest

from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.preference import Wish
from deviceplugin.testing.contracts.law import eventually, law, soon

Found = Mapping[DeviceId, DeviceInfo]

A, B, C = (DeviceId(name) for name in "abc")
GOOD = {key: DeviceInfo(nodes=[DeviceNode(f"/dev/{key}")]) for key in (A, B, C)}
ILL = DeviceInfo(health=Health.UNHEALTHY)


class DevicePluginWorld(Protocol):
    """A resource whose devices a test makes come and go, and what a kubelet can ask of it.

    It prefers devices by some policy and prepares none.
    """

    @property
    @abstractmethod
    def failure(self) -> type[Exception]:
        """What a kubelet's call raises that is answered with an error."""
        ...

    @property
    @abstractmethod
    def readers(self) -> int:
        """How many watches the plugin still knows."""
        ...

    @abstractmethod
    def found(self, devices: Found) -> None:
        """Let a scan find just these devices."""
        ...

    @abstractmethod
    def retire(self) -> None:
        """Take the resource away."""
        ...

    @abstractmethod
    async def options(self) -> Options:
        """Ask for the options."""
        ...

    @abstractmethod
    def watch(self) -> AsyncGenerator[Listing]:
        """Watch the devices."""
        ...

    @abstractmethod
    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Ask for devices."""
        ...

    @abstractmethod
    async def prefer(self, wish: Wish) -> Sequence[DeviceId]:
        """Ask for a preference."""
        ...


class DevicePluginContract:
    """What holds for each device plugin: subclass it and provide `world`."""

    coalesces: ClassVar[bool] = True
    """Whether a list is made when a reader asks for it; a transport makes some before."""

    def world(self) -> AbstractAsyncContextManager[DevicePluginWorld]:
        """Return a world of its own for one test, with nothing found yet."""
        raise NotImplementedError

    @law
    async def test_a_watch_begins_with_all_devices(self, world: DevicePluginWorld) -> None:
        """At once, sorted by id, the ill ones too; an empty list is a list."""
        for devices, health in ({}, ""), ({B: ILL, A: GOOD[A], C: GOOD[C]}, "HUH"):
            world.found(devices)
            async with aclosing(world.watch()) as listings:
                first = await soon(anext(listings))
            assert [each.id for each in first] == sorted(devices)
            assert [each.health.value[0] for each in first] == list(health)

    @law
    async def test_each_change_is_told_once(self, world: DevicePluginWorld) -> None:
        """A list follows when it differs from the last; equal scans tell nothing."""
        world.found({A: GOOD[A]})
        async with aclosing(world.watch()) as listings:
            await soon(anext(listings))
            for devices in ({A: GOOD[A], B: GOOD[B]}, {A: GOOD[A], B: ILL}, {A: ILL, B: ILL}):
                world.found(devices)
                world.found(devices)
                newer = await soon(anext(listings))
                assert {each.id: each.health for each in newer} == {
                    key: info.health for key, info in devices.items()
                }

    @law
    async def test_what_no_list_shows_is_no_change(self, world: DevicePluginWorld) -> None:
        """A device whose node moved is the same device to the kubelet; its grant follows."""
        world.found({A: GOOD[A]})
        async with aclosing(world.watch()) as listings:
            await soon(anext(listings))
            world.found({A: DeviceInfo(nodes=[DeviceNode("/dev/moved")])})
            assert (await soon(world.allocate([A]))).nodes == (DeviceNode("/dev/moved"),)
            world.found({A: ILL})
            assert [each.health for each in await soon(anext(listings))] == [Health.UNHEALTHY]

    @law
    async def test_a_slow_watch_misses_lists_but_not_the_newest(
        self, world: DevicePluginWorld
    ) -> None:
        """There is no queue to fill, and nobody is held up."""
        world.found({})
        async with aclosing(world.watch()) as listings:
            await soon(anext(listings))
            for count in range(100):
                world.found({DeviceId(f"d{count}"): DeviceInfo()})
            newest = await soon(anext(listings))
            if not self.coalesces:
                while len(newest) < 100:
                    newest = await soon(anext(listings))
        assert [each.id.value for each in newest if each.health is Health.HEALTHY] == ["d99"]
        assert len(newest) == 100

    @law
    async def test_watches_do_not_disturb_each_other(self, world: DevicePluginWorld) -> None:
        """Each has every list, whether others read, stopped reading or have gone."""
        world.found({A: GOOD[A]})
        async with aclosing(world.watch()) as reading, aclosing(world.watch()) as idle:
            await soon(anext(reading))
            await soon(anext(idle))
            async with aclosing(world.watch()) as going:
                await soon(anext(going))
                assert world.readers == 3
            for health in (Health.UNHEALTHY, Health.HEALTHY) * 3:
                world.found({A: DeviceInfo(health=health)})
                assert [each.health for each in await soon(anext(reading))] == [health]
            await eventually(lambda: world.readers == 2)
        await eventually(lambda: world.readers == 0)

    @law
    async def test_a_vanished_device_is_listed_as_unhealthy(
        self, world: DevicePluginWorld
    ) -> None:
        """It is never dropped: a container may hold it. It may come back."""
        world.found({A: GOOD[A], B: GOOD[B]})
        async with aclosing(world.watch()) as listings:
            await soon(anext(listings))
            world.found({B: GOOD[B]})
            shown = await soon(anext(listings))
            assert [each.health for each in shown] == [Health.UNHEALTHY, Health.HEALTHY]
            world.found({A: GOOD[A], B: GOOD[B]})
            assert {each.health for each in await soon(anext(listings))} == {Health.HEALTHY}

    @law
    async def test_a_retired_resource_ends_its_watches(self, world: DevicePluginWorld) -> None:
        """After the newest list, which is told first."""
        world.found({A: GOOD[A]})
        async with aclosing(world.watch()) as listings:
            await soon(anext(listings))
            world.found({})
            world.retire()
            (last,) = [each async for each in listings]
        assert [each.health for each in last] == [Health.UNHEALTHY]

    @law
    async def test_a_grant_holds_what_the_devices_bring(self, world: DevicePluginWorld) -> None:
        """For any of them, in any order, again and again: nothing remembers who asked."""
        world.found(GOOD)
        one = await soon(world.allocate([A]))
        assert one.nodes == (DeviceNode("/dev/a"),)
        all_three = await soon(world.allocate([C, A, B]))
        assert set(all_three.nodes) == {DeviceNode(f"/dev/{name}") for name in "abc"}
        assert await soon(world.allocate([B, C, A])) == all_three
        assert await soon(world.allocate([A])) == one

    @law
    async def test_what_cannot_be_had_is_refused_by_name(self, world: DevicePluginWorld) -> None:
        """Unknown, ill or vanished, alone or among good ones; the good ones stay available."""
        world.found({A: GOOD[A], B: ILL, C: GOOD[C]})
        world.found({A: GOOD[A], B: ILL})
        for ids, named in ([B], "b"), ([DeviceId("zz")], "zz"), ([A, C], "c"):
            with pytest.raises(world.failure, match=rf": {named}( \(|;|$)"):
                await soon(world.allocate(ids))
        assert (await soon(world.allocate([A]))).nodes == (DeviceNode("/dev/a"),)

    @law
    async def test_allocating_changes_no_list(self, world: DevicePluginWorld) -> None:
        """Who holds what is the kubelet's business."""
        world.found({A: GOOD[A]})
        async with aclosing(world.watch()) as listings:
            before = await soon(anext(listings))
            await soon(world.allocate([A]))
            async with aclosing(world.watch()) as others:
                assert await soon(anext(others)) == before

    @law
    async def test_a_preference_is_what_was_wished_for(self, world: DevicePluginWorld) -> None:
        """Just so many, out of those available, with those that must be."""
        world.found(GOOD)
        assert await soon(world.options()) == Options(preferred_allocation_available=True)
        for size in range(4):
            wish = Wish(available=(A, B, C), must_include=(B,)[:size], size=size)
            chosen = await soon(world.prefer(wish))
            assert len(set(chosen)) == len(chosen) == size
            assert set(wish.must_include) <= set(chosen) <= set(wish.available)

    @law
    async def test_a_wish_without_sense_has_no_preference(self, world: DevicePluginWorld) -> None:
        """An error would fail the pod; the kubelet copes with no preference."""
        world.found(GOOD)
        for wish in (
            Wish(available=(A,), size=2),
            Wish(available=(A, B), must_include=(C,), size=1),
            Wish(available=(A, B), must_include=(A, B), size=1),
            Wish(available=(A, A), size=2),
            Wish(available=(A,), size=-1),
        ):
            assert tuple(await soon(world.prefer(wish))) == ()
