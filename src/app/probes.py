"""Probes for a look that serves nothing: each is asked once, or none is."""

import asyncio
from collections.abc import Mapping
from typing import Final

import attrs

from deviceplugin.app.use_cases.keep_probing import AT_ONCE, asked
from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.ports.driven.prober import Prober

NOT_ASKED: Final = Outcome(healthy=True, reason="not asked")


@attrs.define
class Probes:
    """What a scanner is told of probes: nothing by the first one, all that it wants by the next.

    Without a `prober` each counts as well: nobody was asked.
    """

    prober: Prober | None = None
    _known: dict[Probe, Outcome] = attrs.field(factory=dict[Probe, Outcome], init=False)
    _wanted: set[Probe] = attrs.field(factory=set[Probe], init=False)

    def answers(self, wanted: frozenset[Probe], _every: object, /) -> Mapping[Probe, Outcome]:
        """Return what is known, and remember which are wanted."""
        self._wanted |= wanted
        return self._known

    def ask(self) -> None:
        """Ask those that are wanted."""
        wanted = sorted(self._wanted - self._known.keys(), key=repr)
        if self.prober is None:
            self._known |= dict.fromkeys(wanted, NOT_ASKED)
        elif wanted:
            self._known |= asyncio.run(_all_of(self.prober, wanted))


async def _all_of(prober: Prober, wanted: list[Probe]) -> Mapping[Probe, Outcome]:
    room = asyncio.Semaphore(AT_ONCE)

    async def in_turn(probe: Probe) -> Outcome:
        async with room:
            return await asked(prober, probe)

    outcomes = await asyncio.gather(*map(in_turn, wanted))
    return dict(zip(wanted, outcomes, strict=True))
