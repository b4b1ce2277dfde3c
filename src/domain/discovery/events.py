"""What happens while devices are looked for; recorded when it begins to be true, not again."""

from typing import ClassVar

import attrs

from deviceplugin.domain.events import Event, Level, ResourceEvent
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True)
class DirectoryUnreadable(Event):
    """A whole directory, below /sys or in /dev, cannot be looked into; its devices stay unseen."""

    level: ClassVar[Level] = "warning"
    path: str
    reason: str


@attrs.frozen(kw_only=True)
class DeviceSkipped(Event):
    """Something matched a rule but cannot be offered, for the reason given."""

    level: ClassVar[Level] = "debug"
    resource: ResourceName
    device: str
    reason: str


@attrs.frozen(kw_only=True)
class EntryUnreadable(Event):
    """One odd entry is passed over, or one value stays unknown."""

    level: ClassVar[Level] = "debug"
    path: str
    reason: str


@attrs.frozen(kw_only=True)
class EntryForbidden(EntryUnreadable):
    """A value stays unknown because we may not read it: with more rights it would be known."""

    level: ClassVar[Level] = "warning"


@attrs.frozen(kw_only=True)
class DeviceContested(DeviceSkipped):
    """A device matches a resource, but it, or what it is part of, belongs to an earlier one."""

    level: ClassVar[Level] = "warning"


@attrs.frozen(kw_only=True)
class DeviceDisputed(DeviceContested):
    """A device that several resources claim is offered by none, since that is an error here."""


@attrs.frozen(kw_only=True)
class DeviceStaysHeld(DeviceContested):
    """A device that matches a resource is not given to it: a container may hold it otherwise."""


@attrs.frozen(kw_only=True)
class ExclusionUndecided(DeviceSkipped):
    """A device is not offered: whether it is to be left out depends on what cannot be read."""

    level: ClassVar[Level] = "warning"


@attrs.frozen(kw_only=True)
class DeviceUnwell(ResourceEvent):
    """A device is there and cannot be used now: told when it begins, with the reason then."""

    device: str
    reason: str = attrs.field(eq=False)


@attrs.frozen(kw_only=True)
class ProbeImpossible(ResourceEvent):
    """A device's probe cannot be asked, so it counts as Unhealthy."""

    level: ClassVar[Level] = "warning"
    device: str
    reason: str = attrs.field(eq=False)


@attrs.frozen(kw_only=True)
class NumaNodeUnknown(ResourceEvent):
    """A device is offered without a NUMA node, for the reason given."""

    level: ClassVar[Level] = "debug"
    device: str
    reason: str


@attrs.frozen(kw_only=True)
class ResourceUnmatched(ResourceEvent):
    """There is no device to offer: candidates seen, and what ruled out the last of them."""

    candidates: int
    reasons: tuple[str, ...]


@attrs.frozen(kw_only=True)
class OptionalResourceUnmatched(ResourceUnmatched):
    """The same of a resource that is only served where it has devices."""

    level: ClassVar[Level] = "debug"
