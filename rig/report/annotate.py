"""Drawing on the camera's pictures what was read from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView

__all__ = ["Mark", "MarkKind", "annotate", "overlay_motion"]

_TRACK_BGR = (0, 220, 255)
_CONTACT_BGR = (255, 80, 255)
_MARK_BGR = {"leaves": (40, 40, 235), "put back": (235, 150, 40), "in doubt": (200, 40, 200)}
_PLATE_BGR = (30, 30, 30)
_FOOT_RADIUS_MM = 14.0


class MarkKind(StrEnum):
    """What becomes of a marked soldier."""

    LEAVES = "leaves"
    PUT_BACK = "put back"
    IN_DOUBT = "in doubt"


@dataclass(frozen=True, slots=True)
class Mark:
    """A ring round a place on the board, with a word beside it."""

    x_mm: float
    y_mm: float
    """Where the soldier stood, board frame."""
    kind: MarkKind
    label: str
    """What stands beside it, such as "G-33 direct"."""


def overlay_motion(frames: Iterable[NDArray[np.uint8]], background: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return one picture in which everything that moved stands in each of its places.

    At every pixel the picture that differs most from the background wins, so the shot's streaks, lighter or darker than
    what is below them, all show at once.
    """
    result = background.copy()
    most = np.zeros(background.shape[:2], np.uint8)
    for frame in frames:
        difference = cv2.absdiff(frame, background)
        if difference.ndim == 3:
            blue, green, red = cv2.split(difference)
            difference = cv2.max(cv2.max(blue, green), red)
        more = cv2.compare(difference, most, cv2.CMP_GT)
        cv2.copyTo(frame, more, result)
        most = cv2.max(most, difference)
    return result


def annotate(
    picture: NDArray[np.uint8],
    view: BoardView,
    *,
    track_mm: Sequence[tuple[float, float, float]] = (),
    first_contact_mm: tuple[float, float, float] | None = None,
    marks: Sequence[Mark] = (),
) -> NDArray[np.uint8]:
    """Return a copy of the picture, in colour, with the shot's way, its first contact, and the marked soldiers.

    Parameters
    ----------
    picture
        (height, width, 3) BGR or (height, width) grey.
    view
        How the camera sees the board.
    track_mm
        Places of the shot in the order flown, board frame.
    first_contact_mm
        Where it first touched something.
    marks
        Soldiers to ring.
    """
    canvas = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR) if picture.ndim == 2 else picture.copy()
    scale = max(1.0, canvas.shape[1] / 1280)
    if track_mm:
        points = np.round(view.project(np.asarray(track_mm, dtype=np.float64))).astype(np.int32)
        cv2.polylines(canvas, [points.reshape(-1, 1, 2)], False, _TRACK_BGR, round(scale), cv2.LINE_AA)
        for u, v in points:
            cv2.circle(canvas, (int(u), int(v)), round(3 * scale), _TRACK_BGR, 1, cv2.LINE_AA)
    if first_contact_mm is not None:
        u, v = np.round(view.project(np.asarray([first_contact_mm], dtype=np.float64))[0]).astype(int)
        cv2.drawMarker(
            canvas,
            (int(u), int(v)),
            _CONTACT_BGR,
            cv2.MARKER_TILTED_CROSS,
            round(16 * scale),
            round(2 * scale),
        )
    rings: list[tuple[Mark, int, int, int]] = []
    for mark in marks:
        centre, edge = view.project(
            np.array([[mark.x_mm, mark.y_mm, 0.0], [mark.x_mm + _FOOT_RADIUS_MM, mark.y_mm, 0.0]])
        )
        radius = max(6, round(float(np.linalg.norm(edge - centre))))
        rings.append((mark, round(float(centre[0])), round(float(centre[1])), radius))
    # Words go where they cover neither a ring nor other words.
    taken = [(u - radius, v - radius, u + radius, v + radius) for _, u, v, radius in rings]
    for mark, u, v, radius in rings:
        colour = _MARK_BGR[mark.kind.value]
        cv2.circle(canvas, (u, v), radius, colour, round(2 * scale), cv2.LINE_AA)
        _write(canvas, f"{mark.label}: {mark.kind}", (u, v), radius, colour, 0.42 * scale, taken)
    return canvas


def _write(
    canvas: NDArray[np.uint8],
    text: str,
    centre: tuple[int, int],
    radius: int,
    colour: tuple[int, int, int],
    size: float,
    taken: list[tuple[int, int, int, int]],
) -> None:
    """Write on a dark plate beside, above or below a ring, as near as there is room, and inside the picture."""
    (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
    width, height = width + 6, height + 8
    u, v = centre
    for far in range(radius + 4, radius + 4 + 12 * height, height):
        places = (
            (u + far, v - height // 2),
            (u - width // 2, v - far - height),
            (u - width // 2, v + far),
            (u - far - width, v - height // 2),
        )
        for left, top in places:
            inside = 0 <= left <= canvas.shape[1] - width and 0 <= top <= canvas.shape[0] - height
            free = not any(
                left < right and left + width > other and top < bottom and top + height > upper
                for other, upper, right, bottom in taken
            )
            if inside and free:
                taken.append((left, top, left + width, top + height))
                cv2.rectangle(canvas, (left, top), (left + width, top + height), _PLATE_BGR, -1)
                at = (left + 3, top + height - 5)
                cv2.putText(canvas, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, colour, 1, cv2.LINE_AA)
                return
