"""Recorded machines, as directories."""

from deviceplugin.adapters.recorded.nodes import NotedNodes
from deviceplugin.adapters.recorded.tree import Recorded, opened, vacant, write

__all__ = ["NotedNodes", "Recorded", "opened", "vacant", "write"]
