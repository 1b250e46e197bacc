"""What can go wrong with a camera; every one of them stops a shot that has not been fired.

CameraError
├── CameraGone      the source cannot be opened, or ended
├── CameraStalled   no frame for too long
└── FramesDropped   too many frames missing to follow a shot
"""

__all__ = ["CameraError", "CameraGone", "CameraStalled", "FramesDropped"]


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
