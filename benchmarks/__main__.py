"""`make bench`: run every benchmark of this folder, print the table, write build/bench.json."""

import importlib
import json
import pkgutil
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.figure import Figure


def main() -> None:
    """Measure, print, write."""
    console = Console()
    figures: list[Figure] = []
    for module in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda found: found.name):
        if module.name == "figure" or module.name.startswith("_"):
            continue
        with console.status(f"measuring {module.name}"):
            figures += importlib.import_module(f"benchmarks.{module.name}").measure()
    table = Table(title="Benchmarks: each value beside its peer, in the same run")
    table.add_column("what")
    table.add_column("value", justify="right")
    table.add_column("unit")
    table.add_column("peer")
    table.add_column("peer's value", justify="right")
    table.add_column("ratio", justify="right")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.value:,.4g}",
            figure.unit,
            figure.peer,
            f"{figure.peer_value:,.4g}",
            f"{figure.ratio:.3g}",
        )
    console.print(table)
    path = Path("build/bench.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([figure.as_json() for figure in figures], indent=1) + "\n", encoding="utf-8")
    console.print(f"written to {path}")


if __name__ == "__main__":
    main()
