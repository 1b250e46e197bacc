"""A camera at the computer itself: what it is asked for, and the times that its driver gives to pictures.

Over USB most cameras give large pictures at a high rate only as JPEG; OpenCV asks for raw ones first, of which ten a second come.
With Linux (Video4Linux) an exposure can be set, in steps of 100 us, and the kernel stamps each picture on the monotonic clock
when the first of it arrives. That wavers far less than the moment at which a busy program is handed it. Elsewhere
exposures have other units and times other clocks: both are left alone.
"""

from __future__ import annotations

import cv2

__all__ = ["ask", "exposure_us_of", "stamped_us"]

_RATE_SHARE = 0.9  # of the rate that was asked for
_JPEG = cv2.VideoWriter.fourcc(*"MJPG")
_LINUX = "V4L2"
_MANUAL = 1  # V4L2_EXPOSURE_MANUAL
_EXPOSURE_UNIT_US = 100  # of V4L2_CID_EXPOSURE_ABSOLUTE
_OLDEST_US = 1_000_000  # a time longer ago, or yet to come, is on another clock


def ask(
    capture: cv2.VideoCapture, *, width_px: int, height_px: int, fps: float, exposure_us: int | None
) -> None:
    """Ask an opened device for a size, a rate and an exposure; what it gives is its own decision.

    Parameters
    ----------
    capture
        Opened, and nothing read from it yet.
    width_px, height_px, fps
        What the pictures should be.
    exposure_us
        Exposure of one picture; ``None``: the device chooses.
    """
    _ask_for_pictures(capture, width_px, height_px, fps)
    size_px = (capture.get(cv2.CAP_PROP_FRAME_WIDTH), capture.get(cv2.CAP_PROP_FRAME_HEIGHT))
    falls_short = size_px != (width_px, height_px) or capture.get(cv2.CAP_PROP_FPS) < _RATE_SHARE * fps
    if falls_short and capture.set(cv2.CAP_PROP_FOURCC, _JPEG):
        _ask_for_pictures(capture, width_px, height_px, fps)
    if exposure_us is not None and capture.getBackendName() == _LINUX:
        capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, _MANUAL)
        capture.set(cv2.CAP_PROP_EXPOSURE, max(1, round(exposure_us / _EXPOSURE_UNIT_US)))


def _ask_for_pictures(capture: cv2.VideoCapture, width_px: int, height_px: int, fps: float) -> None:
    capture.set(cv2.CAP_PROP_FRAME_WIDTH, width_px)
    capture.set(cv2.CAP_PROP_FRAME_HEIGHT, height_px)
    capture.set(cv2.CAP_PROP_FPS, fps)


def exposure_us_of(capture: cv2.VideoCapture) -> int | None:
    """Return the exposure that a device says it has; ``None`` where it says nothing that can be understood."""
    if capture.getBackendName() != _LINUX:
        return None
    units = capture.get(cv2.CAP_PROP_EXPOSURE)
    return round(units * _EXPOSURE_UNIT_US) if units > 0 else None


def stamped_us(capture: cv2.VideoCapture, now_us: int) -> int | None:
    """Return when the kernel says that the last picture read began to arrive; ``None`` where it says nothing of use.

    Parameters
    ----------
    capture
        From which a picture was just read.
    now_us
        The computer's monotonic clock.
    """
    if capture.getBackendName() != _LINUX:
        return None
    arrived_us = round(1000 * capture.get(cv2.CAP_PROP_POS_MSEC))
    return arrived_us if 0 <= now_us - arrived_us <= _OLDEST_US else None
