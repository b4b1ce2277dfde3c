"""Let several journals take note."""

from collections.abc import Sequence

import attrs

from deviceplugin.domain.events import Event
from deviceplugin.domain.ports.driven.journal import Journal


@attrs.frozen
class TellAll(Journal):
    """Passes each event on to all of them, in their order."""

    journals: Sequence[Journal]

    def record(self, event: Event) -> None:
        """Let each take note."""
        for each in self.journals:
            each.record(event)
