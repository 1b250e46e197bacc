"""`rig game chart`: the combat chart of a battle, on the screen, in a spreadsheet or on paper; and a battle from its chart."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError
from rig.cli.game.group import game_group
from rig.cli.terminal.sentences import echo
from rig.counted import counted
from rig.files.one_line import on_one_line
from rig.files.whole_file import write_whole

if TYPE_CHECKING:
    from rig.battle.chart_file import ChartFile

__all__ = ["chart"]

_MOST_FAULTS = 20  # more than anybody mends at once


class Format(StrEnum):
    """What a chart is written as."""

    TEXT = "text"
    CSV = "csv"
    PDF = "pdf"
    BATTLE = "battle"


_BY_SUFFIX = {".txt": Format.TEXT, ".csv": Format.CSV, ".pdf": Format.PDF, ".json": Format.BATTLE}


class SheetLanguage(StrEnum):
    """The booklet's languages."""

    ENGLISH = "en"
    SPANISH = "es"
    ITALIAN = "it"


@game_group.command()
def chart(
    file: Annotated[Path | None, typer.Argument(help="a battle file, or a chart as text or CSV")] = None,
    blank: Annotated[bool, typer.Option("--blank", help="an empty sheet instead, to write on")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="write into this file: .txt, .csv, .pdf, or .json for a battle"),
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="what to write; none: what the file's name says, or text"),
    ] = None,
    language: Annotated[SheetLanguage, typer.Option(help="of heads and labels")] = SheetLanguage.ENGLISH,
) -> None:
    """Write the combat chart of a battle, print it, or make a battle of a chart."""
    if blank == (file is not None):
        raise typer.BadParameter("name a battle or a chart, or ask for a --blank sheet")
    wanted = _format_of(out, format_)
    if wanted is Format.PDF and out is None:
        raise typer.BadParameter("a PDF goes into a file: add --out chart.pdf")
    if wanted is Format.BATTLE and blank:
        raise typer.BadParameter("a blank sheet has no battle: ask for text, csv or pdf")
    if file is None:
        from game.montecassino import Chart
        from rig.battle.chart_file import ChartFile

        _refuse_loss(out, wanted)
        _write(ChartFile(Chart(()), None, ()), wanted, out, language)
        return
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise typer.BadParameter(
            f"found {out}, which is read here, expected another file", param_hint="--out"
        )
    _refuse_loss(out, wanted)
    from rig.battle.chart_file import read_chart_file

    found = read_chart_file(file)
    for fault in found.faults[:_MOST_FAULTS]:
        echo(f"{on_one_line(file)}: {fault}", err=True)
    if len(found.faults) > _MOST_FAULTS:
        echo(f"{on_one_line(file)}: and {counted(len(found.faults) - _MOST_FAULTS, 'more fault')}", err=True)
    _write(found, wanted, out, language)
    if found.faults:
        raise typer.Exit(1)


def _format_of(out: Path | None, asked: Format | None) -> Format:
    if asked is not None:
        return asked
    if out is None:
        return Format.TEXT
    try:
        return _BY_SUFFIX[out.suffix.lower()]
    except KeyError:
        raise typer.BadParameter(
            f"{out}: a name in {', '.join(_BY_SUFFIX)} says what to write; for another name add --format"
        ) from None


def _refuse_loss(out: Path | None, wanted: Format) -> None:
    """Refuse a file that is there and may be something else than such a chart; a battle is never written over."""
    if out is None or not out.is_file():
        return
    if wanted is Format.BATTLE:
        raise typer.BadParameter(
            f"{out} is there already, and a battle is never written over; name another file",
            param_hint="--out",
        )
    if _BY_SUFFIX.get(out.suffix.lower()) is not wanted:
        raise typer.BadParameter(
            f"{out} is there already, and by its name it is no {wanted}; name another file",
            param_hint="--out",
        )


def _write(found: ChartFile, wanted: Format, out: Path | None, language: SheetLanguage) -> None:
    from game.montecassino import Language, format_battle, format_chart, format_chart_csv

    words = Language(language)
    if wanted is Format.PDF and out is not None:
        from rig.report.chart_sheet import draw_chart

        write_whole(out, draw_chart(found.chart, words, found.battle))
    elif wanted is Format.BATTLE:
        if found.battle is None:
            raise RefusedError("no battle is written: not every row of the chart can be played")
        if out is None:
            typer.echo(format_battle(found.battle), nl=False)
            return
        from rig.battle.file import write_battle
        from rig.battle.lock import hold_battle

        with hold_battle(out, "rig game chart"):
            write_battle(out, found.battle)
    else:
        text = (format_chart_csv if wanted is Format.CSV else format_chart)(found.chart, words)
        if out is None:
            typer.echo(text.replace("\r\n", "\n"), nl=False)
            return
        # The mark before the text is how Excel knows that it is UTF-8.
        write_whole(out, text.encode("utf-8-sig" if wanted is Format.CSV else "utf-8"))
    echo(f"wrote {on_one_line(out)}")
