"""Answers that are just said."""

import asyncio

from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.errors import ProbeError
from deviceplugin.domain.ports.driven.prober import Prober


class MemoryProber(Prober):
    """Answers as a test says, by the first part of the command or the file; else that all is well.

    An answer that is an error is raised; one that is None never comes, which is a timeout.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Outcome | ProbeError | None] = {}
        self.asked: list[Probe] = []
        self.under_way = 0
        self.most = 0
        self.held: asyncio.Event | None = None

    async def probe(self, probe: Probe) -> Outcome:
        """Return what was said, after others had a turn."""
        self.asked.append(probe)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(0)
            if self.held is not None:
                await self.held.wait()
            answer = self.answers.get(probe.file or probe.command[0], Outcome(healthy=True))
        finally:
            self.under_way -= 1
        if answer is None:
            raise ProbeError(f"no answer within {probe.timeout:g} s")
        if isinstance(answer, ProbeError):
            raise answer
        return answer
