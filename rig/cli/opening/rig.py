"""Opening everything a shot needs: port, cannon, camera and log, real ones or the twin's."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from game.montecassino import Position
from rig.camera import Camera, CameraError, OpenCvCamera
from rig.cannon import Cannon, Change
from rig.cli.opening.line import make_folders, open_line, tell_how_it_is_left
from rig.end_put_off import EndPutOff
from rig.eye import Eye, ring_for
from rig.given_up import why_given_up
from rig.hands import Hands
from rig.link import wire
from rig.link.history import read_history
from rig.link.port import Clock
from rig.link.serial_port import WallClock
from rig.log import LogError, SessionStart, ShotLog, open_log
from rig.match import Match
from rig.settings import TWIN, Settings
from rig.verdict.late_judging import logged_settings

if TYPE_CHECKING:
    from twin import Twin

__all__ = ["OpenRig", "open_rig", "real_camera"]


@dataclass(frozen=True, slots=True)
class OpenRig:
    """A rig that stands ready, until its session ends."""

    settings: Settings
    match: Match
    cannon: Cannon
    eye: Eye
    log: ShotLog
    session_id: int
    hands: Hands
    twin: Twin | None
    """The twin, where no hardware is meant."""


@contextmanager
def open_rig(
    settings: Settings,
    position: Position,
    hands: Hands,
    *,
    progress: Callable[[str], None],
    on_change: Callable[[Change], None] = lambda change: None,
) -> Iterator[OpenRig]:
    """Open everything, find and configure the cannon, begin a session; let go of all of it at the end, whatever happens.

    Parameters
    ----------
    settings
        All of `rig.toml`.
    position
        Who stands where at the beginning; the twin sets its table up with it.
    hands
        Whoever loads and puts soldiers back; the twin has hands of its own.
    progress
        Told in a few words what is going on.
    on_change
        Told every step of the cannon.

    Raises
    ------
    PortError, LinkError, CameraError, LogError, CannonError, SettingsError, twin.chip.ChipMissing
        Where something is not there or not as expected. Nothing is armed then.
    """
    make_folders(settings, "recordings", "transcripts")
    # Once it is being let go of, nothing of that is broken off: a second Ctrl-C waits for the end of it.
    with ExitStack() as letting_go, ExitStack() as stack:
        log = stack.enter_context(open_log(Path(settings.log.path)))
        camera: Camera
        if settings.port.url != TWIN:
            camera = real_camera(settings, WallClock())
            stack.callback(camera.close)
        line = stack.enter_context(open_line(settings, position))
        clock, twin = line.clock, line.twin
        if twin is not None:
            from rig.cli.opening.twin import TwinCamera, TwinHands

            camera, hands = TwinCamera(twin), TwinHands(twin)
        ring = ring_for(camera, settings)
        cannon = Cannon(
            line.link,
            gate_spacing_mm=settings.cannon.gate_spacing_mm,
            on_change=on_change,
            on_wait=lambda: ring.update(clock.now_us()),
        )
        stack.callback(tell_how_it_is_left, cannon, settings)

        def keep_up() -> None:
            with suppress(CameraError):  # told by whoever asks for its pictures
                ring.update(clock.now_us())

        line.link.on_listened = keep_up
        progress("looking for the cannon")
        identity = cannon.connect()
        read_history(line.link)  # the transcript keeps why the chip was reset, and what it would not do
        cannon.configure(settings.cannon.firmware_values())
        session_id = log.start_session(
            SessionStart(
                software_version=importlib.metadata.version("montecassino-rig"),
                firmware_version=identity.firmware,
                wire_version=wire.WIRE_VERSION,
                settings=logged_settings(settings),
                port=settings.port.url,
                camera=settings.camera.source,
                transcript_path=str(line.transcript_path),
            )
        )
        eye = Eye(
            ring,
            clock,
            cannon.wait,
            settings,
            rest_us=_sleep_us if twin is None else twin.run_for,
        )
        match = Match(
            settings,
            cannon=cannon,
            eye=eye,
            hands=hands,
            clock=clock,
            shots=log,
            session_id=session_id,
            progress=progress,
        )
        try:
            yield OpenRig(settings, match, cannon, eye, log, session_id, hands, twin)
        except BaseException as error:
            letting_go.enter_context(EndPutOff())
            # A full disk takes this no more than what it was; a session without its end is an interrupted one.
            with suppress(LogError):
                log.end_session(session_id, "; ".join(filter(None, (_why(error), cannon.left_drawn))))
            raise
        letting_go.enter_context(EndPutOff())
        log.end_session(session_id, "finished")


def _sleep_us(time_us: int) -> None:
    time.sleep(time_us / 1e6)


def _why(error: BaseException) -> str:
    """Say what ended a session, as the log shows it."""
    if isinstance(error, KeyboardInterrupt):
        return "Ctrl-C, or asked to end"
    if isinstance(error, typer.Abort):
        return "Ctrl-C at a question, or nobody there to answer it"
    return why_given_up(error)


def real_camera(settings: Settings, clock: Clock) -> Camera:
    """Open the camera that the settings name.

    Raises
    ------
    CameraGone
        Where it does not open or gives no picture.
    """
    camera = settings.camera
    return OpenCvCamera(
        camera.source,
        clock,
        width_px=camera.width_px,
        height_px=camera.height_px,
        fps=camera.fps,
        exposure_us=camera.exposure_us,
    )
