"""`rig doctor`: every part looked at, a line each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli._app import app
from rig.cli._options import SETTINGS_FILE, SettingsFile, settings_or_defaults

if TYPE_CHECKING:
    from rig.cli._answers import Answers
    from rig.cli._opening_line import OpenLine
    from rig.health import Finding, Level
    from rig.link import wire
    from rig.link.errors import NoAnswer
    from rig.settings import Settings
    from twin import Twin

__all__ = ["doctor"]

_HAND_US = 20_000_000  # a person's time to press, pull, turn
_LOOK_US = 50_000
_HELD_US = 200_000  # the twin's hands are no faster than a person's
_SHARE = 10  # an axis is moved by a tenth of its range


@app.command(rich_help_panel="Set up")
def doctor(
    port: Annotated[str | None, typer.Option(help="serial port or URL, in place of the settings'")] = None,
    camera: Annotated[
        str | None, typer.Option(help="camera number, file or URL, in place of the settings'")
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Look at port, firmware, inputs, axes, camera, disk and clock, and say what to do; nothing is armed or fired."""
    from rig.cli._answers import Answers
    from rig.health import Level, clock_health, disk_health, learnt_health
    from rig.settings import SettingsError

    examination = _Examination()
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
        from rig.cli._opening_line import on_port, through_camera

        chosen = through_camera(on_port(chosen, port), camera)
        examination.all(disk_health(chosen))
        examination.all(learnt_health(chosen))
        open_port = stack.enter_context(ExitStack())
        line = _line(examination, chosen, open_port)
        _look_through_camera(examination, chosen, line)
        if line is not None:
            silent = _Table(examination, chosen, line, Answers()).examine()
            if silent is not None:
                open_port.close()  # it is opened anew at other speeds
                _tell_silence(examination, chosen, silent)
    examination.end()


class _Examination:
    """Prints what is found, and counts it."""

    def __init__(self) -> None:
        self._count: Counter[Level] = Counter()

    def all(self, findings: Iterator[Finding]) -> None:
        for finding in findings:
            self._take(finding)

    def tell(self, level: Level, part: str, found: str, todo: str = "") -> None:
        from rig.health import Finding

        self._take(Finding(level, part, " ".join(found.split()), todo))

    def _take(self, finding: Finding) -> None:
        self._count[finding.level] += 1
        typer.echo(str(finding))

    def end(self, why: str = "") -> None:
        from rig.health import Level

        words = [
            f"{count} {level}{'s' if count > 1 else ''}"
            for level in (Level.FAULT, Level.WARNING)
            if (count := self._count[level])
        ]
        typer.echo((", ".join(words) or "nothing wrong") + (f"; {why}" if why else ""))
        if self._count[Level.FAULT]:
            raise typer.Exit(1)


def _line(examination: _Examination, settings: Settings, stack: ExitStack) -> OpenLine | None:
    """Open the port; None, and told, where that cannot be."""
    import tempfile

    from game.montecassino import Position
    from rig.cli._opening_line import open_line
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
        examination.tell(
            Level.FAULT, "port", str(error), "correct it, or name another: rig doctor --port PORT"
        )
        return None
    name = "the twin" if settings.port.url == TWIN else settings.port.url
    examination.tell(Level.OK, "port", f"{name} opens")
    return line


def _look_through_camera(examination: _Examination, settings: Settings, line: OpenLine | None) -> None:
    from rig.camera import Camera as AnyCamera
    from rig.camera import CameraError
    from rig.camera_health import camera_health
    from rig.cli._opening import real_camera
    from rig.health import Level
    from rig.link.serial_port import WallClock
    from rig.settings import TWIN

    if settings.camera.source != TWIN:
        clock = WallClock()
        try:
            real: AnyCamera = real_camera(settings, clock)
        except CameraError as error:
            todo = "plug it in, or name another: rig doctor --camera CAMERA"
            examination.tell(Level.FAULT, "camera", str(error), todo)
            return
        try:
            examination.all(camera_health(real, clock, lambda us: time.sleep(us / 1e6), settings))
        finally:
            real.close()
    elif line is not None and line.twin is not None:
        from rig.cli._twin import TwinCamera

        examination.all(camera_health(TwinCamera(line.twin), line.clock, line.twin.run_for, settings))
    else:
        examination.tell(
            Level.WARNING,
            "camera",
            "not looked through: the twin's camera belongs to the twin's port",
            "name a camera: rig doctor --camera CAMERA",
        )


def _tell_silence(examination: _Examination, settings: Settings, silent: NoAnswer) -> None:
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
                f"set baud = {baud} under [port] of {settings.name}, or flash it anew for {asked}: rig flash",
            )
            return
    todo = "see to power, port and speed; or flash it: rig flash"
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


class _Table:
    """The cannon's own part of the examination."""

    def __init__(
        self, examination: _Examination, settings: Settings, line: OpenLine, answers: Answers
    ) -> None:
        from rig.cannon import Cannon

        self._examination = examination
        self._settings = settings
        self._line = line
        self._answers = answers
        self._cannon = Cannon(line.link, gate_spacing_mm=settings.cannon.gate_spacing_mm)

    def examine(self) -> NoAnswer | None:
        """Ask the cannon who it is, look at its inputs, and move what may be moved; where nobody answers, return that."""
        from rig.cli._opening_line import tell_left_drawn
        from rig.health import firmware_health, history_health, inputs_health
        from rig.link import wire
        from rig.link.errors import NoAnswer
        from rig.link.history import read_history
        from rig.link.messages import ReadStatus
        from rig.sequence import State

        with self._told("firmware", "see to power, port and speed; or flash it: rig flash"):
            try:
                identity = self._line.link.identify()
            except NoAnswer as silent:
                return silent
            if self._line.twin is not None:
                from rig.cli._twin import make_ready

                make_ready(self._line.twin)
                self._line.link.wait(_LOOK_US)
            status = self._line.link.ask(ReadStatus())
            self._examination.all(firmware_health(identity, status))
            self._examination.all(history_health(read_history(self._line.link)))
            self._examination.all(inputs_health(status.inputs))
            self._answers.company = lambda: self._pass_time(1_000)
            held = wire.Input.LEVER_DRAWN | wire.Input.LEVER_LATCHED
            if status.inputs & held:
                if not self._answers.yes("The lever is drawn. Let it down slowly, fingers away?"):
                    self._skip("axes", "the lever is drawn")
                    return None
                with self._told(
                    "draw and latch", "ease the lever by hand, from behind; is it forward, see to A2 and A3"
                ):
                    self._cannon.connect()
                    self._cannon.configure(self._settings.cannon.firmware_values())
                if self._cannon.state is not State.SAFE:
                    # Nobody's hand goes near the muzzle of a cocked cannon.
                    tell_left_drawn(self._cannon, self._settings)
                    return None
            with self._told("inputs", "see to power and the cable; nothing is moved"):
                self._try_inputs()
                self._try_axes(muzzle_free=wire.Input.GATE_FIRST_BLOCKED not in status.inputs)
        return None

    def _pass_time(self, time_us: int) -> None:
        from rig.sequence import State

        if self._cannon.state in {State.UNKNOWN, State.SAFE}:
            self._line.link.wait(time_us)
        else:
            self._cannon.wait(time_us)

    @contextmanager
    def _told(self, part: str, todo: str) -> Iterator[None]:
        """Tell what goes wrong as a fault of that part, and go on with the next."""
        from rig.cannon import CannonError
        from rig.health import Level
        from rig.link.errors import LinkError
        from rig.link.transcript import TranscriptError

        try:
            yield
        except (LinkError, CannonError, TranscriptError) as error:
            self._examination.tell(Level.FAULT, part, str(error), todo)

    def _skip(self, part: str, why: str) -> None:
        from rig.health import Level

        self._examination.tell(Level.WARNING, part, f"not tried: {why}")

    def _try_inputs(self) -> None:
        from rig.health import INPUTS, Level

        for member, words in INPUTS.items():
            if not words.by_hand:
                continue
            if self._line.twin is not None and member not in _hands_of(self._line.twin):
                self._skip(words.part, "the twin's hands do not reach it")
                continue
            if not self._answers.yes(f"Try the {words.part} by hand ({words.by_hand})?"):
                self._skip(words.part, "nobody's hand was there")
                continue
            if self._follows(member):
                self._examination.tell(Level.OK, words.part, "follows the hand")
            else:
                found = f"did not change there and back within {_HAND_US / 1e6:g} s"
                self._examination.tell(Level.FAULT, words.part, found, words.todo)

    def _follows(self, member: wire.Input) -> bool:
        """Watch an input until it has changed and changed back."""
        from rig.link.messages import ReadStatus

        link, clock = self._line.link, self._line.clock
        before = member in link.ask(ReadStatus()).inputs
        if self._line.twin is not None:
            _hands_of(self._line.twin)[member](not before)
        changed = False
        deadline_us = clock.now_us() + _HAND_US
        while clock.now_us() < deadline_us:
            link.wait(_LOOK_US)
            on = member in link.ask(ReadStatus()).inputs
            if changed and on is before:
                return True
            if not changed and on is not before:
                changed = True
                if self._line.twin is not None:
                    self._line.twin.run_for(_HELD_US)
                    _hands_of(self._line.twin)[member](before)
        return False

    def _try_axes(self, *, muzzle_free: bool) -> None:
        from rig.cli._opening_line import tell_left_drawn

        with self._told("axes", "see to what it says; nothing more is moved"):
            if not self._answers.yes(
                "Bring every axis to its centre? Servo supply on, key on, fingers away."
            ):
                self._skip("axes", "not confirmed")
                return
            self._cannon.connect()
            try:
                self._cannon.configure(self._settings.cannon.firmware_values())
                self._cannon.home()
                self._confirmed("axes", "Do all three stand at their centres, the lever at rest?", "[cannon]")
                self._try_axis("traverse", "The carriage", "to its owner's right and back", "D5")
                self._try_axis("azimuth", "The barrel", "to the right and back", "D9")
                self._try_axis("elevation", "The barrel", "up and back", "D10")
                self._try_lever(muzzle_free=muzzle_free)
                self._cannon.make_safe("examined")
            finally:
                self._cannon.leave("the examination ended")
                tell_left_drawn(self._cannon, self._settings)

    def _try_axis(self, name: str, what: str, way: str, pin: str) -> None:
        if not self._answers.yes(f"Move {name} a little?"):
            self._skip(name, "not confirmed")
            return
        cannon = self._settings.cannon
        centres_us = {each: getattr(cannon, each).centre_us for each in ("traverse", "azimuth", "elevation")}
        axis = getattr(cannon, name)
        forward = (axis.us_per_mm if name == "traverse" else axis.us_per_rad) > 0
        step_us = (axis.max_us - axis.min_us) / _SHARE * (1 if forward else -1)
        there_us = min(max(axis.centre_us + step_us, axis.min_us), axis.max_us)
        self._cannon.aim(*{**centres_us, name: there_us}.values())
        self._cannon.aim(*centres_us.values())
        self._confirmed(name, f"{what} moved {way}?", f"[cannon.{name}], or the servo's plug at {pin}")

    def _try_lever(self, *, muzzle_free: bool) -> None:
        from rig.health import Level
        from rig.link import wire

        if not muzzle_free:
            self._skip("draw and latch", "a shot sits in the muzzle")
            return
        if not self._answers.yes(
            "Draw the lever, turn it to 180 degrees and let it down? Nobody before the muzzle."
        ):
            self._skip("draw and latch", "not confirmed")
            return
        self._cannon.service()
        drawn = wire.Input.LEVER_DRAWN in self._cannon.look().inputs
        self._cannon.let_down("examined")
        if drawn:
            found = "the lever went to the breech, was seen there, and came back"
            self._examination.tell(Level.OK, "draw and latch", found)
        else:
            found = "the lever was turned, and its switch no longer says drawn"
            self._examination.tell(Level.FAULT, "draw and latch", found, "see to the switch at A2")

    def _confirmed(self, part: str, question: str, place: str) -> None:
        from rig.health import Level

        if self._answers.yes(question):
            self._examination.tell(Level.OK, part, "moved as asked")
        else:
            self._examination.tell(Level.FAULT, part, "was not seen to move as asked", f"see to {place}")


def _hands_of(twin: Twin) -> Mapping[wire.Input, Callable[[bool], object]]:
    """Return what the twin's hands can make on or off."""
    from rig.link import wire

    hands = twin.hands
    return {
        wire.Input.ESTOP_OK: lambda on: hands.release_estop() if on else hands.press_estop(),
        wire.Input.KEY_ON: hands.turn_key,
        wire.Input.LANE_CLEAR: hands.lane,
        wire.Input.GATE_FIRST_BLOCKED: lambda on: hands.load() if on else hands.unload(),
    }
