"""Following a flight picture by picture: what the next picture shows of it is taken in, and tells where to look next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.shot.draft import FEWEST_PLAIN, Draft, DraftFitter, furthest_px, misses_px, place_px
from vision.shot.flight_fit import FlightFit, FlightPrior
from vision.shot.sights import MISSED_PICTURES, Sight, SightFinder
from vision.shot.streaks import SHOT_DIAMETER_MM, SHOT_RADIUS_MM
from vision.soldiers.lamp import Lamp

__all__ = ["Grower"]

FloatArray = NDArray[np.float64]

# How far off a flight its first sights may lie, each that is taken in, and by how much that one may raise the sum of squares.
_FIRST_PX, _STRAY_PX, _RAISED = 3.0, 2.5, 16.0
# How far from where a flight leads the shot is looked for: at least, for each standard deviation of the flight, and at most.
_REACH_PX, _REACH_SIGMAS, _MOST_REACH_PX = 3.0, 3.0, 14.0
_SHADOWS_ALONE = 1  # pictures at the end of a flight
# How well a shadow's streak is placed; how far from where it should be it is looked for, in squared standard deviations and px.
_SHADOW_PX, _SHADOW_SIGMAS2, _SHADOW_REACH_PX = 1.5, 9.0, 30.0
_OWN_SIDE = 0.9  # of the shot's width
_STRAY_SHADOW_PX = 3.5
_SUNK_MM = -15.0  # well below the board: the flight has ended


class Grower:
    """Follows flights from their first sights on.

    Parameters
    ----------
    finder, fitter
        What was seen, and what fits flights to it.
    view, lamp
        As for `vision.shot.track.find_track`.
    stirred
        The first picture by which the shot has struck somebody.
    """

    def __init__(
        self,
        finder: SightFinder,
        fitter: DraftFitter,
        view: BoardView,
        lamp: Lamp | None,
        stirred: int,
    ) -> None:
        self._finder = finder
        self._fitter = fitter
        self._view = view
        self._lamp = lamp
        self._stirred = stirred
        self._mm_per_px = finder.mm_per_px

    def grown(self, prior: FlightPrior, sights: Sequence[Sight]) -> Draft:
        """Follow a flight picture by picture from its first sights, as far as it explains what is seen.

        Parameters
        ----------
        prior
            What is known of it beforehand.
        sights
            The first that lie on it, in the order of their pictures; at least one.
        """
        kept = list(sights[:3])
        fit = self._fitter.fit(prior, kept)
        while len(kept) > 2 and furthest_px(fit) > _FIRST_PX:
            kept = kept[:-1]
            fit = self._fitter.fit(prior, kept)
        # From the muzzle on, where its height is known best: each shadow tells the height for the next.
        for sight in tuple(kept):
            other = self._counterpart(fit, sight)
            if other is not None:
                kept, fit, _ = self._adding(prior, kept, fit, [other])
        missed = 0
        for k in range(kept[-1].streak.frame + 1, self._finder.end):
            if (
                kept[0].streak.frame < self._stirred <= k
                and len({s.streak.frame for s in kept}) < FEWEST_PLAIN
            ):
                break  # it has struck somebody, and two sights cannot tell that it flew on as before
            near = self._near(fit, k)
            taken = False
            if near:
                kept, fit, taken = self._adding(prior, kept, fit, near)
                if not taken and len(near) == 2:
                    kept, fit, taken = self._adding(prior, kept, fit, near[:1])
            missed = 0 if taken else missed + 1
            if missed > MISSED_PICTURES:
                break
        # Where the shot itself was seen and then but a shadow, that is more likely something that begins to move.
        seen = max((s.streak.frame for s in kept if not s.is_shadow), default=kept[-1].streak.frame)
        if 0 < len({s.streak.frame for s in kept if s.streak.frame > seen}) <= _SHADOWS_ALONE:
            kept = [s for s in kept if s.streak.frame <= seen]
            fit = self._fitter.fit(prior, kept, near=fit)
        return Draft(prior, tuple(kept), fit)

    def shaded(self, draft: Draft) -> Draft:
        """Add the shadows of what was seen of the shot: they tell its height."""
        kept, fit = list(draft.sights), draft.fit
        for sight in draft.sights:
            other = self._counterpart(fit, sight)
            if other is None:
                continue
            # A streak on a dark shot is that shot's own.
            apart_px = float(np.hypot(*(place_px(other) - place_px(sight))))
            if apart_px > sight.streak.width_px + sight.streak.length_px / 2:
                kept, fit, _ = self._adding(draft.prior, kept, fit, [other])
        return Draft(draft.prior, tuple(kept), fit)

    def _adding(
        self, prior: FlightPrior, kept: list[Sight], fit: FlightFit, new: Sequence[Sight]
    ) -> tuple[list[Sight], FlightFit, bool]:
        """Take new sights into a flight if it explains them as well; says whether it does."""
        more = sorted([*kept, *new], key=lambda s: s.streak.frame)
        trial = self._fitter.fit(prior, more, near=fit)
        own, thrown = misses_px(trial, more)
        good = all(off_px <= _STRAY_PX for sight, off_px in own if sight in new)
        good &= all(off_px <= _STRAY_SHADOW_PX for sight, off_px in thrown if sight in new)
        if good and trial.misfit - fit.misfit <= _RAISED * len(new):
            return more, trial, True
        return kept, fit, False

    def _near(self, fit: FlightFit, k: int) -> list[Sight]:
        """Streaks of picture k that the flight leads to: the shot, its shadow, or both."""
        own, thrown = self._nearest(fit, k), self._nearest_shadow(fit, k)
        if own is not None and thrown is not None and not self._are_two(own, thrown):
            thrown = None
        return [s for s in (own, thrown) if s is not None]

    def _counterpart(self, fit: FlightFit, sight: Sight) -> Sight | None:
        """Find the shadow of a sight of the shot, or the shot that throws a sighted shadow."""
        found = (self._nearest if sight.is_shadow else self._nearest_shadow)(fit, sight.streak.frame)
        return None if found is None or not self._are_two(found, sight) else found

    def _are_two(self, one: Sight, other: Sight) -> bool:
        """Whether the shot and its shadow were seen beside each other.

        Near the board they run together, and what is seen of both is neither's middle; what is dark within the shot's own
        width is its side that is not lit.
        """
        apart_mm = self._mm_per_px * float(np.hypot(*(place_px(other) - place_px(one))))
        return one.streak != other.streak and apart_mm > _OWN_SIDE * SHOT_DIAMETER_MM

    def _nearest(self, fit: FlightFit, k: int) -> Sight | None:
        """Find the streak of picture k that the flight leads to, if there is one."""
        time_us = 1000.0 * self._finder.middle_ms(k)
        where = fit.flight.at(time_us)
        if where[0, 2] < _SUNK_MM:
            return None
        pixel = self._view.project(where)[0]
        spread_px = float(np.sqrt(np.trace(fit.spread_at(time_us)[0, :2, :2]))) / self._mm_per_px
        reach_px = min(_REACH_PX + _REACH_SIGMAS * spread_px, _MOST_REACH_PX)
        places = self._finder.places_px(k)
        if not len(places):
            return None
        off_px = np.hypot(places[:, 0] - pixel[0], places[:, 1] - pixel[1])
        best = int(off_px.argmin())
        if off_px[best] > reach_px:
            return None
        near = self._finder.sight(k, best)
        return near if self._finder.shaped(near, fit.flight.velocity_at(time_us)[:2]) else None

    def _nearest_shadow(self, fit: FlightFit, k: int) -> Sight | None:
        """Find the streak of picture k where the flight throws its shadow, if there is one."""
        lamp = fit.lamp or self._lamp
        dark = self._finder.dark(k)
        if lamp is None or not dark.any():
            return None
        time_us = 1000.0 * self._finder.middle_ms(k)
        where = fit.flight.at(time_us)
        if where[0, 2] < _SUNK_MM:
            return None
        where[:, 2] = np.maximum(where[:, 2], SHOT_RADIUS_MM)
        thrown = lamp.shadow(where)
        # How far it may lie off: the flight's own spread, its height's along the shadow, and the lamp's.
        spread = fit.spread_at(time_us)[0]
        reach = np.column_stack([np.eye(2), lamp.slope_at(where[0, :2])])
        covariance = reach @ spread @ reach.T + np.eye(2) * (lamp.slope_sigma * where[0, 2]) ** 2
        covariance += np.eye(2) * (_SHADOW_PX * self._mm_per_px) ** 2
        off = self._finder.points_mm(k) - self._finder.on_plane(thrown)
        distance = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
        distance[~dark] = np.inf
        best = int(np.argmin(distance))
        if (
            distance[best] > _SHADOW_SIGMAS2
            or float(np.hypot(*off[best])) > _SHADOW_REACH_PX * self._mm_per_px
        ):
            return None
        near = replace(self._finder.sight(k, best), is_shadow=True)
        return near if self._finder.shaped(near, fit.flight.velocity_at(time_us)[:2]) else None
