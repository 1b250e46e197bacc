"""What guards notice, and what they say of it where several of them may."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.lying_there import LyingThing

__all__ = ["LIGHT_CHANGE", "Alarm", "Trouble", "bumped", "covered", "lies_there"]

Image = NDArray[np.uint8]

LIGHT_CHANGE = 0.25
"""So much brighter or darker, lamps were switched."""

_DARK = 12.0  # mean grey level below which nothing can be told from anything else
_FLAT_SHARE = 0.3  # of the contrast before: the picture shows next to nothing


class Trouble(StrEnum):
    """What is the matter."""

    HAND = "hand"
    """Something is over the table that was not there: a hand, a sleeve, a person or a person's shadow."""
    BUMP = "bump"
    """The table or the camera was moved."""
    LIGHT = "light"
    """It became much brighter or darker."""
    COVERED = "covered"
    """The picture shows nothing: the lens is covered, or the lamp is out."""
    FALL = "fall"
    """A soldier fell, or was taken, that the shot had nothing to do with."""
    UNENDED = "unended"
    """The pictures end, or the camera hangs, while something still moves or the shot still flies."""
    BEGUN = "begun"
    """Something moves already when the pictures begin, or before the release that was told."""
    MISSING = "missing"
    """No shot is seen, and soldiers that should have stood there before it do not: it may have left earlier."""
    UNSEEN = "unseen"
    """Who stood there before the shot is not seen: one left its place, none of them is plain, or more are seen than there are."""
    OUTSIDE = "outside"
    """Part of the board is outside the picture."""
    OTHER_END = "other end"
    """The shot flies in from the other end than that of the side which is said to fire."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that a guard has noticed."""

    trouble: Trouble
    reason: str
    """One sentence for the person at the table, without a full stop."""
    centre_px: tuple[float, float] | None = None
    """Where in the picture (u, v), where it has a place."""


def bumped(far_and_when: str) -> Alarm:
    """Say that the table or the camera was moved, given by how far and when."""
    return Alarm(Trouble.BUMP, f"the table or the camera was moved by {far_and_when}")


def lies_there(thing: LyingThing) -> Alarm:
    """Say what lay over the board already when it was read."""
    u_px, v_px = thing.centre_px
    return Alarm(
        Trouble.HAND,
        f"something of {thing.area_mm2 / 100:.0f} cm2 lies over the board that is no soldier "
        f"(at pixel {u_px:.0f}, {v_px:.0f}): a hand, a sleeve, a thing that was put down",
        thing.centre_px,
    )


def covered(shrunken: Image, contrast_before: float) -> Alarm | None:
    """Say whether a shrunken picture shows nothing, given its contrast when it did."""
    brightness, contrast = (float(v.item()) for v in cv2.meanStdDev(shrunken))
    if brightness < _DARK:
        return Alarm(
            Trouble.COVERED,
            f"the picture is dark (mean grey level {brightness:.0f}): lens covered or lights out",
        )
    if contrast < _FLAT_SHARE * contrast_before:
        return Alarm(
            Trouble.COVERED,
            f"the picture shows next to nothing (its contrast fell to {100 * contrast / contrast_before:.0f} %): "
            "lens covered or fogged, or the camera blinded",
        )
    return None
