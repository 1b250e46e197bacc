"""What a camera and its lens can be, as settings and recordings write them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from rig.files.checked_file import Fault, NameText

__all__ = [
    "CameraSource",
    "DelayUs",
    "ExposureUs",
    "Intrinsics",
    "LensTerms",
    "ReadoutUs",
    "exposure_conflicts",
    "is_device_number",
    "lens_conflicts",
    "readout_conflicts",
]

_MOST_LONGER = 1.1  # than its picture an exposure may be: what a camera is called is not what it does to the last per cent
_MOST_DEVICE = 9_999  # OpenCV adds the number of a way to open it, some thousands at most, to the device's
_MOST_TANGENTIAL = 1.0  # p1 and p2 of lenses are some thousandths
_MOST_RADIAL = 1000.0  # far more than k1 and k2 ever are, for what a long lens leaves undetermined
# Shorter than any wide lens, in short sides of the picture; longer than any tele lens, in long ones.
_LEAST_FOCAL, _MOST_FOCAL = 0.2, 10.0

_WIDEST, _STEPS = 4.0, 2000  # tangent of the widest angle that is looked at, and in how many steps


def is_device_number(source: str) -> bool:
    """Whether a camera's source is the number of a device, and no file or URL."""
    return source.isascii() and source.isdigit()


def _number_as_text(value: object) -> object:
    # A number without quotes is as plain.
    return str(value) if type(value) is int else value


def _device_there_may_be(source: str) -> str:
    if is_device_number(source) and len(source.lstrip("0")) > len(str(_MOST_DEVICE)):
        raise ValueError(f"a device number up to {_MOST_DEVICE}, a video file or a URL")
    return source


CameraSource = Annotated[NameText, BeforeValidator(_number_as_text), AfterValidator(_device_there_may_be)]
"""A device number, a video file or a URL."""


def _of_a_lens(terms: tuple[float, ...]) -> tuple[float, ...]:
    if len(terms) not in {5, 8}:
        raise ValueError("5 numbers, [k1, k2, p1, p2, k3], or 8, these and k4, k5, k6")
    radial, tangential = (*terms[:2], *terms[4:]), terms[2:4]
    if max(map(abs, radial)) > _MOST_RADIAL or max(map(abs, tangential)) > _MOST_TANGENTIAL:
        raise ValueError(
            f"terms of a lens: p1 and p2 up to {_MOST_TANGENTIAL:g}, the others up to {_MOST_RADIAL:g} either way"
        )
    return terms


ExposureUs = Annotated[int, Field(ge=1, le=1_000_000)]
"""Exposure of one picture."""

DelayUs = Annotated[int, Field(ge=-100_000, le=500_000)]
"""How much later than they were taken a camera stamps its pictures; earlier, where it is negative."""

ReadoutUs = Annotated[int, Field(ge=0, le=1_000_000)]
"""By how much later than its first row a picture's last one is taken, with a rolling shutter; 0: all rows at once."""

Intrinsics = tuple[float, float, float, float]
"""``fx, fy, cx, cy`` in px."""

LensTerms = Annotated[tuple[float, ...], AfterValidator(_of_a_lens)]
"""``k1, k2, p1, p2, k3`` in OpenCV's order, or these and ``k4, k5, k6``."""


def exposure_conflicts(exposure_us: int | None, fps: float) -> Iterator[Fault]:
    """Hold the exposure of a picture, where it is told, against the pictures a second."""
    if exposure_us is not None and exposure_us > _MOST_LONGER * 1e6 / fps:
        yield Fault(
            "exposure_us",
            str(exposure_us),
            f"at most {1e6 / fps:.0f}: of {fps:g} pictures a second none is exposed for longer",
            also=("fps",),
        )


def readout_conflicts(readout_us: int, fps: float) -> Iterator[Fault]:
    """Hold the time that a picture's rows take against the pictures a second."""
    if readout_us > 1e6 / fps:
        yield Fault(
            "readout_us",
            str(readout_us),
            f"at most {1e6 / fps:.0f}: of {fps:g} pictures a second none is read out for longer",
            also=("fps",),
        )


def lens_conflicts(
    key: str,
    intrinsics_px: Intrinsics | None,
    distortion: tuple[float, ...] | None,
    *,
    sides: tuple[str, str],
    size_px: tuple[int, int],
) -> Iterator[Fault]:
    """Hold a lens against the picture.

    Parameters
    ----------
    key
        What the intrinsics are called.
    intrinsics_px, distortion
        The lens, as far as it is known.
    sides
        What the picture's width and height are called.
    size_px
        The picture's width and height.
    """
    if intrinsics_px is None:
        if any(distortion or ()):  # terms of 0 say nothing
            yield Fault("distortion", f"distortion without {key}", "both, or neither", also=(key,))
        return
    fx_px, fy_px, *_ = intrinsics_px
    least_px, most_px = _LEAST_FOCAL * min(size_px), _MOST_FOCAL * max(size_px)
    if not all(least_px <= focal_px <= most_px for focal_px in (fx_px, fy_px)):
        yield Fault(
            key,
            f"fx {fx_px:g}, fy {fy_px:g}",
            f"focal lengths from {least_px:g} to {most_px:g} px, for pictures of {size_px[0]} x {size_px[1]} px",
            also=sides,
        )
        return
    if distortion is None:
        return
    # A board twice as long as it is wide reaches nearly as far from the middle, along the picture; into the corners none does,
    # and of many a lens that was learnt they are beyond what its terms tell.
    rim_px, focal_px = max(zip(size_px, (fx_px, fy_px), strict=True))
    seen = rim_px / 2 / focal_px
    reach = _reach(distortion, seen)
    if reach < seen:
        yield Fault(
            "distortion",
            f"{list(distortion)}, with which the picture folds back {reach * focal_px:.0f} px from its middle",
            f"terms of a lens that sees as far as the picture's rim, {rim_px / 2:g} px from it",
            also=(key,),
        )
        return
    # Light askew by p1 and p2 from r falls at r + 3 p r^2 where that is most, which must rise up to the corners.
    askew = 6 * math.hypot(*distortion[2:4])
    corner_px = math.hypot(*size_px) / 2
    if askew * corner_px >= max(fx_px, fy_px):
        yield Fault(
            "distortion",
            f"{list(distortion)}, with which the picture folds back {max(fx_px, fy_px) / askew:.0f} px from its middle",
            f"p1 and p2 of a lens that sees as far as the picture's corners, {corner_px:.0f} px from it",
            also=(key,),
        )


def _reach(distortion: tuple[float, ...], farthest: float) -> float:
    """Give how far from the middle, up to a distance in focal lengths, straight light can fall before the picture folds back.

    OpenCV's model of a lens: from the middle outwards, light from r falls at r (1 + k1 r^2 + k2 r^4 + k3 r^6) / (1 + k4 r^2 +
    k5 r^4 + k6 r^6), which must rise.
    """
    k1, k2, _, _, k3, k4, k5, k6 = (*distortion, 0.0, 0.0, 0.0)[:8]
    reached = 0.0
    for step in range(1, _STEPS + 1):
        r2 = (_WIDEST * step / _STEPS) ** 2
        below = 1 + r2 * (k4 + r2 * (k5 + r2 * k6))
        falls_at = math.sqrt(r2) * (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / below if below > 0 else -1.0
        if falls_at <= reached:
            return reached
        reached = falls_at
        if reached >= farthest:
            break
    return reached
