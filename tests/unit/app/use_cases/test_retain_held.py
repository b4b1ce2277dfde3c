"""What a container may hold is listed from the first list on, and until nobody holds it."""

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest
from tests.unit.app.use_cases.test_advertise import GREEN, YELLOW, Advertising, shown, tree

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.use_cases.ask_anew import SOON
from deviceplugin.app.use_cases.ask_holders import AskHolders
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.known_holds import KnownHolds
from deviceplugin.app.use_cases.retain_held import RetainHeld
from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health, id_as_held
from deviceplugin.domain.errors import UnhealthyDeviceError
from deviceplugin.domain.events import (
    DevicesHeld,
    DevicesReleased,
    HoldersUnknown,
    InventoryChanged,
)
from deviceplugin.domain.held_events import HeldNotListed
from deviceplugin.domain.inventory import Inventory, ListedDevice
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.room import MAX_HELD_BYTES
from deviceplugin.domain.timing import Release
from deviceplugin.domain.tree import FrozenTree

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Machine

APART = Release().apart
A, B, C = map(DeviceId, "abc")


async def next_look(it: Advertising) -> None:
    """Let time pass until the next look at the holders is over."""
    await it.here.clock.advance(APART)


def lists(it: Advertising) -> list[str]:
    """Return every list of the yellow resource's last stream."""
    return [shown(each) for each in it.here.kubelet.listings(YELLOW)]


# --- the first list ------------------------------------------------------------------------------


async def test_the_first_list_names_what_a_container_holds_and_no_scan_found(
    machine: "type[Machine]",
) -> None:
    """Unhealthy, and without a place: nothing but its id is known."""
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A, B)
        await it.follow(tree(yellow="b"))
        first, *others = it.here.kubelet.listings(YELLOW)
        assert first == (ListedDevice(A, Health.UNHEALTHY), ListedDevice(B, Health.HEALTHY))
        assert others == []
        assert it.here.journal.of(DevicesHeld) == (DevicesHeld(resource=YELLOW, devices=("a",)),)


async def test_what_any_source_names_is_in_the_first_list(machine: "type[Machine]") -> None:
    """One that is not complete too, though another one is."""
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        it.here.hints.hold(YELLOW, B)
        await it.follow(tree(yellow="c"))
        assert lists(it) == ["abC"]


async def test_what_is_held_and_found_is_as_it_is_found(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        placed = DeviceInfo(numa_nodes=[1])
        await it.follow(FrozenTree({YELLOW: {A: placed}}))
        assert it.here.kubelet.devices(YELLOW) == (ListedDevice(A, Health.HEALTHY, (1,)),)
        assert it.here.journal.of(DevicesHeld) == ()


async def test_a_device_that_comes_back_is_as_it_is_found(machine: "type[Machine]") -> None:
    """With its place and all that a container needs."""
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        await it.follow(tree(yellow=""))
        await it.follow(FrozenTree({YELLOW: {A: DeviceInfo(numa_nodes=[1])}}))
        assert it.here.kubelet.devices(YELLOW) == (ListedDevice(A, Health.HEALTHY, (1,)),)
        await it.here.kubelet.allocate(YELLOW, [A])


async def test_one_of_which_only_the_id_is_known_cannot_be_had(machine: "type[Machine]") -> None:
    """Who asks for it all the same is told why not."""
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        await it.follow(tree(yellow="b"))
        with pytest.raises(UnhealthyDeviceError, match="not healthy now: a"):
            await it.here.kubelet.allocate(YELLOW, [A])


async def test_the_same_id_of_another_resource_is_another_device(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        it.here.holders.hold(GREEN, B)
        await it.follow(tree(yellow="c", green="c"))
        assert it.lists() == {"yellow": "aC", "green": "bC"}


async def test_who_cannot_answer_holds_up_a_resource_for_a_second_at_most(
    machine: "type[Machine]",
) -> None:
    """Then it is advertised as found, and that is told once, however many resources there are."""
    async with Advertising(machine()) as it:
        it.here.holders.may_answer.clear()
        it.here.hints.hold(YELLOW, A)
        following = asyncio.create_task(it.follow(tree(yellow="b", green="b")))
        await it.here.clock.advance(0.99)
        assert it.here.registrations == 0
        await it.here.clock.advance(0.01)
        await following
        assert it.lists() == {"yellow": "aB", "green": "B"}
        (unknown,) = it.here.journal.of(HoldersUnknown)
        assert unknown.reason == "no answer within 1 s"


async def test_resources_that_are_served_do_not_wait_for_a_new_one(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="a"))
        it.here.holders.may_answer.clear()
        following = asyncio.create_task(it.follow(tree(yellow="ab", green="x")))
        await it.here.clock.settle()
        assert it.lists() == {"yellow": "AB"}
        await it.here.clock.advance(1)
        await following
        assert it.lists() == {"yellow": "AB", "green": "X"}


async def test_a_reason_is_told_again_only_when_it_is_another(machine: "type[Machine]") -> None:
    """Or when it went away in between."""
    async with Advertising(machine()) as it:
        reasons = ["one", "one", "two", "", "two"]
        for number, reason in enumerate(reasons):
            it.here.holders.fail(reason)
            await it.follow(tree(**{f"type{each}": "a" for each in range(number + 1)}))
        told = [event.reason for event in it.here.journal.of(HoldersUnknown)]
        assert told == ["one", "two", "two"]


async def test_holders_are_asked_when_a_resource_is_new_and_soon_after_a_kubelet_listens(
    machine: "type[Machine]",
) -> None:
    """And at no other time, while nothing has vanished and everybody answers."""
    async with Advertising(machine()) as it:
        for each in (tree(yellow="a"), tree(yellow="a", green="x"), tree(green="x")):
            await it.follow(each)
        await it.follow(tree(yellow="a", green="x"))
        assert it.here.holders.asked == [YELLOW, GREEN]
        for restarts in range(3):
            await it.here.clock.advance(10 * APART)
            assert sorted(it.here.holders.asked) == [
                *[GREEN] * (2 + restarts),
                *[YELLOW] * (2 + restarts),
            ]
            await it.here.kubelet.restart()


async def test_whatever_is_named_what_is_found_is_listed_and_the_excess_told(
    machine: "type[Machine]",
) -> None:
    """Once while it lasts, and the small ones are listed all the same."""
    async with Advertising(machine()) as it:
        excess = id_as_held("x" * MAX_HELD_BYTES)
        it.here.holders.hold(YELLOW, A, excess)
        it.here.hints.hold(YELLOW, C, *(id_as_held(f"{each:0600}") for each in range(3_000)))
        await it.follow(tree(yellow="b"))
        await it.here.clock.advance(2 * APART)
        assert lists(it)[0].startswith("0")
        assert {"a", "B", "c"} <= set(lists(it)[0])
        (told,) = it.here.journal.of(HeldNotListed)
        assert told.resource == YELLOW
        assert told.devices > 1
        assert str(MAX_HELD_BYTES) in told.reason
        listed = {each.id for each in it.here.kubelet.listings(YELLOW)[-1]}
        assert {each.id for each in it.here.holds()} == listed - {B}


async def test_an_excess_that_begins_anew_is_told_anew(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        excess = id_as_held("x" * MAX_HELD_BYTES)
        await it.follow(tree(yellow="b"))
        for times in range(3):
            it.here.hints.hold(YELLOW, excess)
            await it.here.kubelet.restart()
            await it.here.clock.advance(2 * SOON)
            assert len(it.here.journal.of(HeldNotListed)) == times + 1
            assert it.lists() == {"yellow": "B"}
            it.here.hints.free(YELLOW, excess)
            await it.here.kubelet.restart()
            await it.here.clock.advance(2 * SOON)


# --- letting go ----------------------------------------------------------------------------------


async def test_two_looks_that_agree_let_a_vanished_device_go(machine: "type[Machine]") -> None:
    """The smaller list is sent, and it is told."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await next_look(it)
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert lists(it)[-2:] == ["aB", "B"]
        assert it.here.journal.of(DevicesReleased) == (
            DevicesReleased(resource=YELLOW, devices=("a",)),
        )
        assert it.here.journal.of(InventoryChanged)[-1] == InventoryChanged(
            resource=YELLOW, devices=1, healthy=1
        )


async def test_one_that_was_held_since_an_earlier_run_is_let_go_alike(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        it.here.hints.hold(YELLOW, A)
        await it.follow(tree(yellow="b"))
        await it.here.clock.advance(5 * APART)
        it.here.holders.free(YELLOW, A)
        await it.here.clock.advance(5 * APART)
        assert it.lists() == {"yellow": "aB"}
        it.here.hints.free(YELLOW, A)
        await next_look(it)
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert it.lists() == {"yellow": "B"}


async def test_looks_that_disagree_keep_it(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        for _ in range(4):
            await next_look(it)
            it.here.holders.hold(YELLOW, A)
            await next_look(it)
            it.here.holders.free(YELLOW, A)
        assert it.lists() == {"yellow": "aB"}


@pytest.mark.parametrize("broken", [True, False])
async def test_without_one_that_knows_all_everything_is_kept_for_ever(
    machine: "type[Machine]",
    broken: bool,  # noqa: FBT001
) -> None:
    """Whether that source fails or was never complete."""
    async with Advertising(machine()) as it:
        it.here.holders.fail("not here" if broken else "")
        it.here.holders.complete = broken
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await it.here.clock.advance(100 * APART)
        assert it.lists() == {"yellow": "aB"}
        assert len(it.here.holders.asked) > 90


async def test_a_kubelet_that_restarts_between_two_looks_is_asked_twice_itself(
    machine: "type[Machine]",
) -> None:
    """It may know no pods yet, and got the list later than the first look began."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        for _ in range(3):
            await next_look(it)
            await it.here.kubelet.restart()
            await it.here.clock.settle()
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert it.lists() == {"yellow": "B"}


async def test_a_stream_that_ends_while_holders_are_asked_makes_the_look_void(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await next_look(it)
        it.here.holders.may_answer.clear()
        await next_look(it)
        await it.here.kubelet.cut_stream(YELLOW)
        it.here.holders.may_answer.set()
        await it.here.clock.advance(0.1)
        assert it.lists() == {"yellow": "aB"}


async def test_nobody_is_asked_before_the_list_was_sent(machine: "type[Machine]") -> None:
    """Without a kubelet nobody has been told, so a container may still get the device."""
    here = machine()
    async with Advertising(here) as it:
        await here.kubelet.stop()
        here.directory.remove("kubelet.sock")
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await here.clock.advance(10 * APART)
        assert here.holders.asked == [YELLOW]
        await here.start_kubelet()
        await next_look(it)
        assert it.lists() == {"yellow": "aB"}


async def test_nor_while_a_reader_has_not_taken_it(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"))
        async with aclosing(it.here.host.plugins[0].devices.watch()) as slow:
            await anext(slow)
            await it.here.clock.advance(SOON)
            await it.follow(tree(yellow="b"))
            await it.here.clock.advance(10 * APART)
            assert it.here.holders.asked == [YELLOW] * 2


async def test_a_device_that_came_back_in_between_is_looked_at_anew(
    machine: "type[Machine]",
) -> None:
    """It could be had for a while."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await next_look(it)
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await next_look(it)
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert it.lists() == {"yellow": "B"}


async def test_a_device_that_comes_back_while_holders_are_asked_stays(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        await next_look(it)
        it.here.holders.may_answer.clear()
        await next_look(it)
        await it.follow(tree(yellow="ab"))
        it.here.holders.may_answer.set()
        await it.here.clock.settle()
        assert it.lists() == {"yellow": "AB"}
        await it.here.clock.advance(5 * APART)
        assert it.lists() == {"yellow": "AB"}


async def test_doubt_is_no_vanishing(machine: "type[Machine]") -> None:
    """When scans fail, nothing is known to be gone."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"))
        it.advertise.doubt()
        await it.here.clock.advance(10 * APART)
        assert it.lists() == {"yellow": "ab"}
        assert it.here.holders.asked == [YELLOW] * 2


async def test_an_ill_device_is_not_let_go(machine: "type[Machine]") -> None:
    """It is there: a scan finds it."""
    async with Advertising(machine()) as it:
        await it.follow(FrozenTree({YELLOW: {A: DeviceInfo(health=Health.UNHEALTHY)}}))
        await it.here.clock.advance(10 * APART)
        assert it.lists() == {"yellow": "a"}
        assert it.here.holders.asked == [YELLOW] * 2


async def test_when_all_is_let_go_nobody_is_asked_any_more(machine: "type[Machine]") -> None:
    """And what vanishes later is asked about again."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="abc"), tree(yellow="bc"))
        await it.here.clock.advance(10 * APART)
        assert it.lists() == {"yellow": "BC"}
        assert len(it.here.holders.asked) == 4
        await it.follow(tree(yellow="c"))
        await it.here.clock.advance(10 * APART)
        assert it.lists() == {"yellow": "C"}
        assert len(it.here.holders.asked) == 6


async def test_what_a_look_finds_held_and_unlisted_is_listed(machine: "type[Machine]") -> None:
    """When the first question had no answer."""
    async with Advertising(machine()) as it:
        it.here.holders.fail("not yet")
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        it.here.holders.fail("")
        it.here.holders.hold(YELLOW, C)
        await next_look(it)
        assert it.lists() == {"yellow": "aBc"}
        assert it.here.journal.of(DevicesHeld) == (DevicesHeld(resource=YELLOW, devices=("c",)),)


async def test_a_type_that_went_and_came_back_keeps_what_is_held_until_it_is_not(
    machine: "type[Machine]",
) -> None:
    """What was known of it before counts for nothing: it was not listed meanwhile."""
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        await it.follow(tree(yellow="b"))
        it.here.holders.free(YELLOW, A)
        await next_look(it)
        await it.follow(tree(), tree(yellow="b"))
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert it.lists() == {"yellow": "B"}


async def test_a_type_that_is_gone_is_not_asked_about(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="a", green="x"), tree(green="x"))
        await it.here.clock.advance(10 * APART)
        assert it.here.holders.asked == [YELLOW, GREEN, GREEN]


async def test_a_type_that_goes_while_holders_are_asked_stays_as_it_went(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab", green="x"), tree(yellow="b", green="x"))
        await next_look(it)
        it.here.holders.may_answer.clear()
        await next_look(it)
        await it.follow(tree(green="x"))
        it.here.holders.may_answer.set()
        await it.follow(tree(yellow="b", green="x"))
        assert it.lists() == {"yellow": "aB", "green": "X"}
        assert it.here.journal.of(DevicesReleased) == ()


async def test_nothing_of_a_type_that_is_going_is_let_go(machine: "type[Machine]") -> None:
    """A reader that has not yet ended would get a list without it."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab", green="x"), tree(yellow="b", green="x"))
        await it.here.kubelet.stop()
        it.here.directory.remove("kubelet.sock")
        slow = it.here.host.plugins[0].devices.watch()
        await anext(slow)
        last = asyncio.create_task(anext(slow))
        await next_look(it)
        it.here.holders.may_answer.clear()
        await next_look(it)
        await it.follow(tree(green="x"))
        it.here.holders.may_answer.set()
        await it.here.clock.settle()
        assert shown(await last) == "ab"
        assert it.here.journal.of(DevicesReleased) == ()
        await slow.aclose()


async def test_a_look_in_which_a_device_came_back_and_went_counts_for_nothing(
    machine: "type[Machine]",
) -> None:
    """It began before the list said so."""
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        it.here.holders.may_answer.clear()
        await next_look(it)
        await it.follow(tree(yellow="ab"), tree(yellow="b"))
        it.here.holders.may_answer.set()
        await it.here.clock.settle()
        await next_look(it)
        assert it.lists() == {"yellow": "aB"}
        await next_look(it)
        assert it.lists() == {"yellow": "B"}


async def test_what_is_held_of_a_type_without_devices_is_let_go_alike(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        await it.follow(tree(yellow=""))
        it.here.holders.free(YELLOW, A)
        await next_look(it)
        await next_look(it)
        assert lists(it) == ["a", ""]


async def test_an_ill_device_that_vanishes_is_no_news_but_is_let_go(
    machine: "type[Machine]",
) -> None:
    """What the kubelet sees of it did not change."""
    async with Advertising(machine()) as it:
        await it.follow(FrozenTree({YELLOW: {A: DeviceInfo(health=Health.UNHEALTHY)}}))
        await it.follow(tree(yellow=""))
        assert len(it.here.journal.of(InventoryChanged)) == 1
        await next_look(it)
        await next_look(it)
        assert lists(it) == ["a", ""]


class CountingClock(ManualClock):
    """A clock that counts who sleeps."""

    sleeps = 0

    async def sleep(self, seconds: float) -> None:
        """Count, and sleep."""
        self.sleeps += 1
        await super().sleep(seconds)


def _publish_nothing(name: ResourceName, board: Board, inventory: Inventory) -> None:
    raise AssertionError((name, board, inventory))


async def test_while_nothing_has_vanished_nothing_wakes_up() -> None:
    """Nor once all is let go: an idle plugin costs nothing."""
    clock, journal = CountingClock(), MemoryJournal()
    ask = AskHolders((), clock=clock, seconds=1.0, journal=journal)
    retain = RetainHeld(
        ask_holders=ask,
        holds=KnownHolds(),
        look_again=lambda: None,
        clock=clock,
        timing=Release(),
        journal=journal,
    )
    found = Inventory().observe({A: DeviceInfo()})
    board = Board(found.observe({}))
    running = asyncio.create_task(retain.run(lambda: {YELLOW: board}, _publish_nothing))
    retain.notice(found)
    await clock.advance(10 * APART)
    assert clock.sleeps == 0
    retain.notice(board.inventory)
    await clock.advance(3 * APART)
    assert clock.sleeps == 4
    board.post(found)
    await clock.advance(10 * APART)
    assert clock.sleeps == 4
    running.cancel()
    await asyncio.wait({running})
