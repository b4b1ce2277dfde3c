"""From wherever it stands, a resource that is to stop does, and leaves neither socket nor task.

The node of these tests looks for both when it is left, and `run` for tasks.
"""

import asyncio
from typing import TYPE_CHECKING

import pytest

from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET
from deviceplugin.domain.events import RegistrationLost, ResourceStopped
from deviceplugin.domain.phases import Phase
from deviceplugin.domain.ports.driven.kubelet import Registrar, Registration
from deviceplugin.domain.resources import ResourceName

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.app.use_cases.conftest import Node

WIDGET = ResourceName("example.com", "widget")


class Accepting(Registrar):
    """Accepts, and never opens a stream."""

    async def reachable(self) -> bool:
        """Say that it is there."""
        return True

    async def register(self, registration: Registration, seconds: float) -> None:
        """Accept."""
        del registration, seconds


async def waiting(here: "Node") -> None:
    """Have no kubelet."""
    await here.clock.advance(1)


async def starting(here: "Node") -> None:
    """Have a server that takes long to start."""
    here.host.may_serve.clear()
    await here.start_kubelet()


async def registering(here: "Node") -> None:
    """Have a Register under way."""
    here.kubelet.hang_next()
    await here.start_kubelet()


async def greeted(here: "Node") -> None:
    """Have a stream before the answer."""
    here.kubelet.hang_next(completing=True)
    await here.start_kubelet()


async def holding(here: "Node") -> None:
    """Have a kubelet that does not listen."""
    here.kubelet.start(listening=False)
    await here.clock.settle()


async def doubting(here: "Node") -> None:
    """Have no answer."""
    here.kubelet.lose_next()
    await here.start_kubelet()


async def listed(here: "Node") -> None:
    """Have a stream that is new."""
    await here.start_kubelet()


async def steady(here: "Node") -> None:
    """Have a stream that is old."""
    await here.start_kubelet()
    await here.clock.advance(1)


async def looking(here: "Node") -> None:
    """Have lost the stream, and a look that takes long."""
    await steady(here)
    here.registrar.may_look.clear()
    await here.kubelet.cut_stream(WIDGET)
    await here.clock.advance(0.1)


async def orphaned(here: "Node") -> None:
    """Have lost the kubelet."""
    await steady(here)
    await here.kubelet.stop()
    await here.clock.advance(0.1)


async def renewing(here: "Node") -> None:
    """Have lost a socket, and a server that takes long to close."""
    await steady(here)
    here.host.may_close.clear()
    await here.remove_own_socket()


async def retreating(here: "Node") -> None:
    """Have been refused, and a server that takes long to close."""
    here.host.may_close.clear()
    here.kubelet.refuse_next()
    await here.start_kubelet()


async def resting(here: "Node") -> None:
    """Have been refused a few times."""
    here.kubelet.refuse_next(5)
    await here.start_kubelet()


async def barred(here: "Node") -> None:
    """Have been refused the directory."""
    here.kubelet.host.forbid_serving()
    await here.start_kubelet()


async def draining(here: "Node") -> None:
    """Have lost the kubelet, and a server that takes long to close."""
    await holding(here)
    here.host.may_close.clear()
    here.directory.remove(KUBELET_SOCKET)
    await here.clock.settle()


async def stopping(here: "Node") -> None:
    """Have been told to stop before."""
    await steady(here)
    here.host.may_close.clear()
    here.keeper.stop()
    await here.clock.settle()


WAYS = {
    Phase.WAITING: waiting,
    Phase.STARTING: starting,
    Phase.REGISTERING: registering,
    Phase.GREETED: greeted,
    Phase.HOLDING: holding,
    Phase.DOUBTING: doubting,
    Phase.REGISTERED: listed,
    Phase.LISTED: listed,
    Phase.STEADY: steady,
    Phase.LOOKING: looking,
    Phase.ORPHANED: orphaned,
    Phase.RENEWING: renewing,
    Phase.RETREATING: retreating,
    Phase.RESTING: resting,
    Phase.BARRED: barred,
    Phase.DRAINING: draining,
    Phase.STOPPING: stopping,
}
every_phase = pytest.mark.parametrize("phase", WAYS, ids=lambda phase: phase.name)


def standing(node: "type[Node]", phase: Phase) -> "Node":
    """Return a node that can be brought to a phase."""
    return node(registrar=Accepting() if phase is Phase.REGISTERED else None)


def test_the_way_to_every_phase_is_known() -> None:
    assert set(WAYS) == set(Phase) - {Phase.STOPPED}


@every_phase
async def test_stop_ends_it_in_every_phase(node: "type[Node]", phase: Phase) -> None:
    async with standing(node, phase) as here:
        await WAYS[phase](here)
        assert here.keeper.phase is phase
        here.keeper.stop()
        here.host.may_close.set()
        await here.keeping
        assert here.keeper.phase is Phase.STOPPED
        assert here.sockets == ()
        assert here.kubelet.streams(WIDGET) == 0
        assert len(here.journal.of(ResourceStopped)) == 1
        before = here.registrations
        await here.clock.advance(120)
        assert here.registrations == before


@every_phase
async def test_being_cancelled_ends_it_in_every_phase(node: "type[Node]", phase: Phase) -> None:
    """An interrupt, or the failure of another part of the plugin."""
    async with standing(node, phase) as here:
        await WAYS[phase](here)
        here.keeping.cancel()
        await here.clock.settle()
        here.host.may_close.set()
        await asyncio.wait({here.keeping})
        assert here.keeping.cancelled()
        assert here.sockets == ()
        assert here.kubelet.host.served == ()


@pytest.mark.parametrize("news", ["appeared", "vanished", "check"])
@every_phase
async def test_news_on_the_way_out_change_nothing(
    node: "type[Node]", phase: Phase, news: str
) -> None:
    async with standing(node, phase) as here:
        await WAYS[phase](here)
        here.keeper.stop()
        identity = here.directory.put("another.sock")
        here.directory.remove("another.sock")
        tell: dict[str, Callable[[], None]] = {
            "appeared": lambda: here.appeared(identity),
            "vanished": here.vanished,
            "check": here.keeper.check_socket,
        }
        tell[news]()
        here.host.may_close.set()
        await here.keeping
        assert here.sockets == ()


async def test_a_resource_that_is_stopped_before_it_began_never_begins(
    node: "type[Node]",
) -> None:
    here = node()
    here.keeper.stop()
    here.kubelet.start()
    async with here:
        assert here.keeping.done()
        assert here.host.times == []


async def test_a_stop_is_no_loss(node: "type[Node]") -> None:
    async with node() as here:
        await steady(here)
        here.keeper.stop()
        await here.keeping
        assert here.journal.of(RegistrationLost) == ()


async def test_what_breaks_the_rules_of_a_port_is_not_hidden(node: "type[Node]") -> None:
    """A registrar that raises something else is a bug, and leaves nothing of ours behind."""

    class Broken(Registrar):
        async def reachable(self) -> bool:
            return True

        async def register(self, registration: Registration, seconds: float) -> None:
            raise ZeroDivisionError(f"{registration} within {seconds}")

    here = node(registrar=Broken())
    with pytest.raises(ExceptionGroup) as raised:
        async with here:
            await here.start_kubelet()
    assert raised.group_contains(ZeroDivisionError)
    assert here.sockets == ()
    assert here.kubelet.host.served == ()
