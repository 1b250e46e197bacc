"""Before a shot: the newest pictures held against the table as it was read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.anchors import Anchors
from vision.change import Watched, shrink, shrink_mask
from vision.guards.alarms import LIGHT_CHANGE, Alarm, Trouble, bumped, covered, lies_there
from vision.lying_there import LyingThing
from vision.outcome import Soldier, Standing
from vision.registration import BoardView
from vision.scene import Scene

__all__ = ["TableGuard"]

Image = NDArray[np.uint8]

_PATCH_CM2 = 1.5  # before a shot: a fingertip seen from above; the foot of a soldier covers about as much
_SOLDIER_CM2 = 20.0  # a patch no larger, beside a soldier's foot, is that soldier


class TableGuard:
    """Holds pictures against the table as it was read.

    Parameters
    ----------
    reference
        Picture of the table, (height, width, 3) BGR or (height, width).
    view
        The camera.
    scene
        Board and cannon.
    standing
        Who stood on the board in the reference.
    watched
        Mask (height, width) of where a change matters: not where the cannon moves.
    lying
        What lay over the board already when it was read.
    """

    def __init__(
        self,
        reference: Image,
        view: BoardView,
        scene: Scene,
        standing: Standing,
        *,
        watched: NDArray[np.bool_],
        lying: LyingThing | None = None,
    ) -> None:
        self._view = view
        self._scene = scene
        self._standing = standing
        self._lying = None if lying is None else lies_there(lying)
        self._shape = reference.shape
        self._before = shrink(reference)
        self._contrast = float(self._before.std())
        self._watched = Watched(shrink_mask(watched))
        self._mm2_per_px = view.mm_per_px(*scene.centre_mm) ** 2
        self._anchors = Anchors(reference, view, scene, standing)

    def look(self, picture: Image) -> Alarm | None:
        """Say what speaks against the picture, at the cost of a live one: a bump is told from a hand only by `check`."""
        if picture.shape != self._shape:
            found, due = picture.shape[1::-1], self._shape[1::-1]
            return Alarm(Trouble.COVERED, f"the picture's size changed from {due} to {found}")
        now = shrink(picture)
        if (hidden := covered(now, self._contrast)) is not None:
            return hidden
        change = self._watched.compare(self._before, now)
        if abs(change.gain - 1.0) > LIGHT_CHANGE:
            return Alarm(
                Trouble.LIGHT,
                f"the light changed by {100 * (change.gain - 1):+.0f} % since the table was read",
            )
        area_cm2 = change.area_px * self._mm2_per_px / 100
        if area_cm2 < _PATCH_CM2:
            return self._lying
        soldier = self._soldier_at(change.centre_px)
        if soldier is not None and area_cm2 <= _SOLDIER_CM2:
            return Alarm(
                Trouble.FALL,
                f"the soldier on {soldier.square} fell, was moved or was taken since the table was read",
                change.centre_px,
            )
        u_px, v_px = change.centre_px
        return Alarm(
            Trouble.HAND,
            f"something of {area_cm2:.1f} cm2 is over the table that was not there when it was read "
            f"(at pixel {u_px:.0f}, {v_px:.0f})",
            change.centre_px,
        )

    def check(self, pictures: Sequence[Image]) -> Alarm | None:
        """Say what speaks against a shot, given the newest pictures; None: nothing does."""
        if not pictures:
            return Alarm(Trouble.COVERED, "there is no picture of the table")
        alarms = [alarm for alarm in map(self.look, pictures) if alarm is not None]
        if alarms and alarms[-1].trouble in (Trouble.COVERED, Trouble.LIGHT):
            return alarms[-1]
        move = self._anchors.move(pictures[-1])
        if move is not None and move.is_bump:
            return bumped(f"{move.moved_mm:.1f} mm since the table was read")
        if not alarms and move is not None and move.moved_mm == math.inf:
            return Alarm(Trouble.BUMP, "the picture shows another table than when it was read")
        return alarms[-1] if alarms else None

    def _soldier_at(self, centre_px: tuple[float, float]) -> Soldier | None:
        """Return the soldier whose figure a patch may be, the nearest."""
        place_mm = self._view.on_plane(np.array([centre_px]))[0]
        reach_mm = 0.6 * self._scene.square_mm + 0.5 * self._standing.height_mm
        off_mm, nearest = min(
            ((float(np.hypot(*(s.foot_mm - place_mm))), s) for s in self._standing.soldiers),
            default=(math.inf, None),
        )
        return nearest if off_mm < reach_mm else None
