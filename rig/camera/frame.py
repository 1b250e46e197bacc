"""What a camera is to the controller: something that hands out the frames that came since it was last asked."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Camera", "Frame", "PunctualFrame"]


class Frame(Protocol):
    """One picture. The twin's frames draw `image` only when it is first looked at."""

    @property
    def timestamp_us(self) -> int:
        """Mid-exposure on the controller's clock."""

    @property
    def image(self) -> NDArray[np.uint8]:
        """The picture, (height, width, 3) in BGR order or (height, width) in grey."""


@dataclass(frozen=True, slots=True)
class PunctualFrame:
    """A frame that was stamped late, with the time at which it was taken."""

    frame: Frame
    timestamp_us: int

    @property
    def image(self) -> NDArray[np.uint8]:
        """As the frame's own."""
        return self.frame.image


class Camera(Protocol):
    """A source of frames. Nothing in it waits: the controller's time belongs to the link."""

    @property
    def name(self) -> str:
        """How messages call it: the device number, the file or the URL."""

    @property
    def width_px(self) -> int:
        """Width of a frame."""

    @property
    def height_px(self) -> int:
        """Height of a frame."""

    @property
    def fps(self) -> float:
        """Nominal frames a second."""

    @property
    def exposure_us(self) -> int | None:
        """Exposure of one frame, as the camera says it is; None where it does not say."""

    @property
    def most_waiting(self) -> int:
        """How many pictures take up memory in the camera at the most: those that wait for `poll`, and one on its way."""

    def poll(self) -> list[Frame]:
        """Return every frame since the last poll, oldest first; raise CameraGone where the source has ended."""

    def close(self) -> None:
        """Let the source go."""
