"""`rig camera`: lens and delay learnt, the lens checked, and sheets with the table's markers printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    JsonOption,
    SettingsFile,
    settings_of_this_table,
    settings_or_defaults,
)
from rig.cli.arguments.outputs import check_pdf, check_picture
from rig.cli.terminal.figure_file import write_figure
from rig.cli.terminal.sentences import echo
from rig.counted import counted
from rig.drawing.paper import Paper
from rig.files.not_written import NotWrittenError
from rig.files.one_line import on_one_line
from rig.files.ready_folder import folder_to_fill
from rig.files.whole_file import write_whole

if TYPE_CHECKING:
    from rig.lens.pictures import LensPictures
    from rig.settings import Settings
    from vision.lens import Calibrated, Lens, Target

__all__ = ["calibrate", "camera_group", "check", "delay", "markers"]

camera_group = typer.Typer(
    name="camera",
    help="Calibrate the camera's lens, check it, learn the camera's delay, print markers.",
    no_args_is_help=True,
)
app.add_typer(camera_group, rich_help_panel="Set up")

_LOOK_S = 0.05  # between two looks at a camera that has given nothing new
_TELL_S = 1.5  # between two remarks that nothing was kept
_PRINTED_DICTIONARY = "DICT_4X4_50"
_SQUARE_MM = 30.0
_MOST_SHOTS = 20  # the last ones: a second or two each, and more tell hardly anything new
_LEAST, _MOST = 3, 100  # corners or squares along a side of a board that anybody has

FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="photographs of the board")]
ChessboardOption = Annotated[
    str | None,
    typer.Option(metavar="8x6", help="a chessboard with so many inner corners, where four squares meet"),
]
CharucoOption = Annotated[
    str | None,
    typer.Option(metavar="9x6", help="a ChArUco board of so many squares, other than the one the rig prints"),
]
SquareOption = Annotated[
    float | None,
    typer.Option(
        "--square-mm",
        min=1,
        max=1000,
        help="with --chessboard or --charuco: side of its squares, 30 without it",
    ),
]
MarkerOption = Annotated[
    float | None,
    typer.Option("--marker-mm", min=0.5, max=1000, help="with --charuco: side of its markers"),
]
DictionaryOption = Annotated[
    str | None, typer.Option(help="with --charuco: OpenCV's name of its markers; without it, DICT_4X4_50")
]
PictureOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        callback=check_picture,
        help="draw coverage and errors: .png, .svg or .pdf",
    ),
]


@camera_group.command()
def calibrate(
    folder: FolderArgument,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="first fill FOLDER from the settings' camera, while you move the board before it"
        ),
    ] = False,
    camera: Annotated[
        str | None,
        typer.Option(help="with --live: camera number, file or URL, in place of the settings'"),
    ] = None,
    chessboard: ChessboardOption = None,
    charuco: CharucoOption = None,
    square_mm: SquareOption = None,
    marker_mm: MarkerOption = None,
    dictionary: DictionaryOption = None,
    picture: PictureOption = None,
    store: Annotated[
        bool, typer.Option("--store/--no-store", help="write the lens into the settings file")
    ] = True,
    as_json: JsonOption = False,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Find the lens from photographs of a chessboard or a ChArUco board, held at many angles and places."""
    from rig.cli.opening.line import through_camera
    from rig.lens.report import refused_in_words, report_as_json, report_in_words
    from vision.lens import NoLens
    from vision.lens import calibrate as fit

    if camera is not None and not live:
        raise typer.BadParameter(
            "it is for --live; photographs in a folder need no camera", param_hint="--camera"
        )
    chosen = settings_or_defaults(settings)
    told = _told_board(chessboard, charuco, square_mm, marker_mm, dictionary)
    if live:
        with folder_to_fill(folder):
            _take_views(folder, through_camera(chosen, camera), told)
    pictures = _looked_at(folder, told, quiet=as_json)
    found = fit(pictures.seen, pictures.target, pictures.size_px)
    if isinstance(found, NoLens):
        for line in refused_in_words(found.unusable):
            echo(line, err=True)
        raise RefusedError(f"{folder}: no calibration: {found.reason}")
    if as_json:
        print(json.dumps(report_as_json(found)))
    else:
        for line in report_in_words(found):
            echo(line)
    if picture is not None:
        from rig.lens.plot import draw_calibration

        write_figure(draw_calibration(found), picture)
    _store(found, chosen, settings, wanted=store, quiet=as_json)


@camera_group.command()
def check(
    folder: FolderArgument,
    chessboard: ChessboardOption = None,
    charuco: CharucoOption = None,
    square_mm: SquareOption = None,
    marker_mm: MarkerOption = None,
    dictionary: DictionaryOption = None,
    as_json: JsonOption = False,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Hold the settings' lens against photographs that it was not fitted to."""
    from rig.lens.report import check_lens, refused_in_words

    told = _told_board(chessboard, charuco, square_mm, marker_mm, dictionary)
    chosen = settings_or_defaults(settings)
    lens = _stored_lens(chosen, settings)
    pictures = _looked_at(folder, told, quiet=as_json)
    expected = (chosen.camera.width_px, chosen.camera.height_px)
    if pictures.size_px != expected:
        raise RefusedError(
            f"{folder}: the photographs are {pictures.size_px[0]} x {pictures.size_px[1]} px and the lens of "
            f"{settings} is for {expected[0]} x {expected[1]} px: a lens holds for one size of picture"
        )
    found = check_lens(lens, pictures.target, pictures.seen)
    if not found.errors_px:
        for line in refused_in_words(found.unusable):
            echo(line, err=True)
        raise RefusedError(f"{folder}: no photograph in it can be used")
    if as_json:
        print(json.dumps(found.as_json()))
        return
    for line in found.in_words():
        echo(line)


@camera_group.command()
def delay(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="recordings of shots that this camera filmed; without it, those of the log",
        ),
    ] = None,
    store: Annotated[
        bool, typer.Option("--store/--no-store", help="write the delay into the settings file")
    ] = True,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Learn from recorded shots how late the camera stamps its pictures."""
    from rich.console import Console

    from rig.camera_delay import NoDelay, delay_of, see_delay
    from rig.cli.terminal.progress import progress_on
    from rig.settings_change import change_settings
    from rig.verdict.analyse_many import find_recordings

    chosen = settings_of_this_table(settings)
    where = folder or Path(chosen.log.recordings)
    found = find_recordings([where])[0][-_MOST_SHOTS:]
    seen = []
    with progress_on(Console(stderr=True), transient=True) as progress:
        for each in progress.track(found, description="shots"):
            seen.append(see_delay(each))
            why_not = seen[-1].why_not
            name, told = on_one_line(each), why_not or f"{(seen[-1].delay_us or 0.0) / 1000:.1f} ms"
            # What is wrong with a file begins with its name.
            line = f"  {told}" if told.startswith(name) else f"  {name}: {told}"
            echo(line, err=bool(why_not))
    concluded = delay_of(seen)
    if isinstance(concluded, NoDelay):
        raise RefusedError(f"{where}: the camera's delay is not told: {concluded.reason}")
    late_ms, sigma_ms = concluded.delay_us / 1000, concluded.sigma_us / 1000
    echo(
        f"the camera stamps its pictures {abs(late_ms):.1f} ms {'before' if late_ms < 0 else 'after'} they were taken, "
        f"give or take {sigma_ms:.1f} ms, "
        f"as {len(concluded.used)} of {len(seen)} shots tell"
    )
    would_be = f"in the settings it would be: camera.delay_us = {concluded.delay_us}"
    if not store:
        echo(f"not stored (as asked); {would_be}")
        return
    try:
        change_settings(settings, {("camera", "delay_us"): concluded.delay_us})
    except NotWrittenError as bad:
        raise RefusedError(f"{bad}; {would_be}") from bad
    echo(
        f"stored in {on_one_line(settings)}: camera.delay_us = {concluded.delay_us}, was {chosen.camera.delay_us}"
    )


@camera_group.command()
def markers(
    paper: Annotated[Paper, typer.Option(case_sensitive=False, help="what is printed on")] = Paper.A4,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=check_pdf, help="where the PDF goes; markers.pdf by default"),
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Write a PDF of the table's markers and of the ChArUco board, to be printed at true size."""
    from rig.report.camera_sheets import board_square_mm, draw_sheets, is_other

    target = out or Path("markers.pdf")
    if out is None and is_other(target):
        raise RefusedError(
            f"{target} is there already, and no sheets of markers; name another one with --out"
        )
    board = settings_of_this_table(settings).board
    sheets = draw_sheets(board.marker_centres_mm, board.marker_size_mm, board.marker_dictionary, paper)
    try:
        write_whole(target, sheets)
    except NotWrittenError as bad:
        raise RefusedError(f"{bad}; name another place with --out") from bad
    echo(
        f"wrote {on_one_line(target)}: {len(board.marker_centres_mm)} markers of {board.marker_size_mm:g} mm ({board.marker_dictionary}) "
        f"and a ChArUco board with squares of {board_square_mm(paper)} mm, on {paper.upper()}"
    )
    echo("print it at 100 %; both rulers on each sheet must measure 100 mm")


def _told_board(
    chessboard: str | None,
    charuco: str | None,
    square_mm: float | None,
    marker_mm: float | None,
    dictionary: str | None,
) -> Target | None:
    """Return the board that was named; None where it is to be recognised."""
    from rig.keys.markers import MARKERS_OF
    from vision.lens import Charuco, Chessboard

    if dictionary is not None and dictionary not in MARKERS_OF:
        raise typer.BadParameter(
            f"--dictionary: found {dictionary!r}, expected one that OpenCV knows: {', '.join(MARKERS_OF)}"
        )
    if charuco is None and (dictionary is not None or marker_mm is not None):
        option = "--marker-mm" if dictionary is None else "--dictionary"
        raise typer.BadParameter(f"{option}: it is for a board named with --charuco")
    if chessboard is None and charuco is None and square_mm is not None:
        raise typer.BadParameter("--square-mm: it is for a board named with --chessboard or --charuco")
    square_mm = _SQUARE_MM if square_mm is None else square_mm
    if chessboard is not None and charuco is not None:
        raise typer.BadParameter("give --chessboard or --charuco, not both")
    if chessboard is not None:
        return Chessboard(*_sides(chessboard, "--chessboard"), square_mm)
    if charuco is None:
        return None
    columns, rows = _sides(charuco, "--charuco")
    size_mm = 0.7 * square_mm if marker_mm is None else marker_mm
    if not size_mm < square_mm:
        raise typer.BadParameter(
            f"--marker-mm: found {size_mm:g}, expected less than --square-mm, {square_mm:g}"
        )
    dictionary = dictionary or _PRINTED_DICTIONARY
    known = MARKERS_OF[dictionary]
    if columns * rows // 2 > known:
        raise typer.BadParameter(
            f"--charuco: {columns} x {rows} squares take {columns * rows // 2} markers, and {dictionary} has {known}"
        )
    return Charuco(columns, rows, square_mm, size_mm, dictionary)


def _sides(text: str, option: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,3})\s*[xX×]\s*(\d{1,3})\s*", text, re.ASCII)
    sides = (0, 0) if match is None else (int(match[1]), int(match[2]))
    if not all(_LEAST <= side <= _MOST for side in sides):
        raise typer.BadParameter(
            f"{option}: found {text!r}, expected two numbers from {_LEAST} to {_MOST}, as 8x6"
        )
    return sides


def _looked_at(folder: Path, told: Target | None, *, quiet: bool) -> LensPictures:
    """Look at the photographs, and say on a terminal how far that is."""
    from rich.console import Console

    from rig.cli.terminal.progress import progress_on
    from rig.lens.pictures import look_at_pictures, passed_over, pictures_in

    files = pictures_in(folder)
    if left_out := passed_over(folder):
        echo(f"rig: {on_one_line(folder)}: {left_out}", err=True)
    with progress_on(Console(stderr=True), transient=True, quiet=quiet) as progress:
        task = progress.add_task("photographs", total=len(files))
        return look_at_pictures(files, told, progress=lambda name: progress.update(task, advance=1))


def _stored_lens(settings: Settings, path: Path) -> Lens:
    from vision.lens import Lens

    camera = settings.camera
    if camera.intrinsics_px is None:
        raise RefusedError(f"{path} has no lens to check: `rig camera calibrate` finds one")
    return Lens(camera.intrinsics_px, camera.distortion or (0.0,) * 5)


def _store(found: Calibrated, settings: Settings, path: Path, *, wanted: bool, quiet: bool) -> None:
    """Write the lens into the settings file, or say what would be written, and why it is not."""
    from rig.settings_change import change_settings

    intrinsics = [round(value, 3) for value in found.lens.intrinsics_px]
    distortion = [round(value, 8) for value in found.lens.distortion]
    size = (settings.camera.width_px, settings.camera.height_px)
    why = ""
    if not wanted:
        why = "as asked"
    elif not path.exists():
        why = f"there is no {path}; `rig init` writes one"
    elif found.size_px != size:
        why = (
            f"the photographs are {found.size_px[0]} x {found.size_px[1]} px and {path} films at {size[0]} x {size[1]} px; "
            "a lens holds for one size of picture"
        )
    failed: NotWrittenError | None = None
    if not why:
        try:
            change_settings(
                path, {("camera", "intrinsics_px"): intrinsics, ("camera", "distortion"): distortion}
            )
        except NotWrittenError as bad:
            # What was found took photographs and a minute to find: it is told all the same.
            failed, why = bad, str(bad)
        else:
            if not quiet:
                echo(f"stored in {on_one_line(path)}: camera.intrinsics_px, camera.distortion")
            return
    if not quiet:
        echo(f"not stored ({why}); in the settings it would be:")
        typer.echo("[camera]")
        typer.echo(f"width_px = {found.size_px[0]}")
        typer.echo(f"height_px = {found.size_px[1]}")
        typer.echo(f"intrinsics_px = {intrinsics}")
        typer.echo(f"distortion = {distortion}")
    if failed is not None:
        raise failed


def _take_views(folder: Path, settings: Settings, told: Target | None) -> None:
    """Fill the folder from the camera until everything is covered, or somebody presses Ctrl-C."""
    import time

    from rig.camera import CameraGone, CameraStalled
    from rig.camera.silence import Silence
    from rig.cli.opening.rig import real_camera
    from rig.lens.live import LiveViews, Taken
    from rig.link.serial_port import WallClock
    from rig.settings import TWIN

    if settings.camera.source == TWIN:
        raise RefusedError(
            "the twin's camera looks at the twin's table, and nobody can hold a board before it: "
            "say which camera with --camera, or in the settings"
        )
    views = LiveViews(folder, told)
    camera = real_camera(settings, WallClock())
    said, said_s = "", 0.0
    silence = Silence(camera)
    try:
        echo("hold the board before the camera, still for a moment each time; Ctrl-C when you have enough")
        while not views.enough:
            frames = camera.poll()
            if not frames:
                silence.lasts()
                time.sleep(_LOOK_S)
                continue
            silence.broken()
            seen = views.look(frames[-1].image)
            if isinstance(seen, Taken):
                advice = seen.coverage.advice
                following = f"next: {advice[0]}" if advice else "everything is covered"
                echo(f"view {seen.count} kept, {seen.coverage.share:.0%} covered; {following}")
                said, said_s = "", time.monotonic()
            # A board that is moved about looks different in every picture, and nobody reads as fast.
            elif seen != said and time.monotonic() - said_s >= _TELL_S:
                said, said_s = seen, time.monotonic()
                echo(f"  {seen}")
    except KeyboardInterrupt:
        if views.count == 0:
            raise
        echo(counted(views.count, "view"))
    except (CameraGone, CameraStalled) as gone:
        if views.count == 0:
            raise
        echo(f"{counted(views.count, 'view')}; {gone}")
    finally:
        camera.close()
