"""Pictures encoded as a clip, in the hurry between two shots."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from rig.film.capture import as_file

__all__ = ["encode"]

# The slower presets smooth: of the same size, they keep less of the shot's streak. Here it keeps its contrast to 1 to 2
# grey levels.
_ENCODER = {"crf": "14", "preset": "ultrafast"}
_CLIP_CLOCK = Fraction(1, 1_000_000)


def encode(clip: Path | io.BytesIO, frames: Sequence[tuple[int, NDArray[np.uint8]]], fps: float) -> None:
    """Write pictures as a clip, each at its time.

    Parameters
    ----------
    clip
        The file to write, or what takes its bytes.
    frames
        Time in us and picture (height, width, 3) BGR or (height, width), oldest first; one at least.
    fps
        Pictures a second, as the clip says it.
    """
    first_us, first = frames[0]
    to = as_file(clip) if isinstance(clip, Path) else clip
    with av.open(to, "w", format="matroska") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000), options=_ENCODER)
        stream.height, stream.width = first.shape[:2]
        stream.pix_fmt = "yuv420p" if _has_even_sides(first) else "yuv444p"
        stream.time_base = stream.codec_context.time_base = _CLIP_CLOCK
        for timestamp_us, picture in frames:
            frame = _as_encoded(picture)
            frame.pts = timestamp_us - first_us
            frame.time_base = _CLIP_CLOCK
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _has_even_sides(picture: NDArray[np.uint8]) -> bool:
    """Whether there can be colour at half the resolution."""
    return not any(side % 2 for side in picture.shape[:2])


def _as_encoded(picture: NDArray[np.uint8]) -> av.VideoFrame:
    """Give a picture in the encoder's colours, those of four pixels averaged.

    The encoder's library cuts off where OpenCV rounds: grey 128 would come back as (123, 126, 124), and takes it longer.
    """
    if not _has_even_sides(picture):
        return av.VideoFrame.from_ndarray(picture, format="gray" if picture.ndim == 2 else "bgr24")
    height, width = picture.shape[:2]
    if picture.ndim == 2:
        picture = np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    # OpenCV takes the colour of every other pixel, so each of four is given the mean of them.
    few = cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    mean = cv2.resize(few, (width, height), interpolation=cv2.INTER_NEAREST)
    planes, colours = (cv2.cvtColor(each, cv2.COLOR_BGR2YUV_I420) for each in (picture, mean))
    planes[height:] = colours[height:]
    return av.VideoFrame.from_ndarray(planes, format="yuv420p")
