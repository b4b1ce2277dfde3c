"""Probes are asked in their interval, never twice at once, and a change of an answer is told."""

import asyncio
from typing import Self

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.prober import MemoryProber
from deviceplugin.app.use_cases.keep_probing import AT_ONCE, KeepProbing
from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.errors import ProbeError

A, B = Probe(command=("/a",)), Probe(command=("/b",), interval=5)
WELL = Outcome(healthy=True)
ILL = Outcome(healthy=False, reason="too hot")


class Probing:
    """Somebody who waits for changes, again and again."""

    def __init__(self) -> None:
        self.clock, self.prober = ManualClock(), MemoryProber()
        self.probing = KeepProbing(self.prober, clock=self.clock)
        self.changes = 0
        self._task = asyncio.create_task(self._listen())

    async def __aenter__(self) -> Self:
        await self.clock.settle()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()
        assert self.prober.under_way == 0

    async def end(self) -> None:
        """Stop waiting."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def want(self, *probes: Probe, every: bool = False) -> None:
        """Let these be asked from now on, and be asked once."""
        self.probing.answers(frozenset(probes), every)
        await self.clock.settle()

    def answer(self, probe: Probe) -> Outcome | None:
        """Return the last answer of one."""
        return self.probing.answers(frozenset({probe}), False).get(probe)

    async def _listen(self) -> None:
        while True:
            await self.probing.changed()
            self.changes += 1


async def test_nothing_is_asked_as_long_as_nobody_wants_it() -> None:
    async with Probing() as probing:
        await probing.clock.advance(3600)
        assert probing.prober.asked == []
        assert probing.changes == 0


async def test_each_is_asked_at_once_and_then_in_its_interval() -> None:
    async with Probing() as probing:
        await probing.want(A, B)
        assert probing.prober.asked == [A, B]
        await probing.clock.advance(20)
        assert probing.prober.asked.count(A) == 3
        assert probing.prober.asked.count(B) == 5


async def test_only_an_answer_that_is_another_one_is_told() -> None:
    """The first one is; a reason that reads otherwise is not."""
    async with Probing() as probing:
        await probing.want(A)
        assert probing.changes == 1
        await probing.clock.advance(30)
        assert probing.changes == 1
        for number in range(3):
            probing.prober.answers["/a"] = Outcome(healthy=False, reason=f"{90 + number} degrees")
            await probing.clock.advance(10)
        assert probing.changes == 2
        assert probing.answer(A) == Outcome(healthy=False, reason="92 degrees")


async def test_every_answer_is_told_while_looks_are_counted() -> None:
    async with Probing() as probing:
        await probing.want(A, every=True)
        await probing.clock.advance(30)
        assert probing.changes == 4


async def test_a_probe_that_cannot_be_asked_is_not_well() -> None:
    """Nor is one whose adapter breaks."""
    async with Probing() as probing:
        probing.prober.answers = {"/a": ProbeError("no such command"), "/b": None}
        await probing.want(A, B)
        known = probing.probing.answers(frozenset({A, B}), False)
        assert known[A] == Outcome(healthy=False, reason="no such command", ran=False)
        assert not known[B].healthy
        assert not known[B].ran


async def test_one_that_hangs_is_not_asked_again_and_holds_up_no_other() -> None:
    async with Probing() as probing:
        held = probing.prober.held = asyncio.Event()
        await probing.want(A)
        probing.prober.held = None
        await probing.want(A, B)
        await probing.clock.advance(60)
        assert probing.prober.asked.count(A) == 1
        assert probing.prober.asked.count(B) == 13
        assert probing.answer(B) in {WELL, None}
        held.set()


async def test_few_are_under_way_at_once_and_each_has_its_turn() -> None:
    """However many devices there are."""
    probes = [Probe(command=(f"/{number}",), interval=1) for number in range(50)]
    async with Probing() as probing:
        await probing.want(*probes)
        await probing.clock.advance(5)
        assert probing.prober.most == AT_ONCE
        assert set(probing.prober.asked) == set(probes)
        counts = [probing.prober.asked.count(each) for each in probes]
        assert max(counts) - min(counts) <= 1


async def test_what_is_not_wanted_any_more_is_forgotten() -> None:
    """A device that comes back is asked anew before it counts as well."""
    async with Probing() as probing:
        await probing.want(A, B)
        assert probing.probing.answers(frozenset({B}), False) == {B: WELL}
        await probing.clock.advance(1)
        assert probing.answer(A) is None


async def test_what_ends_while_it_is_asked_is_asked_at_once_the_next_time() -> None:
    async with Probing() as probing:
        probing.prober.held = asyncio.Event()
        await probing.want(A)
        await probing.end()
        assert probing.prober.under_way == 0
        probing.prober.held = None
        again = asyncio.create_task(probing.probing.changed())
        await probing.clock.settle()
        assert again.done()
        assert probing.answer(A) == WELL
