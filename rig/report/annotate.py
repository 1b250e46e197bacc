"""Drawing on the camera's pictures what was read from them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np

from rig.drawing.table_drawing import Colour, Drawing, Image
from vision.registration import BoardView

__all__ = ["Mark", "MarkKind", "annotate", "overlay_motion"]

_TRACK: Colour = (0, 220, 255)
_CONTACT: Colour = (255, 80, 255)
_FOOT_MM = 14.0


class MarkKind(StrEnum):
    """What becomes of a marked soldier."""

    LEAVES = "leaves"
    PUT_BACK = "put back"
    IN_DOUBT = "in doubt"


_MARKS: Mapping[MarkKind, Colour] = {
    MarkKind.LEAVES: (40, 40, 235),
    MarkKind.PUT_BACK: (235, 150, 40),
    MarkKind.IN_DOUBT: (200, 40, 200),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A ring round a place on the board, with a word beside it."""

    x_mm: float
    y_mm: float
    """Where the soldier stood, board frame."""
    kind: MarkKind
    label: str
    """What stands beside it, such as "G-33 direct"."""


def overlay_motion(frames: Iterable[Image], background: Image) -> Image:
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
    picture: Image,
    view: BoardView,
    *,
    track_mm: Sequence[tuple[float, float, float]] = (),
    first_contact_mm: tuple[float, float, float] | None = None,
    marks: Sequence[Mark] = (),
) -> Image:
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
    height, width = picture.shape[:2]
    drawing = Drawing(picture, view, size_px=(width, height))
    if track_mm:
        # Thin, without a dark edge: the streaks that it was read from show beside it.
        drawing.faint([track_mm], _TRACK, 1.0)
        for u, v in np.round(drawing.place(track_mm)).astype(int):
            at_px, radius_px = (int(u), int(v)), round(3 * drawing.unit)
            cv2.circle(drawing.canvas, at_px, radius_px, _TRACK, 1, cv2.LINE_AA)
    if first_contact_mm is not None:
        drawing.cross(first_contact_mm, _CONTACT)
    for mark in marks:
        drawing.ring((mark.x_mm, mark.y_mm), _FOOT_MM, _MARKS[mark.kind])
    for mark in marks:
        drawing.label((mark.x_mm, mark.y_mm), _FOOT_MM, f"{mark.label}: {mark.kind}", _MARKS[mark.kind])
    return drawing.canvas
