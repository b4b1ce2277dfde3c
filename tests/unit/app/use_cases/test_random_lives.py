"""Whatever happens to a resource, in whatever order, its registration obeys the laws.

The laws: never two registrations in flight; never two for one incarnation; never one without a
served socket; always registered in the end when the kubelet is well; the wait between two tries
is capped; no signal is lost. The first three are asserted by the node's registrar at each
Register; a failure there ends the keeper, which is seen after each step.
"""

from collections.abc import AsyncGenerator, Coroutine
from typing import TYPE_CHECKING, Any, Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from deviceplugin.adapters.memory.kubelet import KUBELET_SOCKET, MemoryKubelet
from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.lifecycle import UNHEARD
from deviceplugin.domain.phases import Phase
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.loop import shared_loop

if TYPE_CHECKING:
    from tests.unit.app.use_cases.conftest import Node

    from deviceplugin.domain.inventory import Listing

WIDGET: Final = ResourceName("example.com", "widget")
TIMING: Final = Timing()
LONGEST: Final = max(TIMING.backoff.cap, TIMING.slow_backoff.cap)
UP: Final = {Phase.LISTED, Phase.STEADY}
TRYING: Final = UNHEARD | {Phase.RESTING}
few = st.integers(1, 3)


class Life(RuleBasedStateMachine):
    """A resource on a node in virtual time, and all that can befall it."""

    node: "type[Node]"

    def __init__(self) -> None:
        super().__init__()
        self.here = self.node()
        self.people: list[AsyncGenerator[Listing]] = []
        self.tries: tuple[object, ...] = ()
        self.since = 0.0
        self.do(self.here.__aenter__())

    def do(self, work: Coroutine[Any, Any, object]) -> None:
        shared_loop().run_until_complete(self._settled(work))

    async def _settled(self, work: Coroutine[Any, Any, object]) -> None:
        await work
        await self.here.clock.settle()

    # --- what a kubelet does ---

    @rule(listening=st.booleans())
    def kubelet_starts(self, listening: bool) -> None:  # noqa: FBT001
        async def happens() -> None:
            await self.here.kubelet.stop()
            self.here.kubelet.start(listening=listening)

        before = self.here.keeper.phase
        self.do(happens())
        if not self.here.directory.deaf:
            assert self.here.keeper.phase is not Phase.WAITING, "the kubelet's coming was lost"
            assert self.here.keeper.phase is not Phase.STEADY or before is not Phase.STEADY

    @rule()
    def kubelet_listens(self) -> None:
        if KUBELET_SOCKET in self.here.directory.names():
            self.here.kubelet.listen()

    @rule()
    def kubelet_dies(self) -> None:
        self.do(self.here.kubelet.stop())
        assert self.here.keeper.phase not in UP, "the end of the stream was lost"

    @rule()
    def stream_is_cut(self) -> None:
        before = self.here.registrar.endpoints[-1:]
        was_up = self.here.keeper.phase in UP and self.here.kubelet.streams(WIDGET)
        self.do(self.here.kubelet.cut_stream(WIDGET))
        if was_up:
            again = self.here.registrar.endpoints[-1:] != before
            assert again or self.here.keeper.phase not in UP, "the end of the stream was lost"

    @rule(times=few)
    def kubelet_refuses(self, times: int) -> None:
        self.here.kubelet.refuse_next(times)

    @rule(
        times=few,
        completing=st.booleans(),
        fault=st.sampled_from([MemoryKubelet.lose_next, MemoryKubelet.hang_next]),
    )
    def answers_get_lost(self, times: int, completing: bool, fault: Any) -> None:  # noqa: ANN401, FBT001
        fault(self.here.kubelet, times, completing=completing)

    @rule(first=st.booleans())
    def order_of_answer_and_stream(self, first: bool) -> None:  # noqa: FBT001
        self.here.kubelet.answers_first = first

    # --- what the machine and people do ---

    @rule()
    def kubelet_socket_is_unlinked(self) -> None:
        if KUBELET_SOCKET in self.here.directory.names():
            self.here.directory.remove(KUBELET_SOCKET)
            self.do(self.here.clock.settle())

    @rule()
    def own_socket_is_removed(self) -> None:
        for name in self.here.sockets:
            self.here.directory.remove(name)
        self.do(self.here.clock.settle())

    @rule(times=few, forbidden=st.booleans())
    def serving_fails(self, times: int, forbidden: bool) -> None:  # noqa: FBT001
        host = self.here.kubelet.host
        if forbidden:
            host.forbid_serving(times)
        else:
            host.fail_serving(times)

    @rule(forbidden=st.booleans())
    def connecting_is_forbidden(self, forbidden: bool) -> None:  # noqa: FBT001
        self.here.kubelet.forbidden = forbidden

    @rule(deaf=st.booleans())
    def events_get_lost(self, deaf: bool) -> None:  # noqa: FBT001
        self.here.directory.deaf = deaf

    @rule()
    @precondition(lambda self: self.here.kubelet.host.served)
    def person_looks_at_the_lists(self) -> None:
        look = self.here.kubelet.host.served[-1].listings()
        self.people.append(look)
        self.do(anext(look))

    @rule()
    @precondition(lambda self: self.people)
    def person_has_seen_enough(self) -> None:
        self.do(self.people.pop().aclose())

    @rule(key=st.sampled_from("abcd"))
    def devices_change(self, key: str) -> None:
        board = self.here.board
        board.post(board.inventory.observe({DeviceId(key): DeviceInfo()}))
        self.do(self.here.clock.settle())

    @rule(seconds=st.sampled_from([0.001, 0.02, 0.3, 0.6, 1.0, 2.5, 16.0, 45.0]))
    def time_passes(self, seconds: float) -> None:
        self.do(self.here.clock.advance(seconds))

    # --- the laws ---

    @invariant()
    def the_keeper_lives(self) -> None:
        if self.here.keeping.done():
            self.here.keeping.result()
        assert not self.here.keeping.done()

    @invariant()
    def there_is_one_server_at_most(self) -> None:
        assert len(self.here.kubelet.host.served) <= 1

    @invariant()
    def no_socket_is_registered_twice(self) -> None:
        endpoints = self.here.registrar.endpoints
        assert len(set(endpoints)) == len(endpoints)

    @invariant()
    def the_wait_for_the_next_try_is_capped(self) -> None:
        here = self.here
        tries = (here.keeper.phase, len(here.host.times), len(here.registrar.times))
        if tries != self.tries:
            self.tries, self.since = tries, here.clock.now()
        if here.keeper.phase in TRYING - {Phase.ORPHANED}:
            assert here.clock.now() - self.since <= LONGEST

    @rule()
    def a_well_kubelet_has_it_in_the_end(self) -> None:
        async def happens() -> None:
            here = self.here
            here.kubelet.forbidden = False
            if not await here.kubelet.reachable():
                await here.kubelet.stop()
                here.kubelet.start()
            for _ in range(40):
                await here.clock.advance(LONGEST / 2)
                if here.is_well() and here.keeper.phase in UP:
                    break

        self.do(happens())
        assert self.here.is_well(), self.here.keeper.phase
        assert self.here.keeper.phase in UP

    def teardown(self) -> None:
        """Stop: from wherever it is, it ends and leaves nothing."""
        for look in self.people:
            self.do(look.aclose())
        self.do(self.here.__aexit__(None, None, None))


def test_random_lives_obey_the_laws(node: "type[Node]") -> None:
    machine = type("Life", (Life,), {"node": node})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=30, stateful_step_count=40, deadline=None)
    )
