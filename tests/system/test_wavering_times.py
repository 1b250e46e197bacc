"""Pictures that are stamped when they have come through a cable: the shot is read as if each had been stamped when it was taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from one_shot import order, rig_on

from rig.recording import read_recording, write_recording
from twin.clips import Clip
from vision.even_times import own_clock
from vision.lookout import Lookout
from vision.reading import ShotReading, read_shot
from vision.table_before import TableBefore, read_before

PACKET_US = 4000  # of USB
HELD_UP, HELD_UP_US = 5, 19_500


def as_stamped(taken_us: Sequence[int]) -> list[int]:
    return list(taken_us)


def in_packets(taken_us: Sequence[int]) -> list[int]:
    return [-(-us // PACKET_US) * PACKET_US for us in taken_us]


def by_a_busy_computer(taken_us: Sequence[int]) -> list[int]:
    """While the shot flies, a few are not fetched in time and come together."""
    came_us = list(taken_us)
    for k in range(20, 20 + HELD_UP):
        came_us[k] = max(taken_us[k], taken_us[20] + HELD_UP_US + k)
    return came_us


def read(clip: Clip, folder: Path, come: Callable[[Sequence[int]], list[int]]) -> ShotReading:
    """Read a clip whose pictures come so."""
    times_us = come([time_us for time_us, _ in clip.frames])
    pictures = [picture for _, picture in clip.frames]
    recording = write_recording(folder, clip.keys, list(zip(times_us, pictures, strict=True)))
    reading = read_shot(pictures, recording.timestamps_us, recording.scene)
    assert isinstance(reading, ShotReading)
    return reading


@pytest.mark.parametrize("come", [as_stamped, in_packets, by_a_busy_computer])
def test_the_speed_of_a_shot_is_told_rightly_however_its_pictures_come(
    plain: Clip, tmp_path: Path, come: Callable[[Sequence[int]], list[int]]
) -> None:
    """By the times at which they come in packets it would be 14.4 m/s."""
    reading = read(plain, tmp_path / "shot", come)
    told = reading.track.speed_mps
    assert told is not None
    speed_mps, sigma_mps = told
    assert abs(speed_mps - plain.look["speed_mps"]) < 2 * sigma_mps
    assert sigma_mps < 0.02 * speed_mps
    assert any("timestamps_us waver by" in note for note in reading.notes) is (come is not as_stamped)


def test_what_was_seen_of_a_shot_while_it_flew_is_seen_anew_where_its_times_turn_out_to_waver(
    plain: Clip, tmp_path: Path
) -> None:
    times_us = in_packets([time_us for time_us, _ in plain.frames])
    pictures = [picture for _, picture in plain.frames]
    scene = write_recording(tmp_path / "shot", plain.keys, list(zip(times_us, pictures, strict=True))).scene
    before = read_before(pictures, times_us, scene)
    assert isinstance(before, TableBefore)
    lookout = Lookout(before, scene)
    lookout.look(pictures[:40], times_us[:40])
    reading = read_shot(pictures, times_us, scene, before, lookout)
    assert isinstance(reading, ShotReading)
    assert reading.track.points == read(plain, tmp_path / "again", in_packets).track.points


def test_a_shot_of_the_rig_is_recorded_with_the_times_of_the_cameras_own_clock(tmp_path: Path) -> None:
    """Its stamps waver by up to 8 ms, half of the time from one picture to the next."""
    with rig_on(tmp_path, "camera.faults.waver_us = 8000\n") as (rig, position):
        done = rig.match.shoot(order(rig, position))
        assert rig.twin is not None
        (fired,) = rig.twin.shots
        truth = rig.twin.truth()
    clock = own_clock(read_recording(done.folder).timestamps_us)
    assert clock is not None
    assert clock.wavering_us < 100
    told = {str(fall.toppling.soldier.square): fall.cause for fall in done.analysis.reading.falls}
    assert told == {str(fall.square): fall.cause for fall in truth.falls}
    seen = done.analysis.reading.track.speed_mps
    assert seen is not None
    assert seen[0] == pytest.approx(fired.speed_mps, abs=3 * seen[1])
