"""The laws of `Prober`."""

import asyncio
from abc import abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import pytest

from deviceplugin.domain.discovery.health import Probe
from deviceplugin.domain.errors import ProbeError
from deviceplugin.domain.ports.driven.prober import Prober
from deviceplugin.testing.contracts.law import eventually, law, soon


class ProberWorld(Protocol):
    """Questions whose answers are known, and a look at what is under way for them."""

    @property
    @abstractmethod
    def prober(self) -> Prober:
        """The one under test."""
        ...

    @abstractmethod
    def well(self) -> Probe:
        """Return a question to which the answer is that all is well."""
        ...

    @abstractmethod
    def ill(self, reason: str) -> Probe:
        """Return one to which the answer is that it is not, for a reason that is told."""
        ...

    @abstractmethod
    def impossible(self) -> Probe:
        """Return one that cannot be asked."""
        ...

    @abstractmethod
    def endless(self, timeout: float) -> Probe:
        """Return one that is never answered."""
        ...

    @abstractmethod
    def under_way(self) -> int:
        """Return how many are being answered now."""
        ...


class ProberContract:
    """What holds for each: subclass it and provide `world`."""

    def world(self) -> AbstractAsyncContextManager[ProberWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    @law
    async def test_an_answer_is_what_was_said(self, world: ProberWorld) -> None:
        """With the reason, if it is not well."""
        assert (await soon(world.prober.probe(world.well()))).healthy
        outcome = await soon(world.prober.probe(world.ill("too hot")))
        assert not outcome.healthy
        assert outcome.ran
        assert "too hot" in outcome.reason

    @law
    async def test_what_cannot_be_asked_is_an_error(self, world: ProberWorld) -> None:
        """Not an answer: nothing is known of the device."""
        with pytest.raises(ProbeError):
            await soon(world.prober.probe(world.impossible()))

    @law
    async def test_no_answer_in_time_is_an_error_and_leaves_nothing(
        self, world: ProberWorld
    ) -> None:
        """Whatever was started has ended by then."""
        with pytest.raises(ProbeError, match=r"0\.2 s"):
            await soon(world.prober.probe(world.endless(0.2)))
        await eventually(lambda: world.under_way() == 0)

    @law
    async def test_a_call_that_is_cancelled_leaves_nothing(self, world: ProberWorld) -> None:
        """Wherever it was."""
        for turns in (0, 1, 5, 50):
            asking = asyncio.create_task(world.prober.probe(world.endless(60)))
            for _ in range(turns):
                await asyncio.sleep(0.001)
            asking.cancel()
            await soon(_ended(asking))
            await eventually(lambda: world.under_way() == 0)

    @law
    async def test_many_devices_are_asked_at_once(self, world: ProberWorld) -> None:
        """Each gets its own answer."""
        probes = [world.ill(f"reason {number}") for number in range(8)]
        outcomes = await soon(_all(world, probes))
        for number, reason in enumerate(outcomes):
            assert f"reason {number}" in reason


async def _ended(task: "asyncio.Task[object]") -> None:
    await asyncio.wait({task})
    assert task.cancelled()


async def _all(world: ProberWorld, probes: list[Probe]) -> list[str]:
    found = await asyncio.gather(*(world.prober.probe(each) for each in probes))
    return [outcome.reason for outcome in found]
