"""Changes that are just said to have happened."""

import asyncio

from deviceplugin.domain.ports.driven.hotplug import Change, Hotplug

_NOTHING = Change()


class MemoryHotplug(Hotplug):
    """Hears what `tell` says, unless it is `deaf`."""

    def __init__(self, *, deaf: bool = False) -> None:
        self.calls = 0
        self._deaf = deaf
        self._news = _NOTHING
        self._told = asyncio.Event()

    @property
    def heard(self) -> bool:
        """Whether changes are heard."""
        return not self._deaf

    def deafen(self) -> None:
        """Hear nothing from now on."""
        self._deaf = True

    def tell(self, change: Change) -> None:
        """Let something have changed."""
        if not self._deaf and change:
            self._news |= change
            self._told.set()

    async def changed(self) -> Change:
        """Return what was told since the last return, once there is something."""
        self.calls += 1
        await self._told.wait()
        news, self._news = self._news, _NOTHING
        self._told.clear()
        return news

    def close(self) -> None:
        """Hear nothing any more."""
        self._deaf, self._news = True, _NOTHING
        self._told.clear()
