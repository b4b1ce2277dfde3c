"""`make soak`: show how each accident ended and what the plugin has grown by."""

import argparse
import sys
from statistics import median
from types import MappingProxyType
from typing import Final

from rich.console import Console
from rich.table import Table
from tests.soak.soak import SETTLE, Report, staged
from tests.soak.subject import AT_REST, IN_A_ROUND, Figures

ROUNDS: Final = 10_000
SECONDS: Final = 3600.0
ENDLESS: Final = sys.maxsize
MEBIBYTES: Final = 5
"""What the plugin may have grown by, however many rounds there were."""
NAMES: Final = MappingProxyType(
    {
        "native": "threads of gRPC's",
        "threads": "threads",
        "descriptors": "descriptors",
        "tasks": "tasks",
    }
)


def _table(report: Report) -> Table:
    table = Table("Accident", "rounds", "median ms", "longest ms")
    for name, seconds in sorted(report.seconds.items()):
        taken = [f"{each * 1e3:.0f}" for each in (median(seconds), max(seconds))]
        table.add_row(name, str(len(seconds)), *taken)
    return table


def faults_of(report: Report, rounds: int | None) -> list[str]:
    """Return what was not kept, of `rounds` that were asked for, too."""
    start, end = report.start, report.end
    faults = [*report.stranded, *report.leaked]
    if rounds is not None and report.rounds < rounds and not report.leaked:
        faults.append(f"{report.rounds} of {rounds} rounds: give it more --seconds")
    if start is None or end is None:
        return [*faults, "too few rounds to measure anything"]
    grown = (end.kibibytes - start.kibibytes) / 1024
    if not report.leaked:
        faults += start.excess(end, AT_REST)
        faults += [f"memory has grown by {grown:.1f} MiB"] if grown >= MEBIBYTES else []
    return faults


def spared() -> str:
    """Return what there may be more of than at the start, after each round and in the end."""
    after, end = (
        ", ".join(f"{count} {NAMES[name]}" for name, count in spare.items())
        for spare in (IN_A_ROUND, AT_REST)
    )
    return f"tolerated above the start: after a round {after}; in the end {end}"


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
    parser.add_argument(
        "--rounds", type=int, help=f"fail if there are fewer; {ROUNDS} unless --seconds is given"
    )
    parser.add_argument("--seconds", type=float, help=f"end after so long: {SECONDS:.0f}")
    parser.add_argument(
        "--settle", type=float, default=SETTLE, help="seconds in which a round must leave nothing"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kubelet", default="1.37", help="a fake's version, or a real's program")
    given = parser.parse_args()
    rounds: int | None = given.rounds
    if rounds is None and given.seconds is None:
        rounds = ROUNDS
    seconds: float = SECONDS if given.seconds is None else given.seconds
    console = Console()
    asked = "as many rounds as there are" if rounds is None else f"{rounds} rounds"
    console.print(f"kubelet {given.kubelet}, seed {given.seed}, {asked} in {seconds:g} s")
    with staged(given.kubelet, given.seed, given.settle) as soak:
        report = soak.run(ENDLESS if rounds is None else rounds, seconds)
    console.print(_table(report))
    console.print(f"at the start: {_told(report.start)}")
    console.print(f"after {report.rounds} rounds: {_told(report.end)}")
    console.print(spared(), soft_wrap=True)
    faults = faults_of(report, rounds)
    console.print(f"stranded: {len(report.stranded)}")
    for fault in faults:
        console.print(f"[red]broken:[/] {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
