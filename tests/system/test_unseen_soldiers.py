"""On the twin: boards that hide their soldiers. What was missed is noticed by what it leaves, and holds the ruling."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from game.montecassino import Cause
from rig.recording import read_frames, recording_of, write_recording
from twin.clips import Clip, film
from vision.guards import Trouble
from vision.reading import ShotReading, read_shot
from vision.table_before import NoReading

HIDING, HIDING_WITH_POSITION, HIDING_ALL, SPOTTED, THROWN_FAR = 710_112, 710_111, 740_042, 740_025, 710_045
THROWN_ONTO_A_PATCH = 880_000  # of paint
_HAZE, _THROUGH_HAZE = 110.0, 0.8  # grey levels, and the share of contrast that it leaves


def _read(clip: Clip, **keys: object) -> ShotReading | NoReading:
    times_us = [time_us for time_us, _ in clip.frames]
    scene = recording_of(Path("shot"), {**clip.keys, **keys}, times_us).scene
    return read_shot([picture for _, picture in clip.frames], times_us, scene)


@pytest.fixture(scope="module")
def with_position() -> Clip:
    return film(HIDING_WITH_POSITION)


@pytest.fixture(scope="module")
def without_position() -> Clip:
    return film(HIDING)


def test_who_was_not_seen_to_stand_is_noticed_when_he_falls(without_position: Clip) -> None:
    """In haze; without it he is seen."""
    clip = without_position
    assert clip.keys["position"] is None
    fell = {each.square for each in clip.truth.falls}
    hazy = replace(clip, frames=[(time_us, _in_haze(picture)) for time_us, picture in clip.frames])
    reading = _read(hazy)
    assert isinstance(reading, ShotReading)
    (alarm,) = reading.alarms
    assert alarm.trouble is Trouble.UNSEEN
    named = ", ".join(map(str, sorted(fell)))
    assert f"something left its place on {named}, and no soldier was seen to stand there" in alarm.reason
    assert {told.toppling.soldier.square for told in reading.falls} <= fell
    assert all(Cause.OTHER in told.possible for told in reading.falls), (
        "a doubt, on which his commander decides"
    )


def _in_haze(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.asarray(np.clip(_HAZE + _THROUGH_HAZE * (picture - _HAZE), 0, 255), dtype=np.uint8)


def test_soldiers_of_the_boards_colours_are_seen_by_what_they_wear_alike(without_position: Clip) -> None:
    reading = _read(without_position)
    assert isinstance(reading, ShotReading)
    stood = {each.square for each in without_position.truth.before}
    seen = {soldier.square for soldier in reading.standing.soldiers}
    assert len(stood & seen) >= 0.9 * len(stood)
    assert len(seen - stood) <= 0.1 * len(stood)
    assert {f.toppling.soldier.square for f in reading.falls} == {
        f.square for f in without_position.truth.falls
    }
    (alarm,) = reading.alarms
    assert alarm.trouble is Trouble.UNSEEN, "some may have been missed all the same, and nobody rules on that"


def test_a_position_is_believed_where_the_board_hides_everybody(with_position: Clip) -> None:
    reading = _read(with_position)
    assert isinstance(reading, ShotReading)
    assert {s.square for s in reading.standing.soldiers} == {s.square for s in with_position.truth.before}
    assert {f.toppling.soldier.square for f in reading.falls} == {f.square for f in with_position.truth.falls}
    assert reading.alarms == ()
    assert [note for note in reading.notes if "hardly show against this board" in note] == list(reading.notes)


def test_without_the_position_nobody_rules_on_what_is_hardly_seen(with_position: Clip) -> None:
    reading = _read(with_position, position=None)
    assert isinstance(reading, ShotReading)
    assert [alarm.trouble for alarm in reading.alarms] == [Trouble.UNSEEN]


def test_where_every_square_seems_empty_and_none_surely_is_nobody_rules_either() -> None:
    reading = _read(film(HIDING_ALL))
    assert isinstance(reading, ShotReading)
    (alarm,) = reading.alarms
    assert alarm.trouble is Trouble.UNSEEN
    assert "hardly show against this board" in alarm.reason


def test_paint_that_covers_the_board_is_no_hand() -> None:
    reading = _read(film(SPOTTED))
    assert isinstance(reading, ShotReading)
    assert reading.alarms == ()


def test_another_tables_position_is_not_believed_there(with_position: Clip) -> None:
    """Those whom it names are no likelier to stand there than anywhere else, however hard that is to see."""
    reading = _read(with_position, position="G A25-A46 G25-G46 0/0 5/5 -")
    assert isinstance(reading, NoReading)
    assert "the table does not stand as the position says" in reading.reason


@pytest.mark.parametrize("seed", [THROWN_FAR, THROWN_ONTO_A_PATCH])
def test_a_soldier_that_was_thrown_far_has_left_no_place_there(seed: int, tmp_path: Path) -> None:
    clip = film(seed)
    recording = write_recording(tmp_path / "shot", clip.keys, clip.frames)
    packed = zip(recording.timestamps_us, read_frames(tmp_path / "shot", recording), strict=True)
    reading = _read(replace(clip, frames=list(packed)), position=None)
    assert isinstance(reading, ShotReading)
    assert reading.alarms == ()
    stood = {each.square for each in clip.truth.before}
    assert {soldier.square for soldier in reading.standing.soldiers} == stood
