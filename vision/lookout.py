"""What can be seen of a shot while it flies, so that the verdict comes soon after its last picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.guards import ClipGuard
from vision.lying_there import LyingThing, find_lying_thing
from vision.scene import Scene
from vision.shot.sights import LONGEST_US
from vision.shot.streaks import StreakFinder
from vision.steady import Sways
from vision.table_before import TableBefore

__all__ = ["Lookout"]


class Lookout:
    """Looks at a shot's pictures while it flies: what is seen in each does not depend on what comes later.

    Parameters
    ----------
    before
        The table before the shot.
    scene
        As for `read_shot`.
    """

    guard: ClipGuard
    sways: Sways
    streaks: StreakFinder | None
    """``None`` until there are pictures."""
    lying: LyingThing | None
    """What lay over the board before the shot."""

    def __init__(self, before: TableBefore, scene: Scene) -> None:
        self._scene = scene
        self._view = before.view
        # Of a board that hides soldiers it cannot be told; that nothing lay there was seen before they were put on it.
        self.lying = None if before.board.unseen else find_lying_thing(before.board, before.view, scene)
        self.guard = ClipGuard(before.view, scene, before.board.standing, before.picture, self.lying)
        self.sways = Sways(before.picture)
        self.streaks = None

    def look(self, frames: Sequence[NDArray[np.uint8]], timestamps_us: Sequence[int]) -> None:
        """Look at what is new among all pictures so far."""
        if self.streaks is None:
            self.streaks = StreakFinder(frames, timestamps_us, self._scene, self._view)
        self.streaks.go_on(frames, timestamps_us)
        if self._scene.fire_us is not None:
            end_us = self._scene.fire_us + LONGEST_US
            self.streaks.look_ahead(self._scene.fire_us, end_us)
            for k, at_us in enumerate(timestamps_us):
                if self._scene.fire_us < at_us <= end_us:
                    self.sways.of(k, frames[k])
        self.guard.look_ahead(frames, timestamps_us)
