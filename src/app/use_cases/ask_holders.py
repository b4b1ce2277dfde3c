"""Ask whoever may know which devices containers hold."""

import asyncio
from collections.abc import Iterable

from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.events import HoldersUnknown
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.holders import Holders
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings


class AskHolders:
    """Asks every source at once; one that cannot answer is told of, once for each new reason."""

    def __init__(
        self, sources: Iterable[Holders], *, clock: Clock, seconds: float, journal: Journal
    ) -> None:
        """Give each of `sources` so many seconds to answer."""
        self._sources = tuple(sources)
        self._clock = clock
        self._seconds = seconds
        self._journal = journal
        self._told: dict[Holders, str] = {}

    async def __call__(self, resource: ResourceName) -> tuple[Holdings, ...]:
        """Return what those say of `resource` who can answer in time."""
        answers = await asyncio.gather(*(self._ask(each, resource) for each in self._sources))
        return tuple(answer for answer in answers if answer is not None)

    async def _ask(self, source: Holders, resource: ResourceName) -> Holdings | None:
        try:
            answer = await within(
                self._clock, self._seconds, source.holders(resource), late=self._late
            )
        except HoldersUnknownError as unknown:
            self._tell(source, str(unknown))
            return None
        self._told.pop(source, None)
        return answer

    def _late(self) -> HoldersUnknownError:
        return HoldersUnknownError(f"no answer within {self._seconds:g} s")

    def _tell(self, source: Holders, reason: str) -> None:
        if self._told.get(source) != reason:
            self._told[source] = reason
            self._journal.record(HoldersUnknown(reason=reason))
