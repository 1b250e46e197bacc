"""Which shot a recording is of, as the log that has the shot knows it; and how its folder is called."""

from __future__ import annotations

from pathlib import Path

from rig.log import Session
from rig.recording import Recording, RecordingError, ShotKeys

__all__ = ["recording_name", "refuse_other_shot", "shot_identity"]


def recording_name(shot_id: int) -> str:
    """Give the name of the folder that a shot's recording goes into."""
    return f"shot-{shot_id:05d}"


def shot_identity(session: Session, shot_id: int) -> ShotKeys:
    """Give what recording.json says of a shot of a session.

    Shots and sessions are counted from 1 in every log. When the session began tells the logs of two tables apart.
    """
    return ShotKeys(number=shot_id, session=session.session_id, session_began_utc_us=session.started_utc_us)


def refuse_other_shot(folder: Path, recording: Recording, due: ShotKeys) -> None:
    """Raise RecordingError where the recording in a folder says that it is of another shot than the one that is due."""
    told = recording.keys.shot
    if told is not None and not due.model_dump().items() <= told.model_dump().items():
        raise RecordingError(folder, f"shot is {told}, and expected is {due}; it is of another shot")
