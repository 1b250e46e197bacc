"""A shot that was recorded and never judged, since something ended the rig before: its verdict, taken from the recording."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from game.montecassino import format_squares
from rig.log import Fired, LogError, Shot, ShotLog
from rig.recording import KEYS_NAME, Recording, RecordingError, read_recording
from rig.settings import Settings
from rig.shot_identity import recording_name, refuse_other_shot, shot_identity
from rig.verdict.analyse import Analysis, analyse_folder
from rig.verdict.logged_reading import log_reading

__all__ = ["NotToBeJudged", "judge_recorded", "logged_settings", "not_judged"]

_FOUND = "found afterwards"


class NotToBeJudged(LogError):
    """A shot whose verdict cannot be had from its recording, in one sentence."""

    exit_status = 1


def logged_settings(settings: Settings) -> dict[str, Any]:
    """Give settings as a session keeps them: they tell where its recordings lie also when the rig runs elsewhere."""
    logged = settings.model_dump(mode="json")
    if Path(settings.log.path).is_absolute():
        # How a relative folder lies to it hangs on where the rig runs now.
        logged["log"]["recordings"] = str(Path(settings.log.recordings).absolute())
    return logged


def not_judged(log: ShotLog) -> Iterator[Shot]:
    """Give the shots that were fired, or may have been, and wait for a verdict, the oldest first."""
    return (shot for shot in log.shots_not_judged() if _waits(shot))


def judge_recorded(log: ShotLog, shot_id: int) -> tuple[Shot, Analysis | None]:
    """Take what the log lacks of a shot from its recording.

    A recording that the log does not know, for it was written at the very end, is looked for where the shot's session
    kept its recordings.

    Returns
    -------
    tuple of Shot and Analysis
        The shot as the log has it now, and what was read; None where it was judged and only its recording was missing.

    Raises
    ------
    NotToBeJudged
        Not fired, being fired just now, judged already, without a recording, or with one that is not whole.
    LogError, RecordingError, UniformsFileError, JudgeError
        The log, or the recording, cannot be used; as for `rig.verdict.analyse.analyse_folder` and `log_reading`.
    """
    shot = log.shot(shot_id)
    if shot.fired is Fired.NO:
        raise NotToBeJudged(f"shot {shot_id} was not fired; there is nothing to judge")
    if not shot.finished:
        raise NotToBeJudged(f"shot {shot_id} is being fired just now; its verdict comes by itself")
    if not _waits(shot) and shot.recording_path is not None:
        raise NotToBeJudged(f"shot {shot_id} is judged already; the log tells how")
    folder, recording = _recording(log, shot)
    if shot.recording_path is None:
        log.recorded(shot_id, str(folder), cause=_FOUND)
    if not _waits(shot):
        return log.shot(shot_id), None
    if recording.incomplete:
        raise NotToBeJudged(
            f"shot {shot_id}: its recording ends before all was at rest ({recording.incomplete}), so it does not "
            "tell who fell afterwards; look at the table"
        )
    analysis = analyse_folder(folder)
    if not _waits(log.shot(shot_id)):
        raise NotToBeJudged(f"shot {shot_id} was judged meanwhile; the log tells how")
    log_reading(log, shot_id, shot.planned, analysis)
    return log.shot(shot_id), analysis


def _waits(shot: Shot) -> bool:
    return shot.fired is not Fired.NO and shot.finished and shot.verdict is None


def _recording(log: ShotLog, shot: Shot) -> tuple[Path, Recording]:
    """Find the recording of a shot, and see that it is of this shot."""
    if shot.recording_path is not None:
        folder = Path(shot.recording_path)
    else:
        folder = _kept_in(log, shot) / recording_name(shot.shot_id)
        if not (folder / KEYS_NAME).exists():
            raise NotToBeJudged(f"shot {shot.shot_id} has no recording, neither in the log nor in {folder}")
    recording = read_recording(folder)
    refuse_other_shot(folder, recording, shot_identity(log.session(shot.session_id), shot.shot_id))
    planned = shot.planned
    for key, found, expected in (
        ("position", "null" if recording.position is None else str(recording.position), planned.position),
        ("zone", format_squares(recording.zone), planned.zone),
        ("option", recording.option.value, planned.option),
    ):
        if found != expected:
            raise RecordingError(
                folder,
                f"{key} is {found}, and shot {shot.shot_id} was fired with {expected}; it is of another shot",
            )
    return folder, recording


def _kept_in(log: ShotLog, shot: Shot) -> Path:
    """Return where the shot's session kept its recordings, also if the rig ran elsewhere then."""
    settings = log.session(shot.session_id).settings.get("log")
    if not isinstance(settings, dict):
        return log.folder / "recordings"
    kept, beside = Path(str(settings["recordings"])), Path(str(settings["path"])).parent
    if kept.is_absolute() and not kept.is_relative_to(beside):
        return kept
    # Both were said from where the rig ran: only how the one lies to the other still holds.
    return log.folder / os.path.relpath(kept, beside)
