"""What containers may hold is remembered, and trees that do not know of it count for nothing."""

from typing import TYPE_CHECKING

import pytest
from tests.unit.app.use_cases.test_advertise import GREEN, YELLOW, Advertising, tree

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.holders import MemoryHolders
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.use_cases.ask_holders import AskHolders
from deviceplugin.app.use_cases.known_holds import KnownHolds, LearnHolds
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import UnhealthyDeviceError
from deviceplugin.domain.events import HoldersUnknown
from deviceplugin.domain.holds import Hold, Holds, Minded
from deviceplugin.domain.timing import Release
from deviceplugin.domain.tree import FrozenTree

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Machine

APART = Release().apart
A, B = map(DeviceId, "ab")


def minding(
    found: FrozenTree, held: Holds = frozenset(), in_the_way: Holds = frozenset()
) -> FrozenTree:
    """Return a tree that takes so much into account."""
    return FrozenTree(found.resources, Minded(held=held, in_the_way=in_the_way))


async def given_out(it: Advertising) -> Holds:
    """Return what is held, once a container was given the one device there is."""
    await it.follow(minding(tree(yellow="a", green="")))
    await it.here.kubelet.allocate(YELLOW, [A])
    return it.here.holds()


async def test_what_is_given_out_is_known_before_anything_is_waited_for(
    machine: "type[Machine]",
) -> None:
    async with Advertising(machine()) as it:
        await it.follow(tree(yellow="a"))
        await it.here.kubelet.allocate(YELLOW, [A])
        assert it.here.holds() == {Hold(YELLOW, A)}


async def test_what_holders_name_of_a_new_resource_is_known(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        await it.follow(tree(yellow="b"))
        assert it.here.holds() == {Hold(YELLOW, A)}


async def test_a_tree_that_moves_what_was_given_out_meanwhile_is_not_advertised(
    machine: "type[Machine]",
) -> None:
    """It was made before; another one is asked for at once, and that one counts."""
    async with Advertising(machine()) as it:
        await it.follow(minding(tree(yellow="ab", green="")))
        await it.here.kubelet.allocate(YELLOW, [A])
        before = it.lists()
        await it.follow(minding(tree(yellow="b", green="a")))
        assert it.lists() == before == {"yellow": "AB", "green": ""}
        assert it.here.looks == 1
        await it.follow(minding(tree(yellow="", green="b"), held=it.here.holds()))
        assert it.lists() == {"yellow": "ab", "green": "B"}
        assert it.here.looks == 1


async def test_a_tree_that_has_what_was_given_out_meanwhile_as_it_was_is_advertised(
    machine: "type[Machine]",
) -> None:
    """So that a node on which pods start all the time does not wait for its lists."""
    async with Advertising(machine()) as it:
        await it.follow(minding(tree(yellow="ab", green="")))
        await it.here.kubelet.allocate(YELLOW, [A])
        await it.follow(minding(tree(yellow="a", green="b")))
        assert it.lists() == {"yellow": "Ab", "green": "B"}
        assert it.here.looks == 0


async def test_what_went_elsewhere_first_cannot_be_given_out(machine: "type[Machine]") -> None:
    """Whichever comes first, the list or the question, counts."""
    async with Advertising(machine()) as it:
        await it.follow(minding(tree(yellow="a", green="")))
        await it.follow(minding(tree(yellow="", green="a")))
        with pytest.raises(UnhealthyDeviceError):
            await it.here.kubelet.allocate(YELLOW, [A])
        assert it.here.holds() == set()


async def test_what_holders_name_when_a_resource_is_new_makes_an_older_tree_void(
    machine: "type[Machine]",
) -> None:
    """A tree that has it in another way is not the first of that resource."""
    async with Advertising(machine()) as it:
        it.here.holders.hold(YELLOW, A)
        await it.follow(minding(tree(yellow="", green="a")))
        assert it.lists() == {}
        assert it.here.looks == 1
        await it.follow(minding(tree(yellow="a", green=""), held=it.here.holds()))
        assert it.lists() == {"yellow": "A", "green": ""}


async def test_what_is_in_the_way_is_let_go_when_two_looks_agree(
    machine: "type[Machine]",
) -> None:
    """Though it is listed as Healthy; a look at the devices is asked for then."""
    async with Advertising(machine()) as it:
        held = await given_out(it)
        it.here.holders.hold(YELLOW, A)
        await it.follow(minding(tree(yellow="a", green=""), held, held))
        await it.here.clock.advance(3 * APART)
        assert it.here.holds() == held
        it.here.holders.free(YELLOW, A)
        await it.here.clock.advance(APART)
        assert it.here.holds() == held
        await it.here.clock.advance(APART)
        assert it.here.holds() == set()
        assert it.here.looks == 1
        asked = len(it.here.holders.asked)
        await it.here.clock.advance(10 * APART)
        assert len(it.here.holders.asked) == asked


async def test_what_is_given_out_between_two_looks_is_not_let_go(
    machine: "type[Machine]",
) -> None:
    """The looks are about another container."""
    async with Advertising(machine()) as it:
        held = await given_out(it)
        await it.follow(minding(tree(yellow="a", green=""), held, held))
        for _ in range(5):
            await it.here.clock.advance(APART)
            assert it.here.holds() == held
            await it.here.kubelet.allocate(YELLOW, [A])


@pytest.mark.parametrize("case", ["silent", "incomplete"])
async def test_what_nobody_can_say_to_be_free_stays(machine: "type[Machine]", case: str) -> None:
    async with Advertising(machine()) as it:
        held = await given_out(it)
        if case == "silent":
            it.here.holders.fail("gone")
        else:
            it.here.holders.complete = False
        await it.follow(minding(tree(yellow="a", green=""), held, held))
        await it.here.clock.advance(5 * APART)
        assert it.here.holds() == held


async def test_what_vanished_and_is_let_go_is_held_no_more(machine: "type[Machine]") -> None:
    async with Advertising(machine()) as it:
        await it.follow(minding(tree(yellow="ab")))
        await it.here.kubelet.allocate(YELLOW, [A])
        await it.follow(minding(tree(yellow="b"), held=it.here.holds()))
        await it.here.clock.advance(3 * APART)
        assert it.lists() == {"yellow": "B"}
        assert it.here.holds() == set()


async def test_before_the_first_look_all_holders_are_asked_about_all_resources() -> None:
    """One that cannot answer holds nothing up for longer than it may take."""
    clock, journal = ManualClock(), MemoryJournal()
    sources = MemoryHolders(), MemoryHolders(complete=False), MemoryHolders()
    sources[0].hold(YELLOW, A)
    sources[1].hold(YELLOW, B)
    sources[1].hold(GREEN, A)
    sources[2].fail("gone")
    holds = KnownHolds()
    ask = AskHolders(sources, clock=clock, seconds=1.0, journal=journal)
    await LearnHolds(ask=ask, holds=holds)()
    assert holds() == {Hold(YELLOW, A), Hold(YELLOW, B), Hold(GREEN, A)}
    assert journal.of(HoldersUnknown) == (HoldersUnknown(reason="gone"),)
