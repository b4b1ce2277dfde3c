"""What the command line shows: tables in a terminal, plain text in a pipe."""

import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deviceplugin.app.explanation import Line, Tone
from deviceplugin.domain.devices import DeviceInfo, DeviceNode, Health
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices

_PIPE_WIDTH: Final = 10_000
"""Columns where there is no terminal, so that each device is a line and no line is cut."""
_STYLE: Final = {Health.HEALTHY: "green", Health.UNHEALTHY: "red"}
_TONES: Final[Mapping[Tone, str]] = {
    "plain": "",
    "title": "bold",
    "good": "green",
    "bad": "red",
}


def console() -> Console:
    """Return a console on standard output that colours only what a person sees."""
    stream: TextIO | None = sys.stdout  # None: whoever started us closed it
    is_seen = stream is not None and stream.isatty()
    # Where the locale has no UTF-8, a question mark is better than an error.
    adapt = getattr(stream, "reconfigure", None)
    if adapt is not None:
        adapt(errors="replace")
    return Console(width=None if is_seen else _PIPE_WIDTH, highlight=False, soft_wrap=False)


def show(lines: Iterable[Line]) -> None:
    """Show lines, each in the colour of its tone."""
    shown = console()
    for line in lines:
        shown.print(Text(line.text, style=_TONES[line.tone]), soft_wrap=True)


class Screen:
    """Lines and tables on standard output, from any thread."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._console = console()
        self._turn = threading.Lock()

    def line(self, text: str) -> None:
        """Show a line, as it is."""
        with self._turn:
            self._console.print(Text(text), soft_wrap=True)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Show a table."""
        made = table(headings, rows)
        with self._turn:
            self._console.print(made)


def table(headings: Sequence[str], rows: Iterable[Sequence[Text | str]]) -> Table:
    """Return a table that shows each text as it is, to its end.

    As a bare `str`, rich would read the PCI address 0000:ab:00.0 as an emoji, and [x] as a style.
    """
    made = Table(header_style="bold")
    for heading in headings:
        made.add_column(heading, overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return made


def devices_table(resources: Mapping[ResourceName, Devices]) -> Table:
    """Return a row a device: resource, id, health, NUMA nodes, device nodes."""
    return table(("Resource", "Device", "Health", "NUMA", "Nodes"), _rows(resources))


def _rows(resources: Mapping[ResourceName, Devices]) -> Iterator[Sequence[Text | str]]:
    for name in sorted(resources):
        for row, (key, info, shares) in enumerate(_by_device(resources[name])):
            shown = str(name) if row == 0 else ""
            device = f"{key} ({shares} shares)" if shares > 1 else key
            yield shown, device, _health(info), _numa(info), _nodes(info)
        if not resources[name]:
            yield str(name), Text("no device", style="dim")


def _by_device(units: Devices) -> Iterator[tuple[str, DeviceInfo, int]]:
    """Yield each device once, with the number of units that stand for it: they are all alike."""
    shares = Counter(info.share_of for info in units.values() if info.share_of)
    for key, info in units.items():
        if not info.share_of:
            yield str(key), info, 1
        elif info.share_of in shares:
            yield info.share_of, info, shares.pop(info.share_of)


def _health(info: DeviceInfo) -> Text:
    return Text(info.health.value, style=_STYLE[info.health])


def _numa(info: DeviceInfo) -> str:
    return ", ".join(map(str, info.numa_nodes)) or "-"


def _nodes(info: DeviceInfo) -> str:
    return ", ".join(map(_node, info.nodes)) or "-"


def _node(node: DeviceNode) -> str:
    moved = "" if node.container_path == node.host_path else f" as {node.container_path}"
    return f"{node.host_path}{moved} ({node.permissions})"
