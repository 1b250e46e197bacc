"""From a recording's folder to what fell and who leaves: vision, then the judge."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from game.montecassino import (
    SOLDIERS_PER_SIDE,
    Doubt,
    Fall,
    Option,
    Position,
    Side,
    Square,
    Verdict,
    judge_any_shot,
    why_put_back,
)
from rig.counted import counted
from rig.recording import Recording, RecordingError, read_all_frames, read_recording
from rig.uniforms_file import find_uniforms
from rig.verdict.how_sure import how_sure
from rig.verdict.told_together import Said, parted, told_together
from rig.verdict.unseen_shot import of_the_shot, of_this_fall
from vision.causes import FallCause
from vision.lookout import Lookout
from vision.outcome import Push, Soldier
from vision.reading import ShotReading, read_shot
from vision.scene import Scene
from vision.table_before import NoReading, TableBefore

__all__ = ["Analysis", "analyse_folder", "analyse_pictures", "scene_in"]


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """A recording, read and judged."""

    recording: Recording
    reading: ShotReading
    verdicts: Mapping[Option, Verdict]
    """The verdict under each casualty option, so that they can be compared."""
    decode_ms: float
    """Processor time that the pictures took to decode; 0 where they came from memory."""
    analyse_ms: float
    """Processor time of the program while they were read."""

    @property
    def verdict(self) -> Verdict:
        """The verdict under the option that was agreed."""
        return self.verdicts[self.recording.option]

    def why_back(self, square: Square) -> str:
        """Say why the soldier of a square is put back; of one that the verdict does not put back it means nothing."""
        falls = map(_as_judged, self.reading.judged_falls)
        fall = next((fall for fall in falls if fall.square == square), None)
        return why_put_back(fall, self.recording.zone, self.recording.option)

    def as_json(self) -> dict[str, Any]:
        """Give the object that ``rig analyse FOLDER --json`` prints."""
        reading = self.reading
        first = reading.contacts.first
        speed = reading.track.speed_mps
        return {
            "soldiers": [
                {"side": s.side.value, "square": str(s.square), "x_mm": s.x_mm, "y_mm": s.y_mm}
                for s in reading.standing.soldiers
            ],
            "falls": [
                {
                    "side": fall.toppling.soldier.side.value,
                    "square": str(fall.toppling.soldier.square),
                    "cause": fall.cause.value,
                    "confidence": round(fall.confidence, 3),
                    "t_us": fall.toppling.passed_us,
                    "evidence": fall.evidence,
                }
                for fall in reading.falls
            ],
            "moved": [
                {
                    "side": push.soldier.side.value,
                    "square": str(push.soldier.square),
                    "x_mm": push.x_mm,
                    "y_mm": push.y_mm,
                }
                for push in reading.pushes
            ],
            "pellet": [[t_us, round(x, 2), round(y, 2)] for t_us, x, y, _ in reading.track.points],
            "first_contact_mm": None if first is None else [round(v, 2) for v in first.point_mm[:2]],
            "speed_mps": None
            if speed is None
            else {"value": round(speed[0], 3), "sigma": round(speed[1], 3)},
            "graph": [
                {
                    "by": "shot" if knock.by is None else str(knock.by),
                    "fallen": str(knock.fallen),
                    "probability": round(knock.probability, 3),
                }
                for fall in reading.falls
                for knock in fall.knocks
            ],
            "verdict": _verdict_json(self.verdict),
            "verdicts": {option.value: _verdict_json(verdict) for option, verdict in self.verdicts.items()},
            "notes": list(reading.notes),
            "timing_ms": {"decode": round(self.decode_ms), "analyse": round(self.analyse_ms)},
            # Only where there is something to say: a ruling that nothing holds is told as it always was.
            **({"held": [alarm.reason for alarm in reading.alarms]} if reading.alarms else {}),
        }

    @property
    def unseen(self) -> str:
        """Why the shot was not seen, and what its falls are judged by then; empty where it was."""
        reading = self.reading
        if reading.track.found:
            return ""
        reason = reading.track.reason
        return of_the_shot(reason) if reading.falls or reading.perhaps_fallen else reason

    def in_words(self) -> Iterator[str]:
        """Give what happened, line by line, for the person at the table."""
        reading, verdict = self.reading, self.verdict
        soldiers = reading.standing.soldiers
        sides = ", ".join(f"{sum(s.side is side for s in soldiers)} {side}" for side in Side)
        yield f"{counted(len(soldiers), 'soldier')} stood on the board ({sides})."
        yield from (f"Note: {_ended(note)}" for note in self._lines(map(parted, reading.notes)))
        alarms = self._lines(parted(alarm.reason) for alarm in reading.alarms)
        yield from (f"The ruling is held: {_ended(alarm)}" for alarm in alarms)
        if self.unseen:
            yield f"The shot was not seen: {self.unseen}."
        yield from self._lines(map(_fell, reading.falls))
        yield from self._lines(map(_was_pushed, reading.judged_pushes))
        yield from self._lines(map(_may_have_fallen, reading.perhaps_fallen))
        if not reading.falls and not reading.pushes:
            yield "Nobody fell and nobody was pushed."
        yield from self._lines(parted(f"{square} leaves.") for square in verdict.casualties)
        yield from self._lines(
            parted(f"{square} is put back: {self.why_back(square)}.") for square in verdict.put_back
        )
        yield from self._lines(map(_in_doubt, verdict.doubts))

    def _lines(self, said: Iterable[Said]) -> Iterator[str]:
        """Give a line for each; where the ruling is held nearly everybody may seem to have moved, and many share one."""
        if self.reading.alarms:
            return told_together(said)
        return (own_line for _, own_line, _ in said)


def _ended(sentence: str) -> str:
    """Put a full stop behind a sentence that is no question."""
    return sentence if sentence.endswith("?") else f"{sentence}."


def analyse_folder(folder: Path) -> Analysis:
    """Read and judge the shot in a folder.

    Raises
    ------
    RecordingError
        If the folder is no recording, or its pictures cannot be read as a shot.
    UniformsFileError
        If taught uniforms are kept beside it that cannot be used.
    """
    recording = read_recording(folder)
    started = time.process_time()
    frames = read_all_frames(folder, recording)
    decode_ms = 1000 * (time.process_time() - started)
    return replace(analyse_pictures(folder, recording, frames), decode_ms=decode_ms)


def scene_in(folder: Path, recording: Recording) -> Scene:
    """Return what is known of a recording beforehand: its own word, and the uniforms taught beside its folder.

    Raises
    ------
    UniformsFileError
        If taught uniforms are kept there that cannot be used.
    """
    return replace(recording.scene, uniforms=find_uniforms(folder))


def analyse_pictures(
    folder: Path,
    recording: Recording,
    frames: Sequence[NDArray[np.uint8]],
    before: TableBefore | NoReading | None = None,
    lookout: Lookout | None = None,
) -> Analysis:
    """Read and judge a shot from its pictures in memory.

    Parameters
    ----------
    folder
        Where the recording is, or will be.
    recording
        What is known of the shot.
    frames
        The pictures, one for each of the recording's times.
    before
        The table before the shot, where it has been read already with `scene_in`.
    lookout
        What has looked at the first of the pictures already.

    Raises
    ------
    RecordingError, UniformsFileError
        As for `analyse_folder`.
    """
    scene = scene_in(folder, recording)
    started = time.process_time()
    reading = read_shot(frames, recording.timestamps_us, scene, before, lookout)
    if isinstance(reading, NoReading):
        raise RecordingError(folder / recording.clip, reading.reason)
    analyse_ms = 1000 * (time.process_time() - started)
    position = _judged_position(recording, reading)
    falls = [
        _as_judged(fall) for fall in reading.judged_falls if fall.toppling.soldier.square in position.soldiers
    ]
    pushed = [
        push.soldier.square for push in reading.judged_pushes if push.soldier.square in position.soldiers
    ]
    verdicts = {option: judge_any_shot(position, recording.zone, option, falls, pushed) for option in Option}
    return Analysis(recording, reading, verdicts, decode_ms=0.0, analyse_ms=analyse_ms)


def _as_judged(fall: FallCause) -> Fall:
    return Fall(fall.toppling.soldier.square, fall.toppling.soldier.side, fall.possible)


def _name(soldier: Soldier) -> str:
    return f"{soldier.square} ({soldier.side})"


def _fell(fall: FallCause) -> Said:
    """Say why it fell, and how sure that is where no guard takes it back."""
    name = _name(fall.toppling.soldier)
    sure = "unless something else had a part in it" if fall.held else f"{how_sure(fall.confidence)} sure"
    _, evidence = of_this_fall(fall.evidence)
    own = f"; {evidence}" if evidence else ""
    return name, f"{name} fell: {fall.cause}, {sure}{own}", f"fell: {fall.cause}"


def _was_pushed(push: Push) -> Said:
    name, pushed = _name(push.soldier), "was pushed and stands."
    return name, f"{name} {pushed}", pushed


def _may_have_fallen(fall: FallCause) -> Said:
    name = _name(fall.toppling.soldier)
    _, evidence = of_this_fall(fall.evidence)
    return name, f"{name}: {evidence}.", "seems to stand, pushed, but may have fallen."


def _in_doubt(doubt: Doubt) -> Said:
    between, decides = " or ".join(doubt.between), f"the commander of {doubt.commander} decides."
    return str(doubt.square), f"{doubt.square} is in doubt, {between}: {decides}", f"is in doubt: {decides}"


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "casualties": [str(s) for s in verdict.casualties],
        "put_back": [str(s) for s in verdict.put_back],
        "doubts": [
            {
                "square": str(doubt.square),
                "between": [cause.value for cause in doubt.between],
                "commander": doubt.commander.value,
            }
            for doubt in verdict.doubts
        ],
    }


def _judged_position(recording: Recording, reading: ShotReading) -> Position:
    """Give the position that the shot was fired at, as far as the recording and the picture tell.

    The soldiers are those that were seen, those whom the shot touched first where they are more than a side has. A recording
    without a position says nothing of prisoners and shots left; the judge's lists of this shot do not depend on them, but for
    the one shot that was fired. So of prisoners there are no more than leave room for those who were seen.
    """
    shooter = recording.keys.cannon.side
    given = recording.position
    touched = {f.toppling.soldier for f in reading.falls} | {p.soldier for p in reading.pushes}
    soldiers: dict[Square, Side] = {}
    room = dict.fromkeys(Side, SOLDIERS_PER_SIDE)
    for soldier in sorted(reading.standing.soldiers, key=lambda s: (s not in touched, s.square)):
        if room[soldier.side] > 0:
            room[soldier.side] -= 1
            soldiers[soldier.square] = soldier.side
    return Position(
        turn=shooter,
        soldiers=soldiers,
        held={side: 0 if given is None else min(given.held[side], room[side.enemy]) for side in Side},
        shots_left={
            side: max(0 if given is None else given.shots_left[side], 1 if side is shooter else 0)
            for side in (Side.A, Side.G)
        },
        retreated=frozenset() if given is None else given.retreated,
    )
