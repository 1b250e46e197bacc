"""`make bench`: run every benchmark of this folder, print the table, write build/bench.json.

`python -m benchmarks game twin` runs those two modules, and only prints.
"""

import importlib
import json
import pkgutil
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.figure import Figure


def main(wanted: list[str]) -> None:
    """Measure, print, and write where all were measured."""
    console = Console()
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    known = sorted(name for name in found if name != "figure" and not name.startswith("_"))
    if strangers := sorted(set(wanted) - set(known)):
        sys.exit(f"benchmarks: there is no {', '.join(strangers)}; there are {', '.join(known)}")
    figures: list[Figure] = []
    for name in wanted or known:
        with console.status(f"measuring {name}"):
            figures += importlib.import_module(f"benchmarks.{name}").measure()
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
    if wanted:
        return
    path = Path("build/bench.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([figure.as_json() for figure in figures], indent=1) + "\n", encoding="utf-8")
    console.print(f"written to {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
