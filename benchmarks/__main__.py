"""`make bench`: print each figure and its bound; fail if one is not kept."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.discovery import growth, many_rules, scan_every, scan_some
from benchmarks.hotplug import hotplug
from benchmarks.idle import idle
from benchmarks.measures import allocate, memory
from benchmarks.reactions import change, restart, stream_cut, watcher
from benchmarks.results import Result
from benchmarks.subject import Kind

_COUNTS = (1, 10, 100)


def _row(table: Table, result: Result) -> None:
    if result.absent:
        table.add_row(result.name, "", result.absent, "", "", "[yellow]left out[/]")
        return
    verdict = "[green]kept[/]" if result.kept else "[red]missed[/]"
    table.add_row(
        result.name,
        "" if result.bare is None else f"{result.bare:.1f} {result.unit}",
        f"{result.ours:.1f} {result.unit}",
        result.shown,
        "" if result.bound is None else f"≤ {result.bound:g}",
        "" if result.bound is None else verdict,
    )


def _measures(kind: Kind) -> Sequence[Callable[[], Result | list[Result]]]:
    """Return what is measured; what needs a kubelet only to register is measured with fakes."""
    restarts = [partial(restart, kind, count) for count in _COUNTS]
    cuts = [partial(stream_cut, kind, way) for way in ("auto", "watcher")]
    reactions = [*cuts, *restarts, partial(watcher, kind)]
    if kind.binary:
        return reactions
    looks = [scan_some, scan_every, growth, many_rules]
    return [allocate, memory, change, *reactions, *looks, hotplug, idle]


def main() -> int:
    """Measure all, show all, and return 1 if a bound is not kept."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", default="", help="measures whose name contains this")
    parser.add_argument("--kubelet", default="1.37", help="a fake's version, or a real's program")
    given = parser.parse_args()
    program = Path(given.kubelet)
    kind = Kind(program if program.is_absolute() else None)
    table = Table("Measured in one run", "at the least", "deviceplugin", "figure", "bound", "")
    console = Console()
    results: list[Result] = []
    for measure in _measures(kind):
        name = getattr(measure, "func", measure).__name__
        if given.only in name:
            found = measure()
            for result in found if isinstance(found, list) else [found]:
                results.append(result)
                _row(table, result)
    console.print(table)
    return 0 if all(result.kept for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
