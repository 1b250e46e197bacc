"""The umpire's eye: each live picture, the clip after a shot, and the memory for the last pictures.

One core, 1280 x 720, in one run with what they are held against. Times are processor times, each the best of several
rounds over the same pictures: other programs only ever add to them.

A film leaves out a sensor's noise, most of all the demo's, whose light never flickers. So what is read here is given noise
again, as much as the sensors of small cameras have in a lit room, and is decoded from films written with it.

The demo's tables all look alike and are easy to read. So clips of other tables, lights and cameras are read as well, as
`rig clips` films them; a shot that hardly shows takes longest. The rig records in a hurry, and what it wrote is decoded
quickly; so recordings of others are read too, where they are at hand.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks._demo import demo
from benchmarks._played_shot import Picture, noisy, verdict_after_ms
from benchmarks._timing import timed
from benchmarks.figure import Figure
from rig.camera import Frame, FrameRing
from rig.film.freed_memory import keep_freed_memory
from rig.log import open_log
from rig.recording import Recording, read_frames, read_recording, write_recording
from rig.settings import Settings
from twin.clips import film
from vision.guards import TableGuard
from vision.reading import ShotReading, read_shot
from vision.rest import RestWatch

Image = NDArray[np.uint8]

_ROUNDS = 5
_LIVE_PICTURES = 60
_CLIP_PICTURES = 90
# Of the twin's clips from number 300000 on, the first of this size and so many pictures.
_VARIED = (300_004, 300_005, 300_007, 300_010, 300_013)
_GIVEN = Path(__file__).parents[2] / "shared" / "recordings"
_GIVEN_WIDTH_PX = 1280
_STEP = 20  # grey levels, of the peer's threshold
_NOISE = 1.5  # grey levels
_RING_US = 500_000
_MOST_OF_DECODING = 1.5
_PROMISED_VERDICT_MS = 150.0


def measure() -> list[Figure]:
    """Watch and read a shot of the demo."""
    keep_freed_memory()  # as every command of the rig begins
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        return _measured()
    finally:
        cv2.setNumThreads(threads)


def _measured() -> list[Figure]:
    folder = max(demo().recordings, key=lambda each: len(read_recording(each).timestamps_us))
    recording = read_recording(folder)
    shown = list(read_frames(folder, recording))
    pictures = noisy(shown, _NOISE)
    times_us = recording.timestamps_us
    reading = read_shot(pictures, times_us, recording.scene)
    assert isinstance(reading, ShotReading), reading
    live = _live_ms(pictures, times_us, reading, recording)
    return [
        Figure(
            "watching live, a picture of 1280 x 720: at rest yet? is all clear? CPU",
            live,
            "ms",
            "absdiff, threshold, connectedComponentsWithStats on the whole grey picture",
            _components_ms(pictures),
            at_most=1.0,
        ),
        Figure("the same", live, "ms", "MOG2 on the same pictures", _mog2_ms(pictures), at_most=1 / 3),
        _clip("as a sensor gives it", folder, recording, pictures),
        _clip("of the demo, which has no noise", folder, recording, shown),
        *_varied(),
        *_given(),
        _verdict(),
        _ring(),
    ]


def _best_ms(act: Callable[[], object], count: int) -> float:
    """Return the processor time of one of `count` steps that an act makes, in the best of several rounds."""
    return 1000 * timed(act, _ROUNDS)[1] / count


def _live_ms(
    pictures: Sequence[Image], times_us: Sequence[int], reading: ShotReading, recording: Recording
) -> float:
    watched = np.ones(pictures[0].shape[:2], np.bool_)
    scene, view = recording.scene, reading.view
    guard = TableGuard(pictures[0], view, scene, reading.standing, watched=watched)
    mm_per_px = view.mm_per_px(*scene.centre_mm)

    def watch() -> None:
        rest = RestWatch(watched, mm_per_px=mm_per_px)
        for time_us, picture in zip(times_us[:_LIVE_PICTURES], pictures, strict=False):
            rest.look(time_us, picture)
            guard.look(picture)

    return _best_ms(watch, _LIVE_PICTURES)


def _components_ms(pictures: Sequence[Image]) -> float:
    grey = [cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) for picture in pictures[:_LIVE_PICTURES]]

    def find() -> None:
        for k in range(1, len(grey)):
            changed = cv2.threshold(cv2.absdiff(grey[k - 1], grey[k]), _STEP, 255, cv2.THRESH_BINARY)[1]
            cv2.connectedComponentsWithStats(changed)

    return _best_ms(find, len(grey) - 1)


def _mog2_ms(pictures: Sequence[Image]) -> float:
    def subtract() -> None:
        model = cv2.createBackgroundSubtractorMOG2()
        for picture in pictures[:_LIVE_PICTURES]:
            model.apply(picture)

    return _best_ms(subtract, _LIVE_PICTURES)


def _clip(what: str, folder: Path, recording: Recording, pictures: Sequence[Image]) -> Figure:
    """Read the first pictures of a clip that was recorded, beside OpenCV's decoding of as many."""
    keys = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
    given = {key: value for key, value in keys.items() if key not in {"format", "clip", "timestamps_us"}}
    taken = _taken_ms(given, list(zip(recording.timestamps_us, pictures, strict=True)))
    return _beside_decoding(f"reading a clip of {_CLIP_PICTURES} pictures {what}, CPU", taken)


def _varied() -> list[Figure]:
    """Read clips of other tables, lights and cameras."""
    clips = (film(seed) for seed in _VARIED)
    return _middle_and_slowest(
        "clips of other tables, lights and cameras, as the rig records them",
        [_taken_ms(clip.keys, clip.frames) for clip in clips],
    )


def _given() -> list[Figure]:
    """Read recordings that others filmed and encoded, more tightly than the rig, which has no time for it."""
    taken = []
    for path in sorted(_GIVEN.glob("*/recording.json")):
        recording = read_recording(path.parent)
        if recording.keys.camera.width == _GIVEN_WIDTH_PX and len(recording.timestamps_us) >= _CLIP_PICTURES:
            taken.append(_read_ms(path.parent, recording))
    if not taken:
        print("eye_speed: the shared recordings are not beside this checkout, and are left out")
        return []
    return _middle_and_slowest("given recordings of 1280 x 720, as they were encoded", taken)


def _middle_and_slowest(what: str, taken: list[tuple[float, float]]) -> list[Figure]:
    """Say how long the middle one of several clips takes, and the worst."""
    taken = sorted(taken, key=lambda each: each[0] / each[1])
    return [
        _beside_decoding(f"reading the middle one of {len(taken)} {what}, CPU", taken[len(taken) // 2]),
        _beside_decoding(f"reading the slowest of {len(taken)} {what}, CPU", taken[-1]),
    ]


def _taken_ms(keys: Mapping[str, Any], frames: Sequence[tuple[int, Image]]) -> tuple[float, float]:
    """Say how long reading the first pictures of a clip takes as the rig records it, and decoding as many."""
    with tempfile.TemporaryDirectory() as kept:
        shot = Path(kept) / "shot"
        return _read_ms(shot, write_recording(shot, keys, frames[:_CLIP_PICTURES]))


def _read_ms(folder: Path, recording: Recording) -> tuple[float, float]:
    """Say how long reading the first pictures of a recording takes, as many as the promise is about, and decoding them."""
    decoded = list(islice(read_frames(folder, recording), _CLIP_PICTURES))
    times_us = recording.timestamps_us[: len(decoded)]

    def decode() -> None:
        capture = cv2.VideoCapture(str(folder / recording.clip))
        for _ in decoded:
            capture.read()
        capture.release()

    read_ms = _best_ms(lambda: read_shot(decoded, times_us, recording.scene), 1)
    return read_ms, _best_ms(decode, 1)


def _beside_decoding(name: str, taken_ms: tuple[float, float]) -> Figure:
    read_ms, decode_ms = taken_ms
    return Figure(name, read_ms, "ms", "OpenCV decodes as many", decode_ms, at_most=_MOST_OF_DECODING)


def _verdict() -> Figure:
    """Fire the demo's shots again through all that `rig shoot` does, the camera giving pictures as they came."""
    with open_log(demo().log, create=False) as log:
        shots = log.shots()
        settings = {session.session_id: session.settings for session in log.sessions()}
    after_ms = []
    for shot in shots:
        assert shot.recording_path is not None, "the demo records"
        recording = read_recording(Path(shot.recording_path))
        pictures = noisy(list(read_frames(Path(shot.recording_path), recording)), _NOISE)
        fired_with = Settings.model_validate_json(json.dumps(settings[shot.session_id]))
        after_ms.append(verdict_after_ms(fired_with, shot.planned, recording, pictures))
    return Figure(
        f"last picture to verdict, live: the slowest of the demo's {len(after_ms)} shots; "
        f"typical {statistics.median(after_ms):.0f} ms",
        max(after_ms),
        "ms",
        "the promise",
        _PROMISED_VERDICT_MS,
        at_most=1.0,
    )


class _Film:
    """A camera of 120 pictures a second, on a clock that is told."""

    name = "film"
    width_px, height_px, fps = 1280, 720, 120.0
    exposure_us: int | None = None
    most_waiting = 0

    def __init__(self) -> None:
        self._count = 0
        self.now_us = 0

    def poll(self) -> list[Frame]:
        frames: list[Frame] = []
        while self._count * 1e6 / self.fps <= self.now_us:
            image = np.zeros((self.height_px, self.width_px, 3), np.uint8)
            frames.append(Picture(self._count, round(self._count * 1e6 / self.fps), image))
            self._count += 1
        return frames

    def close(self) -> None:
        pass


def _ring() -> Figure:
    """Hold a ring for far longer than it was made for, and see what memory it takes."""
    camera = _Film()
    ring = FrameRing(camera, keep_us=_RING_US, hold_us=_RING_US, stall_us=_RING_US)
    tracemalloc.start()
    try:
        ring.hold(0)
        for now_us in range(0, 6 * _RING_US, 10_000):
            camera.now_us = now_us
            ring.update(now_us)
        held_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    return Figure(
        f"memory for the last pictures, {_RING_US / 1e6:g} s and {_RING_US / 1e6:g} s of a shot held three times as long",
        held_bytes / 1e6,
        "MB",
        "what the ring says that it takes at the most",
        ring.most_bytes / 1e6,
    )
