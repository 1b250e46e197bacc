"""On the twin: where nothing else tells which end of the board is whose (B2), the shot's flight does."""

from __future__ import annotations

from pathlib import Path

import pytest

from game.montecassino import Side
from rig.recording import recording_of
from twin.clips import Clip, film
from vision.reading import NoReading, ShotReading, TableBefore, read_before, read_shot
from vision.scene import Scene


@pytest.fixture(scope="module")
def clip() -> Clip:
    """A shot of the Allies."""
    return film(300_013)


def _scene(clip: Clip, fires: Side) -> Scene:
    """What is known of the film, but for all that tells which end is whose."""
    keys = {**clip.keys, "position": None, "cannon": {"side": fires.value, "muzzle_mm": None}}
    keys["board"] = {**clip.keys["board"], "markers": None, "corners_px": None}
    return recording_of(Path("shot"), keys, [time_us for time_us, _ in clip.frames]).scene


def _read(clip: Clip, fires: Side) -> ShotReading:
    reading = read_shot(
        [picture for _, picture in clip.frames],
        [time_us for time_us, _ in clip.frames],
        _scene(clip, fires),
    )
    assert isinstance(reading, ShotReading)
    return reading


def _squares(reading: ShotReading) -> set[str]:
    return {str(soldier.square) for soldier in reading.standing.soldiers}


def test_the_side_that_fires_stands_where_the_shot_comes_from(clip: Clip) -> None:
    reading = _read(clip, Side.A)
    assert _squares(reading) == {str(each.square) for each in clip.truth.before}
    assert [note for note in reading.notes if "the shot did" in note and "(A)" in note], "and it says so"


def test_the_board_is_turned_by_half_where_the_other_side_is_told_to_fire(clip: Clip) -> None:
    turned = {str(each.square).translate(str.maketrans("AG", "GA")) for each in clip.truth.before}
    assert _squares(_read(clip, Side.G)) == turned


def test_before_the_shot_the_ends_are_not_guessed_and_after_it_the_same_table_is_read(clip: Clip) -> None:
    pictures, times_us = [picture for _, picture in clip.frames], [time_us for time_us, _ in clip.frames]
    scene = _scene(clip, Side.A)
    assert scene.fire_us is not None
    quiet = sum(time_us <= scene.fire_us for time_us in times_us)
    before = read_before(pictures[:quiet], times_us[:quiet], scene)
    assert isinstance(before, NoReading)
    assert "which end is whose" in before.reason
    assert isinstance(read_shot(pictures, times_us, scene, before), ShotReading)
    assert isinstance(read_before(pictures, times_us, scene), TableBefore)
