"""Ask whoever may know which devices containers hold."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TypeVar

from deviceplugin.app.use_cases.within import within
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.events import HoldersUnknown
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.holders import Holders
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Held, Holdings, named

_Answer = TypeVar("_Answer")


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
        return await self._all(lambda source: source.holders(resource))

    def is_whole(self, answers: Sequence[Holdings]) -> bool:
        """Say whether these are the answers of all who were asked."""
        return len(answers) == len(self._sources)

    async def about_all(self) -> Mapping[ResourceName, Held]:
        """Return what those name, of every resource, who can answer in time."""
        answers = await self._all(lambda source: source.all_holders())
        names = {name for answer in answers for name in answer}
        return {
            name: named(tuple(answer[name] for answer in answers if name in answer))
            for name in names
        }

    async def _all(
        self, question: Callable[[Holders], Coroutine[None, None, _Answer]]
    ) -> tuple[_Answer, ...]:
        answers = await asyncio.gather(*(self._ask(each, question) for each in self._sources))
        return tuple(answer for answer in answers if answer is not None)

    async def _ask(
        self, source: Holders, question: Callable[[Holders], Coroutine[None, None, _Answer]]
    ) -> _Answer | None:
        try:
            answer = await within(self._clock, self._seconds, question(source), late=self._late)
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
