"""Which announcements of the kernel are worth a look."""

from collections.abc import Callable, Iterable
from typing import Final

from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook

BUSTLE: Final = frozenset(
    {"net", "queues", "bdi", "module", "memory", "thermal", "power_supply", "slab", "workqueue"}
)
"""Subsystems of which busy nodes tell all the time: each pod that starts is a pair of network
devices, each with its queues. They hold no device nodes."""


def matters_to(rules: Iterable[ResourceRule]) -> Callable[[str], bool]:
    """Return what says of a subsystem whether a change in it should bring a look at once.

    Bustle does if a rule names the subsystem, or leaves open which one it means.
    """
    scope = Rulebook(rules).scope
    if scope.everywhere:
        return lambda _: True
    idle = BUSTLE - scope.subsystems
    return lambda subsystem: subsystem not in idle
