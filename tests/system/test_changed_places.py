"""On the twin: one is pushed to where another stood, who falls. Who of them stands there is hard to tell from above."""

from __future__ import annotations

from pathlib import Path

from game.montecassino import Cause, Square
from rig.recording import read_frames, write_recording
from twin.clips import film
from vision.reading import ShotReading, read_shot

FELL, STANDS_THERE = Square.parse("G-28"), Square.parse("G-36")


def test_of_two_of_whom_either_may_stand_there_none_is_told_as_fallen_for_sure(tmp_path: Path) -> None:
    """Verdicts are not silently wrong: what is in doubt is asked (docs/accuracy.md)."""
    clip = film(880_018)
    assert [each.square for each in clip.truth.falls] == [FELL]
    recording = write_recording(tmp_path, clip.keys, clip.frames)
    frames = list(read_frames(tmp_path, recording))
    reading = read_shot(frames, recording.timestamps_us, recording.scene)
    assert isinstance(reading, ShotReading)
    told = {fall.toppling.soldier.square: fall for fall in reading.judged_falls}
    assert told.keys() == {FELL, STANDS_THERE}
    assert all(Cause.OTHER in fall.possible and len(fall.possible) > 1 for fall in told.values())
