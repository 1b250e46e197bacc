"""Streaks on one plane over the board, and the straight ways that lead through them, many at once.

Streaks are compared on the plane at the usual height of a flight; heights off it show as small bends there. A
shot crosses it in nearly straight lines at nearly constant speed, so two streaks in two pictures propose a way, and
the streaks of the other pictures agree with it or do not. There are thousands of ways through the edges of a few
falling soldiers: all of them are worked out together, and a streak's length and direction, which are the way's
speed and direction once more, throw out most of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot.streaks import PLANE_MM, SHOT_DIAMETER_MM, Streak, StreakFinder, Streaks

__all__ = [
    "LIKELY_EXPOSURES_US",
    "LONGEST_US",
    "MISSED_PICTURES",
    "MOST_LIT",
    "SHADOW_WORTH",
    "Agreement",
    "Sight",
    "SightFinder",
    "Way",
    "Ways",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

SHADOW_WORTH = 0.6
"""How much a shadow in its place speaks for a flight, as a share of what the shot itself does."""
LONGEST_US = 500_000
"""Half a second after it left the muzzle a shot rolls at most, too slow to fell anybody."""
LIKELY_EXPOSURES_US = (2000.0, 800.0, 3000.0)
"""How long pictures may have been exposed where that is not told, the likeliest first."""
MISSED_PICTURES = 3
"""Pictures running in which a flight that goes on may not be seen: hidden by a soldier, or of the colour of what is below."""
MOST_LIT = 0.35
"""Share of a shadow that may seem brighter than its background, by the print below it and by noise."""
# Faster than any shot of such a cannon, and than what its height makes of it on the plane.
_FASTEST_MPS = 30.0
# Streaks are not looked for farther off the board than this.
_FARTHEST_MM = 100.0
# How long a smear may be against what its way and the exposure make it: at least and at most, as a share and px beside it.
_SHORTEST, _SHORTER_PX, _LONGEST, _LONGER_PX = 0.4, 6.0, 1.6, 8.0
_ASIDE_PX = 2.5  # by which the ends of a smear may lie beside its way


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """A streak and where it lies on the comparison plane."""

    streak: Streak
    time_ms: float
    """Mid of what the exposure saw of the shot; later than mid-exposure where the shot left during it."""
    point_mm: FloatArray
    """Shape (2,)."""
    axis: FloatArray
    """Direction of the smear on the plane, of length one, shape (2,); its sign means nothing."""
    strength: float
    """How much it speaks for a way that leads through it: strong, and as wide as the shot."""
    is_shadow: bool = False
    """Whether it is taken for the shot's shadow on the board."""
    sigmas_px: tuple[float, float] | None = None
    """Standard deviations along the smear and across, where it was measured; ``None`` for a mere streak."""

    @property
    def worth(self) -> float:
        """Its strength; less where it is a shadow."""
        return SHADOW_WORTH * self.strength if self.is_shadow else self.strength


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A straight way at constant speed on the comparison plane."""

    time_ms: float
    point_mm: FloatArray
    """Where it is at that time, shape (2,)."""
    velocity: FloatArray
    """mm a ms, shape (2,)."""

    def at(self, time_ms: float) -> FloatArray:
        """Where it is at another time, shape (2,)."""
        point: FloatArray = self.point_mm + (time_ms - self.time_ms) * self.velocity
        return point


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """Many of them."""

    times_ms: FloatArray
    """Shape (N,)."""
    points_mm: FloatArray
    """Where each is at its time, shape (N, 2)."""
    velocities: FloatArray
    """mm a ms, shape (N, 2)."""

    def __len__(self) -> int:
        return len(self.times_ms)

    @staticmethod
    def joined(parts: Sequence[Ways]) -> Ways:
        """Put several together."""
        if not parts:
            return Ways(np.zeros(0), np.zeros((0, 2)), np.zeros((0, 2)))
        return Ways(
            np.concatenate([p.times_ms for p in parts]),
            np.concatenate([p.points_mm for p in parts]),
            np.concatenate([p.velocities for p in parts]),
        )

    def some(self, which: BoolArray | IntArray | slice) -> Ways:
        """Give those that are asked for."""
        return Ways(self.times_ms[which], self.points_mm[which], self.velocities[which])

    def way(self, i: int) -> Way:
        """Give one of them."""
        return Way(float(self.times_ms[i]), self.points_mm[i], self.velocities[i])

    @property
    def speeds(self) -> FloatArray:
        """Speed of each, mm a ms, shape (N,)."""
        speeds: FloatArray = np.hypot(self.velocities[:, 0], self.velocities[:, 1])
        return speeds

    def at(self, time_ms: float) -> FloatArray:
        """Where they are at one time, shape (N, 2)."""
        points: FloatArray = self.points_mm + (time_ms - self.times_ms)[:, None] * self.velocities
        return points


@dataclass(frozen=True, slots=True, eq=False)
class _Picture:
    """All sights of one picture, side by side; what no exposure changes."""

    streaks: Streaks
    points_mm: FloatArray
    axes: FloatArray
    """On the plane."""
    widths_off: FloatArray
    strengths: FloatArray
    dark: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Which sights lie on which of N ways."""

    pictures: range
    """The pictures that were looked at."""
    chosen: IntArray
    """Which sight of each picture lies on each way, -1 for none, shape (N, pictures)."""
    strength: FloatArray
    """Sum of the sights' strengths, shape (N,)."""
    off_mm: FloatArray
    """Sum of what the sights are off the way, shape (N,)."""
    widths_off: FloatArray
    """Sum of what their widths differ from the shot's, as shares of it, shape (N,)."""

    def on_way(self, i: int) -> list[tuple[int, int]]:
        """Picture and number of each sight on way i, in time order."""
        hits = np.flatnonzero(self.chosen[i] >= 0)
        return [(int(h) + self.pictures.start, int(self.chosen[i, h])) for h in hits]

    @property
    def counts(self) -> IntArray:
        """How many pictures show something on each way, shape (N,)."""
        counts: IntArray = (self.chosen >= 0).sum(axis=1)
        return counts

    @property
    def ends(self) -> tuple[IntArray, IntArray]:
        """First and last picture that shows something on each way, each of shape (N,)."""
        hit = self.chosen >= 0
        first = hit.argmax(axis=1) + self.pictures.start
        last = self.pictures.stop - 1 - hit[:, ::-1].argmax(axis=1)
        return first, last


class SightFinder:
    """Finds the sights of a clip's pictures, each when it is first asked for.

    Parameters
    ----------
    frames, timestamps_us, scene, view
        As for `StreakFinder`.
    streaks
        One that has looked at the first of these pictures already; ``None``: nobody has.
    """

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        scene: Scene,
        view: BoardView,
        streaks: StreakFinder | None = None,
    ) -> None:
        if streaks is None:
            streaks = StreakFinder(frames, timestamps_us, scene, view)
        streaks.go_on(frames, timestamps_us)
        self._finder = streaks
        self._times_us = timestamps_us
        self._scene = scene
        self._view = view
        self._pictures: dict[int, _Picture] = {}
        self._pairs: dict[tuple[int, int], Ways] = {}
        self.mm_per_px = view.mm_per_px(*scene.centre_mm, PLANE_MM)
        self.exposure_us: float | None = float(scene.exposure_us) if scene.exposure_us else None
        self.end = len(timestamps_us)
        """The picture after the last in which the shot matters."""
        if scene.fire_us is not None:
            self.released(scene.fire_us)

    def released(self, release_us: float) -> None:
        """Say when the shot left the muzzle."""
        times_us = self._times_us
        self.end = next((k for k, t in enumerate(times_us) if t > release_us + LONGEST_US), len(times_us))

    def dark(self, k: int) -> BoolArray:
        """Which streaks of picture k are dark enough for a shadow, shape (n,)."""
        return self._picture(k).dark

    def sights(self, k: int) -> list[Sight]:
        """All of picture k."""
        return [self.sight(k, i) for i in range(len(self._picture(k).streaks))]

    def sight(self, k: int, i: int) -> Sight:
        """Give number i of picture k."""
        p = self._picture(k)
        return Sight(p.streaks[i], self.middle_ms(k), p.points_mm[i], p.axes[i], float(p.strengths[i]))

    def places_px(self, k: int) -> FloatArray:
        """Where the streaks of picture k lie in it, shape (n, 2)."""
        return self._picture(k).streaks.places_px

    def points_mm(self, k: int) -> FloatArray:
        """Where the streaks of picture k lie on the comparison plane, shape (n, 2)."""
        return self._picture(k).points_mm

    def on_plane(self, points_mm: FloatArray) -> FloatArray:
        """Where board points (N, 3) are seen on the comparison plane, (x, y) mm, shape (N, 2)."""
        return self._view.on_plane(self._view.project(points_mm), PLANE_MM)

    def middle_ms(self, k: int) -> float:
        """Mid of the part of an exposure in which the shot was under way."""
        time_us, fire_us = float(self._times_us[k]), self._scene.fire_us
        if fire_us is None or self.exposure_us is None:
            return time_us / 1000.0
        opened_us, closed_us = time_us - self.exposure_us / 2, time_us + self.exposure_us / 2
        return ((max(opened_us, float(fire_us)) + closed_us) / 2 if closed_us > fire_us else time_us) / 1000.0

    def expose(self, exposure_us: float | None) -> None:
        """Say how long the pictures were exposed, where that was not known."""
        self.exposure_us = exposure_us
        self._pairs.clear()

    def open_ms(self, sight: Sight) -> float | None:
        """How long the exposure saw the shot; ``None`` where that is not known."""
        return self._open_ms(sight.streak.frame, sight.time_ms)

    def open_ms_of(self, k: int) -> float | None:
        """How long picture k saw the shot; ``None`` where that is not known."""
        return self._open_ms(k, self.middle_ms(k))

    def pairs(self, j: int, k: int) -> Ways:
        """Give the ways that a shot could take through a sight of picture j and one of the later picture k, of the shape of either."""
        if (j, k) not in self._pairs:
            first, second = self._picture(j), self._picture(k)
            if not len(first.streaks) or not len(second.streaks):
                self._pairs[j, k] = Ways.joined([])
            else:
                first_ms = self.middle_ms(j)
                flown_ms = self.middle_ms(k) - first_ms
                furthest2 = (_FASTEST_MPS * flown_ms) ** 2
                a, b = np.nonzero(_squares_apart(first.points_mm, second.points_mm) <= furthest2)
                ways = Ways(
                    np.full(len(a), first_ms),
                    first.points_mm[a],
                    (second.points_mm[b] - first.points_mm[a]) / flown_ms,
                )
                fit = self._shaped_in(j, a, ways) & self._shaped_in(k, b, ways)
                self._pairs[j, k] = ways.some(fit)
        return self._pairs[j, k]

    def shaped(self, sight: Sight, velocity: FloatArray) -> bool:
        """Whether a sight is as long as a velocity (2,) in mm a ms makes it, and lies along it."""
        length_px, axis = np.array([sight.streak.length_px]), sight.axis[None, :]
        # Where the shot runs together with its shadow the patch is too wide, and its axis lies askew.
        askew_px = max(sight.streak.width_px - SHOT_DIAMETER_MM / self.mm_per_px - 1.0, 0.0)
        return bool(self._shaped(length_px, axis, self.open_ms(sight), velocity[None, :], askew_px)[0])

    def _shaped_in(self, k: int, which: IntArray, ways: Ways) -> BoolArray:
        """Whether sights (N,) of picture k have the shape that N ways make."""
        p = self._picture(k)
        return self._shaped(p.streaks.lengths_px[which], p.axes[which], self.open_ms_of(k), ways.velocities)

    def _shaped(
        self,
        lengths_px: FloatArray,
        axes: FloatArray,
        open_ms: float | None,
        velocities: FloatArray,
        askew_px: float = 0.0,
    ) -> BoolArray:
        speeds = np.maximum(np.hypot(velocities[:, 0], velocities[:, 1]), 1e-9)
        expected_px = lengths_px if open_ms is None else speeds * open_ms / self.mm_per_px
        across = np.abs(axes[:, 0] * velocities[:, 1] - axes[:, 1] * velocities[:, 0]) / speeds
        # The smear's ends may lie beside the way by no more than a contour is blurred.
        fit: BoolArray = (
            (lengths_px >= _SHORTEST * expected_px - _SHORTER_PX)
            & (lengths_px <= _LONGEST * expected_px + _LONGER_PX)
            & (np.minimum(lengths_px, expected_px) / 2 * across <= _ASIDE_PX + askew_px)
        )
        return fit

    def agreeing(self, ways: Ways, begins: IntArray, ends: IntArray, tolerance_mm: float) -> Agreement:
        """Find the sight nearest to each way in each picture in which one is near enough, until the way is lost.

        Parameters
        ----------
        ways
            N of them.
        begins, ends
            The pictures of each way, ends not included, each of shape (N,).
        tolerance_mm
            How near is near enough; a fiftieth of how far the way has come is added.
        """
        count = len(ways)
        pictures = range(int(begins.min(initial=0)) if count else 0, int(ends.max(initial=0)))
        chosen = np.full((count, len(pictures)), -1, dtype=np.intp)
        strength, off_mm, widths_off = np.zeros(count), np.zeros(count), np.zeros(count)
        missed = np.zeros(count, dtype=np.intp)
        followed = np.ones(count, dtype=bool)
        size = np.array([self._scene.width_mm, self._scene.length_mm])
        for k in pictures:
            (on,) = (followed & (begins <= k) & (k < ends)).nonzero()
            if not len(on):
                continue
            asked = ways.some(on)
            where = asked.at(self.middle_ms(k))
            hit = np.zeros(len(on), dtype=bool)
            p = self._picture(k)
            if len(p.streaks):
                off2 = _squares_apart(where, p.points_mm)
                nearest = off2.argmin(axis=1)
                least = np.sqrt(off2[np.arange(len(on)), nearest])
                gone = where - asked.points_mm
                hit = least <= tolerance_mm + 0.02 * np.hypot(gone[:, 0], gone[:, 1])
                (near,) = hit.nonzero()
                hit[near] = self._shaped_in(k, nearest[near], asked.some(near))
                (near,) = hit.nonzero()
                chosen[on[near], k - pictures.start] = nearest[near]
                strength[on[near]] += p.strengths[nearest[near]]
                off_mm[on[near]] += least[near]
                widths_off[on[near]] += p.widths_off[nearest[near]]
            over = ((where >= 0) & (where <= size)).all(axis=1)
            missed[on] = np.where(hit, 0, missed[on] + over)
            left = ((where < -_FARTHEST_MM) & (asked.velocities <= 0)) | (
                (where > size + _FARTHEST_MM) & (asked.velocities >= 0)
            )
            followed[on] = (missed[on] <= MISSED_PICTURES) & ~left.any(axis=1)
        return Agreement(pictures, chosen, strength, off_mm, widths_off)

    def first_mm(self, agreement: Agreement) -> FloatArray:
        """Where the first sight on each way lies, shape (N, 2); nan where there is none."""
        first_mm = np.full((len(agreement.chosen), 2), np.nan)
        if len(agreement.pictures):
            first, _ = agreement.ends
            which = agreement.chosen[np.arange(len(first)), first - agreement.pictures.start]
            for k in np.unique(first[which >= 0]):
                here = (first == k) & (which >= 0)
                first_mm[here] = self.points_mm(int(k))[which[here]]
        return first_mm

    def _open_ms(self, k: int, time_ms: float) -> float | None:
        if self.exposure_us is None:
            return None
        return 2 * (self._times_us[k] / 1000.0 - time_ms) + self.exposure_us / 1000.0

    def _picture(self, k: int) -> _Picture:
        if k not in self._pictures:
            streaks = self._finder.streaks(k)
            both = self._view.on_plane(
                np.concatenate([streaks.places_px, streaks.places_px + 4 * streaks.axes]), PLANE_MM
            )
            points, ways = both[: len(streaks)], both[len(streaks) :] - both[: len(streaks)]
            usual_px = SHOT_DIAMETER_MM / self.mm_per_px + 1.0
            off = np.abs(streaks.widths_px - usual_px) / usual_px
            contrast = np.minimum(streaks.contrasts, 50.0)
            self._pictures[k] = _Picture(
                streaks,
                points,
                ways / np.hypot(ways[:, 0], ways[:, 1])[:, None],
                off,
                contrast / 50.0 + 0.5 - 0.5 * np.minimum(off, 1.0),
                streaks.lit <= MOST_LIT,
            )
        return self._pictures[k]


def _squares_apart(points_mm: FloatArray, others_mm: FloatArray) -> FloatArray:
    """Squares of the distances between points (N, 2) and others (M, 2), shape (N, M)."""
    # Axis by axis, without a root: a sixth of the time of `hypot` on all the differences.
    across, along = (points_mm[:, i, None] - others_mm[:, i] for i in (0, 1))
    return np.asarray(across * across + along * along)
