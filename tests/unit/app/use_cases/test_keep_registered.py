"""A resource is registered with whatever kubelet there is, once, and again after each restart."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deviceplugin.adapters.memory.directory import MemoryDirectory
from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET
from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.events import KubeletAwaited, RegistrationFailed, ResourceRegistered
from deviceplugin.domain.phases import Phase
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.loop import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.app.use_cases.conftest import Node

WIDGET = ResourceName("example.com", "widget")


@pytest.mark.parametrize("answers_first", [False, True])
async def test_the_first_register_succeeds_whether_stream_or_answer_comes_first(
    node: "type[Node]",
    answers_first: bool,  # noqa: FBT001
) -> None:
    here = node()
    here.kubelet.answers_first = answers_first
    here.kubelet.start()
    async with here:
        assert here.is_well()
        assert here.registrations == 1
        (registration,) = here.kubelet.registrations
        assert (registration.resource, registration.endpoint) == (WIDGET, here.sockets[0])
        assert here.kubelet.options(WIDGET) == registration.options
        assert len(here.journal.of(ResourceRegistered)) == 1
        assert here.journal.of(RegistrationFailed) == ()


async def test_without_a_kubelet_nothing_is_served_and_one_line_says_so(
    node: "type[Node]",
) -> None:
    async with node() as here:
        await here.clock.advance(50)
        assert here.sockets == ()
        assert here.host.times == []
        assert here.kinds() == ["KubeletAwaited"]
        assert here.journal.of(KubeletAwaited)[0].directory == "/plugins"


async def test_a_kubelet_that_appears_late_is_met_at_once(node: "type[Node]") -> None:
    async with node() as here:
        await here.clock.advance(300)
        await here.start_kubelet()
        assert here.is_well()
        assert here.registrations == 1


async def test_a_directory_that_appears_late_is_no_trouble(node: "type[Node]") -> None:
    here = node()
    here.directory.remove_directory()
    async with here:
        await here.clock.advance(100)
        here.directory.make_directory()
        await here.start_kubelet()
        assert here.is_well()


async def test_a_kubelet_that_does_not_listen_yet_is_tried_again_on_the_same_socket(
    node: "type[Node]",
) -> None:
    """Its socket file is there before it listens; nothing was sent, so the server can be kept."""
    async with node() as here:
        here.kubelet.start(listening=False)
        await here.clock.settle()
        (socket,) = here.sockets
        await here.clock.advance(0.05)
        here.kubelet.listen()
        await here.clock.advance(0.1)
        assert here.is_well()
        assert here.sockets == (socket,)
        assert here.registrations == 1
        assert len(here.host.times) == 1


async def test_a_dead_kubelets_socket_file_is_waited_out(node: "type[Node]") -> None:
    """It is tried later and later, and met at once when another file takes its place."""
    async with node() as here:
        here.kubelet.start(listening=False)
        await here.clock.advance(600)
        tries = len(here.registrar.times)
        assert 20 < tries < 60
        assert len(here.journal.of(RegistrationFailed)) == tries
        assert [event.level for event in here.journal.of(RegistrationFailed)].count("warning") == 1
        await here.start_kubelet()
        assert here.is_well()
        assert here.registrations == 1


async def test_after_a_restart_one_stream_has_the_full_list_without_any_wait(
    node: "type[Node]",
) -> None:
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        for restarts in range(1, 21):
            await here.kubelet.restart()
            await here.clock.settle()
            assert here.is_well()
            assert here.registrations == 1 + restarts


restarts = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.001, 0.1, 2.0]) | st.floats(0.0, 0.5),
        st.sampled_from([0.0, 0.001, 0.02, 0.5]) | st.floats(0.0, 0.5),
    ),
    min_size=20,
    max_size=20,
)


@settings(max_examples=15)
@given(spacings=restarts, listens_at_once=st.booleans(), deaf=st.booleans())
def test_any_restarts_at_any_spacing_end_registered_once(
    node: "type[Node]",
    spacings: list[tuple[float, float]],
    listens_at_once: bool,  # noqa: FBT001
    deaf: bool,  # noqa: FBT001
) -> None:
    """The kubelet is down and up for these seconds; if it is deaf, only the poll finds out."""

    async def law() -> None:
        async with node() as here:
            here.directory.deaf = deaf
            for down, up in spacings:
                await here.kubelet.stop()
                await here.clock.advance(down)
                here.kubelet.start(listening=listens_at_once)
                await here.clock.advance(up)
                here.kubelet.listen()
                assert here.kubelet.streams(WIDGET) <= 1
            await here.clock.advance(2)
            assert here.is_well()
            assert here.keeper.phase in {Phase.LISTED, Phase.STEADY}
            before = here.registrations
            await here.clock.advance(120)
            assert here.is_well()
            assert here.registrations == before

    run(law())


async def test_a_kubelet_in_the_place_of_the_last_is_another_one(node: "type[Node]") -> None:
    """A rename into place shows no gap, and the old one's stream may still be open."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        here.directory.put(KUBELET_SOCKET)
        here.kubelet.listen()
        await here.clock.settle()
        assert here.is_well()
        assert here.registrations == 2


async def test_a_kubelet_whose_socket_file_is_unlinked_is_left_alone(node: "type[Node]") -> None:
    """It is alive, and its stream tells when it no longer is."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(60)
        here.directory.remove(KUBELET_SOCKET)
        await here.clock.advance(120)
        assert here.is_well()
        assert here.registrations == 1
        await here.kubelet.restart()
        await here.clock.settle()
        assert here.is_well()


async def test_changes_reach_the_kubelet_over_every_restart(node: "type[Node]") -> None:
    async with node() as here:
        await here.start_kubelet()
        here.board.post(here.board.inventory.observe({DeviceId("c"): DeviceInfo()}))
        await here.clock.settle()
        assert here.kubelet.allocatable(WIDGET) == 1
        await here.kubelet.stop()
        here.board.post(here.board.inventory.observe({DeviceId("d"): DeviceInfo()}))
        here.kubelet.start()
        await here.clock.settle()
        assert here.is_well()
        assert here.kubelet.allocatable(WIDGET) == 1


async def test_a_restart_in_the_middle_of_a_register_ends_registered_once(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.hang_next()
        await here.start_kubelet()
        assert here.keeper.phase is Phase.REGISTERING
        await here.kubelet.restart()
        await here.clock.advance(0.1)
        assert here.is_well()
        assert here.registrations == 2


async def test_a_restart_while_our_server_starts_ends_registered_once(node: "type[Node]") -> None:
    async with node() as here:
        here.host.may_serve.clear()
        await here.start_kubelet()
        assert here.keeper.phase is Phase.STARTING
        await here.kubelet.restart()
        await here.clock.settle()
        here.host.may_serve.set()
        await here.clock.settle()
        assert here.is_well()
        assert here.registrations == 1


class CleaningDirectory(MemoryDirectory):
    """A directory in which something happens just before kubelet.sock is looked at."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.before_look: Callable[[], None] = lambda: None

    def identity(self, name: str) -> FileIdentity | None:
        """Return which file it is after that has happened."""
        if name == KUBELET_SOCKET:
            self.before_look()
        return super().identity(name)


async def test_a_kubelet_that_cleans_up_between_our_two_looks_is_not_registered_with_in_vain(
    node: "type[Node]",
) -> None:
    """It removes our socket before it makes its own: a look at that one last would miss it."""
    async with node(directory=CleaningDirectory, watched=False) as here:
        restart = iter([here.kubelet.start])

        def restarted() -> None:
            if here.keeper.phase is Phase.REGISTERING:
                next(restart, int)()

        here.directory.before_look = restarted  # type: ignore[attr-defined]
        here.kubelet.start()
        here.appeared(FileIdentity(1, 1, 1))
        await here.clock.settle()
        assert here.keeper.phase is Phase.RESTING
        assert here.registrations == 0
        await here.clock.advance(0.02)
        assert here.is_well()
