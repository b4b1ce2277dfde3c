"""What the command line shows: tables in a terminal, plain text in a pipe."""

import sys
from collections.abc import Mapping
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deviceplugin.domain.devices import DeviceInfo, DeviceNode, Health
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices

_PIPE_WIDTH: Final = 140
"""Columns where there is no terminal, so that no line is cut."""
_STYLE: Final = {Health.HEALTHY: "green", Health.UNHEALTHY: "red"}


def console() -> Console:
    """Return a console on standard output that colours only what a person sees."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, highlight=False, soft_wrap=False)


def devices_table(resources: Mapping[ResourceName, Devices]) -> Table:
    """Return a row a device: resource, id, health, NUMA nodes, device nodes."""
    table = Table("Resource", "Device", "Health", "NUMA", "Nodes", title=None, header_style="bold")
    for name in sorted(resources):
        for row, (key, info) in enumerate(resources[name].items()):
            shown = str(name) if row == 0 else ""
            table.add_row(shown, str(key), _health(info), _numa(info), _nodes(info))
        if not resources[name]:
            table.add_row(str(name), Text("no device", style="dim"))
    return table


def _health(info: DeviceInfo) -> Text:
    return Text(info.health.value, style=_STYLE[info.health])


def _numa(info: DeviceInfo) -> str:
    return ", ".join(map(str, info.numa_nodes)) or "-"


def _nodes(info: DeviceInfo) -> str:
    return ", ".join(map(_node, info.nodes)) or "-"


def _node(node: DeviceNode) -> str:
    moved = "" if node.container_path == node.host_path else f" as {node.container_path}"
    return f"{node.host_path}{moved} ({node.permissions})"
