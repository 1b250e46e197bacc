"""Which end of the board is whose, told by the shot: it flies from the cannon of the side that fires.

The pattern looks the same from either end (B2), and so may who stands on it. But a flight that is looked for with the
ends exchanged would have to come out of the other side's base, and fly backwards in time.

Where the ends are known, the same tells that the other side has fired than was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot import ShotTrack, find_track
from vision.shot.faint import Stirred
from vision.shot.streaks import StreakFinder
from vision.soldiers.lamp import Lamp
from vision.steady import Sways

__all__ = ["comes_from_the_other_end", "ends_by_shot"]

# By how many pictures the shot's flight must be seen better one way round than the other. Of 19 films whose ends were
# known by other means the right way round led by 0.9 to 15 but for one of two faint pictures, which led by 0.2; the
# wrong one never did.
_LEAD = 0.9
_FEWEST = 1.5
# A shot begins before anybody stirs, and is fast; what bounces back does neither. Of 160 films read with the right side none
# shows a flight from the other end that is seen so well, sooner, and faster or better.
_FAST_MPS = 3.0
_WELL_SEEN = 2.5


def ends_by_shot(
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    view: BoardView,
    still: NDArray[np.uint8],
) -> BoardView | None:
    """Give the way round in which a shot is seen to fly from its cannon; ``None`` where none, or either, is.

    Parameters
    ----------
    frames, timestamps_us
        The pictures, (height, width) or (height, width, 3) BGR, and their times.
    scene
        Who fires, and from where.
    view
        The camera, one way round.
    still
        The table at rest before the shot.
    """
    ways = (view, view.turned(scene))
    worths = [find_track(frames, timestamps_us, scene, way, sways=Sways(still)).worth for way in ways]
    best = int(np.argmax(worths))
    return ways[best] if worths[best] >= max(_FEWEST, worths[1 - best] + _LEAD) else None


def comes_from_the_other_end(
    track: ShotTrack,
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    view: BoardView,
    lamp: Lamp | None,
    streaks: StreakFinder | None,
    stirred: Sequence[Stirred],
    sways: Sways,
) -> bool:
    """Say whether the shot plainly flies in from the other end than that of the side which is said to fire.

    It is asked only where the ends are told, and the flight from the side's own end is none or hardly one. A muzzle may be
    told wrongly together with the side, or stand at the wrong end of a picture turned by half: where no flight begins at
    it, one is looked for from anywhere at either end.

    Parameters
    ----------
    track
        The flight from the side's own end, as it was found with all the others.
    frames, timestamps_us, scene, view, lamp, streaks, stirred, sways
        As for `find_track`.
    """
    if scene.markers is None and scene.corners_px is None:
        return False
    stirred_us = min((each.time_us for each in stirred), default=np.inf)
    told = scene.muzzle_mm is not None
    if _is_shot(track, stirred_us) and (not told or track.worth >= _FEWEST):
        return False
    anywhere = replace(scene, muzzle_mm=None)
    exchanged = replace(anywhere, cannon_side=scene.cannon_side.enemy)
    # What has looked at these pictures already looked farther out behind the told side's end: here that is the other one.
    other = find_track(frames, timestamps_us, exchanged, view, lamp, None, stirred, sways)
    if other.worth < _WELL_SEEN or other.legs[0].fit.speed_mps[0] < _FAST_MPS:
        return False
    if told:
        # It does not begin at the muzzle, so that it has to be seen as well as the other one.
        track = find_track(frames, timestamps_us, anywhere, view, lamp, streaks, stirred, sways)
        if _is_shot(track, stirred_us):
            return other.worth >= track.worth + _LEAD
    if not track.legs:
        return True
    own, first = track.legs[0], other.legs[0]
    plainer = first.fit.speed_mps[0] > own.fit.speed_mps[0] or other.worth > track.worth
    return first.first_us < own.first_us and plainer


def _is_shot(track: ShotTrack, stirred_us: float) -> bool:
    """Whether a flight begins before anybody stirs, and is fast."""
    if not track.legs:
        return False
    first = track.legs[0]
    return first.first_us < stirred_us and first.fit.speed_mps[0] >= _FAST_MPS
