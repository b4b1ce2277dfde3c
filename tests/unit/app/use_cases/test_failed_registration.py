"""A Register that fails is tried again for ever, on a new socket if it may have had an effect."""

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET
from deviceplugin.domain.events import (
    RegistrationFailed,
    RegistrationFailedAgain,
    ServingFailed,
    ServingFailedAgain,
)
from deviceplugin.domain.phases import Phase
from deviceplugin.domain.ports.driven.kubelet import Registrar, Registration
from deviceplugin.domain.resources import ResourceName

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.app.use_cases.conftest import Node

WIDGET = ResourceName("example.com", "widget")


def gaps(times: list[float]) -> list[float]:
    """Return the seconds between one time and the next."""
    return [round(later - earlier, 6) for earlier, later in pairwise(times)]


async def test_500_refusals_are_500_tries_and_one_warning(node: "type[Node]") -> None:
    async with node(watched=False) as here:
        here.kubelet.refuse_next(500)
        here.kubelet.start()
        identity = here.directory.identity("kubelet.sock")
        assert identity is not None
        here.appeared(identity)
        await here.kubelet_answers(500)
        waits = gaps(here.registrar.times)
        assert max(waits) <= 30
        assert waits == sorted(waits)
        assert len(set(here.registrar.endpoints)) == 500
        failures = here.journal.of(RegistrationFailed)
        assert [event.level for event in failures].count("warning") == 1
        assert len(here.journal.of(RegistrationFailedAgain)) == 499
        assert failures[-1].failures == 500
        await here.clock.advance(30)
        assert here.is_well()
        assert here.registrations == 501


async def test_a_refusal_is_told_with_the_kubelets_text(node: "type[Node]") -> None:
    async with node() as here:
        here.kubelet.refuse_next(reason="failed to dial device plugin")
        await here.start_kubelet()
        (failed,) = here.journal.of(RegistrationFailed)
        assert (failed.reason, failed.failures) == ("failed to dial device plugin", 1)
        assert failed.endpoint == here.registrar.endpoints[0]
        await here.clock.advance(1)
        assert here.is_well()


async def test_a_kubelet_that_comes_is_not_met_with_the_wait_that_another_one_caused(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.refuse_next(100)
        await here.start_kubelet()
        await here.clock.advance(600)
        await here.kubelet.restart()
        await here.clock.settle()
        before = here.registrations
        await here.clock.advance(0.2)
        assert here.registrations - before >= 3, "the waits begin anew, with milliseconds"


async def test_a_register_that_hangs_is_given_up_and_the_third_one_succeeds(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.hang_next(2)
        await here.start_kubelet()
        await here.clock.advance(40)
        assert here.is_well()
        assert here.registrations == 3
        assert len(set(here.registrar.endpoints)) == 3
        assert all(15 <= gap <= 17 for gap in gaps(here.registrar.times))


LOSSES: dict[str, "Callable[[Node], None]"] = {
    "broken": lambda here: here.kubelet.lose_next(),
    "unanswered": lambda here: here.kubelet.hang_next(),
}
COMPLETED: dict[str, "Callable[[Node], None]"] = {
    "broken": lambda here: here.kubelet.lose_next(completing=True),
    "unanswered": lambda here: here.kubelet.hang_next(completing=True),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
async def test_after_an_unclear_register_a_new_server_registers(
    node: "type[Node]", lose: "Callable[[Node], None]"
) -> None:
    """The registrar of these tests fails on a second Register on one socket."""
    async with node() as here:
        lose(here)
        await here.start_kubelet()
        await here.clock.advance(20)
        assert here.is_well()
        assert here.registrations == 2


@pytest.mark.parametrize("lose", COMPLETED.values(), ids=COMPLETED)
async def test_an_unclear_register_that_the_kubelet_completes_is_made_anew(
    node: "type[Node]", lose: "Callable[[Node], None]"
) -> None:
    """Its stream is no proof that it was completed; the second one is well."""
    async with node() as here:
        lose(here)
        await here.start_kubelet()
        await here.clock.advance(120)
        assert here.is_well()
        assert here.registrations == 2
        assert here.keeper.phase is Phase.STEADY


async def test_a_person_who_looks_is_not_taken_for_the_kubelet(node: "type[Node]") -> None:
    """Though the look is the only stream when Register ends without an answer."""
    async with node() as here:
        here.kubelet.hang_next(completing=False)
        await here.start_kubelet()
        look = here.kubelet.host.served[-1].listings()
        await anext(look)
        await here.clock.advance(120)
        assert here.is_well()
        assert here.registrations == 2
        await look.aclose()


class SilentKubelet(Registrar):
    """Accepts, and never opens its stream."""

    def __init__(self) -> None:
        self.registered: list[str] = []

    async def reachable(self) -> bool:
        """Say that it is there."""
        return True

    async def register(self, registration: Registration, seconds: float) -> None:
        """Accept."""
        del seconds
        self.registered.append(registration.endpoint)


async def test_a_kubelet_that_accepts_and_never_opens_its_stream_is_registered_with_anew(
    node: "type[Node]",
) -> None:
    """Until its stream is open a pod would be admitted without any device."""
    kubelet = SilentKubelet()
    async with node(registrar=kubelet) as here:
        here.kubelet.start()
        await here.clock.advance(here.world.timing.stream - 0.1)
        assert len(kubelet.registered) == 1
        assert here.keeper.phase is Phase.REGISTERED
        await here.clock.advance(0.3)
        assert len(set(kubelet.registered)) == 2


async def test_a_stream_that_ends_before_the_answer_to_register_is_a_loss(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.hang_next(completing=True)
        await here.start_kubelet()
        assert here.keeper.phase is Phase.GREETED
        await here.kubelet.cut_stream(WIDGET)
        await here.clock.advance(0.1)
        assert here.is_well()
        assert here.registrations == 2


async def test_a_server_that_cannot_start_is_tried_ever_more_slowly_with_one_warning(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.host.fail_serving(1000, reason="permission denied")
        await here.start_kubelet()
        await here.clock.advance(600)
        waits = gaps(here.host.times)
        assert 20 < len(waits) < 60
        assert waits == sorted(waits)
        assert max(waits) <= 30
        assert here.registrations == 0
        failures = here.journal.of(ServingFailed)
        assert len(here.journal.of(ServingFailedAgain)) == len(failures) - 1
        assert (failures[0].reason, failures[0].level) == ("permission denied", "warning")
        assert [event.failures for event in failures] == list(range(1, len(failures) + 1))


async def test_a_server_that_could_not_start_for_a_while_ends_registered(
    node: "type[Node]",
) -> None:
    async with node() as here:
        here.kubelet.host.fail_serving(5)
        await here.start_kubelet()
        await here.clock.advance(2)
        assert here.is_well()
        assert here.registrations == 1


async def test_a_kubelet_told_of_after_it_was_tried_in_vain_is_tried_again_at_once(
    node: "type[Node]",
) -> None:
    """It did not listen yet; the wait that comes next was made long by the kubelet before it."""
    async with node(watched=False) as here:
        here.appeared(here.directory.put(KUBELET_SOCKET))
        await here.clock.advance(600)
        identity = here.directory.put(KUBELET_SOCKET)
        tries = len(here.registrar.times)
        while len(here.registrar.times) == tries:
            await here.clock.advance(1)
        here.appeared(identity)
        here.kubelet.listen()
        await here.clock.advance(0.1)
        assert here.is_well()
