"""`rig doctor`: every part looked at, a line each."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from rig.cli.application import app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    CameraOption,
    PortOption,
    SettingsFile,
    settings_or_defaults,
)

if TYPE_CHECKING:
    from rig.cli.examining.examination import Examination
    from rig.cli.opening.line import OpenLine
    from rig.link.errors import NoAnswer
    from rig.settings import Settings

__all__ = ["doctor"]


@app.command(rich_help_panel="Set up")
def doctor(
    port: PortOption = None,
    camera: CameraOption = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Look at port, firmware, inputs, axes, camera, disk and clock, and say what to do; nothing is armed or fired."""
    from rig.cli.examining.cannon import CannonExamination
    from rig.cli.examining.examination import Examination
    from rig.cli.terminal.answers import Answers
    from rig.health import Level, clock_health, disk_health, learnt_health
    from rig.settings import SettingsError

    examination = Examination()
    examination.all(clock_health())
    with ExitStack() as stack:
        try:
            chosen = settings_or_defaults(settings)
        except SettingsError as error:
            for fault in error.faults:
                examination.tell(Level.FAULT, "settings", f"{settings}: {fault}")
            examination.end("the rest needs the settings")
        examination.tell(
            Level.OK, "settings", f"{settings}" if settings.exists() else "none; the defaults stand"
        )
        from rig.cli.opening.line import on_port, through_camera

        chosen = through_camera(on_port(chosen, port), camera)
        examination.all(disk_health(chosen))
        examination.all(learnt_health(chosen))
        open_port = stack.enter_context(ExitStack())
        line = _line(examination, chosen, open_port)
        _look_through_camera(examination, chosen, line)
        if line is not None:
            silent = CannonExamination(examination, chosen, line, Answers()).examine()
            if silent is not None:
                open_port.close()  # it is opened anew at other speeds
                _tell_silence(examination, chosen, silent)
    examination.end()


def _line(examination: Examination, settings: Settings, stack: ExitStack) -> OpenLine | None:
    """Open the port; None, and told, where that cannot be."""
    import tempfile

    from game.montecassino import Position
    from rig.cli.opening.line import open_line
    from rig.health import Level
    from rig.link.errors import PortError
    from rig.settings import TWIN, SettingsError
    from twin.chip import ChipMissing

    try:
        with tempfile.TemporaryFile(dir=settings.log.transcripts):
            pass
    except OSError:
        # That was told; the line is looked at all the same.
        spare = stack.enter_context(tempfile.TemporaryDirectory())
        settings = settings.model_copy(update={"log": settings.log.model_copy(update={"transcripts": spare})})
    position = Position.parse(settings.game.position)
    try:
        line = stack.enter_context(open_line(settings, position))
    except (PortError, SettingsError, ChipMissing, OSError) as error:
        todo = f"correct it, or name another: {settings.command('doctor', '--port PORT')}"
        examination.tell(Level.FAULT, "port", str(error), todo)
        return None
    name = "the twin" if settings.port.url == TWIN else settings.port.url
    examination.tell(Level.OK, "port", f"{name} opens")
    return line


def _look_through_camera(examination: Examination, settings: Settings, line: OpenLine | None) -> None:
    from rig.camera import Camera as AnyCamera
    from rig.camera import CameraError
    from rig.camera_health import camera_health
    from rig.cli.opening.rig import real_camera
    from rig.health import Level
    from rig.link.serial_port import WallClock
    from rig.settings import TWIN

    if settings.camera.source != TWIN:
        clock = WallClock()
        try:
            real: AnyCamera = real_camera(settings, clock)
        except CameraError as error:
            todo = f"plug it in, or name another: {settings.command('doctor', '--camera CAMERA')}"
            examination.tell(Level.FAULT, "camera", str(error), todo)
            return
        try:
            examination.all(camera_health(real, clock, lambda us: time.sleep(us / 1e6), settings))
        finally:
            real.close()
    elif line is not None and line.twin is not None:
        from rig.cli.opening.twin import TwinCamera

        examination.all(camera_health(TwinCamera(line.twin), line.clock, line.twin.run_for, settings))
    else:
        examination.tell(
            Level.WARNING,
            "camera",
            "not looked through: the twin's camera belongs to the twin's port",
            f"name a camera: {settings.command('doctor', '--camera CAMERA')}",
        )


def _tell_silence(examination: Examination, settings: Settings, silent: NoAnswer) -> None:
    """Tell that nobody answers, and whether one does at another speed that the firmware may be built for."""
    from rig.health import Level
    from rig.link import wire
    from rig.settings import TWIN

    url, asked = settings.port.url, settings.port.baud
    for baud in wire.BAUDS:
        if url != TWIN and baud != asked and _answers(url, baud):
            examination.tell(
                Level.FAULT,
                "firmware",
                f"no cannon answers at {asked} baud, and one does at {baud}",
                f"set baud = {baud} under [port] of {settings.name}, or flash it anew for {asked}: {settings.command('flash')}",
            )
            return
    todo = f"see to power, port and speed; or flash it: {settings.command('flash')}"
    examination.tell(Level.FAULT, "firmware", str(silent), todo)


def _answers(url: str, baud: int) -> bool:
    """Whether a cannon, of whatever version, answers at that speed."""
    from rig.link.errors import LinkError, PortError, WrongWireVersion
    from rig.link.link import Link
    from rig.link.serial_port import SerialPort, WallClock

    try:
        port = SerialPort(url, baud=baud)
    except PortError:
        return False
    try:
        Link(port, WallClock(), baud=baud).identify()
    except WrongWireVersion:
        return True
    except LinkError:
        return False
    finally:
        port.close()
    return True
