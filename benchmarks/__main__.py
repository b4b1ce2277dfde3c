"""`make bench`: print each ratio and its bound; fail if one is not kept."""

import sys

from rich.console import Console
from rich.table import Table

from benchmarks.measures import Result, allocate, memory, restart


def _row(table: Table, result: Result) -> None:
    verdict = "[green]kept[/]" if result.kept else "[red]missed[/]"
    table.add_row(
        result.name,
        f"{result.bare:.1f} {result.unit}",
        f"{result.ours:.1f} {result.unit}",
        f"{result.ratio:.2f}",
        f"≤ {result.bound:g}",
        verdict,
    )


def main() -> int:
    """Measure all, show all, and return 1 if a bound is not kept."""
    table = Table("Measured in one run", "bare grpc.aio", "deviceplugin", "ratio", "bound", "")
    results = [allocate(), memory(), restart()]
    for result in results:
        _row(table, result)
    Console().print(table)
    return 0 if all(result.kept for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
