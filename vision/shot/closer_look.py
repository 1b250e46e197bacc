"""The shot measured again where flights put it, by its own shape and colour; and found where it makes no streak."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot.draft import (
    FAINT_CONTRAST,
    FEWEST_PLAIN,
    PLAIN_ENDS,
    SIGHT_PX,
    Draft,
    DraftFitter,
    furthest_px,
    own_of,
    place_px,
    placed,
    sigmas_px,
    thrown_of,
)
from vision.shot.exposure import likeliest_exposure_us
from vision.shot.faint_shadow import find_faint_shadows
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit, FlightPrior
from vision.shot.sights import Sight, SightFinder
from vision.shot.smear import Smear, SmearFitter
from vision.shot.streaks import PLANE_MM, SHOT_DIAMETER_MM, Streak
from vision.soldiers.lamp import Lamp
from vision.steady import Sways

__all__ = ["CloserLook"]

FloatArray = NDArray[np.float64]

# The shot is looked for in so many pictures before and after those that show it.
_EARLIER_PICTURES, _LATER_PICTURES = 2, 8
_SPOILT_SIGMAS = 5.0  # off what the others tell; such a sight is left out
_SUSPECTS = 4  # the farthest off, any of which may be the odd one
_CONTRADICTING = 5.0  # sum of squared standard deviations for each sight
_START_SLACK_US = 3000.0  # by which the start of a flight may be off
_PLAIN_SMEARS = 6  # that tell the shot's colour
_PLAIN_GAIN = 60.0  # of a smear: with less, a sight stays where its streak was
# A shot that makes no streak is believed where its smear gains so much, shows such a share of the shot's colour, and lies so few
# standard deviations off the flight. It is then a sight of this strength.
_HIDDEN_GAIN, _SHOWN, _HIDDEN_SIGMAS, _HIDDEN_STRENGTH = 100.0, (0.6, 1.5), 4.0, 0.6
_HIDDEN_SPREAD_PX = 4.0  # beyond, a flight does not say where to look
# How well a smear's middle is the shot's: the lamp lights one side of it, and a lens that was not measured bends.
_LIT_PX, _LENS_PX = 0.35, 0.5
# Lens, pixels and packing soften a smear, as if it were longer, by the root of the sum of squares: 4.7 px in the middle of 149
# filmed shots, 3.5 in pictures without a lens.
_SOFTENED_PX = 4.2
_LEAST_OF_FOUND = 0.5  # of an exposure whose smear is hardly longer than that
_LONGER_PX = 2.0  # by which noise may lengthen a streak
_SHADED = 0.5  # of the pictures; more shadows hardly tell the height better
_FAINT_MISFIT = 4.0  # by which each shadow that is found may raise the sum of squares
_ROUNDS = 2  # of learning what the shot looks like where it is found, and of finding it


class CloserLook:
    """Looks again at pictures of a shot, once a flight that shows plainly has told what the shot looks like.

    Parameters
    ----------
    frames, timestamps_us, scene, view
        As for `vision.shot.track.find_track`.
    finder, fitter
        What was seen, and what fits flights to it.
    sways
        How the pictures sway against one in which all was at rest.
    """

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        scene: Scene,
        view: BoardView,
        finder: SightFinder,
        fitter: DraftFitter,
        sways: Sways,
    ) -> None:
        self._frames = frames
        self._times = timestamps_us
        self._scene = scene
        self._view = view
        self._finder = finder
        self._fitter = fitter
        self._mm_per_px = finder.mm_per_px
        self._diameter_px = SHOT_DIAMETER_MM / finder.mm_per_px
        self._sways = sways
        self._smears: SmearFitter | None = None
        # No closer look takes this away. Of what a lens bends that was not measured the flight takes up most; this is the rest.
        self._blind_px = _LENS_PX if scene.intrinsics is None else _LIT_PX

    def sharpened(self, draft: Draft, since: int = 0) -> Draft:
        """Measure again where the shot lies in each picture, now that its colour, speed and direction are known.

        Pictures before the given one are another flight's.
        """
        if self._finder.exposure_us is None or len(own_of(draft.sights)) < FEWEST_PLAIN:
            return draft
        smears = self._smears or self.learn(draft)
        sights = []
        for sight in draft.sights:
            k = sight.streak.frame
            way = self._smeared(draft.fit.flight, k)[1]
            smear = None if sight.is_shadow else smears.fit(k, place_px(sight), way)
            if smear is not None and smear.gain >= _PLAIN_GAIN:
                closely = self._measured(sight, smear)
            else:
                closely = placed(sight, place_px(sight) - self._sway(k))
            sights.append(_blurred(closely, float(np.hypot(*way))))
        closer = self.cleaned(draft.prior, sights, near=draft.fit)
        # What was laid over something else than the shot contradicts itself. Of the first flight, which begins at the
        # muzzle, coarse measures that agree are better; others have little else to go by.
        worst = _CONTRADICTING * len(sights)
        if not since and draft.fit.misfit < worst < closer.fit.misfit:
            return draft
        return self.followed(closer, since)

    def followed(self, draft: Draft, since: int) -> Draft:
        """Look for the shot where the flight puts it in pictures that show no streak there."""
        if self._smears is None:
            return draft
        first, last = draft.pictures[0], draft.pictures[-1]
        missed = 0
        for k in range(max(first - _EARLIER_PICTURES, since), min(last + _LATER_PICTURES, self._finder.end)):
            if any(s.streak.frame == k and not s.is_shadow for s in draft.sights):
                continue
            middle, way = self._smeared(draft.fit.flight, k)
            if 1000.0 * self._finder.middle_ms(k) <= draft.fit.flight.start_us - _START_SLACK_US:
                continue
            if self._spread_px(draft.fit, k) > _HIDDEN_SPREAD_PX:
                continue
            sight = self._hidden(k, middle, way)
            if sight is not None and self._fitter.off(draft.fit, sight) <= _HIDDEN_SIGMAS:
                sights = sorted([*draft.sights, sight], key=lambda s: s.streak.frame)
                fit = self._fitter.fit(draft.prior, sights, near=draft.fit)
                if fit.misfit - draft.fit.misfit <= _HIDDEN_SIGMAS**2:
                    draft = Draft(draft.prior, tuple(sights), fit)
                    missed = 0
                    continue
            missed += k > last
            if missed > 1:
                break
        return draft

    def with_faint_shadows(self, draft: Draft, lamp: Lamp | None) -> Draft:
        """Add shadows that no streak shows, where the flight's pictures show them together: they tell its height.

        Where they contradict the flight, it is tried without its last picture: the shot may have touched the board before.
        """
        plain, dark = ({s.streak.frame for s in of(draft.sights)} for of in (own_of, thrown_of))
        if lamp is None or self._finder.exposure_us is None or len(dark) >= _SHADED * len(plain):
            return draft
        shaded = self._shaded(draft, draft.fit.lamp or lamp)
        if shaded is None and len(draft.pictures) > FEWEST_PLAIN:
            kept = draft.until(draft.pictures[-2])
            shorter = Draft(draft.prior, kept, self._fitter.fit(draft.prior, kept, near=draft.fit))
            shaded = self._shaded(shorter, shorter.fit.lamp or lamp)
        return draft if shaded is None else shaded

    def _shaded(self, draft: Draft, lamp: Lamp) -> Draft | None:
        """Add faint shadows to a flight; ``None`` where none show, or where they contradict it."""
        plain, dark = ({s.streak.frame for s in of(draft.sights)} for of in (own_of, thrown_of))
        found = find_faint_shadows(
            draft.fit,
            {k: self._moments_us(k) for k in sorted(plain - dark)},
            lamp,
            self._frames,
            self._times,
            self._view,
            self._sways,
            self._diameter_px,
        )
        if not found:
            return None
        shadows = [replace(self._unseen(k, smear, way), is_shadow=True) for k, smear, way in found]
        sights = sorted([*draft.sights, *shadows], key=lambda s: s.streak.frame)
        fit = self._fitter.fit(draft.prior, sights, near=draft.fit)
        if fit.misfit - draft.fit.misfit > _FAINT_MISFIT * len(shadows):
            return None
        return Draft(draft.prior, tuple(sights), fit)

    def _hidden(self, k: int, middle: FloatArray, way: FloatArray) -> Sight | None:
        """Look for the shot near a place of picture k that shows no streak of it."""
        place = middle + self._sway(k)
        if self._smears is None or not self._scene.covers(self._on_plane(place)):
            return None
        smear = self._smears.fit(k, place, way)
        if smear is None or smear.gain < _HIDDEN_GAIN or not _SHOWN[0] <= smear.share <= _SHOWN[1]:
            return None
        return self._unseen(k, smear, way)

    def _smeared(self, flight: Flight, k: int) -> tuple[FloatArray, FloatArray]:
        """Where a flight puts the smear of picture k, (u, v), and its direction times its length, px."""
        begin, middle, end = self._view.project(flight.at(self._moments_us(k)))
        return middle, end - begin

    def _moments_us(self, k: int) -> FloatArray:
        """When picture k began to see the shot, midway, and when it ceased to, shape (3,)."""
        middle_us, open_us = 1000.0 * self._finder.middle_ms(k), 1000.0 * (self._finder.open_ms_of(k) or 0.0)
        return np.array([middle_us - open_us / 2, middle_us, middle_us + open_us / 2])

    def shown(self, flight: Flight, pictures: Sequence[int]) -> list[Sight]:
        """Look for the shot along a flight that no streak shows, having learnt there what it looks like."""
        self._smears = self._fresh_smears()
        places = [(k, *self._smeared(flight, k)) for k in pictures]
        places = [(k, place + self._sway(k), way) for k, place, way in places]
        for _ in range(_ROUNDS):
            self._smears.learn(places)
            found = [(self._smears.fit(k, place, way), k, place, way) for k, place, way in places]
            places = [(k, place if smear is None else smear.place_px, way) for smear, k, place, way in found]
        sights = [self._hidden(k, place - self._sway(k), way) for k, place, way in places]
        return [sight for sight in sights if sight is not None]

    def forget(self) -> None:
        """Forget what the shot looks like."""
        self._smears = None

    def learn(self, plain: Draft) -> SmearFitter:
        """Learn from a flight what the shot looks like."""
        smears = self._smears = self._fresh_smears()
        smears.learn(self._plainest(plain))
        return smears

    def exposed_us(self, plain: Draft, about_us: float) -> float:
        """Find how long the pictures of a flight were exposed, from a guess; that is then what they are taken for."""

        def explained(exposure_us: float) -> float:
            self._finder.expose(exposure_us)
            smears, places = self._fresh_smears(), self._plainest(plain)
            smears.learn(places)
            return sum(smears.explained(*each) for each in places)

        found_us = likeliest_exposure_us(explained, about_us, float(np.median(np.diff(self._times))))
        self._finder.expose(found_us)
        ways = [self._smeared(plain.fit.flight, s.streak.frame)[1] for s in plain.sights]
        softened = _SOFTENED_PX / max(float(np.median(np.hypot(*np.transpose(ways)))), _SOFTENED_PX)
        exposed_us = found_us * math.sqrt(max(1.0 - softened**2, _LEAST_OF_FOUND**2))
        self._finder.expose(exposed_us)
        return exposed_us

    def _plainest(self, draft: Draft) -> list[tuple[int, FloatArray, FloatArray]]:
        """List the plainest smears of a flight: picture, middle (u, v), and direction times length, px."""
        own = sorted(own_of(draft.sights), key=lambda s: -s.streak.contrast)[:_PLAIN_SMEARS]
        return [
            (s.streak.frame, place_px(s), self._smeared(draft.fit.flight, s.streak.frame)[1]) for s in own
        ]

    def _fresh_smears(self) -> SmearFitter:
        return SmearFitter(self._frames, self._times, self._diameter_px)

    def cleaned(self, prior: FlightPrior, sights: Sequence[Sight], near: FlightFit) -> Draft:
        """Leave out sights far off what the others tell: patches in which the shot ran together with something."""
        kept = list(sights)
        fit = self._fitter.fit(prior, kept, near=near)
        while furthest_px(fit) > _SPOILT_SIGMAS * SIGHT_PX and len(own_of(kept)) > FEWEST_PLAIN:
            # Not always the farthest off is the odd one, but the one without which the others agree.
            far_px = dict(zip(map(id, own_of(kept)), fit.residuals_px, strict=True))
            far_px |= dict(zip(map(id, thrown_of(kept)), fit.shadow_residuals_px, strict=True))
            suspects = {id(s) for s in sorted(kept, key=lambda s: -far_px[id(s)])[:_SUSPECTS]}
            suspects |= {id(s) for s in (kept[0], kept[-1])}
            without = [[s for s in kept if s is not odd] for odd in kept if id(odd) in suspects]
            fits = [self._fitter.fit(prior, each, near=fit) for each in without]
            best = min(range(len(fits)), key=lambda i: fits[i].misfit)
            kept, fit = without[best], fits[best]
        return Draft(prior, tuple(kept), fit)

    def _spread_px(self, fit: FlightFit, k: int) -> float:
        """How far off a flight may put the shot in picture k."""
        spread = fit.spread_at(1000.0 * self._finder.middle_ms(k))[0]
        return float(np.sqrt(np.trace(spread[:2, :2]))) / self._mm_per_px

    def _unseen(self, k: int, smear: Smear, way: FloatArray) -> Sight:
        """Make a sight of a smear that is no streak."""
        length_px = float(np.hypot(*way))
        along = way / max(length_px, 1e-9)
        streak = Streak(
            k,
            self._times[k],
            0.0,
            0.0,
            length_px,
            self._diameter_px,
            (float(along[0]), float(along[1])),
            FAINT_CONTRAST,
            float(smear.lit),
        )
        bare = Sight(streak, self._finder.middle_ms(k), np.zeros(2), np.zeros(2), _HIDDEN_STRENGTH)
        sight = self._measured(bare, smear)
        points = self._view.on_plane(np.array([place_px(sight), place_px(sight) + along]), PLANE_MM)
        axis = points[1] - points[0]
        return replace(sight, point_mm=points[0], axis=axis / max(float(np.hypot(*axis)), 1e-9))

    def _measured(self, sight: Sight, smear: Smear) -> Sight:
        """Put a sight where a smear was measured."""
        moved = placed(sight, smear.place_px - self._sway(sight.streak.frame))
        sigmas = np.hypot(smear.sigmas_px, self._blind_px)
        ends = float(np.hypot(sigmas[0], PLAIN_ENDS * sight.streak.length_px))
        return replace(moved, sigmas_px=(ends, float(sigmas[1])))

    def _sway(self, k: int) -> FloatArray:
        """How far the camera's shaking moved picture k, (u, v) px."""
        sway = self._sways.of(k, self._frames[k])
        return np.array([sway.du_px, sway.dv_px])

    def _on_plane(self, place_px: FloatArray) -> FloatArray:
        point: FloatArray = self._view.on_plane(place_px[None], PLANE_MM)[0]
        return point


def _blurred(sight: Sight, length_px: float) -> Sight:
    """Trust the middle of a streak less that is longer than the shot makes it: it ran together with its shadow."""
    beyond_px = sight.streak.length_px - length_px - _LONGER_PX
    if beyond_px <= 0:
        return sight
    along_px, across_px = sigmas_px(sight)
    return replace(sight, sigmas_px=(float(np.hypot(along_px, beyond_px / 2)), across_px))
