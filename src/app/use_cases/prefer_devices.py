"""Say which of the free devices a container had better get, and never fail a pod by it."""

from abc import abstractmethod
from collections.abc import Sequence

import attrs

from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.board import Board
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import reason_of
from deviceplugin.domain.events import PreferenceFailed
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import PreferredAllocator
from deviceplugin.domain.ports.driving.device_plugin import PrefersDevices
from deviceplugin.domain.preference import Policy, Wish, preferred
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices


@attrs.frozen(kw_only=True)
class _Prefers(PrefersDevices):
    """Asks whoever chooses, and only where there is a choice; takes no answer but a right one."""

    resource: ResourceName
    board: Board
    journal: Journal

    async def prefer(self, wish: Wish) -> Sequence[DeviceId]:
        """Return the choice, or none if choosing failed or gave what was not asked for."""
        if (answer := wish.only_answer()) is not None:
            return answer
        try:
            chosen = tuple(await self._choose(wish, self.board.inventory.devices))
            if wish.is_met_by(chosen):
                return chosen
            reason = _misfit(wish, chosen)
        except Exception as error:  # noqa: BLE001 - an error of the author's must fail no pod
            reason = reason_of(error)
        self.journal.record(PreferenceFailed(resource=self.resource, reason=reason))
        return ()

    @abstractmethod
    async def _choose(self, wish: Wish, devices: Devices) -> Sequence[DeviceId]: ...


def _misfit(wish: Wish, chosen: Sequence[object]) -> str:
    return (
        f"asked for {wish.size} of {len(wish.available)} devices with {len(wish.must_include)} "
        f"among them, got {[str(key) for key in chosen]}"
    )


@attrs.frozen(kw_only=True)
class PreferByPolicy(_Prefers):
    """Prefers devices by one of our policies."""

    policy: Policy

    async def _choose(self, wish: Wish, devices: Devices) -> Sequence[DeviceId]:
        return preferred(self.policy, wish, devices)


@attrs.frozen(kw_only=True)
class PreferByAuthor(_Prefers):
    """Prefers the devices that the plugin's author does."""

    code: AuthorCode
    author: PreferredAllocator

    async def _choose(self, wish: Wish, devices: Devices) -> Sequence[DeviceId]:
        return await self.code.call(self.author.preferred_allocation, self.resource, wish, devices)
