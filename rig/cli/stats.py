"""`rig stats`: what shots add up to: groups of shots, and the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    JsonOption,
    SettingsFile,
    open_log_to_read,
    refuse_before_a_command,
)
from rig.cli.arguments.outputs import check_csv, check_picture
from rig.cli.terminal.figure_file import write_figure
from rig.cli.terminal.sentences import echo
from rig.files.length_unit import LengthUnit
from rig.files.one_line import on_one_line
from rig.files.whole_file import write_whole
from rig.stats.hit_view import By

__all__ = ["compare", "group", "over_the_log"]

_HELP = "Say what shots add up to: hits and casualties over the log, or how a group scatters."

_stats = typer.Typer(name="stats", help=_HELP, invoke_without_command=True)
app.add_typer(_stats, rich_help_panel="Look back")


Unit = Annotated[LengthUnit | None, typer.Option(help="what x and y are in, where the header does not say")]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="leave out rows that cannot be used, and say which")
]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", callback=check_picture, help="also draw it: .png, .svg or .pdf"),
]


@_stats.callback()
def over_the_log(
    context: typer.Context,
    by: Annotated[
        list[By] | None,
        typer.Option(help="tell shots apart by this; may be given several times"),
    ] = None,
    as_json: JsonOption = False,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=check_csv, help="also write a table into this file"),
    ] = None,
    plot: Plot = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Say what shots add up to: hits and casualties over the log, or how a group scatters."""
    refuse_before_a_command(context)
    if context.invoked_subcommand is not None:
        return
    from rig.stats.hit_report import as_csv, tallies
    from rig.stats.hit_report import as_json as hits_as_json
    from rig.stats.hit_statistics import statistics_of

    with open_log_to_read(settings) as log:
        statistics = statistics_of(log)
    if not statistics.facts:
        raise RefusedError("no shot of the log has left the cannon; there is nothing to count")
    views = list(dict.fromkeys(by or ()))
    if as_json:
        print(json.dumps(hits_as_json(statistics, views), allow_nan=False))
    else:
        from rig.cli.terminal.hit_tables import hit_tables
        from rig.cli.terminal.tables import print_uncut

        print_uncut(hit_tables(statistics, views))
    if csv is not None:
        write_whole(csv, as_csv(statistics, views))
        echo(f"wrote {on_one_line(csv)}", err=True)
    if plot is not None:
        from rig.stats.hit_plot import draw_hits

        write_figure(draw_hits(tallies(statistics, views or [By.OPTION])), plot)


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
    as_json: JsonOption = False,
    plot: Plot = None,
) -> None:
    """Say how a group of shots scatters about its centre and about the point of aim."""
    from calibration.dispersion import GroupError, Shots
    from rig.stats.group_file import read_group
    from rig.stats.group_report import report_group

    read = read_group(file, unit=unit, skip_bad_rows=skip_bad_rows)
    bootstrapped = {}
    if bootstrap:
        import numpy as np

        from calibration.dispersion.bootstrap import bootstrap as draw_anew

        try:
            found = draw_anew(Shots.of(read.points), np.random.default_rng(seed))
        except GroupError as error:
            raise RefusedError(f"{read.name}: {error}") from error
        bootstrapped = {figure.value: estimate for figure, estimate in found.items()}
    report = report_group(read, radii=radius or (), bootstrapped=bootstrapped)
    for fault in read.skipped:
        echo(f"rig: {on_one_line(read.name)}: left out: {fault}", err=True)
    if as_json:
        print(json.dumps(report.as_json(), allow_nan=False))
    else:
        from rig.cli.terminal.group_tables import group_tables
        from rig.cli.terminal.tables import print_uncut

        print_uncut(group_tables(report))
    if plot is not None:
        from rig.stats.group_plot import draw_group

        write_figure(draw_group(report), plot)
    if report.group.spread is None:
        raise RefusedError(f"{read.name}: {report.group.reasons[0]}")


@_stats.command()
def compare(
    files: Annotated[
        list[Path], typer.Argument(help="two CSV files or more, as `rig stats group` reads them")
    ],
    unit: Unit = None,
    skip_bad_rows: SkipBadRows = False,
    as_json: JsonOption = False,
) -> None:
    """Say whether groups lie at the same place and spread alike."""
    from calibration.dispersion import Shots
    from calibration.dispersion.compare import compare as compare_groups
    from rig.stats.group_file import read_group, same_unit

    read = [read_group(file, unit=unit, skip_bad_rows=skip_bad_rows) for file in files]
    common = same_unit(read)
    for each in read:
        for fault in each.skipped:
            echo(f"rig: {on_one_line(each.name)}: left out: {fault}", err=True)
    shots = [Shots.of(each.points) for each in read]
    for each, taken in zip(read, shots, strict=True):
        taken.need(2, f"{each.name}: a comparison")
    comparison = compare_groups(shots)
    names = [each.name for each in read]
    if as_json:
        from rig.stats.group_report import comparison_as_json

        print(json.dumps(comparison_as_json(names, shots, common, comparison), allow_nan=False))
        return
    from rig.cli.terminal.group_tables import comparison_tables
    from rig.cli.terminal.tables import print_uncut

    print_uncut(comparison_tables(names, shots, common, comparison))
