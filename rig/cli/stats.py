"""`rig stats`: what shots add up to: groups of shots, and the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli._app import RefusedError, app
from rig.cli._pictures import check_ending, write_figure
from rig.length_unit import LengthUnit

__all__ = ["group"]

_stats = typer.Typer(name="stats", help="Say what shots add up to.", no_args_is_help=True)
app.add_typer(_stats, rich_help_panel="Look back")

Unit = Annotated[LengthUnit | None, typer.Option(help="what x and y are in, where the header does not say")]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="leave out rows that cannot be used, and say which")
]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else")]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", callback=check_ending, help="also draw it: .png, .svg or .pdf"),
]


@_stats.command()
def group(
    file: Annotated[Path, typer.Argument(help="CSV with columns x,y, or x_mm,y_mm (cm, m, in)")],
    unit: Unit = None,
    radius: Annotated[
        list[float] | None,
        typer.Option(help="of a round target: the chance to hit it; may be given several times"),
    ] = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="also intervals that ask nothing of the distribution")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="draws the bootstrap's samples")] = 0,
    skip_bad_rows: SkipBadRows = False,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Say how a group of shots scatters about its centre and about the point of aim."""
    from calibration.dispersion import Shots
    from rig.group_file import read_group
    from rig.group_report import report_group

    read = read_group(file, unit=unit, skip_bad_rows=skip_bad_rows)
    bootstrapped = {}
    if bootstrap:
        import numpy as np

        from calibration.dispersion.bootstrap import bootstrap as draw_anew

        found = draw_anew(Shots.of(read.points), np.random.default_rng(seed))
        bootstrapped = {figure.value: estimate for figure, estimate in found.items()}
    report = report_group(read, radii=radius or (), bootstrapped=bootstrapped)
    for fault in read.skipped:
        typer.echo(f"rig: {read.name}: left out: {fault}", err=True)
    if as_json:
        print(json.dumps(report.as_json(), allow_nan=False))
    else:
        from rich.console import Console

        from rig.cli._group_tables import group_tables

        Console(highlight=False).print(group_tables(report))
    if plot is not None:
        from rig.group_plot import draw_group

        write_figure(draw_group(report), plot)
    if report.group.spread is None:
        raise RefusedError(f"{read.name}: {report.group.reasons[0]}")
