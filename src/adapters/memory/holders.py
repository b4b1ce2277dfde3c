"""Containers that are just said to hold devices."""

import asyncio
from collections.abc import Mapping

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.ports.driven.holders import Holders
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings
from deviceplugin.domain.room import fitting


class MemoryHolders(Holders):
    """Answers what `hold` and `free` made of it; `complete` says whether it knows all containers.

    `asked` are the resources of the questions so far. While `may_answer` is cleared, no answer
    comes.
    """

    def __init__(self, *, complete: bool = True) -> None:
        self.complete = complete
        self.asked: list[ResourceName] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self._held: dict[ResourceName, set[DeviceId]] = {}
        self._failure = ""

    def hold(self, resource: ResourceName, *ids: DeviceId) -> None:
        """Let a container hold these devices, too."""
        self._held.setdefault(resource, set()).update(ids)

    def free(self, resource: ResourceName, *ids: DeviceId) -> None:
        """Let no container hold these devices."""
        self._held.get(resource, set()).difference_update(ids)

    def fail(self, reason: str) -> None:
        """Let every question fail for this reason; an empty one ends that."""
        self._failure = reason

    async def holders(self, resource: ResourceName) -> Holdings:
        """Return what is held now."""
        self.asked.append(resource)
        await self._able()
        return self._held_of(resource)

    async def all_holders(self) -> Mapping[ResourceName, Holdings]:
        """Return all that is held now."""
        await self._able()
        return {name: self._held_of(name) for name, ids in self._held.items() if ids}

    async def _able(self) -> None:
        await self.may_answer.wait()
        if self._failure:
            raise HoldersUnknownError(self._failure)

    def _held_of(self, resource: ResourceName) -> Holdings:
        held = dict.fromkeys(self._held.get(resource, ()), ())
        fit = fitting(held)
        left_out = len(held) - len(fit)
        return Holdings(
            held=dict.fromkeys(fit, ()),
            complete=self.complete and not left_out,
            left_out=left_out,
        )
