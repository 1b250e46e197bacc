"""A rolling shutter: a shot that flies over the rows seems faster or slower than it is, and where the readout is told it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import twin.clips
from rig.camera_delay import see_delay
from rig.recording import read_frames, read_recording, write_recording
from vision.reading import ShotReading, read_shot

READOUT_US = 8000
UP_THE_ROWS = 1_004_278
"""A clip of the twin in which the shot flies from row to row, upwards in the picture."""


@pytest.fixture(scope="module")
def clip() -> twin.clips.Clip:
    """A shot that a camera with a rolling shutter has filmed."""
    drawn = twin.clips.draw_camera

    def rolling(*given: Any) -> Any:
        settings, knowledge = drawn(*given)
        return replace(settings, readout_us=READOUT_US), knowledge

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("twin.clips.draw_camera", rolling)
        return twin.clips.film(UP_THE_ROWS)


def recorded(folder: Path, clip: twin.clips.Clip, readout_us: int) -> Path:
    """Record it as of a camera whose readout is told."""
    camera = {**clip.keys["camera"], "readout_us": readout_us}
    write_recording(folder, {**clip.keys, "camera": camera}, clip.frames)
    return folder


def speed_mps(folder: Path) -> tuple[float, float]:
    recording = read_recording(folder)
    reading = read_shot(list(read_frames(folder, recording)), recording.timestamps_us, recording.scene)
    assert isinstance(reading, ShotReading)
    told = reading.track.speed_mps
    assert told is not None
    return told


def test_the_speed_of_a_shot_over_the_rows_is_told_rightly_where_the_readout_is(
    clip: twin.clips.Clip, tmp_path: Path
) -> None:
    true_mps = clip.look["speed_mps"]
    untold_mps, _ = speed_mps(recorded(tmp_path / "untold", clip, 0))
    told_mps, sigma_mps = speed_mps(recorded(tmp_path / "told", clip, READOUT_US))
    assert untold_mps < 0.95 * true_mps
    assert abs(told_mps - true_mps) < 2 * sigma_mps


def test_the_cameras_delay_is_that_of_its_middle_row_where_the_readout_is_told(
    clip: twin.clips.Clip, tmp_path: Path
) -> None:
    untold, told = (
        see_delay(recorded(tmp_path / str(readout_us), clip, readout_us)).delay_us
        for readout_us in (0, READOUT_US)
    )
    assert untold is not None and abs(untold) > 2000
    assert told is not None and abs(told) < 500
