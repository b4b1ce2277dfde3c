"""What happens all the time in a plugin that is well: of interest to those who count."""

from typing import ClassVar

import attrs

from deviceplugin.domain.events import Event, Level, ResourceEvent


@attrs.frozen(kw_only=True)
class ScanEnded(Event):
    """One look at the hardware ended well, after so many seconds."""

    level: ClassVar[Level] = "debug"
    seconds: float


@attrs.frozen(kw_only=True)
class StreamOpened(ResourceEvent):
    """Somebody reads the resource's list, the kubelet as a rule; `streams` of them by now."""

    level: ClassVar[Level] = "debug"
    streams: int


@attrs.frozen(kw_only=True)
class StreamEnded(ResourceEvent):
    """One of them reads it no more; `streams` are left."""

    level: ClassVar[Level] = "debug"
    streams: int


@attrs.frozen(kw_only=True)
class MetricsServed(Event):
    """Whoever asks at this address is told the metrics."""

    address: str


@attrs.frozen(kw_only=True)
class MetricsUnavailable(Event):
    """Nobody can be told them there, for the reason given; it is tried again and again."""

    level: ClassVar[Level] = "warning"
    address: str
    reason: str
