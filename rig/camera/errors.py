"""What can go wrong with a camera; every one of them stops a shot that has not been fired.

CameraError
├── CameraGone      the source cannot be opened, or ended
├── CameraStalled   no frame for too long
├── FramesDropped   too many frames missing to follow a shot
├── TooFewFrames    frames come too seldom for a shot to be judged
└── TooManyFrames   more frames came than there is room for
"""

import math

__all__ = [
    "CameraError",
    "CameraGone",
    "CameraStalled",
    "FramesDropped",
    "TooFewFrames",
    "TooManyFrames",
    "too_few",
]


class CameraError(Exception):
    """The camera cannot be trusted to see a shot."""


class CameraGone(CameraError):
    """The source cannot be opened, or it was there and has ended."""


class CameraStalled(CameraError):
    """No frame came for `silent_us`, though one was due every `period_us`."""

    def __init__(self, source: str, silent_us: int, period_us: int) -> None:
        self.source = source
        self.silent_us = silent_us
        self.period_us = period_us
        super().__init__(
            f"camera {source}: no picture for {silent_us / 1000:.0f} ms; one is due every {period_us / 1000:.1f} ms"
        )


class FramesDropped(CameraError):
    """`dropped` of the last `due` frames did not arrive."""

    def __init__(self, source: str, dropped: int, due: int) -> None:
        self.source = source
        self.dropped = dropped
        self.due = due
        super().__init__(
            f"camera {source}: {dropped} of the last {due} pictures are missing; at most one in ten may be. "
            "More light, a lower rate or a smaller picture, or a faster connection."
        )


def too_few(fps: float, fewest_fps: float) -> str:
    """Say of a rate that it is too low; wherever that is told it is told in these words."""
    return (
        f"{fps:.1f} pictures a second come, and at least {math.ceil(10 * fewest_fps) / 10:g} are needed for a shot to be "
        "judged"
    )


class TooFewFrames(CameraError):
    """`fps` pictures a second come, and it takes `fewest_fps` for a shot to be judged."""

    def __init__(self, source: str, fps: float, fewest_fps: float) -> None:
        self.source = source
        self.fps = fps
        self.fewest_fps = fewest_fps
        super().__init__(
            f"camera {source}: {too_few(fps, fewest_fps)}. More light, a higher rate, a smaller picture, or a faster "
            "connection."
        )


class TooManyFrames(CameraError):
    """`count` frames came within `span_us`, though `fps` a second were to come: a shot finds no room for all of its own."""

    def __init__(self, source: str, count: int, span_us: int, fps: float) -> None:
        self.source = source
        self.count = count
        self.span_us = span_us
        self.fps = fps
        super().__init__(
            f"camera {source}: it says that it gives {fps:g} pictures a second, and {count} came within "
            f"{span_us / 1e6:.1f} s; there is no room for all of a shot's. Choose a rate that it keeps to."
        )
