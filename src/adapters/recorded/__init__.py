"""Recorded machines, as directories."""

from deviceplugin.adapters.recorded.nodes import NotedNodes
from deviceplugin.adapters.recorded.tree import Recorded, opened, vacant, write
from deviceplugin.adapters.recorded.uses import NotedHostUse, RecordedHostUse

__all__ = [
    "NotedHostUse",
    "NotedNodes",
    "Recorded",
    "RecordedHostUse",
    "opened",
    "vacant",
    "write",
]
