"""The shot's way over the table: its streaks linked into flights, one after each thing it touched.

The first flight starts at the muzzle. It is followed picture by picture until the shot is no longer where the flight puts it: there it
touched something. From near that place the next flight is looked for, and so on until it leaves the board or is lost. A streak has a
length too: with the exposure it is the speed once more, which tells the shot from other small things that move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot.closer_look import CloserLook
from vision.shot.draft import Draft, DraftFitter
from vision.shot.faint import Stirred, first_of
from vision.shot.first_flight import FirstFlightSearch
from vision.shot.from_cannon import CannonSearch
from vision.shot.growing import Grower
from vision.shot.onward import OnwardSearch
from vision.shot.seams import Seams
from vision.shot.shot_track import ShotTrack
from vision.shot.sights import SightFinder
from vision.shot.streaks import StreakFinder
from vision.soldiers.lamp import Lamp
from vision.steady import Sways

__all__ = ["find_track"]

_MOST_LEGS = 8
_SOON_US = 8000.0  # where a flight is so soon tells whether it heads over the board
_BESIDE_MM = 15.0  # a shot that seems no farther off the board may still be over it


def find_track(
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    view: BoardView,
    lamp: Lamp | None = None,
    streaks: StreakFinder | None = None,
    stirred: Sequence[Stirred] = (),
    sways: Sways | None = None,
) -> ShotTrack:
    """Find the shot and follow it from the muzzle until it is lost.

    Parameters
    ----------
    frames
        Pictures, (height, width) or (height, width, 3), grey or BGR.
    timestamps_us
        Their times at mid-exposure.
    scene, view
        The board, the cannon and the camera.
    lamp
        What throws the shot's shadow, where that is known.
    streaks
        What has looked at the first of these pictures already; ``None``: nothing has.
    stirred
        The soldiers who stirred, if any did.
    sways
        How the pictures sway against one in which all was at rest; ``None``: the first is one.
    """
    if len(frames) < 3:
        return ShotTrack((), f"a shot needs at least three pictures to be seen, and there are {len(frames)}")
    sways = sways or Sways(frames[0])
    struck = first_of(stirred)
    times = list(timestamps_us)
    stirred_us = min((each.time_us for each in struck), default=np.inf)
    if scene.fire_us is not None and stirred_us < scene.fire_us:
        stirred_us = np.inf  # something else moved him
    # The first picture by which the shot has struck.
    hit = next((k for k, t in enumerate(times) if t >= stirred_us), len(times))
    finder = SightFinder(frames, times, scene, view, streaks)
    fitter = DraftFitter(finder, view, lamp)
    cannon = CannonSearch(finder, fitter, times, scene, lamp, struck)
    grower = Grower(finder, fitter, view, lamp, hit)
    look = CloserLook(frames, times, scene, view, finder, fitter, sways)
    first = FirstFlightSearch(
        frames,
        times,
        scene,
        view,
        lamp,
        sways,
        struck,
        hit,
        finder=finder,
        fitter=fitter,
        cannon=cannon,
        grower=grower,
        look=look,
    ).found()
    if first is None:
        when = "" if scene.fire_us is None else " after the release"
        return ShotTrack((), f"no streak{when} moves like a shot from {scene.cannon_side}'s cannon")
    onward = OnwardSearch(finder, fitter, grower, cannon, times, stirred)
    drafts = [first]
    while len(drafts) < _MOST_LEGS and (
        scene.covers(drafts[-1].sights[-1].point_mm, _BESIDE_MM) or _heads_over_board(drafts[-1], scene)
    ):
        found = onward.after(drafts[-1], least=1 if len(drafts) == 1 else 2)
        if found is None:
            break
        shorter, following = found
        drafts[-1:] = [shorter, look.sharpened(following, since=shorter.pictures[-1] + 1)]
    drafts = Seams(fitter, look, times, view, struck).mended(drafts)
    lost = _heads_over_board(drafts[-1], scene)
    reason = "the shot was lost from sight" if lost else "the shot left the board"
    return ShotTrack(tuple(draft.leg for draft in drafts), reason, finder.exposure_us, lost)


def _heads_over_board(draft: Draft, scene: Scene) -> bool:
    """Whether a flight is over the board soon after it was seen last."""
    soon = draft.fit.flight.at(1000.0 * draft.sights[-1].time_ms + _SOON_US)[0]
    return scene.covers(soon[:2])
