"""What the system refuses is tried again slowly, and works once the permission is there."""

from itertools import pairwise
from typing import TYPE_CHECKING

from deviceplugin.domain.events import (
    RegistrationFailed,
    RegistrationFailedAgain,
    ResourceRegistered,
    ServingFailed,
    ServingFailedAgain,
)
from deviceplugin.domain.phases import Phase
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import Timing

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Node

WIDGET = ResourceName("example.com", "widget")
SLOWEST = Timing().slow_backoff.cap


def gaps(times: list[float]) -> list[float]:
    """Return the seconds between one time and the next."""
    return [later - earlier for earlier, later in pairwise(times)]


async def test_a_directory_that_is_refused_is_tried_slowly_and_told_once(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.host.forbid_serving(20)
        await here.start_kubelet()
        assert here.keeper.phase is Phase.BARRED
        await here.clock.advance(20 * SLOWEST)
        waits = gaps(here.host.times)
        assert waits[0] >= 1
        assert waits == sorted(waits)
        assert SLOWEST / 2 <= waits[-1] <= SLOWEST
        events = here.journal.of(ServingFailed)
        assert [event.level for event in events].count("warning") == 1
        assert len(here.journal.of(ServingFailedAgain)) == len(events) - 1
        assert "Permission denied" in events[0].reason


async def test_a_permission_that_comes_back_is_used_within_the_longest_wait(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.host.forbid_serving(30)
        await here.start_kubelet()
        await here.clock.advance(10 * SLOWEST)
        here.kubelet.host.permit_serving()
        await here.clock.advance(SLOWEST)
        assert here.is_well()


async def test_a_kubelet_that_refuses_the_connection_is_tried_slowly_on_the_same_socket(
    node: "type[Node]",
) -> None:
    """Nothing was sent, so the server can be kept; an ordinary failure is tried far sooner."""
    async with node() as here:
        here.kubelet.forbidden = True
        await here.start_kubelet()
        assert here.keeper.phase is Phase.HOLDING
        await here.clock.advance(20 * SLOWEST)
        assert gaps(here.registrar.times)[0] >= 1
        assert len(here.registrar.times) < 40
        assert len(here.host.times) == 1
        assert len(here.journal.of(RegistrationFailedAgain)) == len(here.registrar.times) - 1
        here.kubelet.forbidden = False
        await here.clock.advance(SLOWEST)
        assert here.is_well()
        assert len(here.journal.of(ResourceRegistered)) == 1
        assert here.journal.of(RegistrationFailed)[0].level == "warning"


async def test_another_kubelet_is_met_at_once_whatever_was_refused_before(
    node: "type[Node]",
) -> None:
    """It may have brought the permission along."""
    async with node() as here:
        here.kubelet.host.forbid_serving(3)
        await here.start_kubelet()
        await here.clock.advance(5)
        here.kubelet.host.permit_serving()
        await here.kubelet.restart()
        await here.clock.settle()
        assert here.is_well()


async def test_a_permission_that_is_lost_with_the_stream_is_told(node: "type[Node]") -> None:
    """A look whether a kubelet is there must not hide that we may not know."""
    async with node() as here:
        await here.start_kubelet()
        await here.clock.advance(1)
        here.kubelet.forbidden = True
        await here.kubelet.cut_stream(WIDGET)
        await here.clock.advance(1)
        assert here.keeper.phase is Phase.HOLDING
        assert "Permission denied" in here.journal.of(RegistrationFailed)[0].reason
