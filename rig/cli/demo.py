"""`rig demo`: six shots on the twin, refereed from above, and a report to look at."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.counted import counted
from rig.files.file_lock import LockTaken, hold_lock_beside
from rig.files.not_written import NotWrittenError
from rig.files.ready_folder import ready_folder

if TYPE_CHECKING:
    from rich.table import Table

    from game.montecassino import Position, Square
    from rig.cli.opening.rig import OpenRig
    from rig.log import Shot
    from rig.match import ShotDone
    from rig.settings import Settings

__all__ = ["demo"]

_POSITION = (
    "A A01-A08,A50,A53,A58-A59,A62-A63,A67,A69,A71 G01-G08,G49,G51-G53,G57,G60-G62,G67-G68,G70 1/2 6/6 -"
)
_SHOTS = (
    # Target and option; the sides take turns, beginning with the one to move.
    ("G-61", "i"),
    ("A-58", "i"),
    ("G-57", "ii"),
    ("A-71", "ii"),
    ("G-68", "iii"),
    ("A-67", "iii"),
)
_MARK = "made-by-rig-demo"
_LOG = "log.sqlite"
_LEFT = (_LOG, f"{_LOG}-wal", f"{_LOG}-shm", f"{_LOG}.lock", "recordings", "transcripts", "report.html")


@dataclass(frozen=True, slots=True)
class _Told:
    """One shot of the demo, with what the twin knows of it."""

    done: ShotDone
    shot: Shot
    true_causes: Mapping[Square, str]


@app.command(rich_help_panel="Start here")
def demo(
    folder: Annotated[Path, typer.Option(help="where log, recordings and report go; made anew")] = Path(
        "build/demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="draws everything that is left to chance")] = 7,
) -> None:
    """Play six shots on the twin, the real firmware on a simulated chip, and write a report."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from game.montecassino import Position
    from rig.cli.opening.rig import open_rig
    from rig.cli.terminal.battle import say
    from rig.cli.terminal.tables import print_uncut
    from rig.hands import PromptedHands

    console = Console(highlight=False, markup=False)
    settings = _settings(folder, seed)
    position = Position.parse(_POSITION)
    told: list[_Told] = []
    with (
        _alone_in(folder),
        Progress(
            TextColumn("{task.description:<46}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        ) as progress,
    ):
        task = progress.add_task("setting up the twin", total=len(_SHOTS))
        headline = ""

        def show(words: str) -> None:
            progress.update(task, description=f"{headline}{words}")

        with open_rig(settings, position, PromptedHands(console.print, console.print), progress=show) as rig:
            for target, option in _SHOTS:
                headline = f"{position.turn} at {target}, option {option}: "
                told.append(_play(rig, position, target, option))
                after = told[-1].shot.verdict
                assert after is not None and after.after is not None, "the demo's commanders decide at once"
                position = Position.parse(after.after)
                progress.advance(task)
        show("writing the report")
        report = _report(folder, settings, told)
        show("done")
    print_uncut([_table(told)])
    say(console, f"The report: {report.resolve().as_uri()}")
    say(console, f"The log, the recordings and the link's transcript are in {folder}.")


def _settings(folder: Path, seed: int) -> Settings:
    from rig.settings import Camera, Cannon, Log, Settings

    return Settings(
        # The twin's lens is a known one, as a calibrated camera's is.
        camera=Camera(intrinsics_px=(1560.0, 1560.0, 639.5, 359.5), exposure_us=1000),
        cannon=Cannon(),
        log=Log(
            path=str(folder / _LOG),
            recordings=str(folder / "recordings"),
            transcripts=str(folder / "transcripts"),
        ),
        twin={"seed": seed},
    )


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Clear the folder, and refuse it where another demo is just playing in it."""
    _refuse_others(folder)
    with ExitStack() as held:
        try:
            ready_folder(folder)
            held.enter_context(hold_lock_beside(folder / _MARK, "rig demo", wait=False))
        except NotWrittenError as bad:
            raise RefusedError(f"{bad}; name another folder with --folder") from bad
        except LockTaken:
            raise RefusedError(
                f"{folder}: another rig demo is playing in it; wait for it, or name another folder with --folder"
            ) from None
        _clear(folder)
        yield


def _refuse_others(folder: Path) -> None:
    """Refuse a folder in which somebody works."""
    mark = folder / _MARK
    theirs = [name for name in ("rig.toml", *(() if mark.exists() else _LEFT)) if (folder / name).exists()]
    if not theirs and _others_fired(folder / _LOG):
        theirs = [f"a {_LOG} with which others fired too"]
    if theirs:
        # A demo of an older rig left no mark, and all that it left; a settings file it never did.
        older = not mark.exists() and "rig.toml" not in theirs
        raise typer.BadParameter(
            f"found {', '.join(theirs)} in {folder}, expected an empty folder or one that an earlier demo left (it has {_MARK})"
            + ("; if an older rig's demo left it, delete it yourself" if older else ""),
            param_hint="--folder",
        )


def _clear(folder: Path) -> None:
    """Take away what an earlier demo left, and nothing else."""
    for path in (folder / name for name in _LEFT):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    (folder / _MARK).write_text(
        "rig demo made what is here, and takes it away when it plays again.\n", encoding="utf-8"
    )


def _others_fired(path: Path) -> bool:
    """Whether there is a log with more sessions than a demo's own, which is one."""
    from rig.log import open_log

    if not path.exists():
        return False
    with open_log(path, create=False) as log:
        return len(log.sessions()) > 1


def _play(rig: OpenRig, position: Position, target: str, option: str) -> _Told:
    """Fire, keep the truth beside the recording, have doubts decided, and put the table in order."""
    from game.montecassino import Option, Square
    from rig.cli.arguments.orders import zone_of
    from rig.cli.opening.twin import settle
    from rig.match import Order

    assert rig.twin is not None, "the demo runs on the twin"
    done = rig.match.shoot(
        Order(Square.parse(target), position, zone_of(rig.settings, position.turn), Option(option))
    )
    settle(rig.twin)
    truth = rig.twin.truth()
    (done.folder / "truth.json").write_text(json.dumps(truth.as_json(), indent=1) + "\n", encoding="utf-8")
    _decide(rig, done.shot_id)
    shot = rig.log.shot(done.shot_id)
    assert shot.verdict is not None
    rig.hands.set_up(
        [Square.parse(text) for text in shot.verdict.casualties],
        [Square.parse(text) for text in shot.verdict.put_back],
    )
    return _Told(done, shot, {fall.square: fall.cause.value for fall in truth.falls})


def _decide(rig: OpenRig, shot_id: int) -> None:
    """Have each commander keep his soldier, unless the rules ask him to name one: then the likeliest to be hit."""
    from rig.verdict.judging import decide, judge_again

    while pending := rig.log.shot(shot_id).pending:
        shot = rig.log.shot(shot_id)
        confidence = {fall.square: fall.confidence for fall in shot.analyses[-1].falls}
        must_name_one = judge_again(shot, {}).one_leaves
        chosen = (
            max(pending, key=lambda doubt: confidence.get(doubt.square, 0.0)) if must_name_one else pending[0]
        )
        decide(rig.log, shot_id, chosen.square, leaves=must_name_one)


def _table(told: list[_Told]) -> Table:
    from rich.table import Table

    table = Table(title="Six shots: what the rig saw and ruled, and what the twin knows happened")
    for heading in ("shot", "side", "aimed at", "opt", "fell", "cause", "sure", "verdict", "truth"):
        table.add_column(heading)
    for number, each in enumerate(told, 1):
        for k, row in enumerate(_rows(each)):
            order = each.done.order
            first = (
                (str(number), str(order.side), str(order.target), str(order.option))
                if k == 0
                else ("", "", "", "")
            )
            table.add_row(*first, *row, end_section=False)
        table.add_section()
    return table


def _rows(told: _Told) -> Iterator[tuple[str, str, str, str, str]]:
    """Give what fell, cause, how sure, verdict, truth: a row for each soldier that fell or was pushed."""
    from rig.verdict.how_sure import how_sure

    verdict = told.shot.verdict
    assert verdict is not None
    reading = told.done.analysis.reading
    decided = {doubt.square for doubt in told.shot.doubts}
    for fall in reading.judged_falls:
        square = fall.toppling.soldier.square
        cause, sure = str(fall.cause), "held" if fall.held else how_sure(fall.confidence)
        if fall in reading.perhaps_fallen:
            cause, sure = "pushed, may have fallen", ""
        ruling = "leaves" if str(square) in verdict.casualties else "put back"
        if str(square) in decided:
            ruling += " (commander)"
        yield str(square), cause, sure, ruling, told.true_causes.get(square, "stands")
    for push in reading.judged_pushes:
        square = push.soldier.square
        yield str(square), "pushed", "", "put back", told.true_causes.get(square, "stands")
    seen = {fall.toppling.soldier.square for fall in reading.judged_falls}
    seen |= {push.soldier.square for push in reading.judged_pushes}
    for square, cause in told.true_causes.items():
        if square not in seen:
            yield str(square), "not seen", "", "", cause
    if not reading.falls and not reading.pushes and not told.true_causes:
        yield "nobody", "", "", "", "nobody"


def _report(folder: Path, settings: Settings, told: list[_Told]) -> Path:
    from rig.report import page_of_shot, write_report

    causes = [
        (fall.cause.value, each.true_causes.get(fall.toppling.soldier.square))
        for each in told
        for fall in each.done.analysis.reading.falls
    ]
    right = sum(said == true for said, true in causes)
    unseen = sum(len(each.true_causes) for each in told) - sum(true is not None for _, true in causes)
    more = f"; {counted(unseen, 'more soldier')} fell unseen" if unseen else ""
    path = folder / "report.html"
    write_report(
        path,
        title="Montecassino: six shots on the twin",
        summary=[
            f"Fired through the real firmware on a simulated ATmega328P, seed {settings.twin['seed']}; "
            "seen by the overhead camera and judged by the agreed zone and option.",
            f"{right} of {len(causes)} causes agree with what the twin knows happened{more}.",
        ],
        shots=[
            page_of_shot(
                number, each.shot, each.done.analysis, each.done.folder, true_causes=each.true_causes
            )
            for number, each in enumerate(told, 1)
        ],
    )
    return path
