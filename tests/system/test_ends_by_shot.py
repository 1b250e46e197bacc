"""On the twin: where nothing else tells which end of the board is whose (B2), the shot's flight does; else it is held
against the side that is said to fire."""

from __future__ import annotations

from pathlib import Path

import pytest

from game.montecassino import Cause, Side
from rig.recording import recording_of
from twin.clips import Clip
from vision.guards import Trouble
from vision.reading import ShotReading, read_shot
from vision.scene import Scene
from vision.table_before import NoReading, TableBefore, read_before


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


def test_the_side_that_fires_stands_where_the_shot_comes_from(plain: Clip) -> None:
    reading = _read(plain, Side.A)
    assert _squares(reading) == {str(each.square) for each in plain.truth.before}
    assert [note for note in reading.notes if "the shot did" in note and "(A)" in note], "and it says so"


def test_the_board_is_turned_by_half_where_the_other_side_is_told_to_fire(plain: Clip) -> None:
    turned = {str(each.square).translate(str.maketrans("AG", "GA")) for each in plain.truth.before}
    assert _squares(_read(plain, Side.G)) == turned


def test_before_the_shot_the_ends_are_not_guessed_and_after_it_the_same_table_is_read(plain: Clip) -> None:
    pictures, times_us = [picture for _, picture in plain.frames], [time_us for time_us, _ in plain.frames]
    scene = _scene(plain, Side.A)
    assert scene.fire_us is not None
    quiet = sum(time_us <= scene.fire_us for time_us in times_us)
    before = read_before(pictures[:quiet], times_us[:quiet], scene)
    assert isinstance(before, NoReading)
    assert "which end is whose" in before.reason
    assert isinstance(read_shot(pictures, times_us, scene, before), ShotReading)
    assert isinstance(read_before(pictures, times_us, scene), TableBefore)


def _read_with_known_ends(
    clip: Clip, fires: Side, *, release_told: bool, muzzle_mm: tuple[float, float, float] | None = None
) -> ShotReading:
    cannon = {"side": fires.value, "muzzle_mm": muzzle_mm}
    keys = {**clip.keys, "position": None, "cannon": cannon}
    if not release_told:
        keys["fire_us"] = None
    pictures, times_us = [picture for _, picture in clip.frames], [time_us for time_us, _ in clip.frames]
    reading = read_shot(pictures, times_us, recording_of(Path("shot"), keys, times_us).scene)
    assert isinstance(reading, ShotReading)
    return reading


@pytest.mark.parametrize("release_told", [True, False])
def test_a_shot_that_comes_from_the_other_end_than_told_holds_its_ruling(
    plain: Clip, release_told: bool
) -> None:
    wrong = _read_with_known_ends(plain, Side.G, release_told=release_told)
    assert [alarm.reason for alarm in wrong.alarms] == [
        'cannon.side is "G", and the shot comes in from the end of A: is the side told wrongly, or the picture upside down?'
    ]
    assert wrong.falls
    assert all(Cause.OTHER in fall.possible for fall in wrong.falls)
    right = _read_with_known_ends(plain, Side.A, release_told=release_told)
    assert not [alarm for alarm in right.alarms if alarm.trouble is Trouble.OTHER_END]


def test_a_muzzle_told_at_the_wrong_end_does_not_hide_where_the_shot_comes_from(plain: Clip) -> None:
    x_mm, y_mm, z_mm = plain.truth.muzzle_mm
    turned_mm = (8 * 45.0 - x_mm, 18 * 45.0 - y_mm, z_mm)
    wrong = _read_with_known_ends(plain, Side.G, release_told=True, muzzle_mm=turned_mm)
    assert [alarm.trouble for alarm in wrong.alarms] == [Trouble.OTHER_END]
    assert all(Cause.OTHER in fall.possible for fall in wrong.falls)
    right = _read_with_known_ends(plain, Side.A, release_told=True, muzzle_mm=(x_mm, y_mm, z_mm))
    assert not right.alarms
