"""The eye at the live table knows what the rig was taught, and waits for no picture that cannot come."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_settings import settings_of
from painted_table import Table

from game.montecassino import Side
from rig.camera import Frame, FrameRing, FramesDropped, TooManyFrames
from rig.eye import BoardNotSeen, Eye, ring_for
from rig.link.errors import PortGone
from rig.settings import Settings
from rig.uniforms_file import NAME, write_uniforms
from vision.rest import REST_US, Stillness
from vision.soldiers.teaching import teach_uniforms

CAMERA = painted.view()
START = painted.squares(
    "A " + " ".join(f"A-{n:02d}" for n in range(1, 25)) + " G " + " ".join(f"G-{n:02d}" for n in range(1, 25))
)
# The heap nearer to a base is taken for that side's by whoever was not taught.
SWAPPED = {square: side.enemy for square, side in START.items() if square.number % 3}


@dataclass
class Picture:
    timestamp_us: int
    image: NDArray[np.uint8]


@dataclass
class Still:
    """A camera that shows one picture, and its time."""

    image: NDArray[np.uint8]
    name: str = "still"
    width_px: int = CAMERA.width_px
    height_px: int = CAMERA.height_px
    fps: float = 100.0
    time_us: int = 0
    waiting: list[Frame] = field(default_factory=list)

    def now_us(self) -> int:
        return self.time_us

    def wait(self, time_us: int) -> None:
        self.time_us += time_us
        self.waiting.append(Picture(self.time_us, self.image))

    def poll(self) -> list[Frame]:
        frames, self.waiting = self.waiting, []
        return frames

    def close(self) -> None:
        pass


def seen_at(folder: Path) -> dict[object, Side]:
    """Who stands where, as the eye reads it with the recordings in a folder."""
    camera = Still(Table(CAMERA, tuple(painted.standing(SWAPPED).values())).paint())
    ring = FrameRing(camera, keep_us=500_000, hold_us=500_000, stall_us=500_000)
    standing = (
        Eye(ring, camera, camera.wait, settings_of(CAMERA, recordings=folder)).read(Side.A, None).standing
    )
    return {soldier.square: soldier.side for soldier in standing.soldiers}


def test_the_table_is_read_with_the_uniforms_taught_beside_the_recordings(tmp_path: Path) -> None:
    assert seen_at(tmp_path) != SWAPPED
    whole = Table(CAMERA, tuple(painted.standing(START).values())).paint()
    write_uniforms(tmp_path / NAME, teach_uniforms(whole, painted.scene(CAMERA)))
    assert seen_at(tmp_path) == SWAPPED


def test_the_table_is_read_through_a_slow_camera(tmp_path: Path) -> None:
    """Its ring holds two pictures, and five are read."""
    camera = Still(Table(CAMERA, tuple(painted.standing(START).values())).paint(), fps=2.0)

    def wait(time_us: int) -> None:
        assert camera.time_us < 10_000_000, "it waits for pictures that are gone"
        camera.wait(time_us)

    eye = Eye(
        ring_for(camera, settings_of(CAMERA, recordings=tmp_path)),
        camera,
        wait,
        settings_of(CAMERA, recordings=tmp_path),
    )
    assert len(eye.read(Side.A, START).standing.soldiers) == len(START)


def test_whoever_waits_for_pictures_that_the_ring_has_no_room_for_is_told() -> None:
    camera = Still(np.zeros((CAMERA.height_px, CAMERA.width_px, 3), np.uint8))
    ring = FrameRing(camera, keep_us=50_000, hold_us=100_000, stall_us=500_000)
    eye = Eye(ring, camera, camera.wait, Settings())
    ring.hold(0)
    with pytest.raises(TooManyFrames):
        eye.until_seen(1_000_000)
    with pytest.raises(TooManyFrames):
        eye.pictures()


@dataclass
class Stuttering(Still):
    """One that leaves out every so many-th picture."""

    leaves_out: int = 0
    number: int = 0

    def wait(self, time_us: int) -> None:
        self.number += 1
        if self.leaves_out and self.number % self.leaves_out == 0:
            self.time_us += time_us
        else:
            super().wait(time_us)


@pytest.mark.parametrize(("leaves_out", "is_clear"), [(0, True), (20, True), (3, False)])
def test_a_lane_seen_through_a_camera_that_drops_pictures_is_not_clear(
    tmp_path: Path, leaves_out: int, is_clear: bool
) -> None:
    """What comes between two pictures is not seen; that an empty lane is in those that there are says nothing of it."""
    camera = Stuttering(Table(CAMERA, tuple(painted.standing(START).values())).paint())
    ring = FrameRing(camera, keep_us=1_500_000, hold_us=500_000, stall_us=500_000)
    eye = Eye(ring, camera, camera.wait, settings_of(CAMERA, recordings=tmp_path))
    eye.read(Side.A, START)
    camera.leaves_out = leaves_out
    for _ in range(100):
        camera.wait(ring.period_us)
    if is_clear:
        assert eye.lane().clear
    else:
        with pytest.raises(FramesDropped):
            eye.lane()


def with_a_sleeve(picture: NDArray[np.uint8], y_mm: float) -> NDArray[np.uint8]:
    """Something of 30 cm2 over the middle of the line of squares at y."""
    corners_mm = np.array(
        [[x, y_mm + dy, 0.0] for x, dy in ((110.0, -15.0), (210.0, -15.0), (210.0, 15.0), (110.0, 15.0))]
    )
    covered = picture.copy()
    cv2.fillConvexPoly(covered, np.round(CAMERA.project(corners_mm)).astype(np.int32), (90, 60, 50))
    return covered


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(("line", "is_clear"), [(1, True), (2, False), (9, False), (18, False)])
def test_the_lane_is_watched_but_for_the_line_over_which_the_barrel_moves(
    tmp_path: Path, side: Side, line: int, is_clear: bool
) -> None:
    """The table is read before the cannon is aimed: its barrel is elsewhere then, and no hand."""
    camera = Still(Table(CAMERA, tuple(painted.standing(START).values())).paint())
    ring = FrameRing(camera, keep_us=1_500_000, hold_us=500_000, stall_us=500_000)
    eye = Eye(ring, camera, camera.wait, settings_of(CAMERA, recordings=tmp_path))
    eye.read(side, START)
    row = line if side is Side.A else 19 - line
    camera.image = with_a_sleeve(camera.image, (row - 0.5) * 45.0)
    answer = eye.lane()
    assert answer.clear is is_clear, answer.why


def test_before_the_table_is_read_no_lane_is_clear(tmp_path: Path) -> None:
    camera = Still(Table(CAMERA, tuple(painted.standing(START).values())).paint())
    ring = FrameRing(camera, keep_us=1_500_000, hold_us=500_000, stall_us=500_000)
    assert not Eye(ring, camera, camera.wait, settings_of(CAMERA, recordings=tmp_path)).lane().clear


def test_a_thing_that_lay_over_the_board_already_when_it_was_read_leaves_no_lane_clear(
    tmp_path: Path,
) -> None:
    picture = Table(CAMERA, tuple(painted.standing(START).values())).paint()
    cv2.rectangle(picture, (0, 240), (420, 300), (90, 60, 50), -1)
    camera = Still(picture)
    ring = FrameRing(camera, keep_us=1_500_000, hold_us=500_000, stall_us=500_000)
    eye = Eye(ring, camera, camera.wait, settings_of(CAMERA, recordings=tmp_path))
    eye.read(Side.A, None)
    answer = eye.lane()
    assert not answer.clear
    assert "lies over the board that is no soldier" in answer.why


@pytest.mark.parametrize("left_after_us", [0, 200_000, 1_000_000])
def test_the_ring_has_room_for_a_whole_shot_that_leaves_up_to_a_second_after_it_is_held(
    tmp_path: Path, left_after_us: int
) -> None:
    """On a line that has to ask again; and each picture has the time at which it was taken."""
    chosen = settings_of(CAMERA, recordings=tmp_path)
    keys = {"clip_before_s": 0.4, "clip_after_s": 1.0, "delay_us": 25_000}
    chosen = chosen.model_copy(update={"camera": chosen.camera.model_copy(update=keys)})
    camera = Still(np.zeros((4, 4, 3), np.uint8))
    ring = ring_for(camera, chosen)

    def pass_time(for_us: int) -> None:
        for _ in range(for_us // 10_000):
            camera.wait(10_000)
            ring.update(camera.time_us)

    pass_time(5_000_000)
    ring.hold(camera.time_us)
    pass_time(left_after_us)
    left_us = camera.time_us
    pass_time(1_100_000)
    frames = ring.between(left_us - 400_000, left_us + 1_000_000)
    # Stamped 25 ms late by a camera that takes one each 10 ms; none is missing.
    assert [frame.timestamp_us for frame in frames] == [
        *range(left_us - 395_000, left_us + 1_000_000, 10_000)
    ]


def test_a_picture_without_a_board_is_told_with_the_cameras_name(tmp_path: Path) -> None:
    camera = Still(np.full((CAMERA.height_px, CAMERA.width_px, 3), 128, np.uint8))
    ring = FrameRing(camera, keep_us=1_500_000, hold_us=500_000, stall_us=500_000)
    with pytest.raises(BoardNotSeen, match=r"^camera still: "):
        Eye(ring, camera, camera.wait, settings_of(CAMERA, recordings=tmp_path)).read(Side.A, START)


@dataclass
class Restless(Still):
    """One under which a sleeve goes to and fro from time to time."""

    moves_us: list[range] = field(default_factory=list)

    def wait(self, time_us: int) -> None:
        super().wait(time_us)
        if any(self.time_us in span for span in self.moves_us):
            y_mm = 300.0 + 100.0 * (self.time_us // 20_000 % 2)
            self.waiting[-1] = Picture(self.time_us, with_a_sleeve(self.image, y_mm))


@pytest.fixture
def restless(tmp_path: Path) -> tuple[Restless, Eye]:
    return about_to_fire(tmp_path)


def about_to_fire(recordings: Path, *, delay_us: int = 0) -> tuple[Restless, Eye]:
    """A table that was read and is about to be fired over, and the eye that read it."""
    camera = Restless(Table(CAMERA, tuple(painted.standing(START).values())).paint())
    ring = FrameRing(camera, keep_us=500_000, hold_us=5_000_000, stall_us=500_000, delay_us=delay_us)
    chosen = settings_of(CAMERA, recordings=recordings, delay_us=delay_us)
    eye = Eye(ring, camera, camera.wait, chosen)
    eye.read(Side.A, START)
    ring.hold(camera.time_us)
    return camera, eye


def changes(told: list[tuple[int, Stillness]]) -> list[Stillness]:
    """What was told, each as often as it became so."""
    return [stillness for stillness, _ in groupby(stillness for _, stillness in told)]


def test_a_shot_is_followed_until_nothing_has_moved_for_long_enough(restless: tuple[Restless, Eye]) -> None:
    camera, eye = restless
    released_us = camera.time_us
    moved_us = released_us + 600_000
    camera.moves_us = [range(released_us, moved_us)]
    told = list(eye.follow(released_us, 4_000_000))
    assert changes(told) == [Stillness.MOVING, Stillness.QUIET, Stillness.REST]
    at_us, _ = told[-1]
    # What it is held against is a tenth of a second older, and pictures come each 20 ms.
    assert moved_us + REST_US <= at_us <= moved_us + REST_US + 120_000
    assert eye.ring.newest()[0].timestamp_us == at_us


def test_a_table_that_does_not_come_to_rest_is_followed_as_long_as_a_clip_may_be(
    restless: tuple[Restless, Eye],
) -> None:
    camera, eye = restless
    released_us = camera.time_us
    camera.moves_us = [range(released_us, released_us + 10_000_000)]
    told = list(eye.follow(released_us, 1_000_000))
    assert told[-1] == (released_us + 1_000_000, Stillness.REST)
    assert changes(told) == [Stillness.MOVING, Stillness.REST]
    assert eye.ring.newest()[0].timestamp_us <= released_us + 1_000_000 + 100_000


def test_the_last_pictures_of_a_clip_are_waited_for_though_they_come_late(tmp_path: Path) -> None:
    camera, eye = about_to_fire(tmp_path, delay_us=200_000)
    released_us = camera.time_us
    camera.moves_us = [range(released_us, released_us + 10_000_000)]
    at_us, _ = list(eye.follow(released_us, 1_000_000))[-1]
    assert at_us == released_us + 1_000_000
    assert eye.ring.between(released_us, at_us)[-1].timestamp_us > at_us - 2 * 20_000


def test_what_moves_while_the_shot_is_being_read_takes_the_rest_back(restless: tuple[Restless, Eye]) -> None:
    camera, eye = restless
    released_us = camera.time_us
    told = []
    for at_us, stillness in eye.follow(released_us, 4_000_000):
        if stillness is Stillness.REST and Stillness.REST not in changes(told):
            camera.moves_us = [range(camera.time_us, camera.time_us + 200_000)]
            for _ in range(20):
                camera.wait(20_000)
        told.append((at_us, stillness))
    after = [Stillness.MOVING, Stillness.QUIET, Stillness.REST]
    assert changes(told)[-4:] == [Stillness.REST, *after]
    assert told[-1][0] >= camera.moves_us[0].stop + REST_US - 20_000


def test_what_flies_is_watched_without_the_cannon_once_its_line_is_gone(
    restless: tuple[Restless, Eye], tmp_path: Path
) -> None:
    camera, seeing = restless
    gone = PortGone("/dev/ttyACM0", "it has vanished")
    asked = []

    def wait(time_us: int) -> None:
        asked.append(time_us)
        raise gone

    chosen = settings_of(CAMERA, recordings=tmp_path)
    eye = Eye(seeing.ring, camera, wait, chosen, rest_us=camera.wait)
    for shot in (1, 2):
        eye.until_seen(camera.time_us + 100_000)
        assert eye.line_failure is gone
        assert len(asked) == shot, "once for each shot, for the line may be there again"
    with pytest.raises(PortGone):
        Eye(seeing.ring, camera, wait, chosen).until_seen(camera.time_us + 100_000)
