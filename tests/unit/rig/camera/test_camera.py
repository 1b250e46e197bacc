"""The camera's promises: frames in order, memory bounded, and a camera that cannot be trusted stops the shot."""

import itertools
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from rig.camera import (
    CameraGone,
    CameraStalled,
    Frame,
    FrameRing,
    FramesDropped,
    OpenCvCamera,
    TooFewFrames,
    TooManyFrames,
)
from rig.link import WallClock


@dataclass
class Picture:
    timestamp_us: int
    image: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((4, 6, 3), np.uint8))


@dataclass
class ScriptedCamera:
    """Hands out the frames that a test puts into it."""

    name: str = "scripted"
    width_px: int = 6
    height_px: int = 4
    fps: float = 100.0
    most_waiting: int = 0
    waiting: list[Frame] = field(default_factory=list)

    def poll(self) -> list[Frame]:
        frames, self.waiting = self.waiting, []
        return frames

    def close(self) -> None:
        pass

    def deliver(self, *timestamps_us: int) -> None:
        self.waiting += [Picture(t) for t in timestamps_us]


def test_ring_lets_frames_go_that_are_older_than_it_keeps():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    for t in range(0, 500_000, 10_000):
        camera.deliver(t)
        ring.update(t)
    assert len(ring.newest(1000)) == 6
    assert ring.most_bytes == (65 + 1) * 6 * 4 * 3


def test_ring_keeps_everything_while_held_so_that_no_shot_loses_its_beginning():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    camera.deliver(0, 10_000)
    ring.hold(10_000)
    for t in range(20_000, 500_000, 10_000):
        camera.deliver(t)
        ring.update(t)
    clip = ring.between(0, 499_000)
    assert [frame.timestamp_us for frame in clip] == list(range(0, 500_000, 10_000))
    ring.release()
    ring.update(500_000)
    assert ring.between(0, 400_000) == []


def test_ring_keeps_the_beginning_of_a_shot_however_long_nobody_asks_for_it():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    camera.deliver(0, 10_000)
    ring.hold(10_000)
    for t in range(20_000, 5_000_000, 10_000):
        camera.deliver(t)
        ring.update(t)
    assert [frame.timestamp_us for frame in ring.newest(1000)] == list(range(0, 660_000, 10_000))


def test_pictures_that_waited_while_the_cannon_was_loaded_take_no_room_from_the_shot():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    camera.deliver(*range(0, 2_000_000, 10_000))
    ring.hold(1_990_000)
    for t in range(2_000_000, 2_600_000, 10_000):
        camera.deliver(t)
        ring.update(t)
    assert [frame.timestamp_us for frame in ring.newest(1000)] == list(range(1_940_000, 2_600_000, 10_000))


def test_a_camera_that_stalled_while_the_cannon_was_loaded_is_told_and_nothing_is_held():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    camera.deliver(0, 10_000)
    ring.update(10_000)
    with pytest.raises(CameraStalled):
        ring.hold(1_000_000)
    camera.deliver(1_010_000)
    ring.update(1_010_000)
    assert [frame.timestamp_us for frame in ring.newest(1000)] == [1_010_000]


def test_ring_never_holds_more_than_it_said_however_long_a_shot_is_held_or_fast_the_camera_is():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=100_000, stall_us=500_000)
    ring.hold(0)
    for t in range(0, 3_000_000, 2_000):  # five times as many as it said
        camera.deliver(t)
        ring.update(t)
        assert sum(frame.image.nbytes for frame in ring.newest(10_000)) <= ring.most_bytes


def test_what_waits_in_the_camera_is_reckoned_with_in_the_memory_that_pictures_take():
    camera = ScriptedCamera(most_waiting=200)
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    assert ring.most_bytes == (66 + 200) * 6 * 4 * 3


@pytest.mark.parametrize(("every_us", "is_refused"), [(10_000, False), (7_000, False), (5_000, True)])
def test_no_shot_is_held_for_a_camera_so_fast_that_it_would_not_find_room(every_us, is_refused):
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=500_000, hold_us=600_000, stall_us=500_000)
    camera.deliver(*range(0, 2_000_000, every_us))
    if not is_refused:
        ring.hold(2_000_000)
        return
    with pytest.raises(TooManyFrames, match=r"gives 100 pictures a second, and 100 came within 0\.5 s"):
        ring.hold(2_000_000)
    camera.deliver(*range(2_000_000, 3_000_000, every_us))
    ring.update(3_000_000)
    assert ring.newest()[0].timestamp_us == 3_000_000 - every_us


@pytest.mark.parametrize(
    ("every_us", "found"),
    [(100_000, None), (110_000, None), (130_000, "7.7"), (200_000, "5.0"), (900_000, "1.2")],
)
def test_a_camera_that_gives_too_few_pictures_to_judge_a_shot_by_is_told_whatever_rate_it_says(
    every_us, found
):
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=800_000, hold_us=600_000, stall_us=2_000_000)
    camera.deliver(*range(0, 2_700_001, every_us))
    ring.update(2_700_000)
    if found is None:
        ring.check_rate(8.57)
        return
    with pytest.raises(TooFewFrames, match=rf"{found} pictures a second come, and at least 8\.6 are needed"):
        ring.check_rate(8.57)


def test_a_ring_whose_room_for_a_shot_is_full_says_so_until_it_is_released():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    ring.hold(0)
    camera.deliver(*range(0, 650_000, 10_000))
    ring.update(640_000)
    ring.check_room()
    camera.deliver(650_000)
    ring.update(650_000)
    with pytest.raises(TooManyFrames, match=r"66 came within 0\.7 s"):
        ring.check_room()
    ring.release()
    ring.check_room()


def test_stalled_camera_is_noticed_although_old_frames_still_wait_in_the_queue():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=2_000_000, hold_us=0, stall_us=500_000)
    camera.deliver(0, 10_000)
    ring.update(10_000)
    camera.deliver(20_000)
    with pytest.raises(CameraStalled, match="no picture for 980 ms"):
        ring.update(1_000_000)


def test_dropped_frames_are_an_error_once_they_are_more_than_one_in_ten():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=2_000_000, hold_us=0, stall_us=500_000)
    camera.deliver(*[t for t in range(0, 1_000_000, 10_000) if t % 200_000])
    ring.update(1_000_000)
    ring.check_drops()
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=2_000_000, hold_us=0, stall_us=500_000)
    camera.deliver(*range(0, 1_000_000, 20_000))
    ring.update(1_000_000)
    with pytest.raises(FramesDropped, match="pictures are missing"):
        ring.check_drops()


@pytest.mark.parametrize(
    ("came", "missing"),
    [
        pytest.param([t for t in range(0, 101) if not 40 <= t < 50], None, id="10 of 101"),
        pytest.param([t for t in range(0, 101) if not 40 <= t < 51], 11, id="11 of 101"),
        pytest.param([*range(0, 20), *range(60, 161)], None, id="more than a second ago"),
        pytest.param([0, 1, 3, 4], None, id="one of few"),
        pytest.param([0, 1, 4], 2, id="two of few"),
        pytest.param([0], None, id="a single one"),
    ],
)
def test_only_drops_of_the_last_second_count_and_one_never_does(came, missing):
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=2_000_000, hold_us=0, stall_us=500_000)
    camera.deliver(*(10_000 * t for t in came))
    ring.update(10_000 * came[-1])
    if missing is None:
        ring.check_drops()
    else:
        with pytest.raises(FramesDropped, match=f"{missing} of the last"):
            ring.check_drops()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("no-such.mkv", "there is no such file"),
        (".", "it is a folder; expected a device number, a video file or a URL"),
        ("/dev/null", "it is a device or a pipe; expected a device number"),
        ("/dev/video3", "a device is named by its number alone, 3; expected"),
        (__file__, r"it does not open \(is it a video\?\)"),
    ],
)
def test_what_is_no_video_file_is_named_for_what_it_is(source, said):
    with pytest.raises(CameraGone, match=f"camera {re.escape(source)}: {said}"):
        OpenCvCamera(source, WallClock(), width_px=640, height_px=480, fps=30)


def test_device_that_is_not_there_is_named():
    with pytest.raises(CameraGone, match="camera 97: it does not open"):
        OpenCvCamera("97", WallClock(), width_px=640, height_px=480, fps=30)


def test_stream_that_nobody_serves_is_named():
    with pytest.raises(CameraGone, match=r"127\.0\.0\.1"):
        OpenCvCamera("http://127.0.0.1:9/stream", WallClock(), width_px=640, height_px=480, fps=30)


def test_a_file_in_a_folder_named_by_a_time_of_day_is_no_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("12:30/clip.avi")
    path.parent.mkdir()
    writer = cv2.VideoWriter(f"./{path}", cv2.VideoWriter.fourcc(*"MJPG"), 50.0, (64, 48))
    for _ in range(10):
        writer.write(np.zeros((48, 64, 3), np.uint8))
    writer.release()
    camera = OpenCvCamera(str(path), WallClock(), width_px=0, height_px=0, fps=0)
    camera.close()
    assert (camera.width_px, camera.height_px) == (64, 48)


def test_file_plays_at_its_own_rate_and_says_when_it_is_over(tmp_path):
    path = tmp_path / "clip.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 50.0, (64, 48))
    for level in range(0, 250, 25):
        writer.write(np.full((48, 64, 3), level, np.uint8))
    writer.release()
    camera = OpenCvCamera(str(path), WallClock(), width_px=0, height_px=0, fps=0)
    frames: list[Frame] = []
    with pytest.raises(CameraGone, match="stopped giving pictures"):
        while True:
            frames += camera.poll()
    camera.close()
    assert (camera.width_px, camera.height_px, camera.fps) == (64, 48, 50.0)
    assert len(frames) == 10
    assert {b.timestamp_us - a.timestamp_us for a, b in itertools.pairwise(frames)} == {20_000}


class SilentCapture:
    """OpenCV's capture of a stream that falls silent after its first picture; freed under a read, it would crash."""

    def __init__(self) -> None:
        self.silent = threading.Event()
        self.wakes = threading.Event()
        self.reading = False
        self.released = threading.Event()
        self.freed_under_a_read = False
        self._first = True

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def get(self, _: int) -> float:
        return 30.0

    def read(self) -> tuple[bool, NDArray[np.uint8] | None]:
        if self._first:
            self._first = False
            return True, np.zeros((4, 6, 3), np.uint8)
        self.reading = True
        self.silent.set()
        assert self.wakes.wait(60)
        self.reading = False
        return False, None

    def release(self) -> None:
        self.freed_under_a_read |= self.reading
        self.released.set()


def test_a_silent_stream_is_closed_without_freeing_it_under_the_read_that_waits_for_it(monkeypatch, tmp_path):
    capture = SilentCapture()
    monkeypatch.setattr("rig.camera.opencv_camera.open_capture", lambda source: capture)
    monkeypatch.setattr("rig.camera.opencv_camera._CLOSE_S", 0.05)
    path = tmp_path / "stands-for-a-stream"
    path.touch()
    camera = OpenCvCamera(str(path), WallClock(), width_px=0, height_px=0, fps=0)
    assert capture.silent.wait(60)
    camera.close()
    assert not capture.released.is_set()
    capture.wakes.set()
    assert capture.released.wait(60)
    assert not capture.freed_under_a_read


class WatchedStream:
    """A stream of ten pictures a second on its own clock; every picture is as grey as its number."""

    def __init__(self) -> None:
        self._number = 0

    def now_us(self) -> int:
        return 100_000 * self._number

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def get(self, _: int) -> float:
        return 0.0

    def read(self) -> tuple[bool, NDArray[np.uint8] | None]:
        self._number += 1
        return self._number <= 12, np.full((4, 6, 3), self._number, np.uint8)

    def release(self) -> None:
        """Nothing to let go."""


def test_the_first_picture_of_a_stream_is_as_old_as_it_says(monkeypatch):
    """Its rate is watched for a second first; what came before that second does not count as new."""
    stream = WatchedStream()
    monkeypatch.setattr("rig.camera.opencv_camera.open_capture", lambda source: stream)
    camera = OpenCvCamera("http://stream", stream, width_px=0, height_px=0, fps=0)
    first = camera.poll()[0]
    camera.close()
    assert camera.fps == 10.0
    assert first.timestamp_us == 100_000 * int(first.image[0, 0, 0])


class DamagedStream(WatchedStream):
    """One of whose pictures the head came damaged, so that it would be larger than any that OpenCV decodes."""

    def read(self) -> tuple[bool, NDArray[np.uint8] | None]:
        _, picture = super().read()
        if self._number == 14:
            cv2.imdecode(np.frombuffer(self.damaged(), np.uint8), cv2.IMREAD_COLOR)
        return self._number <= 16, picture

    @staticmethod
    def damaged() -> bytes:
        _, packed = cv2.imencode(".jpg", np.zeros((4, 6, 3), np.uint8))
        jpeg = bytearray(packed.tobytes())
        size_at = jpeg.find(b"\xff\xc0") + 5
        jpeg[size_at : size_at + 4] = b"\xff\x00\xff\x00"
        return bytes(jpeg)


def test_a_picture_that_comes_damaged_is_lost_and_not_the_camera(monkeypatch):
    stream = DamagedStream()
    monkeypatch.setattr("rig.camera.opencv_camera.open_capture", lambda source: stream)
    camera = OpenCvCamera("http://stream", stream, width_px=0, height_px=0, fps=0)
    camera._thread.join(60)
    assert [int(frame.image[0, 0, 0]) for frame in camera.poll()][-3:] == [13, 15, 16]
    with pytest.raises(CameraGone, match="stopped giving pictures"):
        camera.poll()
    camera.close()


class LongStream(WatchedStream):
    """That gives pictures for 6 s."""

    def read(self) -> tuple[bool, NDArray[np.uint8] | None]:
        _, picture = super().read()
        return self._number <= 60, picture


def test_no_more_pictures_wait_in_a_camera_than_it_says_however_long_nobody_asks(monkeypatch):
    stream = LongStream()
    monkeypatch.setattr("rig.camera.opencv_camera.open_capture", lambda source: stream)
    camera = OpenCvCamera("http://stream", stream, width_px=0, height_px=0, fps=0)
    camera._thread.join(60)
    # The last 2 s, and beside them the one that is just being read.
    assert [int(frame.image[0, 0, 0]) for frame in camera.poll()] == list(range(41, 61))
    assert camera.most_waiting == 20 + 1
    camera.close()


class TurnedStream(WatchedStream):
    """A telephone that somebody turns after 2 s of pictures."""

    def read(self) -> tuple[bool, NDArray[np.uint8] | None]:
        self._number += 1
        return True, np.full((4, 6, 3) if self._number <= 20 else (6, 4, 3), self._number % 256, np.uint8)


def test_a_stream_whose_pictures_change_their_size_has_ended_and_says_so(monkeypatch):
    """A shot's film of two sizes can be neither read nor recorded; what came before can."""
    stream = TurnedStream()
    monkeypatch.setattr("rig.camera.opencv_camera.open_capture", lambda source: stream)
    camera = OpenCvCamera("http://stream", stream, width_px=0, height_px=0, fps=0)
    camera._thread.join(60)
    assert {frame.image.shape for frame in camera.poll()} == {(4, 6, 3)}
    with pytest.raises(CameraGone, match=r"its pictures were 6 x 4 px and are 4 x 6 px now"):
        camera.poll()
    camera.close()


def test_pictures_that_are_stamped_late_have_the_time_at_which_they_were_taken():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=500_000, hold_us=600_000, stall_us=500_000, delay_us=18_000)
    camera.deliver(118_000, 128_000, 138_000)
    ring.update(140_000)
    assert [frame.timestamp_us for frame in ring.newest(3)] == [100_000, 110_000, 120_000]
    assert ring.newest()[0].image.shape == (4, 6, 3)


def test_a_delay_is_no_silence():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=2_000_000, hold_us=0, stall_us=100_000, delay_us=300_000)
    for t in range(0, 1_000_000, 50_000):
        camera.deliver(t)
        ring.update(t)
    with pytest.raises(CameraStalled):
        ring.update(1_100_000)


def wavering(count: int, *, at_most_us: int, period_us: int = 10_000) -> list[int]:
    """When pictures come that are taken every `period_us` from 0 on: up to so much later."""
    late_us = np.random.default_rng(5).integers(0, at_most_us, count, endpoint=True)
    return [k * period_us + int(us) for k, us in enumerate(late_us)]


def shot_of(came_us: list[int], *, held_after: int = 300, delay_us: int = 0) -> list[int]:
    """Give the times of a shot's pictures: those of the last 50 ms before the ring is held, and all since."""
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=2_000_000, stall_us=500_000, delay_us=delay_us)
    camera.deliver(*came_us[:held_after])
    ring.hold(came_us[held_after - 1])
    for t in came_us[held_after:]:
        camera.deliver(t)
        ring.update(t)
    return [frame.timestamp_us for frame in ring.newest(1000)]


@pytest.mark.parametrize("delay_us", [0, 18_000])
def test_pictures_of_a_shot_have_the_times_of_the_cameras_own_clock_though_their_stamps_waver(delay_us):
    shot = shot_of(wavering(400, at_most_us=4000), delay_us=delay_us)
    assert len(shot) >= 100
    numbers = np.arange(400 - len(shot), 400)
    off_us = np.array(shot) + delay_us - 10_000 * numbers - 2000
    assert np.abs(off_us).max() < 400
    assert np.ptp(off_us) < 50


def test_pictures_that_were_lost_while_the_cannon_was_loaded_do_not_hide_the_cameras_clock():
    came_us = wavering(700, at_most_us=4000)
    shot = shot_of(came_us[:100] + came_us[500:], held_after=200)
    assert len(shot) >= 100
    off_us = np.array(shot) - 10_000 * np.arange(700 - len(shot), 700)
    assert np.ptp(off_us) < 200


def test_pictures_that_come_evenly_keep_their_stamps():
    came_us = wavering(400, at_most_us=40)
    assert shot_of(came_us) == came_us[-len(shot_of(came_us)) :]


def test_times_of_a_shot_rise_though_one_picture_was_held_up():
    came_us = wavering(400, at_most_us=2000)
    came_us[350] += 6000
    shot = shot_of(came_us)
    assert all(a < b for a, b in itertools.pairwise(shot))
    late_us = came_us[350] - 3_500_000
    assert late_us in {us - 3_500_000 for us in shot}, "when it was taken cannot be told"


def test_after_a_shot_pictures_have_the_times_at_which_they_came():
    camera = ScriptedCamera()
    ring = FrameRing(camera, keep_us=50_000, hold_us=600_000, stall_us=500_000)
    came_us = wavering(400, at_most_us=4000)
    camera.deliver(*came_us[:300])
    ring.hold(came_us[299])
    ring.release()
    camera.deliver(*came_us[300:])
    ring.update(came_us[-1])
    assert [frame.timestamp_us for frame in ring.newest(3)] == came_us[-3:]
