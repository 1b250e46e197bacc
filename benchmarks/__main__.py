"""`make bench`: run every benchmark of this folder, print the table, write build/bench.json.

`python -m benchmarks game twin` runs those two modules, and only prints. Where something is promised of a ratio the table
says so, and whether it is kept; that a promise is broken is no error, for another computer may be slower.
"""

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.figure import Figure

__all__ = ["main", "table_of"]


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print, and write where all were measured."""
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    known = sorted(name for name in found if name != "figure" and not name.startswith("_"))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure, and hold what is measured against its peers."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to measure; all without it: {', '.join(known)}"
    )
    wanted = list(dict.fromkeys(parser.parse_args(given).names))
    if strangers := sorted(set(wanted) - set(known)):
        sys.exit(f"benchmarks: there is no {', '.join(strangers)}; there are {', '.join(known)}")
    console = Console()
    figures: list[Figure] = []
    for name in wanted or known:
        with console.status(f"measuring {name}"):
            figures += importlib.import_module(f"benchmarks.{name}").measure()
    console.print(table_of(figures))
    promised = [figure for figure in figures if figure.met is not None]
    broken = [figure for figure in promised if not figure.met]
    console.print(f"{len(promised)} promises, {len(broken)} of them not met")
    for figure in broken:
        console.print(f"not met: {figure.name}: {figure.ratio:.3g}, promised {figure.promise}", markup=False)
    if wanted:
        return
    path = Path("build/bench.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([figure.as_json() for figure in figures], indent=1) + "\n", encoding="utf-8")
    console.print(f"written to {path}")


def table_of(figures: Sequence[Figure]) -> Table:
    """Lay figures out as a table, a row each."""
    table = Table(title="Benchmarks: each value beside its peer, in the same run")
    table.add_column("what", ratio=3, overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("beside", ratio=2, overflow="fold")
    table.add_column("ratio", justify="right", no_wrap=True)
    table.add_column("promised", max_width=12)
    for figure in figures:
        kept = {None: "", True: "\nmet", False: "\nNOT MET"}[figure.met]
        table.add_row(
            figure.name,
            f"{_digits(figure.value)} {figure.unit}",
            f"{figure.peer}: {_digits(figure.peer_value)}",
            f"{figure.ratio:.3g}",
            figure.promise + kept,
        )
    return table


def _digits(value: float) -> str:
    """Four digits of a value, and never a power of ten where a person counts."""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.4g}"


if __name__ == "__main__":
    main()
