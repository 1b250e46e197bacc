"""The last seconds of pictures, and the watch over the camera that gives them."""

import math
from collections import deque
from collections.abc import Sequence

from rig.camera.errors import CameraStalled, FramesDropped, TooFewFrames, TooManyFrames
from rig.camera.frame import Camera, Frame, PunctualFrame
from vision.even_times import OwnClock, own_clock

__all__ = ["FrameRing"]

_DROPS_WINDOW_US = 1_000_000
_DROPS_SHARE = 0.1
# Times the rate that the camera says: from here on the room for a shot may be full before all is at rest.
_CROWDED = 1.5
# As many of the last pictures tell the camera's own clock. By 500 stamps that waver by a millisecond it is known to a tenth of one
# for the seconds that a shot may last; found is it in a few milliseconds.
_PICTURES_OF_CLOCK = 500
_PAUSE_US = 500_000  # while somebody loads nobody may ask for pictures, and many are lost: only those since tell the clock


class FrameRing:
    """Holds the frames of the last `keep_us` and says when the camera cannot be trusted.

    Those of a shot have the times of the camera's own clock, where their stamps waver (`vision.even_times`).

    Parameters
    ----------
    camera
        Where frames come from.
    keep_us
        How far back a clip can begin. Outside a shot older frames are dropped.
    hold_us
        How long a shot may last. Between `hold` and `release` no frame is dropped; once there are as many as the camera
        should give in `keep_us` and `hold_us`, no more are taken in. So the frames of a shot are there however late
        somebody asks for them, and `most_bytes` bounds the memory even where the camera is faster than it says. Whoever
        waits for a frame of a shot asks `check_room`.
    stall_us
        A camera that gives nothing for this long has stalled.
    delay_us
        How much later than they were taken the camera stamps its pictures; it is taken off.
    """

    def __init__(
        self, camera: Camera, *, keep_us: int, hold_us: int, stall_us: int, delay_us: int = 0
    ) -> None:
        self.camera = camera
        self._delay_us = delay_us
        self._stall_us = stall_us
        self._keep_us = keep_us
        self._hold_us = hold_us
        self._frames: deque[Frame] = deque(maxlen=self.most_frames)
        self._held = False
        self._seen_us: int | None = None
        self._came_us: deque[int] = deque(maxlen=_PICTURES_OF_CLOCK)
        self._clock: OwnClock | None = None

    @property
    def period_us(self) -> int:
        """Time between two frames, nominal."""
        return round(1e6 / self.camera.fps)

    @property
    def most_frames(self) -> int:
        """How many pictures are held at the most, during a shot."""
        return math.ceil((self._keep_us + self._hold_us) / 1e6 * self.camera.fps) + 1

    @property
    def most_bytes(self) -> int:
        """Memory that pictures can take at the most, in colour: those held here, and those that wait in the camera."""
        frames = self.most_frames + self.camera.most_waiting
        return frames * self.camera.width_px * self.camera.height_px * 3

    def update(self, now_us: int) -> None:
        """Take in what came since the last update.

        Raises
        ------
        CameraGone, CameraStalled
            Where no frames come.
        """
        frames = self.camera.poll()
        if self._seen_us is None:
            self._seen_us = now_us
        if frames:
            # The frame's own time, not now: a queue of old pictures is no sign of life.
            self._seen_us = frames[-1].timestamp_us
            for each in frames:
                if self._came_us and each.timestamp_us - self._came_us[-1] > _PAUSE_US:
                    self._came_us.clear()
                self._came_us.append(each.timestamp_us)
            if self._held:
                frames = frames[: self.most_frames - len(self._frames)]
            for each in frames:
                self._frames.append(self._punctual(each, each.timestamp_us))
        while not self._held and self._frames and self._frames[0].timestamp_us < now_us - self._keep_us:
            self._frames.popleft()
        silent_us = now_us - self._seen_us
        if silent_us > max(self._stall_us, 3 * self.period_us):
            raise CameraStalled(self.camera.name, silent_us, self.period_us)

    def _punctual(self, frame: Frame, came_us: int) -> Frame:
        """Give a frame with the time at which it was taken, later than those of the frames that are here."""
        before_us = self._frames[-1].timestamp_us + self._delay_us if self._frames else None
        own_us = None if self._clock is None else self._clock.taken_us(came_us, before_us)
        taken_us = came_us if own_us is None else own_us
        if before_us is not None:
            taken_us = max(taken_us, before_us + 1)
        taken_us -= self._delay_us
        return frame if taken_us == came_us else PunctualFrame(frame, taken_us)

    def check_drops(self) -> None:
        """Raise FramesDropped where more than one in ten frames of the last second is missing."""
        if len(self._frames) < 2:
            return
        newest_us = self._frames[-1].timestamp_us
        recent = [f.timestamp_us for f in self._frames if f.timestamp_us >= newest_us - _DROPS_WINDOW_US]
        due = round((recent[-1] - recent[0]) / self.period_us) + 1
        dropped = due - len(recent)
        if dropped > max(1, _DROPS_SHARE * due):
            raise FramesDropped(self.camera.name, dropped, due)

    def check_rate(self, fewest_fps: float) -> None:
        """Raise TooFewFrames where the frames that are here came more seldom than that."""
        if len(self._frames) < 2:
            fps = min(self.camera.fps, 1e6 / self._keep_us)
        else:
            span_us = self._frames[-1].timestamp_us - self._frames[0].timestamp_us
            fps = (len(self._frames) - 1) * 1e6 / span_us
        if fps < fewest_fps:
            raise TooFewFrames(self.camera.name, fps, fewest_fps)

    def check_room(self) -> None:
        """Raise TooManyFrames where a shot is held and its room is full: none of the frames that still come is taken in."""
        if self._held and len(self._frames) >= self.most_frames:
            raise self._too_many()

    def _too_many(self) -> TooManyFrames:
        span_us = self._frames[-1].timestamp_us - self._frames[0].timestamp_us
        return TooManyFrames(self.camera.name, len(self._frames), span_us, self.camera.fps)

    def hold(self, now_us: int) -> None:
        """Drop no frame from now on: a shot is about to be fired.

        The frames that came since the last update are taken in first, under the old rule: while somebody loads, seconds of
        them may wait, and they would take the shot's room.

        Raises
        ------
        CameraGone, CameraStalled
            As `update`; nothing is held then.
        TooManyFrames
            Where frames come so much faster than the camera says that a shot would not find room; nothing is held then.
        """
        self.update(now_us)
        if len(self._frames) > _CROWDED * self._keep_us / 1e6 * self.camera.fps + 1:
            raise self._too_many()
        clock = own_clock(self._came_us)
        if clock is not None and not clock.is_even:
            self._clock = clock
            frames = list(self._frames)
            self._frames.clear()
            for each in frames:
                self._frames.append(self._punctual(each, each.timestamp_us + self._delay_us))
        self._held = True

    def release(self) -> None:
        """Let old frames go again: the clip has been cut."""
        self._held = False
        self._clock = None

    def newest(self, count: int = 1) -> Sequence[Frame]:
        """Return the last `count` frames, oldest first; fewer where fewer have come."""
        return list(self._frames)[-count:]

    def between(self, start_us: int, end_us: int) -> Sequence[Frame]:
        """Return the frames of a clip, oldest first."""
        return [f for f in self._frames if start_us <= f.timestamp_us <= end_us]
