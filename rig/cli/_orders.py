"""What a command that fires takes from its options, the settings and the log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game.montecassino import Option, Position, Side, Square, parse_squares
from rig.settings import Camera, Port, Settings, SettingsError
from rig.toml_faults import Fault

__all__ = ["FROM_CAMERA", "Start", "option_of", "start_of", "with_hardware", "zone_of"]

FROM_CAMERA = "camera"
"""Given as the position: read it from the picture."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a shot begins."""

    position: Position
    from_camera: bool
    """Whether the soldiers are to be read from the picture; the rest of `position` holds."""


def with_hardware(settings: Settings, *, port: str | None, camera: str | None) -> Settings:
    """Return the settings with another port and camera, where they are given."""
    if port is None and camera is None:
        return settings
    if port is None or camera is None:
        given, missing = ("--port", "--camera") if camera is None else ("--camera", "--port")
        raise SettingsError("rig", [Fault(missing, "nothing", f"a value, since {given} is given")])
    return settings.model_copy(
        update={
            "port": Port(url=port, baud=settings.port.baud),
            "camera": Camera(**{**settings.camera.model_dump(), "source": camera}),
        }
    )


def start_of(settings: Settings, position: str | None) -> Start:
    """Return the position that a shot begins with: as given, after the last shot of the log, or as in the settings."""
    if position == FROM_CAMERA:
        return Start(_last_position(settings), from_camera=True)
    if position is not None:
        return Start(Position.parse(position), from_camera=False)
    return Start(_last_position(settings), from_camera=False)


def _last_position(settings: Settings) -> Position:
    from rig.log import open_log
    from rig.match import DoubtPending

    path = Path(settings.log.path)
    if path.exists():
        with open_log(path, create=False) as log:
            for shot in reversed(log.shots()):
                if shot.pending:
                    raise DoubtPending(shot)
                if shot.planned.plan is None and shot.verdict is not None and shot.verdict.after is not None:
                    return Position.parse(shot.verdict.after)
    return Position.parse(settings.game.position)


def zone_of(settings: Settings, side: Side) -> tuple[Square, ...]:
    """Return the artillery zone agreed for a side's shots."""
    return parse_squares(settings.game.zone_a if side is Side.A else settings.game.zone_g)


def option_of(settings: Settings, option: str | None) -> Option:
    """Return the casualty option: as given, or as agreed."""
    text = settings.game.option if option is None else option
    try:
        return Option(text)
    except ValueError:
        raise SettingsError("rig", [Fault("--option", repr(text), "i, ii or iii")]) from None
