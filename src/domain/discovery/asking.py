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

_DEVNAME: Final = Fact(Kind.PROPERTY, "DEVNAME")


def asking(
    *, nodes: Iterable[str] = (), devices: Iterable[str] = (), announced: Iterable[str] = ()
) -> ResourceRule:
    """Return a rule that matches devices by paths below /dev, or below /sys without that.

    `announced` are paths below /dev that the kernel has for devices, whether or not a node is
    there. Each is taken as it is, wildcards too. Raises `InvalidValueError` if there are none.
    """
    named = [path.removeprefix("/dev/") for path in announced]
    asked = ((Fact(Kind.NODE), nodes), (Fact(Kind.DEVPATH), devices), (_DEVNAME, named))
    match = [
        Alternative([demand(fact, *map(literally, paths))])
        for fact, paths in ((fact, tuple(paths)) for fact, paths in asked)
        if paths
    ]
    if not match:
        raise InvalidValueError("no device is asked after")
    return ResourceRule(resource=ASKED, match=tuple(match), advertise_empty=False)


def unknown(path: str, dangling: str | None) -> str:
    """Return why nobody can be asked about a path; `dangling` is where it leads as a link."""
    if dangling is None:
        return f"{path}: no device of this machine is known by this path"
    return (
        f"{path}: is a link to {dangling!r}, where there is no device node; if it was made for a "
        "device, that one is not there"
    )
