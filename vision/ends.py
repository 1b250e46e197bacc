"""Which end of the board is whose, told by the shot: it flies from the cannon of the side that fires.

The pattern looks the same from either end (B2), and so may who stands on it. But a flight that is looked for with the
ends exchanged would have to come out of the other side's base, and fly backwards in time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot import find_track
from vision.steady import Sways

__all__ = ["ends_by_shot"]

# By how many pictures the shot's flight must be seen better one way round than the other. Of 19 films whose ends were
# known by other means the right way round led by 0.9 to 15 but for one of two faint pictures, which led by 0.2; the
# wrong one never did.
_LEAD = 0.9
_FEWEST = 1.5


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
