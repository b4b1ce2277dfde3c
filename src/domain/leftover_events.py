"""What a plugin leaves behind, since it may not take it away."""

from typing import ClassVar

import attrs

from deviceplugin.domain.events import Event, Level


@attrs.frozen(kw_only=True)
class FileLeft(Event):
    """A socket of ours that is closed, or its lock, is still there, for the reason given."""

    level: ClassVar[Level] = "warning"
    path: str
    reason: str
