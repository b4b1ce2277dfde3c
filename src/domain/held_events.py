"""What happens when more is said to be held than can be."""

from typing import ClassVar

import attrs

from deviceplugin.domain.events import Level, ResourceEvent


@attrs.frozen(kw_only=True)
class HeldNotListed(ResourceEvent):
    """So many devices more are said to be held than there is room for; told when that begins."""

    level: ClassVar[Level] = "warning"
    devices: int
    reason: str
