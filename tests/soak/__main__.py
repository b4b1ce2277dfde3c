"""`make soak`: show how each accident ended and what the plugin has grown by."""

import argparse
import sys
from statistics import median
from types import MappingProxyType
from typing import Final

from rich.console import Console
from rich.table import Table
from tests.soak.soak import Report, staged
from tests.soak.subject import Figures

MEBIBYTES: Final = 5
"""What the plugin may have grown by, however many rounds there were."""

SPARE: Final = MappingProxyType({"native": 2})
"""gRPC adds a thread to its pool when all are busy for a moment, and keeps it for a while."""


def _table(report: Report) -> Table:
    table = Table("Accident", "rounds", "median ms", "longest ms")
    for name, seconds in sorted(report.seconds.items()):
        taken = [f"{each * 1e3:.0f}" for each in (median(seconds), max(seconds))]
        table.add_row(name, str(len(seconds)), *taken)
    return table


def _faults(report: Report) -> list[str]:
    """Return what was not kept."""
    start, end = report.start, report.end
    if start is None or end is None:
        return ["nothing was measured"]
    grown = (end.kibibytes - start.kibibytes) / 1024
    return [
        *report.stranded,
        *([f"memory has grown by {grown:.1f} MiB"] if grown >= MEBIBYTES else []),
        *(
            f"{name}: {getattr(start, name)} at the start, {getattr(end, name)} at the end"
            for name in ("threads", "native", "descriptors", "tasks")
            if getattr(end, name) > getattr(start, name) + SPARE.get(name, 0)
        ),
    ]


def _told(figures: Figures | None) -> str:
    return (
        ""
        if figures is None
        else (
            f"{figures.kibibytes / 1024:.1f} MiB, {figures.threads} threads and {figures.native} "
            "of gRPC's, "
            f"{figures.descriptors} descriptors, {figures.tasks} tasks"
        )
    )


def main() -> int:
    """Run it, show it, and return 1 if a law was broken."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=3600.0, help="end after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kubelet", default="1.37", help="a fake's version, or a real's program")
    given = parser.parse_args()
    console = Console()
    console.print(f"kubelet {given.kubelet}, seed {given.seed}, up to {given.rounds} rounds")
    with staged(given.kubelet, given.seed) as soak:
        report = soak.run(given.rounds, given.seconds)
    console.print(_table(report))
    console.print(f"at the start: {_told(report.start)}")
    console.print(f"after {report.rounds} rounds: {_told(report.end)}")
    faults = _faults(report)
    console.print(f"stranded: {len(report.stranded)}")
    for fault in faults:
        console.print(f"[red]broken:[/] {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
