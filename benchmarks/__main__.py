"""`make bench`: print each figure and its bound; fail if one is not kept."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measures import allocate, memory
from benchmarks.reactions import change, restart, stream_cut
from benchmarks.results import Result
from benchmarks.subject import Kind

_COUNTS = (1, 10, 100)


def _row(table: Table, result: Result) -> None:
    verdict = "[green]kept[/]" if result.kept else "[red]missed[/]"
    table.add_row(
        result.name,
        "" if result.bare is None else f"{result.bare:.1f} {result.unit}",
        f"{result.ours:.1f} {result.unit}",
        result.shown,
        "" if result.bound is None else f"≤ {result.bound:g}",
        "" if result.bound is None else verdict,
    )


def _measures(kinds: Sequence[Kind]) -> list[Callable[[], Result]]:
    return [
        allocate,
        memory,
        change,
        *(partial(stream_cut, kind) for kind in kinds),
        *(partial(restart, kind, count) for kind in kinds for count in _COUNTS),
    ]


def main() -> int:
    """Measure all, show all, and return 1 if a bound is not kept."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", default="", help="measures whose name contains this")
    parser.add_argument("--real", type=Path, default=None, help="the program of a real kubelet")
    given = parser.parse_args()
    kinds = [Kind(), *([] if given.real is None else [Kind(given.real)])]
    table = Table("Measured in one run", "bare grpc.aio", "deviceplugin", "figure", "bound", "")
    console = Console()
    results: list[Result] = []
    for measure in _measures(kinds):
        name = getattr(measure, "func", measure).__name__
        if given.only in name:
            results.append(measure())
            _row(table, results[-1])
    console.print(table)
    return 0 if all(result.kept for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
