"""On the twin: a shot whose release was told wrongly is read as if it had not been told, and the reading says so.

What moves like a shot and has nothing to do with who was struck does not pass for one, and no release is doubted for it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rig.recording import recording_of
from twin.clips import Clip, film
from vision.reading import ShotReading, read_shot
from vision.release_untold import LEAST_WORTH


@pytest.fixture(scope="module")
def faint() -> Clip:
    """A shot that only two pictures show."""
    return film(710_086)


def _read(clip: Clip, late_ms: int) -> ShotReading:
    keys = {**clip.keys, "fire_us": clip.keys["fire_us"] + 1000 * late_ms}
    times_us = [time_us for time_us, _ in clip.frames]
    reading = read_shot(
        [picture for _, picture in clip.frames], times_us, recording_of(Path("shot"), keys, times_us).scene
    )
    assert isinstance(reading, ShotReading), reading
    return reading


def _on_the_release(reading: ShotReading) -> list[str]:
    return [note for note in reading.notes if "fire_us" in note]


@pytest.mark.parametrize("late_ms", [-80, -40, -20, 20, 60])
def test_a_release_told_too_early_or_too_late_changes_nothing_of_what_is_read(
    plain: Clip, late_ms: int
) -> None:
    reading = _read(plain, late_ms)
    causes = {str(fall.toppling.soldier.square): fall.cause.value for fall in reading.falls}
    assert causes == {str(fall.square): fall.cause for fall in plain.truth.falls}
    assert reading.track.release_us == pytest.approx(plain.keys["fire_us"], abs=3000)
    assert reading.alarms == ()
    when = f"about {abs(late_ms)} ms {'earlier' if late_ms > 0 else 'later'} than fire_us says"
    assert [note for note in _on_the_release(reading) if when in note], reading.notes


def test_a_release_that_was_told_rightly_is_believed(plain: Clip, faint: Clip) -> None:
    hardly_seen = _read(faint, 0)
    assert hardly_seen.track.worth < LEAST_WORTH
    for reading in (_read(plain, 0), hardly_seen):
        assert _on_the_release(reading) == []


def test_what_moves_like_a_shot_and_comes_by_nobody_who_stirs_is_not_taken_for_it() -> None:
    clip = film(
        930_001
    )  # a black shot over a dark table, which no picture shows, and three specks beside the board
    reading = _read(clip, 0)
    assert _on_the_release(reading) == []
    assert not reading.track.found, reading.track.points
    assert {str(fall.toppling.soldier.square): fall.cause.value for fall in reading.falls} == {
        str(fall.square): fall.cause for fall in clip.truth.falls
    }
