"""Whether the parts of a rig are there and well: what was found, and what to do about it. Nothing moves here.

The camera has a file of its own, `rig.camera_health`.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from rig.calibrating.calibration_file import CalibrationFileError, calibration_of
from rig.calibrating.spring import spring_by_log
from rig.counted import counted
from rig.eye import taught_uniforms
from rig.link import wire
from rig.link.history import Remembered
from rig.link.messages import Identity, Status
from rig.link.words import entry_in_words
from rig.log import LogError, open_log
from rig.recording import BESIDE_BYTES, shot_bytes
from rig.settings import Settings
from rig.uniforms_file import UniformsFileError

__all__ = [
    "INPUTS",
    "Finding",
    "Level",
    "clock_health",
    "disk_health",
    "firmware_health",
    "history_health",
    "inputs_health",
    "learnt_health",
    "room_for_shots",
    "usual_shot_bytes",
]

_READINGS = 2000
_COARSE_US = 1000  # the cannon's heartbeat needs milliseconds
_RELEASED = datetime(2025, 1, 1, tzinfo=UTC)  # no date before this can be right
_FEW_SHOTS = 10
_MEGABYTE = 1_000_000


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    """A shot may fail for it, or it was not looked at."""
    FAULT = "fault"
    """No shot is possible until it is mended."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    part: str
    found: str
    todo: str = ""
    """What to do about it; empty where there is nothing to do."""

    def __str__(self) -> str:
        return f"{self.level:<8} {self.part:<15} {self.found}{f'; {self.todo}' if self.todo else ''}"


@dataclass(frozen=True, slots=True)
class _Input:
    part: str
    when_on: str
    when_off: str
    wanted: bool
    """The level of a cannon that is ready for a shot to be asked for."""
    todo: str
    by_hand: str
    """How a person makes it change there and back; empty where only the lever's own movement does."""


INPUTS: Final = {
    wire.Input.ESTOP_OK: _Input(
        "emergency stop",
        "released",
        "pressed, or its wire is broken",
        True,
        "pull it out; else see to the wire of D2",
        "press it and pull it out again",
    ),
    wire.Input.KEY_ON: _Input(
        "arming key",
        "on",
        "off",
        True,
        "turn it on before anything is to move; else see to the wire of D3",
        "turn it off and on again",
    ),
    wire.Input.LEVER_DRAWN: _Input(
        "lever drawn", "drawn", "forward", False, "let it down: rig doctor asks, or by hand, from behind", ""
    ),
    wire.Input.LEVER_LATCHED: _Input(
        "lever latched",
        "held",
        "not held",
        False,
        "let it down: rig doctor asks, or by hand, from behind",
        "",
    ),
    wire.Input.GATE_FIRST_BLOCKED: _Input(
        "inner gate",
        "blocked",
        "free",
        False,
        "take the shot out of the muzzle; else see to the barrier's cable (A0)",
        "hold a strip of paper in it and take it out again",
    ),
    wire.Input.GATE_SECOND_BLOCKED: _Input(
        "outer gate",
        "blocked",
        "free",
        False,
        "clear the muzzle; else see to the barrier's cable (A1)",
        "hold a strip of paper in it and take it out again",
    ),
    wire.Input.LANE_CLEAR: _Input(
        "lane",
        "clear",
        "not clear",
        True,
        "say that it is clear before a shot; else see to the wire of A4",
        "switch it to not clear and back, or the other way round",
    ),
}
"""What each input is called, how it should stand, and what to do where it does not."""


def clock_health() -> Iterator[Finding]:
    """Look at the clock that shots are timed by, and at the date."""
    readings = [time.monotonic_ns() for _ in range(_READINGS)]
    steps = [after - before for before, after in itertools.pairwise(readings)]
    if min(steps) < 0:
        yield Finding(Level.FAULT, "clock", "it runs backward", "use another computer")
    elif time.get_clock_info("monotonic").resolution * 1e6 > _COARSE_US:
        yield Finding(Level.FAULT, "clock", "its steps are coarser than 1 ms", "use another computer")
    else:
        yield Finding(Level.OK, "clock", "runs forward, in steps finer than 1 ms")
    now = datetime.now(UTC)
    if now < _RELEASED:
        yield Finding(Level.WARNING, "date", f"it is said to be {now:%Y-%m-%d}", "set the computer's clock")
    else:
        yield Finding(Level.OK, "date", f"{now:%Y-%m-%d %H:%M} UTC")


def disk_health(settings: Settings) -> Iterator[Finding]:
    """Look whether records can be written, and for how many shots there is room. What is missing is made.

    No picture has been seen yet: that they take more than usual, `rig.camera_health` says.
    """
    log_path = Path(settings.log.path)
    try:
        if log_path.exists():
            open_log(log_path, create=False, look_only=True).close()
    except (LogError, OSError) as error:
        yield Finding(Level.FAULT, "log", str(error), f"choose another in {settings.name}")
    for part, folder, needed_bytes in (
        ("log", log_path.parent, BESIDE_BYTES),
        ("recordings", Path(settings.log.recordings), usual_shot_bytes(settings)),
        ("transcripts", Path(settings.log.transcripts), BESIDE_BYTES),
    ):
        name = "this folder" if folder == Path() else str(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            yield Finding(
                Level.FAULT,
                part,
                f"{name} cannot be written to ({error.strerror})",
                f"choose another in {settings.name}",
            )
            continue
        yield room_for_shots(part, f"{name} can be written to", folder, needed_bytes, settings)


def usual_shot_bytes(settings: Settings) -> int:
    """Return what a shot takes on the disk of its recording with a camera that is as asked for, and not grainy."""
    camera = settings.camera
    return shot_bytes(
        width_px=camera.width_px,
        height_px=camera.height_px,
        fps=camera.fps,
        clip_s=camera.clip_before_s + camera.clip_after_s,
    )


def room_for_shots(part: str, what: str, folder: Path, needed_bytes: int, settings: Settings) -> Finding:
    """Say for how many shots a folder's disk has room, after `what` is known of it."""
    room = shutil.disk_usage(folder).free // needed_bytes
    found = f"{what}, with room for {_shots(room)} of {needed_bytes / _MEGABYTE:.0f} MB"
    agreed = 2 * settings.game.shots
    if room < _FEW_SHOTS:
        return Finding(Level.FAULT, part, found, "make room")
    if room < agreed:
        return Finding(Level.WARNING, part, found, f"make room for the {agreed} of a battle")
    return Finding(Level.OK, part, found)


def _shots(room: int) -> str:
    return counted(room, "shot") if room <= 1000 else "1000 or more shots"


def firmware_health(identity: Identity, status: Status) -> Iterator[Finding]:
    """Say what the cannon's chip tells of itself."""
    board = next((member.name.lower() for member in wire.Board if member == identity.board), "unknown board")
    yield Finding(
        Level.OK, "firmware", f"version {identity.firmware} on {board}, wire version {identity.wire_version}"
    )
    cause = next((each for each in wire.ResetCause if each == identity.reset_cause), None)
    if cause in {wire.ResetCause.BROWN_OUT, wire.ResetCause.WATCHDOG}:
        todo = (
            "see to the power supply: docs/wiring.md"
            if cause is wire.ResetCause.BROWN_OUT
            else "flash it anew; if it happens again, report it with the transcript"
        )
        yield Finding(Level.WARNING, "last reset", wire.says(cause), todo)
    for fault in sorted(status.faults):
        yield Finding(Level.WARNING, "noted fault", wire.says(fault), "it is forgotten at the next homing")


def history_health(history: Sequence[Remembered]) -> Iterator[Finding]:
    """Say what the cannon remembers of its last resets, refusals, faults and unasked changes, oldest first."""
    for place in history:
        found = (
            "what it noted then was cut off by a reset"
            if place.entry is None
            else entry_in_words(place.entry)
        )
        yield Finding(Level.OK, f"noted {place.number}", found)


def learnt_health(settings: Settings) -> Iterator[Finding]:
    """Look whether what was learnt at this table can be used: the cannon's calibration and the uniforms, where there are any."""
    try:
        calibration = calibration_of(settings.cannon)
    except CalibrationFileError as error:
        make = settings.command("calibrate range")
        lies_there = settings.cannon.calibration is not None and Path(settings.cannon.calibration).exists()
        # One that cannot be used is not written over: somebody may still want it.
        anew = f"move it away and make it anew: {make}" if lies_there else f"make it: {make}"
        todo = f"name another in {settings.name}, or {anew}"
        yield Finding(Level.FAULT, "calibration", str(error), todo)
    else:
        if calibration is not None:
            yield Finding(Level.OK, "calibration", f"{settings.cannon.calibration}, {calibration.identity}")
            spring = spring_by_log(settings)
            if spring is not None:
                level = Level.WARNING if spring.is_unsure or spring.fired is None else Level.OK
                yield Finding(level, "spring", spring.in_words())
    try:
        uniforms = taught_uniforms(settings)
    except UniformsFileError as error:
        todo = "take it away; then they can be taught anew: rig vision teach"
        yield Finding(Level.FAULT, "uniforms", str(error), todo)
    else:
        if uniforms is not None:
            yield Finding(Level.OK, "uniforms", "as they were taught")


def inputs_health(inputs: wire.Input) -> Iterator[Finding]:
    """Say how each input stands."""
    for member, words in INPUTS.items():
        on = member in inputs
        found = words.when_on if on else words.when_off
        if on is words.wanted:
            yield Finding(Level.OK, words.part, found)
        else:
            yield Finding(Level.WARNING, words.part, found, words.todo)
