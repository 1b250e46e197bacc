"""From light to grey levels: vignetting, gamma, shot noise and read noise.

A picture without noise is developed once into its grey levels and the grain of every pixel, the size of noise
there after gamma; each frame then adds its own noise in proportion. To first order that is the same as noise added
in linear light, and it makes a frame in which nothing moves cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from twin.limits import above, within
from twin.pictures.optics import Rect
from twin.streams import stream

Levels = NDArray[np.float32]

_FIELDS = 3
"""Noise is cut from so many large fields, at a place of its own for every frame."""
_SPARE_PX = 160
_DARKEST = 2e-3
"""Below this part of white the slope of the gamma curve is held, as a camera's is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorSettings:
    """How the sensor answers to light."""

    gamma: float = 2.2
    """Between light and grey levels."""
    brightness: float = 1.0
    """Linear gain of the whole picture; the exposure time itself changes noise and blur only, as with a camera that
    sets its gain by itself."""
    white_electrons: float = 9000.0
    """Electrons of a white pixel at an exposure of 1 ms; fewer make more shot noise."""
    read_noise_electrons: float = 9.0
    """Noise of reading a pixel, whatever its light."""
    vignetting: float = 0.22
    """Part of the light lost in the corners of the picture."""
    noise: float = 1.0
    """Scales all noise; 0 for none."""

    def __post_init__(self) -> None:
        within(self, 0.1, 10, "gamma")
        above(self, 0, "white_electrons")
        within(self, 0, 1e9, "white_electrons", "read_noise_electrons")
        within(self, 0, 100, "brightness", "noise")
        within(self, 0, 1, "vignetting")


@dataclass(frozen=True, slots=True)
class Developed:
    """A picture without noise, and how much noise belongs on it."""

    levels: Levels
    """(h, w, 3) grey levels 0 to 255, not rounded."""
    grain: Levels
    """(h, w, 3) standard deviation of the noise, in grey levels."""

    def part(self, slices: tuple[slice, slice]) -> Developed:
        """Return a part of it."""
        return Developed(self.levels[slices], self.grain[slices])


class Sensor:
    """Turns linear light into frames.

    Parameters
    ----------
    settings : SensorSettings
        How it answers.
    width_px, height_px : int
        Size of the frames.
    exposure_us : int
        Exposure of one frame.
    seed : int
        Draws the noise.
    """

    def __init__(
        self, settings: SensorSettings, *, width_px: int, height_px: int, exposure_us: int, seed: int
    ) -> None:
        self._settings = settings
        self._seed = seed
        self._size = (height_px, width_px)
        self._white_electrons = settings.white_electrons * min(1.0, exposure_us / 1000.0)
        x = (np.arange(width_px, dtype=np.float32) - (width_px - 1) / 2) / (width_px / 2)
        y = (np.arange(height_px, dtype=np.float32) - (height_px - 1) / 2) / (height_px / 2)
        fall = 1.0 - settings.vignetting * (x[None, :] ** 2 + y[:, None] ** 2) / 2
        self._gain = np.repeat((fall * settings.brightness)[..., None], 3, axis=2).astype(np.float32)
        self._fields: list[Levels] = []

    def develop(self, light: Levels, at: Rect) -> Developed:
        """Return the grey levels of linear light (h, w, 3), 1 for white, on a part of the sensor."""
        lit = cv2.multiply(light, self._gain[at.slices])
        np.clip(lit, 0.0, 1.0, out=lit)
        levels = cv2.pow(lit, 1.0 / self._settings.gamma) * np.float32(255.0)
        held = np.maximum(lit, np.float32(_DARKEST))
        electrons = held * np.float32(self._white_electrons)
        electrons += np.float32(self._settings.read_noise_electrons**2)
        sigma = cv2.sqrt(electrons) * np.float32(self._settings.noise / self._white_electrons)
        slope = cv2.pow(held, 1.0 / self._settings.gamma - 1.0) * np.float32(255.0 / self._settings.gamma)
        return Developed(np.asarray(levels), np.asarray(cv2.multiply(sigma, slope)))

    def noise(self, frame: int) -> Levels:
        """Return the noise of one frame, (height, width, 3) of unit variance; the same whenever asked."""
        if not self._fields:
            self._fields = [self._make_field(number) for number in range(_FIELDS)]
        place = stream(self._seed, "noise of a frame", frame)
        field = self._fields[int(place.integers(_FIELDS))]
        row, column = (int(value) for value in place.integers(0, _SPARE_PX, 2))
        return field[row : row + self._size[0], column : column + self._size[1]]

    def expose(self, developed: Developed, noise: Levels, dim: float = 1.0) -> NDArray[np.uint8]:
        """Add noise and round to grey levels, all levels times `dim`."""
        levels = developed.levels if dim == 1.0 else developed.levels * np.float32(dim)
        if self._settings.noise == 0.0:
            return np.asarray(cv2.convertScaleAbs(levels), dtype=np.uint8)
        grained = cv2.multiply(developed.grain, noise)
        return np.asarray(cv2.add(levels, grained, dtype=cv2.CV_8U), dtype=np.uint8)

    def _make_field(self, number: int) -> Levels:
        """Noise with the slight blur between neighbours that a colour sensor's interpolation leaves."""
        rng = stream(self._seed, "noise field", number)
        shape = (self._size[0] + _SPARE_PX, self._size[1] + _SPARE_PX, 3)
        field = cv2.GaussianBlur(rng.standard_normal(shape, dtype=np.float32), (3, 3), 0.55)
        return np.asarray(field / np.float32(field.std()), dtype=np.float32)
