"""Asking after single devices: a rule of its own, behind all others, that takes them in."""

from collections.abc import Iterable
from typing import Final

from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.conditions import demand
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.globs import literally
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.resources import ResourceName

ASKED: Final = ResourceName("asked.invalid", "device")
"""The resource of that rule: a name that no configuration can need (RFC 2606)."""


def asking(*, nodes: Iterable[str] = (), devices: Iterable[str] = ()) -> ResourceRule:
    """Return a rule that matches devices by paths below /dev, or below /sys without that.

    Each is taken as it is, wildcards too. Raises `InvalidValueError` if there are none.
    """
    match = [
        Alternative([demand(Fact(kind), *map(literally, paths))])
        for kind, paths in ((Kind.NODE, tuple(nodes)), (Kind.DEVPATH, tuple(devices)))
        if paths
    ]
    if not match:
        raise InvalidValueError("no device is asked after")
    return ResourceRule(resource=ASKED, match=tuple(match), advertise_empty=False)
