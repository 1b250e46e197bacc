"""A rolling shutter: the rows of a picture are taken one after the other, each a little later than the one above.

While a shot flies on over the rows, so does the row that is being taken: as long as its rows are evenly late, so is all that is seen
of it, in each picture, along each smear and from picture to picture. So it is followed as it seems, in the time of the pictures'
middle rows, in which it is evenly faster or slower than it was; when it left is taken into that time, and its speed out of it.
What its fall tells of its height is not: that is off by twice as much as its speed seems to be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from game.montecassino import Side
from vision.registration import BoardView
from vision.scene import Scene
from vision.shot import ShotTrack

__all__ = ["as_seen", "in_own_time", "later_us"]


def later_us(scene: Scene, view: BoardView, point_mm: tuple[float, float, float]) -> float:
    """By how much later than a picture's middle row the row is taken in which a board point is seen; earlier, where negative."""
    if not scene.readout_us:
        return 0.0
    ((_, v_px),) = view.project(np.array([point_mm]))
    return scene.readout_us * float((v_px + 0.5) / view.height_px - 0.5)


def as_seen(scene: Scene, view: BoardView) -> Scene:
    """Give what is known, with the release in the time of the pictures' middle rows: as the row that shows the muzzle tells it."""
    if scene.fire_us is None or not scene.readout_us:
        return scene
    x_mm, _ = scene.centre_mm
    own_end_mm = (x_mm, 0.0 if scene.cannon_side is Side.A else scene.length_mm, 0.0)
    late_us = later_us(scene, view, scene.muzzle_mm or own_end_mm)
    return replace(scene, fire_us=round(scene.fire_us - late_us))


def in_own_time(track: ShotTrack, scene: Scene, view: BoardView) -> ShotTrack:
    """Give a shot's way with its speed as it was, and not as the rows make it seem."""
    if not track.legs or not scene.readout_us:
        return track
    leg = track.legs[0]
    x, y, z = (float(mm) for mm in leg.flight.at(float(leg.first_us))[0])
    # How far it flies in a millisecond: as many mm as it has m/s.
    dx, dy, dz = (float(mm) for mm in leg.flight.velocity_at(float(leg.first_us)))
    late_us = later_us(scene, view, (x + dx, y + dy, z + dz)) - later_us(scene, view, (x, y, z))
    return replace(track, pace=1 / (1 + late_us / 1000.0))
