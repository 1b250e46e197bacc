"""The flight after a contact: looked for from near the place where the flight before was seen last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.shot.draft import Draft, DraftFitter
from vision.shot.faint import Stirred
from vision.shot.flight_fit import FlightPrior
from vision.shot.from_cannon import OFF_WORTH, CannonSearch
from vision.shot.growing import Grower
from vision.shot.sights import Sight, SightFinder, Way, Ways
from vision.shot.streaks import SHOT_RADIUS_MM

__all__ = ["OnwardSearch"]

FloatArray = NDArray[np.float64]

_SLOWEST_MPS = 0.4
_MOST_APART_MM = 75.0
_BOUNCE_SPEED_UP = 1.15  # a contact slows the shot; the margin is for the unknown height
_LATER_PICTURES = 8
# A way is held against so many pictures from its first on, and what lies so near is on it.
_FOLLOWED_PICTURES, _NEAR_MM = 10, 4.0
# What takes off what speaks for a way: each picture before it begins, each in its midst that does not show it, and one for so far
# from where the flight before would have been.
_WAITED_WORTH, _MISSED_WORTH, _APART_MM = 0.6, 0.5, 15.0
# Where nothing leads on, a way that comes from a soldier just when he begins to move may come from him: the shot struck another
# before, and him then. So little it costs, and so near to his foot it must begin. Of eight shots of the twin for which it changes
# anything 16 pictures instead of one are told rightly in the 80 ms after the first touch, and none wrongly.
_BY_ANOTHER_MM, _STRUCK_REACH_MM, _STIR_SLACK_MS = 4.5, 10.0, 2.0
_FEWEST_STIRRED = 2  # from the one whom the flight before struck the next one leads plainly
# How well the start of a flight is known beforehand: as well as two contacts may lie apart.
_START_SIGMA_US = 3000.0
_START_SIGMA_MM = (6.0, 6.0, 10.0)
_VELOCITY_SIGMA_MPS = 2.0
_LEAST_SCORE = 0.8  # a flight of two faint streaks far from where it should begin is none
_SLOW_MPS = 1.5


class OnwardSearch:
    """Looks for the flight that begins where one ended.

    Parameters
    ----------
    finder, fitter, grower, cannon
        What was seen, what fits flights to it and follows them, and what knows the first one.
    timestamps_us, stirred
        As for `vision.shot.track.find_track`.
    """

    def __init__(
        self,
        finder: SightFinder,
        fitter: DraftFitter,
        grower: Grower,
        cannon: CannonSearch,
        timestamps_us: Sequence[int],
        stirred: Sequence[Stirred],
    ) -> None:
        self._finder = finder
        self._fitter = fitter
        self._grower = grower
        self._cannon = cannon
        self._times = timestamps_us
        self._feet_mm = np.array([each.foot_mm for each in stirred]).reshape(-1, 2)
        self._stirred_ms = np.array([each.time_us for each in stirred]) / 1000.0
        self._frame_ms = float(np.median(np.diff(timestamps_us))) / 1000.0

    def after(self, draft: Draft, least: int) -> tuple[Draft, Draft] | None:
        """Find the flight after this one; the last sights of this one may turn out not to be of the shot.

        Parameters
        ----------
        draft
            The flight before.
        least
            In so many pictures it must still be seen, once the last ones are taken from it.

        Returns
        -------
        The flight before, as it is then, and the one after; ``None`` where none is found.
        """
        return self._after(draft, least, by_another=False) or self._after(draft, least, by_another=True)

    def _after(self, draft: Draft, least: int, *, by_another: bool) -> tuple[Draft, Draft] | None:
        """Find the flight after this one, from its end or from a soldier who stirred."""
        if by_another and len(self._feet_mm) < _FEWEST_STIRRED:
            return None
        best: tuple[float, Draft, Way, list[Sight]] | None = None
        pictures = draft.pictures
        for cut in range(3):
            if len(pictures) - cut < min(least, len(pictures)):
                break
            kept = draft.until(pictures[-1 - cut])
            if len(pictures) - cut == 1 and not kept[0].is_shadow:
                shorter = self._cannon.from_one_streak(kept[0])
            else:
                shorter = Draft(draft.prior, kept, self._fitter.fit(draft.prior, kept)) if cut else draft
            found = None if shorter is None else self._next_way(shorter, by_another=by_another)
            if shorter is None or found is None:
                continue
            score, way, sights = found
            value = score - sum(sight.worth for sight in draft.after(pictures[-1 - cut]))
            if value >= _LEAST_SCORE and (best is None or value > best[0]):
                best = (value, shorter, way, sights)
        if best is None:
            return None
        _, shorter, way, sights = best
        return shorter, self._grower.grown(self._contact_prior(shorter, way, sights), sights)

    def _next_way(self, draft: Draft, *, by_another: bool) -> tuple[float, Way, list[Sight]] | None:
        """Find the way that starts where this flight ends, with how much speaks for it and what lies on it."""
        begin = draft.sights[-1].streak.frame + 1
        end = min(begin + _LATER_PICTURES, self._finder.end)
        speed_before = float(np.linalg.norm(draft.fit.flight.velocity_at(1000.0 * draft.sights[-1].time_ms)))
        limit = _BOUNCE_SPEED_UP * speed_before + 0.3
        flown_ms = np.linspace(draft.sights[-1].time_ms, self._times[end - 1] / 1000.0, 10 * _LATER_PICTURES)
        flown_mm = self._flown(draft, flown_ms)
        pairs = [
            (self._finder.pairs(j, k), j) for k in range(begin + 1, end) for j in range(max(begin, k - 2), k)
        ]
        ways = Ways.joined([each for each, _ in pairs])
        first = np.concatenate([np.full(len(each), j) for each, j in pairs]) if pairs else np.zeros(0, int)
        able = (ways.speeds >= _SLOWEST_MPS) & (ways.speeds <= limit)
        ways, first = ways.some(able), first[able]
        # Somewhere before its first sight the way must have left the flight.
        since_ms = flown_ms - ways.times_ms[:, None]
        across, along = (
            flown_mm[:, i] - ways.points_mm[:, i, None] - since_ms * ways.velocities[:, i, None]
            for i in (0, 1)
        )
        off2 = across * across + along * along
        until = np.searchsorted(flown_ms, np.array(self._times)[first] / 1000.0)
        off2[np.arange(len(flown_ms)) > until[:, None]] = np.inf
        apart_mm = np.sqrt(off2.min(axis=1))
        able = apart_mm <= _MOST_APART_MM
        ways, first, apart_mm = ways.some(able), first[able], apart_mm[able]
        if not len(ways):
            return None
        if by_another:
            apart_mm = np.minimum(apart_mm, self._from_another_mm(ways))
        agreement = self._finder.agreeing(
            ways, first, np.minimum(first + _FOLLOWED_PICTURES, self._finder.end), _NEAR_MM
        )
        counts = agreement.counts
        # Smears that change in strength or width are parts of a moving soldier.
        rough = agreement.widths_off / np.maximum(counts, 1)
        earliest, latest = agreement.ends
        late = _WAITED_WORTH * (first - begin) + _MISSED_WORTH * (latest - earliest + 1 - counts)
        score = agreement.strength - OFF_WORTH * agreement.off_mm - late - apart_mm / _APART_MM - rough
        score[counts < np.where(ways.speeds < _SLOW_MPS, 3, 2)] = -np.inf
        if not np.any(np.isfinite(score)):
            return None
        best = int(score.argmax())
        sights = [self._finder.sight(k, which) for k, which in agreement.on_way(best)]
        return float(score[best]), ways.way(best), sights

    def _from_another_mm(self, ways: Ways) -> FloatArray:
        """How far each way begins from the nearest soldier who began to move just then, shape (N,); infinite where none did."""
        to_foot = self._feet_mm - ways.points_mm[:, None]
        across, along = (ways.velocities[:, i, None] for i in (0, 1))
        nearest_ms = (to_foot[..., 0] * across + to_foot[..., 1] * along) / (across**2 + along**2)
        # Counted from the way's first sight: before it, and when the blow goes with what was seen of him.
        earliest_ms = self._stirred_ms - self._frame_ms - _STIR_SLACK_MS - ways.times_ms[:, None]
        latest_ms = np.minimum(self._stirred_ms + _STIR_SLACK_MS - ways.times_ms[:, None], 0.0)
        at_ms = np.clip(nearest_ms, earliest_ms, latest_ms)
        off_mm = np.hypot(to_foot[..., 0] - at_ms * across, to_foot[..., 1] - at_ms * along)
        off_mm[earliest_ms > latest_ms] = np.inf
        least_mm: FloatArray = np.maximum(off_mm.min(axis=1) - _STRUCK_REACH_MM, 0.0) + _BY_ANOTHER_MM
        return least_mm

    def _flown(self, draft: Draft, times_ms: FloatArray) -> FloatArray:
        """Where a flight would be seen on the comparison plane if it went on, shape (N, 2)."""
        flown = draft.fit.flight.at(times_ms * 1000.0)
        flown[:, 2] = np.maximum(flown[:, 2], SHOT_RADIUS_MM)
        return self._finder.on_plane(flown)

    def _contact_prior(self, draft: Draft, line: Way, sights: Sequence[Sight]) -> FlightPrior:
        """Describe a flight that starts where the one before ended, give or take what may lie between two contacts."""
        times = np.linspace(draft.sights[-1].time_ms, sights[0].time_ms, 40)
        seen = self._flown(draft, times)
        traced = line.point_mm + (times - line.time_ms)[:, None] * line.velocity
        apart = np.hypot(*(seen - traced).T)
        nearest = int(np.argmin(apart))
        start_mm = draft.fit.flight.at(1000.0 * float(times[nearest]))[0]
        start_mm[2] = max(start_mm[2], SHOT_RADIUS_MM)
        return FlightPrior.of(
            start_us=1000.0 * float(times[nearest]),
            start_sigma_us=_START_SIGMA_US,
            start_mm=start_mm,
            start_sigma_mm=np.array(_START_SIGMA_MM) + float(apart[nearest]),
            velocity_mps=np.array([line.velocity[0], line.velocity[1], 0.0]),
            velocity_sigma_mps=np.full(3, _VELOCITY_SIGMA_MPS),
        )
