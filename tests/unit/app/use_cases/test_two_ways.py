"""A resource reaches its kubelet by Register or by being found, by one of them at a time."""

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET
from deviceplugin.app.use_cases.board import Board
from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.events import (
    KubeletAppeared,
    KubeletAwaited,
    RegisterBlocked,
    RegistrationFailed,
    RegistrationFailedAgain,
    RegistrationLost,
    ResourceRegistered,
)
from deviceplugin.domain.inventory import Inventory
from deviceplugin.domain.phases import Phase
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.routes import RegistrationMode
from deviceplugin.testing.loop import run

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Node

WIDGET = ResourceName("example.com", "widget")
WATCHER, AUTO = RegistrationMode.WATCHER, RegistrationMode.AUTO


# --- other instances -----------------------------------------------------------------------------


@pytest.mark.parametrize("unseen", [False, True])
async def test_a_newer_instance_on_the_other_way_that_goes_is_noticed(
    node: "type[Node]", *, unseen: bool
) -> None:
    """A kubelet up to 1.36 has taken it for the only one, and forgets us with it."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        newer = await here.registry.serve(here.host.plugins[0])
        if not unseen:
            await here.clock.advance(60)
        await newer.close()
        await here.clock.advance(5)
        assert here.registrations == 2
        assert here.is_well()


async def test_one_that_registers_and_goes_is_noticed_by_one_that_is_found(
    node: "type[Node]",
) -> None:
    async with node(mode=WATCHER) as here:
        await here.looked_at()
        await here.clock.advance(60)
        (ours,) = here.registry.host.served
        newer = await here.kubelet.host.serve(ours.plugin)
        await here.clock.advance(60)
        assert here.registry.host.served == (ours,)
        await newer.close()
        await here.clock.advance(5)
        await here.looked_at()
        assert here.is_found()
        assert here.registry.host.served != (ours,)


# --- being found ---------------------------------------------------------------------------------


async def test_a_resource_that_is_found_is_registered(node: "type[Node]") -> None:
    """Without a kubelet.sock, and without a Register."""
    async with node(mode=WATCHER) as here:
        assert here.finder.found == []
        await here.looked_at()
        assert here.is_found()
        assert here.keeper.phase is Phase.LISTED
        assert here.registrations == 0
        assert len(here.journal.of(ResourceRegistered)) == 1
        assert here.journal.of(KubeletAppeared)[0].directory == "/registry"


async def test_the_directory_is_waited_for(node: "type[Node]") -> None:
    here = node(mode=WATCHER)
    here.registry_directory.remove_directory()
    async with here:
        (awaited,) = here.journal.of(KubeletAwaited)
        assert (awaited.directory, here.keeper.phase) == ("/registry", Phase.WAITING)
        assert "--kubelet-root" in awaited.reason
        here.registry_directory.make_directory()
        await here.clock.settle()
        await here.looked_at()
        assert here.is_found()


async def test_a_kubelet_that_does_not_come_is_told_of_once_and_found_whenever_it_comes(
    node: "type[Node]",
) -> None:
    """On the socket that was there all the time: none is made in vain."""
    async with node(mode=WATCHER) as here:
        (served,) = here.registry.host.served
        await here.clock.advance(1000)
        failures = here.journal.of(RegistrationFailed)
        assert len(failures) > 10
        assert [event.level for event in failures].count("warning") == 1
        assert len(here.journal.of(RegistrationFailedAgain)) == len(failures) - 1
        await here.looked_at()
        assert here.is_found()
        assert here.registry.host.served == (served,)


@pytest.mark.parametrize("waited", [0.0, 15.0, 15.01, 40.0, 100.0, 200.0])
async def test_a_kubelet_that_comes_while_we_rest_is_listened_to(
    node: "type[Node]", waited: float
) -> None:
    async with node(mode=WATCHER) as here:
        await here.clock.advance(waited)
        here.finder.look()
        await here.clock.settle()
        assert here.keeper.phase is Phase.LISTED
        assert here.is_found()


async def test_a_lost_stream_means_a_new_socket(node: "type[Node]") -> None:
    """The kubelet never comes back to the old one."""
    async with node(mode=WATCHER) as here:
        await here.looked_at()
        await here.clock.advance(5)
        (before,) = here.registry.host.served
        await here.finder.cut()
        await here.clock.advance(0.1)
        (after,) = here.registry.host.served
        assert after.endpoint != before.endpoint
        assert here.registry_directory.names() == (after.endpoint,)
        await here.looked_at()
        assert here.is_found()
        assert len(here.journal.of(RegistrationLost)) == 1


async def test_a_kubelet_that_restarts_finds_one_socket(node: "type[Node]") -> None:
    """Nothing is removed there; the socket that it finds is the new one."""
    async with node(mode=WATCHER) as here:
        await here.looked_at()
        await here.clock.advance(5)
        for times in range(2, 6):
            await here.finder.restart()
            await here.looked_at()
            assert here.is_found()
            assert len(here.finder.found) == times
            await here.clock.advance(5)


async def test_a_refusal_is_told_with_the_kubelets_text_and_tried_again_on_a_new_socket(
    node: "type[Node]",
) -> None:
    async with node(mode=WATCHER) as here:
        here.finder.refusals = ["plugin validation failed"] * 3
        endpoints: list[str] = []
        for _ in range(3):
            (served,) = here.registry.host.served
            endpoints.append(served.endpoint)
            await here.looked_at()
            await here.clock.advance(0.2)
        await here.looked_at()
        assert here.is_found()
        assert len(set(endpoints)) == 3
        failed = here.journal.of(RegistrationFailed)[0]
        assert "plugin validation failed" in failed.reason
        assert failed.endpoint == endpoints[0]


async def test_a_socket_that_somebody_removes_is_made_anew(node: "type[Node]") -> None:
    async with node(mode=WATCHER) as here:
        await here.looked_at()
        await here.clock.advance(5)
        here.registry_directory.remove(here.registry_directory.names()[0])
        await here.clock.settle()
        await here.looked_at()
        assert here.is_found()


async def test_another_directory_in_its_place_is_served_in(node: "type[Node]") -> None:
    async with node(mode=WATCHER) as here:
        await here.looked_at()
        here.registry_directory.remove_directory()
        await here.clock.advance(3)
        here.registry_directory.make_directory()
        await here.clock.advance(1)
        await here.looked_at()
        assert here.is_found()


# --- either way ----------------------------------------------------------------------------------


async def test_auto_registers_where_it_can(node: "type[Node]") -> None:
    here = node(mode=AUTO)
    here.kubelet.start()
    async with here:
        await here.clock.advance(100)
        assert here.is_well()
        assert here.registry_directory.names() == ()
        assert here.journal.of(RegisterBlocked) == ()


async def test_auto_is_found_where_there_has_been_no_socket_for_so_long(
    node: "type[Node]",
) -> None:
    async with node(mode=AUTO) as here:
        await here.clock.advance(9)
        assert here.registry_directory.names() == ()
        await here.clock.advance(2)
        await here.looked_at()
        assert here.is_found()
        (blocked,) = here.journal.of(RegisterBlocked)
        assert (blocked.directory, blocked.registry) == ("/plugins", "/registry")
        assert blocked.seconds == 10


async def test_auto_registers_with_the_next_kubelet(node: "type[Node]") -> None:
    """The old server is gone before the new one is made."""
    async with node(mode=AUTO) as here:
        await here.clock.advance(11)
        await here.looked_at()
        assert here.is_found()
        await here.start_kubelet()
        assert here.is_well()
        assert here.registry_directory.names() == ()
        await here.clock.advance(100)
        assert here.registrations == 1


async def test_auto_is_found_where_nobody_accepts(node: "type[Node]") -> None:
    here = node(mode=AUTO)
    here.kubelet.start(listening=False)
    async with here:
        await here.clock.advance(12)
        await here.looked_at()
        assert here.is_found()


async def test_auto_is_found_where_the_connection_is_forbidden(node: "type[Node]") -> None:
    here = node(mode=AUTO)
    here.kubelet.forbidden = True
    here.kubelet.start()
    async with here:
        await here.clock.advance(12)
        await here.looked_at()
        assert here.is_found()


async def test_auto_is_found_where_no_socket_may_be_made(node: "type[Node]") -> None:
    here = node(mode=AUTO)
    here.kubelet.host.forbid_serving(1000)
    here.kubelet.start()
    async with here:
        await here.clock.advance(12)
        await here.looked_at()
        assert here.is_found()


async def test_auto_stays_with_a_kubelet_that_refuses(node: "type[Node]") -> None:
    here = node(mode=AUTO)
    here.kubelet.refuse_next(1000)
    here.kubelet.start()
    async with here:
        await here.clock.advance(600)
        assert here.registry_directory.names() == ()


async def test_who_is_listed_stays_when_others_turn(node: "type[Node]") -> None:
    """A kubelet whose socket was unlinked goes on with whom it knows, and finds others."""
    gadget = ResourceName("example.com", "gadget")
    here = node(mode=AUTO)
    here.kubelet.start()
    async with here:
        await here.clock.advance(5)
        here.directory.remove(KUBELET_SOCKET)
        board = Board(Inventory().observe({DeviceId("g"): DeviceInfo()}))
        late = here.keep(here.open(gadget, board))
        keeping = asyncio.create_task(late.run())
        here.watch.follow(late)
        await here.clock.advance(12)
        await here.looked_at()
        assert here.finder.streams(gadget) == 1
        assert here.is_well()
        assert here.registrations == 1
        late.stop()
        await here.clock.settle()
        assert keeping.done()


EVENTS = (
    "start",
    "start deaf",
    "listen",
    "stop",
    "unlink",
    "forbid",
    "permit",
    "find",
    "cut",
    "remove registry",
    "make registry",
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.sampled_from([0.0, 0.3, 4.0, 11.0]))))
def test_whatever_happens_a_resource_is_served_on_one_way_and_well_in_the_end(
    node: "type[Node]", events: list[tuple[str, float]]
) -> None:
    async def law() -> None:
        async with node(mode=AUTO) as here:
            for event, seconds in events:
                await _befall(here, event)
                await here.clock.advance(seconds)
                ways = (here.kubelet.host.served, here.registry.host.served)
                assert sum(map(len, ways)) <= 1
            here.kubelet.forbidden = False
            here.registry_directory.make_directory()
            for _ in range(70):
                await here.looked_at()
            assert here.is_well() or here.is_found()

    run(law())


async def _befall(here: "Node", event: str) -> None:
    if event.startswith("start"):
        await here.kubelet.stop()
        here.kubelet.start(listening=event == "start")
    elif event == "listen" and KUBELET_SOCKET in here.directory.names():
        here.kubelet.listen()
    elif event == "stop":
        await here.kubelet.stop()
    elif event == "unlink" and KUBELET_SOCKET in here.directory.names():
        here.directory.remove(KUBELET_SOCKET)
    elif event in {"forbid", "permit"}:
        here.kubelet.forbidden = event == "forbid"
    elif event == "find":
        here.finder.look()
    elif event == "cut":
        await here.finder.cut()
    elif event == "remove registry":
        here.registry_directory.remove_directory()
    elif event == "make registry":
        here.registry_directory.make_directory()
