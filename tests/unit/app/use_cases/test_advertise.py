"""What is served is what the newest tree names; what goes says so first, and is remembered."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

import pytest

from deviceplugin.app.use_cases.watch_kubelet import Follower, WatchKubelet
from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.ending import OnExit
from deviceplugin.domain.events import (
    InventoryChanged,
    RegistrationLost,
    ResourceRegistered,
    ResourceStopped,
)
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.routes import Route
from deviceplugin.domain.tree import FrozenTree

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Machine

YELLOW = ResourceName("color.example", "yellow")
GREEN = ResourceName("color.example", "green")


def tree(**types: str) -> FrozenTree:
    """Return a tree: `yellow="ab"` has two yellow devices, a and b."""
    return FrozenTree(
        {
            ResourceName("color.example", name): {DeviceId(key): DeviceInfo() for key in ids}
            for name, ids in types.items()
        }
    )


def shown(listing: Listing | None) -> str:
    """Return the ids of a list; those that can be had in capitals."""
    return "".join(
        each.id.value.upper() if each.health is Health.HEALTHY else each.id.value
        for each in listing or ()
    )


class Advertising:
    """A machine whose kubelet runs and is watched, and the use case at work on it."""

    def __init__(self, here: "Machine", *, on_exit: OnExit = OnExit.LEAVE) -> None:
        self.here = here
        self.advertise = here.advertise(on_exit)

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        await self.here.start_kubelet()
        watching = asyncio.create_task(self.here.watch.run())
        self._stack.callback(watching.cancel)
        self._stack.push_async_callback(self.here.kubelet.stop)
        self._stack.callback(self._look_back)
        await self._stack.enter_async_context(self.advertise)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        assert self.here.sockets == ()
        assert self.here.kubelet.host.served == ()
        await self.here.clock.settle()

    def _look_back(self) -> None:
        """Keep what the kubelet was told before it stops."""
        self.told = {name: self.here.kubelet.listings(name) for name in (YELLOW, GREEN)}

    async def follow(self, *trees: FrozenTree) -> None:
        """Follow trees without a pause between them, then let everything run."""
        for each in trees:
            await self.advertise(each)
        await self.here.clock.settle()

    def lists(self) -> Mapping[str, str]:
        """Return what the kubelet has of each resource with an open stream."""
        kubelet = self.here.kubelet
        return {
            name.name: shown(kubelet.devices(name))
            for name in (YELLOW, GREEN)
            if kubelet.streams(name)
        }


async def test_types_come_change_and_go(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree())
        assert it.lists() == {}
        await it.follow(tree(yellow="ab"))
        assert it.lists() == {"yellow": "AB"}
        await it.follow(tree(yellow="ab", green="x"))
        assert it.lists() == {"yellow": "AB", "green": "X"}
        await it.follow(tree(yellow="bc", green="x"))
        assert it.lists() == {"yellow": "aBC", "green": "X"}
        await it.follow(tree(green="x"))
        assert it.lists() == {"green": "X"}
        assert it.here.registrations == 2


async def test_what_is_found_again_as_it_was_is_not_sent_again(machine: "type[Machine]") -> None:
    """Nothing found is no news: the kubelet would work through each list, and write it down."""
    async with Advertising(machine()) as it:
        for _ in range(100):
            await it.advertise(tree(yellow="ab", green=""))
            await it.here.clock.advance(1)
        assert [shown(each) for each in it.here.kubelet.listings(YELLOW)] == ["AB"]
        assert [shown(each) for each in it.here.kubelet.listings(GREEN)] == [""]
        assert len(it.here.journal.of(InventoryChanged)) == 1


async def test_a_type_without_devices_is_served_with_an_empty_list(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow=""))
        assert it.lists() == {"yellow": ""}
        assert it.here.registrations == 1
        await it.follow(tree(yellow="a"))
        assert it.lists() == {"yellow": "A"}


async def test_a_type_that_goes_says_that_all_is_unhealthy_and_only_then_closes(
    machine: "type[Machine]",
) -> None:
    """An empty list could crash a kubelet whose containers hold a device."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab", green="x"))
        await it.follow(tree(green="x"))
        assert [shown(each) for each in it.here.kubelet.listings(YELLOW)] == ["AB", "ab"]
        assert it.here.kubelet.streams(YELLOW) == 0
        assert len(it.here.sockets) == 1
        assert [event.resource for event in it.here.journal.of(ResourceStopped)] == [YELLOW]
        assert it.here.journal.of(RegistrationLost) == ()
        assert it.here.registrations == 2


async def test_a_reader_that_does_not_take_the_last_list_delays_the_end_by_a_second_at_most(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="a"))
        stuck = it.here.host.plugins[0].devices.watch()
        await anext(stuck)
        await it.follow(tree())
        assert len(it.here.sockets) == 1
        await it.here.clock.advance(0.99)
        assert len(it.here.sockets) == 1
        await it.here.clock.advance(0.01)
        assert not it.here.sockets
        await stuck.aclose()


async def test_a_type_that_nobody_reads_goes_at_once(machine: "type[Machine]") -> None:
    """Without a kubelet there is nobody to tell."""
    here = machine()
    async with Advertising(here) as it:
        await here.kubelet.stop()
        here.directory.remove("kubelet.sock")
        await it.follow(tree(yellow="a"))
        await it.follow(tree())
        assert [event.resource for event in here.journal.of(ResourceStopped)] == [YELLOW]


async def test_a_type_that_comes_back_brings_its_ids_back(machine: "type[Machine]") -> None:
    """A container may still hold one of them."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"))
        await it.follow(tree())
        await it.follow(tree(yellow="bc"))
        assert it.lists() == {"yellow": "aBC"}
        await it.follow(tree(yellow="abc"))
        assert it.lists() == {"yellow": "ABC"}


async def test_a_type_that_goes_and_comes_back_in_one_breath_is_registered_once_in_the_end(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        here, there = tree(yellow="a", green="x"), tree(green="x")
        await it.follow(here, there, here, there, here)
        await it.here.clock.advance(2)
        assert it.lists() == {"yellow": "A", "green": "X"}
        assert len(it.here.sockets) == 2
        await it.follow(here, there, here, there)
        await it.here.clock.advance(2)
        assert it.lists() == {"green": "X"}
        assert len(it.here.sockets) == 1


class CountingWatch(WatchKubelet):
    """A watch that counts who follows it."""

    followers = 0

    def follow(self, follower: Follower) -> None:
        """Count one more."""
        self.followers += 1
        super().follow(follower)

    def unfollow(self, follower: Follower) -> None:
        """Count one less."""
        self.followers -= 1
        super().unfollow(follower)


async def test_what_went_is_told_nothing_of_the_kubelet_any_more(machine: "type[Machine]") -> None:
    """Else each type that comes and goes would cost a little for ever."""
    here = machine()
    here.watch = watch = CountingWatch({Route.REGISTER: here.directory}, here.clock, here.journal)
    async with Advertising(here) as it:
        for _ in range(5):
            await it.follow(tree(yellow="a"))
            assert watch.followers == 1
            await it.follow(tree())
            assert watch.followers == 0


async def test_coming_back_waits_for_the_end_of_the_last_server(machine: "type[Machine]") -> None:
    """The registrar of these tests fails on a Register while an older server is there."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="a"))
        it.here.host.may_close.clear()
        await it.follow(tree())
        back = asyncio.create_task(it.follow(tree(yellow="a")))
        await it.here.clock.advance(5)
        assert it.here.registrations == 1
        it.here.host.may_close.set()
        await back
        assert it.lists() == {"yellow": "A"}
        assert it.here.registrations == 2


async def test_doubt_makes_every_device_unhealthy_until_a_tree_confirms_it(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab", green="x"))
        it.advertise.doubt()
        await it.here.clock.settle()
        assert it.lists() == {"yellow": "ab", "green": "x"}
        await it.follow(tree(yellow="ab", green="x"))
        assert it.lists() == {"yellow": "AB", "green": "X"}


async def test_the_end_is_no_loss(machine: "type[Machine]") -> None:
    """Nothing that was wanted was lost; that it has no last word, `tests/behaviour` shows."""
    here = machine()
    async with Advertising(here) as it:
        await it.follow(tree(yellow="ab", green="x"))
    assert len(here.journal.of(ResourceStopped)) == 2
    assert here.journal.of(RegistrationLost) == ()


async def test_each_change_is_told_with_its_numbers_and_no_change_is_not(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="ab"), tree(yellow="bc"))
        first, second = it.here.journal.of(InventoryChanged)
        assert first == InventoryChanged(resource=YELLOW, devices=2, healthy=2, added=("a", "b"))
        assert second == InventoryChanged(
            resource=YELLOW, devices=3, healthy=2, added=("c",), vanished=("a",)
        )


async def test_an_empty_type_is_no_change_of_devices(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow=""))
        assert it.here.journal.of(InventoryChanged) == ()


async def test_100_types_are_each_registered_once(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(**{f"type{number}": "a" for number in range(100)}))
        assert it.here.registrations == 100
        assert len(it.here.sockets) == 100
        await it.here.kubelet.restart()
        await it.here.clock.advance(0.1)
        assert len(it.here.sockets) == 100
        assert it.here.registrations == 200
        assert len(it.here.journal.of(ResourceRegistered)) == 200


async def test_what_is_renewed_registers_once_more_and_nothing_else_does(
    machine: "type[Machine]",
) -> None:
    """With the next tree, on another socket; what it advertised before is advertised again."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="abc", green="x"))
        await it.follow(tree(yellow="ab", green="x"))
        before = set(it.here.sockets)
        it.advertise.renew([YELLOW, ResourceName("color.example", "black")])
        await it.here.clock.settle()
        assert it.here.registrations == 2
        for _ in range(3):
            await it.follow(tree(yellow="ab", green="x"))
            assert it.here.registrations == 3
            assert it.lists() == {"yellow": "ABc", "green": "X"}
        assert len(it.here.sockets) == len(before & set(it.here.sockets)) + 1 == 2


async def test_what_is_renewed_and_gone_is_only_gone(machine: "type[Machine]") -> None:
    """It says its last word, and comes back as any other that does."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab", green="x"))
        it.advertise.renew([YELLOW])
        await it.follow(tree(green="x"))
        await it.here.clock.advance(5)
        assert shown(it.here.kubelet.devices(YELLOW)) == "ab"
        assert it.lists() == {"green": "X"}
        await it.follow(tree(yellow="ab", green="x"), tree(yellow="ab", green="x"))
        assert it.lists() == {"yellow": "AB", "green": "X"}
        assert it.here.registrations == 3


@pytest.mark.parametrize("on_exit", OnExit)
async def test_what_the_kubelet_is_told_in_the_end_is_a_choice(
    machine: "type[Machine]", on_exit: OnExit
) -> None:
    """Nothing, for a rolling update must not make resources flap; or that no device is left."""
    async with Advertising(machine(), on_exit=on_exit) as it:
        await it.follow(tree(yellow="ab", green="x"))
    told = {name: [shown(each) for each in lists] for name, lists in it.told.items()}
    last = on_exit is OnExit.UNHEALTHY
    assert told[YELLOW] == (["AB", "ab"] if last else ["AB"])
    assert told[GREEN] == (["X", "x"] if last else ["X"])


async def test_who_does_not_read_the_last_word_holds_up_the_end_for_a_second_at_most(
    machine: "type[Machine]",
) -> None:
    """However many resources there are: all say it at once."""
    it = Advertising(machine(), on_exit=OnExit.UNHEALTHY)
    ending: asyncio.Task[None] | None = None
    async with it:
        await it.follow(tree(**{f"t{number}": "ab" for number in range(20)}))
        readers = [front.devices.watch() for front in it.here.host.plugins]
        for reader in readers:
            await anext(reader)
        ending = asyncio.create_task(it.advertise.__aexit__(None, None, None))
        await it.here.clock.advance(0.99)
        assert not ending.done()
        await it.here.clock.advance(0.01)
        assert ending.done()
        for reader in readers:
            await reader.aclose()


async def test_what_is_renewed_is_gone_before_it_comes_again(machine: "type[Machine]") -> None:
    """However long its server takes to close: two of one resource are never there at once."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"))
        it.advertise.renew([YELLOW])
        it.here.host.may_close.clear()
        following = asyncio.create_task(it.advertise(tree(yellow="ab")))
        await it.here.clock.advance(60)
        waits, servers = not following.done(), len(it.here.host.plugins)
        it.here.host.may_close.set()
        await following
        assert (waits, servers) == (True, 1)
        await it.here.clock.settle()
        assert len(it.here.host.plugins) == 2
        assert it.lists() == {"yellow": "AB"}
