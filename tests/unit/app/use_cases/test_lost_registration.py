"""Whatever breaks a registration, it is renewed, and no faster than makes sense."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET
from deviceplugin.domain.events import RegistrationLost, ResourceRegistered
from deviceplugin.domain.phases import Phase
from deviceplugin.domain.ports.driven.kubelet import Registrar, Registration
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import Timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.app.use_cases.conftest import Node

WIDGET, GADGET = ResourceName("example.com", "widget"), ResourceName("example.com", "gadget")
FIRST_WAIT = Timing().backoff.first


async def test_a_stream_that_ends_alone_is_enough_to_register_again(node: "type[Node]") -> None:
    """No file changes, and the kubelet never asks for the list again by itself."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        (socket,) = here.sockets
        await here.kubelet.cut_stream(WIDGET)
        await here.clock.advance(FIRST_WAIT)
        assert here.is_well()
        assert here.registrations == 2
        assert socket not in here.sockets
        (lost,) = here.journal.of(RegistrationLost)
        assert (lost.endpoint, lost.reason) == (socket, "the ListAndWatch stream ended")


async def test_a_stream_that_ends_at_once_each_time_is_renewed_ever_more_slowly(
    node: "type[Node]",
) -> None:
    """So it is when the kubelet finds a list too large."""
    async with node() as here:
        await here.start_kubelet()
        for _ in range(600):
            await here.kubelet.cut_stream(WIDGET)
            await here.clock.advance(0.25)
        assert here.registrations < 20
        await here.clock.advance(31)
        assert here.is_well()


async def test_a_stream_that_was_steady_is_renewed_after_the_shortest_wait(
    node: "type[Node]",
) -> None:
    """Not at once: a kubelet that stops ends its streams first, and listens for a moment yet."""
    async with node() as here:
        await here.start_kubelet()
        for renewals in range(1, 11):
            await here.clock.advance(1)
            assert here.keeper.phase is Phase.STEADY
            await here.kubelet.cut_stream(WIDGET)
            await here.clock.settle()
            assert here.sockets == ()
            await here.clock.advance(FIRST_WAIT)
            assert here.is_well()
            assert here.registrations == 1 + renewals


async def test_our_socket_deleted_ten_times_is_ten_registrations(node: "type[Node]") -> None:
    async with node() as here:
        await here.start_kubelet()
        for deletions in range(1, 11):
            await here.clock.advance(1)
            await here.remove_own_socket()
            assert here.is_well()
            assert here.registrations == 1 + deletions
        await here.clock.advance(60)
        assert here.registrations == 11
        assert len(here.host.times) == 11


async def test_our_socket_deleted_as_soon_as_it_is_made_is_no_hot_loop(node: "type[Node]") -> None:
    async with node() as here:
        await here.start_kubelet()

        async def delete() -> None:
            while True:
                for socket in here.sockets:
                    with suppress(FileNotFoundError):
                        here.directory.remove(socket)
                await asyncio.sleep(0)

        deleting = asyncio.create_task(delete())
        await here.clock.advance(120)
        assert 5 < len(here.host.times) < 25
        deleting.cancel()
        await asyncio.wait({deleting})
        await here.clock.advance(31)
        assert here.is_well()


async def test_another_file_under_our_sockets_name_is_not_ours_and_is_left_alone(
    node: "type[Node]",
) -> None:
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        (socket,) = here.sockets
        stranger = here.directory.put(socket)
        await here.clock.settle()
        assert here.registrations == 2
        assert here.directory.identity(socket) == stranger
        assert here.kubelet.streams(WIDGET) == 1
        here.directory.remove(socket)


@pytest.mark.parametrize("first", ["stream", "socket"])
async def test_stream_and_socket_lost_together_in_either_order_are_one_loss(
    node: "type[Node]", first: str
) -> None:
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        (socket,) = here.sockets
        if first == "stream":
            cutting = asyncio.create_task(here.kubelet.cut_stream(WIDGET))
            await asyncio.sleep(0)
            here.directory.remove(socket)
            await cutting
        else:
            here.directory.remove(socket)
            await here.kubelet.cut_stream(WIDGET)
        await here.clock.advance(FIRST_WAIT)
        assert here.is_well()
        assert here.registrations == 2


async def test_a_directory_made_anew_is_served_in_again(node: "type[Node]") -> None:
    """Its watch dies with it, and all sockets are gone."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        here.directory.remove_directory()
        await here.clock.advance(5)
        here.directory.make_directory()
        await here.kubelet.restart()
        await here.clock.advance(2)
        assert here.is_well()


async def test_signals_of_an_older_server_are_not_taken_for_the_new_ones(
    node: "type[Node]",
) -> None:
    """A stream of it that ends late would close the new server, and so for ever."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        late = here.host.plugins[0].devices.watch()
        await anext(late)
        await here.remove_own_socket()
        assert here.registrations == 2
        await late.aclose()
        later = here.host.plugins[0].devices.watch()
        await anext(later)
        await later.aclose()
        await here.clock.advance(60)
        assert here.is_well()
        assert here.registrations == 2


async def test_a_loss_and_its_end_are_each_told_once(node: "type[Node]") -> None:
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        await here.kubelet.restart()
        await here.clock.advance(60)
        assert len(here.journal.of(RegistrationLost)) == 1
        assert len(here.journal.of(ResourceRegistered)) == 2


@pytest.mark.parametrize("age", [0.1, 60.0])
async def test_a_newer_instance_that_comes_and_goes_is_noticed_however_new_we_are_ourselves(
    node: "type[Node]", age: float
) -> None:
    """It may live for less time than it takes until a stream is held for steady."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(age)
        assert here.keeper.phase is (Phase.STEADY if age > 1 else Phase.LISTED)
        newer = await here.kubelet.serve(here.host.plugins[0])
        await here.clock.settle()
        await newer.close()
        await here.clock.advance(60)
        assert here.registrations == 2
        assert here.is_well()


@pytest.mark.parametrize("overflow", [False, True])
async def test_a_newer_instance_that_came_and_went_while_we_stood_still_is_noticed(
    node: "type[Node]", *, overflow: bool
) -> None:
    """No look saw its socket. Where events were lost, one may have come: in doubt it did."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        newer = await here.kubelet.serve(here.host.plugins[0])
        await newer.close()
        if overflow:
            here.directory.miss()
        await here.clock.advance(60)
        assert here.registrations == 2
        assert here.is_well()


async def test_other_sockets_that_come_and_go_are_nothing_to_us(node: "type[Node]") -> None:
    """Another resource's, or whosoever's; nor is our own, nor the one of before."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        gadget = attrs.evolve(here.host.plugins[0], resource=GADGET)
        await (await here.kubelet.serve(gadget)).close()
        here.directory.put("whose.sock")
        here.directory.remove("whose.sock")
        await here.clock.advance(60)
        assert here.registrations == 1
        await here.remove_own_socket()
        await here.clock.advance(60)
        assert here.registrations == 2


async def test_who_hears_nothing_is_in_doubt_after_it_stood_still(node: "type[Node]") -> None:
    """A process may be stopped: then no look saw what came and went. In time, no look is left out.

    One registration follows, and no more.
    """
    async with node() as here:
        here.directory.heard = False
        await here.start_kubelet()
        await here.clock.advance(60)
        assert here.registrations == 1
        here.clock.leap(3.0)
        await here.clock.advance(60)
        assert here.registrations == 2
        assert here.is_well()


async def test_a_kubelet_that_died_is_not_worth_a_new_server(node: "type[Node]") -> None:
    """Its successor removes our sockets. Nor does the old one stay, for that one to wait for."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(1)
        await here.kubelet.stop()
        await here.clock.advance(10)
        assert here.sockets == ()
        assert len(here.host.times) == 1
        assert here.keeper.phase is Phase.ORPHANED
        here.host.may_close.clear()
        await here.start_kubelet()
        assert here.is_well()
        assert len(here.registrar.endpoints) == 2


async def test_a_kubelet_that_lives_on_is_found_by_looking_again(node: "type[Node]") -> None:
    """Whatever kept it from taking connections for a moment."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(1)
        here.registrar.deaf = True
        await here.kubelet.cut_stream(WIDGET)
        await here.clock.advance(FIRST_WAIT)
        assert here.keeper.phase is Phase.ORPHANED
        here.registrar.deaf = False
        await here.clock.advance(1)
        assert here.is_well()


async def test_a_server_that_is_still_starting_is_given_up_before_the_next_one_starts(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.host.may_serve.clear()
        here.host.may_close.clear()
        await here.start_kubelet()
        await here.kubelet.restart()
        await here.clock.settle()
        assert here.keeper.phase is Phase.RENEWING
        assert len(here.host.times) == 1
        here.host.may_close.set()
        await here.clock.settle()
        assert len(here.host.times) == 2
        here.host.may_serve.set()
        await here.clock.settle()
        assert here.is_well()


async def test_a_look_while_a_server_starts_finds_no_loss_of_the_last_ones_socket(
    node: "type[Node]",
) -> None:
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(1)
        here.host.may_serve.clear()
        await here.remove_own_socket()
        assert here.keeper.phase is Phase.STARTING
        await here.clock.advance(5)
        here.host.may_serve.set()
        await here.clock.settle()
        assert here.is_well()
        assert len(here.host.times) == 2


class Clumsy(Registrar):
    """A kubelet that removes our socket while it registers us, the first time."""

    def __init__(self) -> None:
        self.remove: Callable[[], None] = lambda: None
        self.endpoints: list[str] = []

    async def reachable(self) -> bool:
        """Say that it is there."""
        return True

    async def register(self, registration: Registration, seconds: float) -> None:
        """Accept."""
        del seconds
        self.endpoints.append(registration.endpoint)
        remove, self.remove = self.remove, lambda: None
        remove()


async def test_a_socket_lost_during_register_is_missed_as_soon_as_that_has_ended(
    node: "type[Node]",
) -> None:
    """Nobody watches here, and the kubelet's stream would be waited for in vain."""
    kubelet = Clumsy()
    async with node(watched=False, registrar=kubelet) as here:
        kubelet.remove = lambda: here.directory.remove(*here.sockets)
        here.appeared(here.directory.put(KUBELET_SOCKET))
        await here.clock.advance(0.1)
        assert len(kubelet.endpoints) == 2
        assert here.sockets == (kubelet.endpoints[1],)


class OneTimer(ManualClock):
    """Time that passes for one kind of timer alone, when a test says so."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.rung = asyncio.Event()
        self._seconds = seconds

    async def sleep(self, seconds: float) -> None:
        """Return when it is rung for, if ever."""
        await (self.rung.wait() if seconds == self._seconds else asyncio.Event().wait())


async def test_a_timer_that_rings_as_it_is_cleared_is_not_taken_for_the_next_one(
    node: "type[Node]",
) -> None:
    """Its signal is in the mailbox already, behind the one by which it is cleared."""
    here = node(registrar=Clumsy())
    clock = OneTimer(here.world.timing.stream)
    here.world = attrs.evolve(here.world, clock=clock)
    here.keeper = here.keep(here.open(WIDGET, here.board))
    async with here:
        await here.start_kubelet()
        before = here.keeper.phase
        clock.rung.set()
        stream = here.host.plugins[0].devices.watch()
        await anext(stream)
        await here.clock.settle()
        assert (before, here.keeper.phase) == (Phase.REGISTERED, Phase.LISTED)
        await stream.aclose()
