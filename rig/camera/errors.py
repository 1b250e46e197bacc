"""What can go wrong with a camera; every one of them stops a shot that has not been fired.

CameraError
├── CameraGone      the source cannot be opened, or ended
├── CameraStalled   no frame for too long
├── FramesDropped   too many frames missing to follow a shot
└── TooManyFrames   more frames came than there is room for
"""

__all__ = ["CameraError", "CameraGone", "CameraStalled", "FramesDropped", "TooManyFrames"]


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
            "Choose a lower rate or a smaller picture, or a faster connection."
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
