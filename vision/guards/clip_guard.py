"""After a shot: the whole clip looked through for what may have had a part in what fell."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.anchors import BUMP_MM, Anchors
from vision.bump import LaidBack
from vision.change import SHRINK, Watched, shrink, shrink_mask
from vision.free_ground import away_from_soldiers, clear_of_the_cannon
from vision.guards.alarms import LIGHT_CHANGE, Alarm, Trouble, bumped, covered, lies_there
from vision.hung import frozen_from
from vision.lying_there import LyingThing
from vision.outcome import Standing
from vision.registration import BoardView
from vision.scene import Scene

__all__ = ["ClipGuard"]

Image = NDArray[np.uint8]

# During a shot: thick, and where no soldier falls. A hand with its wrist covers 6000 and more, and comes from the
# picture's edge; a soldier that was thrown far lies there with its shadow and covers up to 1100.
_ARM_MM2 = 1500.0
_THING_MM2 = 3000.0  # not at the picture's edge
_THICK_PX = 3  # of a shrunken picture; edges that shake are thinner
_FALL_HEIGHTS = 1.8  # a soldier that falls and slides stays within this of its foot, its shadow too
_LOOK_EACH_US = 30_000  # an arm crosses a hand's breadth in this time
_BUMPED_US = 24_000  # what shakes by itself after a shot swings back sooner
_STIRRED_MM2 = 60.0  # more than the shot itself, which may roll on without harm
_UNENDED_MM2 = 150.0  # a soldier that is falling changes more, a shot that rolls on a quarter of it
_UNENDED_US = 50_000
# Before the release nothing moves: of 165 films that begin in time no patch changes by more than 13 mm2 then. Where the
# release is told 60 ms too late the shot and who stirs change more than this in 94 of 100, and 120 ms too late in all.
_BEGUN_MM2 = 60.0
# Where no release is told the shot itself may fly already while the table is still taken for at rest, which does no harm;
# it covers less than this in most, and a soldier that falls covers 500 to 7000.
_BEGUN_UNTOLD_MM2 = 150.0
_UNENDED = "the pictures end while something on the board still moves"
_FROZEN = "the same picture is repeated from picture {} on, while something on the board still moved: did the camera hang?"
_BEGUN_BEFORE = "something on the board still moved {:.0f} ms before the release: is fire_us too late, or does it fit another film?"
_BEGUN = "something on the board moves already when the pictures begin: they must begin before the shot"


class ClipGuard:
    """Looks through the pictures of a shot for what may have had a part in what fell; looks at each once.

    Parameters
    ----------
    view, scene, standing
        The camera, the board and who stood on it before the shot.
    reference
        The table before the shot.
    lying
        What lay over the board already then.
    """

    def __init__(
        self,
        view: BoardView,
        scene: Scene,
        standing: Standing,
        reference: Image,
        lying: LyingThing | None = None,
    ) -> None:
        self.anchors = Anchors(reference, view, scene, standing)
        self._watch = _ClipWatch(reference, view, scene, standing)
        self._but_the_cannon = Watched(shrink_mask(clear_of_the_cannon(view, scene, reference.shape) > 0))
        self._mm2_per_px = view.mm_per_px(*scene.centre_mm) ** 2
        self._lying = None if lying is None else lies_there(lying)
        self._release_told = scene.fire_us is not None
        self._shrunken: dict[int, Image] = {}
        self._seen: dict[int, Alarm | None] = {}
        self._moved: dict[int, float] = {}

    def look_ahead(self, frames: Sequence[Image], timestamps_us: Sequence[int]) -> None:
        """Look already at what `alarms` will look at, given the pictures so far."""
        for n, k in enumerate(_looked_at(timestamps_us)):
            self._moved_mm(frames[k], timestamps_us[k])
            if n % 2 == 0:
                self._look(frames[k], timestamps_us[k])

    def alarms(
        self,
        frames: Sequence[Image],
        timestamps_us: Sequence[int],
        first_moving: int,
        laid_back: LaidBack | None = None,
    ) -> tuple[Alarm, ...]:
        """Say what there was; at most one alarm of each kind.

        Parameters
        ----------
        frames, timestamps_us
            The pictures and their times.
        first_moving
            Index of the first picture after the release.
        laid_back
            The same pictures, laid back over the board that was moved; ``None``: they are as the camera gave them.
        """
        released_us = timestamps_us[max(0, first_moving - 1)]
        move = self.anchors.move(frames[-1])
        if move is not None and move.is_bump:
            # Every edge would look like a change: what else may have happened cannot be told.
            return (bumped(f"{move.moved_mm:.1f} mm during the shot"),)
        looked_at = [*dict.fromkeys((*_looked_at(timestamps_us), len(frames) - 1))]
        found: dict[Trouble, Alarm] = {}
        if self._lying is not None:
            found[Trouble.HAND] = self._lying
        if laid_back is not None:
            when = _since_release(laid_back.since_us, released_us)
            found[Trouble.BUMP] = bumped(f"{laid_back.moved_mm:.1f} mm during the shot, seen {when}")
        elif (sprang := self._sprang_back(frames, timestamps_us, looked_at)) is not None:
            at_us, moved_mm = sprang
            when = _since_release(at_us, released_us)
            found[Trouble.BUMP] = bumped(f"{moved_mm:.1f} mm during the shot, seen {when}, and sprang back")
        for began_us, alarm in self._seen_twice(frames, timestamps_us, looked_at):
            when = _since_release(began_us, released_us)
            found.setdefault(alarm.trouble, replace(alarm, reason=f"{when} {alarm.reason}"))
        if not found and move is not None and move.moved_mm == math.inf:
            found[Trouble.BUMP] = Alarm(
                Trouble.BUMP, "the last picture shows another table than the one before the shot"
            )
        if found:
            return tuple(found.values())
        ends = (
            self._moved_before(frames[:first_moving], timestamps_us),
            self._still_moves(frames, timestamps_us, first_moving),
        )
        return tuple(alarm for alarm in ends if alarm is not None)

    def _seen_twice(
        self, frames: Sequence[Image], timestamps_us: Sequence[int], looked_at: Sequence[int]
    ) -> Iterator[tuple[int, Alarm]]:
        """Give what is the matter in two of the pictures running, or in the last one, and since when.

        A single picture can be a camera's flash; who takes part in a shot is seen in more of them.
        """

        def seen(n: int) -> Alarm | None:
            return self._look(frames[looked_at[n]], timestamps_us[looked_at[n]])

        first: tuple[int, Alarm] | None = None
        last = len(looked_at) - 1
        for n, k in enumerate(looked_at):
            # What is seen twice running is seen in every other picture: one between two quiet ones need not be looked at.
            skipped = n % 2 and n != last and seen(n - 1) is None and seen(n + 1) is None
            alarm = None if skipped else seen(n)
            if alarm is None:
                first = None
                continue
            if first is None or first[1].trouble is not alarm.trouble:
                first = timestamps_us[k], alarm
                if n != last:
                    continue
            yield first[0], replace(alarm, reason=first[1].reason)

    def stirred_since(
        self, frames: Sequence[Image], timestamps_us: Sequence[int], known: Collection[Trouble]
    ) -> bool:
        """Say whether anything more happened on a table that had become quiet.

        Parameters
        ----------
        frames, timestamps_us
            The picture in which it was quiet, and all since.
        known
            What a guard had noticed by then.
        """
        if any(alarm.trouble not in known for alarm in self.alarms(frames, timestamps_us, 0)):
            return True
        then, now = (self._shrink(frames[k], timestamps_us[k]) for k in (0, -1))
        return self._patch_mm2(then, now) > _STIRRED_MM2

    def _still_moves(
        self, frames: Sequence[Image], timestamps_us: Sequence[int], first_moving: int
    ) -> Alarm | None:
        """Say whether the last picture differs from one a little older, apart from the cannon and the shot.

        Where the camera hung, it is the last picture that the camera took.
        """
        frozen = frozen_from(frames, timestamps_us, first_moving)
        last = len(frames) - 1 if frozen is None else frozen
        older = max(
            k
            for k, at_us in enumerate(timestamps_us[: last + 1])
            if k == 0 or at_us <= timestamps_us[last] - _UNENDED_US
        )
        then, now = (self._shrink(frames[k], timestamps_us[k]) for k in (older, last))
        if self._patch_mm2(then, now) <= _UNENDED_MM2:
            return None
        return Alarm(Trouble.UNENDED, _UNENDED if frozen is None else _FROZEN.format(frozen + 1))

    def _moved_before(self, frames: Sequence[Image], timestamps_us: Sequence[int]) -> Alarm | None:
        """Say whether something but the cannon moved in the pictures before the release, which should show a table at rest."""
        most_mm2 = _BEGUN_MM2 if self._release_told else _BEGUN_UNTOLD_MM2
        if not frames:
            return None
        at_rest = self._shrink(frames[-1], timestamps_us[len(frames) - 1])
        for k in reversed([*_looked_at(timestamps_us[: len(frames)])]):
            if self._patch_mm2(self._shrink(frames[k], timestamps_us[k]), at_rest) > most_mm2:
                before_ms = (timestamps_us[len(frames) - 1] - timestamps_us[k]) / 1000
                return Alarm(Trouble.BEGUN, _BEGUN_BEFORE.format(before_ms) if self._release_told else _BEGUN)
        return None

    def _patch_mm2(self, before: Image, now: Image) -> float:
        """Return the area of the largest patch in which two shrunken pictures differ, in mm2 on the board; the cannon does not count."""
        return self._but_the_cannon.compare(before, now).area_px * self._mm2_per_px

    def _sprang_back(
        self, frames: Sequence[Image], timestamps_us: Sequence[int], looked_at: Sequence[int]
    ) -> tuple[int, float] | None:
        """Say when, and how far in mm, the table or the camera was moved, though it is back at the end.

        After a shot the camera shakes by as much, but not for so long.
        """

        def moved_mm(k: int) -> float:
            return self._moved_mm(frames[k], timestamps_us[k])

        def is_off(k: int) -> bool:
            return moved_mm(k) > BUMP_MM

        last = len(frames) - 1
        for k in looked_at:
            if not is_off(k):
                continue
            begun = ended = k
            while begun > 0 and timestamps_us[k] - timestamps_us[begun] < _BUMPED_US and is_off(begun - 1):
                begun -= 1
            while (
                ended < last
                and timestamps_us[ended] - timestamps_us[begun] < _BUMPED_US
                and is_off(ended + 1)
            ):
                ended += 1
            if timestamps_us[ended] - timestamps_us[begun] >= _BUMPED_US:
                return timestamps_us[begun], max(map(moved_mm, range(begun, ended + 1)))
        return None

    def _look(self, picture: Image, at_us: int) -> Alarm | None:
        if at_us not in self._seen:
            self._seen[at_us] = self._watch.look(self._shrink(picture, at_us))
        return self._seen[at_us]

    def _moved_mm(self, picture: Image, at_us: int) -> float:
        """Say how far the table or the camera had moved; 0 where that is not worth measuring, or cannot be."""
        if at_us not in self._moved:
            worth = self.anchors.may_have_moved(self._shrink(picture, at_us))
            move = self.anchors.move(picture) if worth else None
            self._moved[at_us] = move.moved_mm if move is not None and move.is_bump else 0.0
        return self._moved[at_us]

    def _shrink(self, picture: Image, at_us: int) -> Image:
        if at_us not in self._shrunken:
            self._shrunken[at_us] = shrink(picture)
        return self._shrunken[at_us]


def _since_release(at_us: int, released_us: int) -> str:
    since_ms = (at_us - released_us) / 1000
    return f"{abs(since_ms):.0f} ms {'after' if since_ms >= 0 else 'before'} the release"


def _looked_at(timestamps_us: Sequence[int]) -> Iterator[int]:
    """Give the pictures that are looked at, besides the last."""
    looked_us = timestamps_us[0] - _LOOK_EACH_US
    for k, at_us in enumerate(timestamps_us):
        if at_us - looked_us >= _LOOK_EACH_US:
            looked_us = at_us
            yield k


class _ClipWatch:
    """Holds pictures of a shot against the table before it, where no soldier falls."""

    def __init__(self, reference: Image, view: BoardView, scene: Scene, standing: Standing) -> None:
        self._before = shrink(reference)
        self._contrast = float(self._before.std())
        away = away_from_soldiers(view, scene, standing, reference.shape, heights=_FALL_HEIGHTS)
        self._away = Watched(shrink_mask(away))
        self._mm2_per_px = SHRINK**2 * view.mm_per_px(*scene.centre_mm) ** 2
        self._kernel = np.ones((_THICK_PX, _THICK_PX), np.uint8)

    def look(self, now: Image) -> Alarm | None:
        """Say what is the matter in one shrunken picture."""
        if (hidden := covered(now, self._contrast)) is not None:
            return hidden
        gain = self._away.gain(self._before, now)
        if abs(gain - 1.0) > LIGHT_CHANGE:
            return Alarm(Trouble.LIGHT, f"the light had changed by {100 * (gain - 1):+.0f} %")
        changed = self._away.differs(self._before, now, gain)
        patch = _arm(cv2.morphologyEx(changed, cv2.MORPH_OPEN, self._kernel), self._mm2_per_px)
        if patch is None:
            return None
        area_mm2, (u_px, v_px) = patch
        return Alarm(
            Trouble.HAND,
            f"something of {area_mm2 / 100:.0f} cm2 was over the table that is no soldier "
            f"(at pixel {u_px:.0f}, {v_px:.0f}): a hand, a sleeve, somebody's shadow",
            (u_px, v_px),
        )


def _arm(changed: Image, mm2_per_px: float) -> tuple[float, tuple[float, float]] | None:
    """Return area in mm2 and centre in the full picture of the largest patch that is an arm or another large thing."""
    if cv2.countNonZero(changed) * mm2_per_px < _ARM_MM2:
        return None
    _, _, stats, centres = cv2.connectedComponentsWithStats(changed, connectivity=8)
    height, width = changed.shape
    best = None
    for (left, top, wide, high, area_px), centre in zip(stats[1:].tolist(), centres[1:], strict=True):
        at_edge = left <= 1 or top <= 1 or left + wide >= width - 1 or top + high >= height - 1
        area_mm2 = area_px * mm2_per_px
        if area_mm2 >= (_ARM_MM2 if at_edge else _THING_MM2) and (best is None or area_mm2 > best[0]):
            u_px, v_px = (centre + 0.5) * SHRINK
            best = area_mm2, (float(u_px), float(v_px))
    return best
