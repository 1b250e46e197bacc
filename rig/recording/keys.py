"""What recording.json may hold, as checked values (docs/recording.md)."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Literal

import cv2
import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, field_validator

from game.montecassino import BOARD_FILES, BOARD_ROWS, Option, Side
from rig.files.checked_file import Fault, JsonObject
from rig.keys.board import SquareMm
from rig.keys.camera import (
    DelayUs,
    ExposureUs,
    Intrinsics,
    LensTerms,
    ReadoutUs,
    exposure_conflicts,
    lens_conflicts,
    readout_conflicts,
)
from rig.keys.markers import MARKERS_OF, MarkerSizeMm, PlaceMm, marker_conflicts
from rig.keys.notation import PositionText, TableSquaresText

__all__ = ["FORMAT", "Keys", "ShotKeys"]

FORMAT = "shot-recording/1"
_LEAST_BOARD_PX2 = 1000.0  # smaller, and no soldier could be seen on it
_LONGEST_NAME_BYTES = 255  # no file system has longer ones

_MUZZLE_AROUND_MM = 1500.0  # beyond the board's edges; strip, carriage and barrel stay well within
_MOST_OVER_MM = 500.0  # past the edge of its side's first line: no barrel is longer
_MUZZLE_BELOW_MM, _MUZZLE_ABOVE_MM = 100.0, 1000.0  # the board; as high as a pivot may be and a barrel long

# OpenCV knows some by two names.
_OTHER_CASE = {name.replace("h", "H"): name for name in MARKERS_OF}

Px = Annotated[float, Field(ge=-100_000, le=100_000)]
PointPx = tuple[Px, Px]
TimeUs = Annotated[int, Field(ge=-9_000_000_000_000_000, le=9_000_000_000_000_000)]  # 285 years either way


def _clip_name(text: str) -> str:
    if (
        not text
        or set(text) & set("/\\\0")
        or len(text.encode("utf-8", "surrogatepass")) > _LONGEST_NAME_BYTES
    ):
        raise ValueError("the name of a video beside this file, or frames")
    return text


def _sha256(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError("64 digits from 0 to f, small letters")
    return text


class _Keys(JsonObject):
    # A key that nobody knows is kept and ignored, so that others may add their own.
    model_config = ConfigDict(extra="allow")


class CameraKeys(_Keys):
    """The camera."""

    width: Annotated[int, Field(ge=16, le=16_384)]
    height: Annotated[int, Field(ge=16, le=16_384)]
    fps: Annotated[float, Field(gt=0, le=10_000)]
    exposure_us: ExposureUs | None
    intrinsics: Intrinsics | None
    distortion: LensTerms | None
    delay_us: DelayUs = 0
    """What was taken off the times of the pictures as the camera stamped them, so that they are those of mid-exposure."""

    readout_us: ReadoutUs = 0
    """By how much later than its first row a picture's last one is taken; the times are then those of the middle row."""

    def conflicts(self) -> Iterator[Fault]:
        """Hold exposure and readout against the pace of the pictures, and the lens against their size."""
        yield from exposure_conflicts(self.exposure_us, self.fps)
        yield from readout_conflicts(self.readout_us, self.fps)
        yield from lens_conflicts(
            "intrinsics",
            self.intrinsics,
            self.distortion,
            sides=("width", "height"),
            size_px=(self.width, self.height),
        )


class MarkerKeys(_Keys):
    """ArUco markers on the table."""

    dictionary: str
    size_mm: MarkerSizeMm
    centres_mm: Annotated[dict[str, tuple[PlaceMm, PlaceMm]], Field(min_length=1)]

    @field_validator("dictionary")
    @classmethod
    def _is_known(cls, name: str) -> str:
        name = _OTHER_CASE.get(name, name)
        if name not in MARKERS_OF:
            raise ValueError("a dictionary that OpenCV knows, as DICT_4X4_50")
        return name

    def conflicts(self) -> Iterator[Fault]:
        """Ask for numbered markers, none on another."""
        yield from marker_conflicts(
            "centres_mm",
            self.centres_mm,
            size="size_mm",
            size_mm=self.size_mm,
            dictionary_key="dictionary",
            dictionary=self.dictionary,
        )


class BoardKeys(_Keys):
    """The board."""

    square_mm: SquareMm
    markers: MarkerKeys | None
    corners_px: tuple[PointPx, PointPx, PointPx, PointPx] | None

    @field_validator("corners_px")
    @classmethod
    def _span_a_board(cls, corners: tuple[PointPx, ...] | None) -> tuple[PointPx, ...] | None:
        if corners is not None:
            outline = np.array(corners, dtype=np.float32)
            if not cv2.isContourConvex(outline) or cv2.contourArea(outline) < _LEAST_BOARD_PX2:
                raise ValueError("four corners of a board, in order round it")
        return corners


class CannonKeys(_Keys):
    """Who fires, and from where."""

    side: Side
    muzzle_mm: tuple[float, float, float] | None


class ShotKeys(_Keys):
    """Which shot of a log it is."""

    number: Annotated[int, Field(ge=1)]
    session: Annotated[int, Field(ge=1)]
    session_began_utc_us: TimeUs

    def __str__(self) -> str:
        began = datetime.fromtimestamp(self.session_began_utc_us / 1e6, tz=UTC)
        return f"{self.number} of session {self.session}, begun {began:%Y-%m-%d %H:%M:%S} UTC"


class Keys(_Keys):
    """All of recording.json."""

    format: Literal["shot-recording/1"]
    camera: CameraKeys
    clip: Annotated[str, AfterValidator(_clip_name)]
    timestamps_us: Annotated[tuple[TimeUs, ...], Field(min_length=2)]
    fire_us: TimeUs | None
    board: BoardKeys
    cannon: CannonKeys
    position: PositionText | None
    zone: TableSquaresText
    option: Option
    incomplete: str = ""
    """Why the pictures end before all was at rest; empty where they do not."""
    clip_sha256: Annotated[str, AfterValidator(_sha256)] | None = None
    """Of the video as it was recorded; None where nobody took it."""
    shot: ShotKeys | None = None
    """Which shot of the rig's log it is; None where nobody said so."""
    repeated_us: tuple[TimeUs, ...] = ()
    """Times of the pictures that were the one before, to the last bit, when the camera gave them; the film's differ a little."""

    def conflicts(self) -> Iterator[Fault]:
        """Ask for repeated pictures that are of the film, and for a muzzle at its side's end of the board."""
        strange = sorted(set(self.repeated_us).difference(self.timestamps_us))
        if strange:
            more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
            yield Fault(
                "repeated_us", f"{strange[0]}{more}", "times of timestamps_us", also=("timestamps_us",)
            )
        muzzle_mm, side = self.cannon.muzzle_mm, self.cannon.side
        if muzzle_mm is None:
            return
        length_mm = BOARD_ROWS * self.board.square_mm
        over_mm = min(length_mm / 2, _MOST_OVER_MM)
        own_mm = (-_MUZZLE_AROUND_MM, over_mm)
        if side is Side.G:
            own_mm = (length_mm - over_mm, length_mm + _MUZZLE_AROUND_MM)
        room_mm = {
            "x": (-_MUZZLE_AROUND_MM, BOARD_FILES * self.board.square_mm + _MUZZLE_AROUND_MM),
            "y": own_mm,
            "z": (-_MUZZLE_BELOW_MM, _MUZZLE_ABOVE_MM),
        }
        for (axis, (least_mm, most_mm)), at_mm in zip(room_mm.items(), muzzle_mm, strict=True):
            if not least_mm <= at_mm <= most_mm:
                yield Fault(
                    "cannon.muzzle_mm",
                    f"{axis} {at_mm:g}",
                    f"a muzzle at the end of {side}, with {axis} from {least_mm:g} to {most_mm:g}",
                    also=("cannon.side", "board.square_mm"),
                )

    @field_validator("timestamps_us")
    @classmethod
    def _rise(cls, times: tuple[int, ...]) -> tuple[int, ...]:
        for k in range(1, len(times)):
            if times[k] <= times[k - 1]:
                raise ValueError(f"rising times; number {k + 1} is {times[k]} after {times[k - 1]}")
        return times
