"""What a command that fires takes from its options, the settings and the log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from game.montecassino import Option, Position, Side, Square, parse_squares
from rig.cli.application import RefusedError
from rig.cli.opening.line import on_port, through_camera
from rig.cli.terminal.answers import said_yes
from rig.files.checked_file import Fault
from rig.files.one_line import as_typed
from rig.settings import TWIN, Settings, SettingsError

if TYPE_CHECKING:
    from game.montecassino import Battle
    from rig.log import Shot

__all__ = [
    "FROM_CAMERA",
    "PositionUnknown",
    "Start",
    "option_of",
    "side_with_cannon",
    "start_in_battle",
    "start_of",
    "with_hardware",
    "zone_of",
]

FROM_CAMERA = "camera"
"""Given as the position: read it from the picture."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a shot begins."""

    position: Position
    from_camera: bool
    """Whether the soldiers are to be read from the picture; the rest of `position` holds."""


class PositionUnknown(RefusedError):
    """The last shot was fired, or may have been, and was never judged: nobody knows who stands where."""

    def __init__(self, shot: Shot, settings: Settings) -> None:
        super().__init__(
            f"shot {shot.shot_id} at {shot.planned.target} was fired, or may have been, and was never judged; "
            f"{_from_recording(shot, settings)}say who stands where: --position '...', or --position camera to read it from the picture"
        )


def _from_recording(shot: Shot, settings: Settings) -> str:
    if not shot.tells_who_fell:
        return ""
    return f"{settings.command('judge', str(shot.shot_id))} reads its recording; or "


def with_hardware(settings: Settings, *, port: str | None, camera: str | None) -> Settings:
    """Return the settings with another port and camera, where they are given."""
    if port is None and camera is None:
        return settings
    changed = through_camera(on_port(settings, port), camera)
    if port is None or camera is None:
        given, missing = ("--port", "--camera") if camera is None else ("--camera", "--port")
        raise SettingsError(
            "the command line", [Fault(missing, "nothing", f"a value, since {given} is given")]
        )
    if (port == TWIN) != (camera == TWIN):
        expected = "both twin, or neither: the twin's camera sees the twin's table only"
        raise SettingsError(
            "the command line", [Fault("--camera", f"{camera!r} with --port {port!r}", expected)]
        )
    return changed


def start_of(settings: Settings, position: str | None, side: str | None) -> Start:
    """Return what a shot begins with: as given, after the last shot of the log, or as in the settings.

    Raises
    ------
    PositionError, SettingsError
        Where what was given is no position or no side with a cannon.
    DoubtPending, PositionUnknown
        Where the last shot leaves open who stands where.
    """
    last, judged = _last_position(settings)
    if position == FROM_CAMERA:
        start = Start(last, from_camera=True)
    elif position is not None:
        start = Start(Position.parse(position), from_camera=False)
    elif judged is not None:
        raise PositionUnknown(judged, settings)
    else:
        start = Start(last, from_camera=False)
    fires = side_with_cannon(settings, start.position.turn, side)
    return replace(start, position=replace(start.position, turn=fires))


def start_in_battle(settings: Settings, path: Path) -> tuple[Start, Battle]:
    """Return what a shot in a battle begins with, and the battle.

    Raises
    ------
    FaultyBattleFile
        If there is no battle in the file.
    ShotNotAllowed
        If it is over, or no cannon is agreed.
    SettingsError
        If the side to move has no cannon here.
    DoubtPending, RefusedError
        Where the last shot leaves open who stands where, or was fired in this battle and is not in it. One that was fired in
        another battle which stood alike is asked about at the terminal.
    """
    from game.montecassino import Cannons
    from rig.battle.file import read_battle
    from rig.battle.shots import not_yet_entered
    from rig.log import open_log
    from rig.match import DoubtPending, ShotNotAllowed

    battle = read_battle(path)
    if battle.outcome is not None:
        raise ShotNotAllowed(f"the battle is over ({battle.outcome.winner}): {battle.outcome.reason}")
    if battle.agreement.cannons is Cannons.NONE:
        raise ShotNotAllowed(f"no cannon is agreed in {path}")
    side_with_cannon(settings, battle.position.turn)
    log_path = Path(settings.log.path)
    if log_path.exists():
        with open_log(log_path, create=False, look_only=True) as log:
            left_open = not_yet_entered(log, battle)
        if left_open is not None:
            told = f"shot {left_open.shot_id} at {left_open.planned.target} was fired, or may have been, from where the battle stands"
            if not said_yes(f"{told}. Was that in another battle, or in none?"):
                if left_open.pending:
                    raise DoubtPending(left_open, settings)
                enter = settings.command("game enter", f"{as_typed(path)} {left_open.shot_id}")
                raise RefusedError(f"{told}: enter it first, with {enter}")
    return Start(battle.position, from_camera=False), battle


def side_with_cannon(settings: Settings, turn: Side, given: str | None = None) -> Side:
    """Return the side that fires: as given, or whose turn it is.

    Raises
    ------
    SettingsError
        Where it has no cannon.
    """
    side, sides = turn if given is None else given, settings.cannon.sides
    if side not in sides:
        expected = f"a side that has a cannon: {' or '.join(sides)}"
        where = "the side that fires" if given is None else "--side"
        raise SettingsError("the command line", [Fault(where, repr(str(side)), expected)])
    return Side(side)


def _last_position(settings: Settings) -> tuple[Position, Shot | None]:
    """Return where the battle stands by the log, and the shot, if any, that leaves open who stands where.

    After such a shot turn and shots left are known all the same, and only they hold.
    """
    from rig.log import Fired, open_log
    from rig.match import DoubtPending

    path = Path(settings.log.path)
    if path.exists():
        with open_log(path, create=False, look_only=True) as log:
            # A programme sets its soldiers up by itself.
            for shot in log.single_shots():
                if shot.planned.position is None:
                    continue
                if shot.pending:
                    raise DoubtPending(shot, settings)
                if shot.verdict is not None and shot.verdict.after is not None:
                    return Position.parse(shot.verdict.after), None
                if shot.fired is not Fired.NO:
                    before = Position.parse(shot.planned.position)
                    left = dict(before.shots_left)
                    left[before.turn] = max(0, left[before.turn] - 1)
                    return replace(before, turn=before.turn.enemy, shots_left=left), shot
    return Position.parse(settings.game.position), None


def zone_of(settings: Settings, side: Side) -> tuple[Square, ...]:
    """Return the artillery zone agreed for a side's shots."""
    return parse_squares(settings.game.zone_a if side is Side.A else settings.game.zone_g)


def option_of(settings: Settings, option: str | None) -> Option:
    """Return the casualty option: as given, or as agreed."""
    text = settings.game.option if option is None else option
    try:
        return Option(text)
    except ValueError:
        raise SettingsError("the command line", [Fault("--option", repr(text), "i, ii or iii")]) from None
