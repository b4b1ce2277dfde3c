"""What containers may hold, as far as this process knows."""

from collections.abc import Iterable

from deviceplugin.app.use_cases.ask_holders import AskHolders
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.holds import NOTHING_HELD, Hold, Holds
from deviceplugin.domain.resources import ResourceName


class KnownHolds:
    """Remembers what was given out and what holders have named, until nobody can hold it.

    Any thread may ask what that is, by calling it; all else belongs to the loop.
    """

    def __init__(self) -> None:
        """Know of nothing yet."""
        self._holds: Holds = NOTHING_HELD
        self._times: dict[Hold, int] = {}

    def __call__(self) -> Holds:
        """Return what may be held now."""
        return self._holds

    def give_out(self, resource: ResourceName, ids: Iterable[DeviceId]) -> None:
        """Take note that a container is given these now."""
        for each in {Hold(resource, key) for key in ids}:
            self._times[each] = self.times(each) + 1
        self.learn(resource, ids)

    def learn(self, resource: ResourceName, ids: Iterable[DeviceId]) -> None:
        """Take note that containers hold these."""
        new = {Hold(resource, key) for key in ids} - self._holds
        if new:
            self._holds = frozenset(self._holds | new)

    def times(self, hold: Hold) -> int:
        """Return how often it was given out since nobody held it last."""
        return self._times.get(hold, 0)

    def let_go(self, holds: Holds) -> None:
        """Take note that nobody holds these any more."""
        gone = holds & self._holds
        if gone:
            self._holds = frozenset(self._holds - gone)
            for each in gone:
                self._times.pop(each, None)


class LearnHolds:
    """Asks every holder about every resource, so that the first look knows what is held.

    For no longer than one may take to answer: what nobody can say holds nothing up.
    """

    def __init__(self, *, ask: AskHolders, holds: KnownHolds) -> None:
        """Ask nothing yet."""
        self._ask = ask
        self._holds = holds

    async def __call__(self) -> None:
        """Return once all is known that can be."""
        for resource, held in (await self._ask.about_all()).items():
            self._holds.learn(resource, held)
