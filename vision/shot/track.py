"""The shot's way over the table: its streaks linked into flights, one after each thing it touched.

The first flight starts at the muzzle. Pairs of streaks that a shot from there could have made in two pictures each
propose a way; the one that most pictures agree with is fitted as a free flight in space and followed picture by
picture until the shot is no longer where the flight puts it: there it touched something. From near that place the
next flight is looked for in the same manner, and so on until it leaves the board or is lost. A streak has a length
too: with the exposure it is the speed once more, which tells the shot from other small things that move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot.bounce import fit_bounced
from vision.shot.closer_look import CloserLook
from vision.shot.draft import Draft, DraftFitter, furthest_px, loosened, own_of, place_px, seen_of, thrown_of
from vision.shot.faint import Struck, faint_flights, quiet_pictures
from vision.shot.flight import GRAVITY_MM_PER_MS2, Flight, FlightFit, FlightPrior
from vision.shot.from_cannon import CannonSearch
from vision.shot.shot_track import MISFIT_WORTH, ShotTrack
from vision.shot.sights import MOST_LIT, PLANE_MM, Sight, SightFinder, Way, Ways
from vision.shot.streaks import SHOT_DIAMETER_MM, Streak, StreakFinder
from vision.soldiers.lamp import Lamp
from vision.steady import Sways

__all__ = ["find_track"]

FloatArray = NDArray[np.float64]

_OFF_WORTH = 0.05  # what each mm off a way takes off what speaks for it
_SLOWEST_MPS = 0.4
_MOST_APART_MM = 75.0
_MISSED_PICTURES = 3  # hidden by a soldier, or the colour of what is below
_BOUNCE_SPEED_UP = 1.15  # a contact slows the shot; the margin is for the unknown height
_LATER_PICTURES = 8
_JOIN_LOSS = 9.0  # by how much one flight may raise the sum of squares of two
_STRAY_PX = 3.0
_FEWEST_TRIMMED, _STRAY_SIGMAS, _LIKELY_SIGMAS = 2, 4.0, 2.5
_SHADOWS_ALONE = 1  # pictures at the end of a flight
_FEWEST_ROUND_BOUNCE = 4
_FEWEST_SINCE_BOUNCE = 2  # pictures; of two bounces after which but one was left, neither was one
_LANDINGS = 8  # times of a bounce from which the search may begin
_BOUNCE_GAIN = 8.0  # by how much a bounce must lower the sum of squares to be believed
_MOST_LEGS = 8
_MISFIT_SHARE = 0.3
_UNSHADED = 0.25
# A flight after a bounce can be the longer one: what counts is that the first is seen from the cannon on.
_ENOUGH_SIGHTS = 6
_MORE_SHARE = 0.4
_LEAST_SCORE = 0.8  # a flight of two faint streaks far from where it should begin is none
_SLOW_MPS = 1.5
_SHADOW_REACH_PX = 30.0
_OWN_SIDE = 0.9  # of the shot's width
_STRAY_SHADOW_PX = 3.5
_FEWEST_PLAIN = 3
_TURNS, _BEGUN_MISFIT = 12, 4.0
_SOUND_MISFIT = (
    2.0  # a sight; where they contradict each other more, other ways through some of them have their turn
)
# Noise makes flights of so many pictures.
_STRANGERS = 2
_SOON_US = 8000.0
# From a soldier's foot to a shot that strikes him, and how much sooner or later than told he may have been struck.
_STRUCK_MM, _STIR_US, _STIR_STEP_US = 30.0, 4000.0, 500.0
# Where less than this share of the pictures in which only the shot moves shows it, it is looked for along all ways.
_WELL_SEEN = 0.6
_SEEN_ENOUGH = 0.5  # to believe it; 56 ways where none flew showed nothing
_LIKELY_EXPOSURES_US = (2000.0, 800.0, 3000.0)
_SEEN_AT_ONCE = 0.8


def find_track(
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    view: BoardView,
    lamp: Lamp | None = None,
    streaks: StreakFinder | None = None,
    struck: Sequence[Struck] = (),
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
    struck
        The soldiers who stirred first, if any did.
    sways
        How the pictures sway against one in which all was at rest; ``None``: the first is one.
    """
    if len(frames) < 3:
        return ShotTrack((), f"a shot needs at least three pictures to be seen, and there are {len(frames)}")
    sways = sways or Sways(frames[0])
    follower = _Follower(frames, timestamps_us, scene, view, lamp, streaks, struck, sways)
    return follower.follow()


def _worth(draft: Draft) -> float:
    """How many pictures speak for a flight, less what they lie off it."""
    return len(draft.sights) - MISFIT_WORTH * draft.fit.misfit


class _Follower:
    """One search for one shot; holds the pictures and what was found in them so far."""

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        scene: Scene,
        view: BoardView,
        lamp: Lamp | None,
        streaks: StreakFinder | None,
        struck: Sequence[Struck],
        sways: Sways,
    ) -> None:
        self._frames = frames
        self._struck = struck
        self._sways = sways
        self._times = list(timestamps_us)
        self._scene = scene
        self._view = view
        self._lamp = lamp
        self._finder = SightFinder(frames, timestamps_us, scene, view, streaks)
        self._fitter = DraftFitter(self._finder, view, lamp)
        self._cannon = CannonSearch(self._finder, self._fitter, self._times, scene, view, lamp)
        self._look = CloserLook(frames, self._times, scene, view, self._finder, self._fitter, sways)
        self._mm_per_px = self._finder.mm_per_px
        stirred_us = min((each.time_us for each in struck), default=np.inf)
        if scene.fire_us is not None and stirred_us < scene.fire_us:
            stirred_us = np.inf  # something else moved him
        # The first picture by which the shot has struck.
        self._stirred = next((k for k, t in enumerate(self._times) if t >= stirred_us), len(self._times))

    def follow(self) -> ShotTrack:
        first = self._first_draft()
        faint = self._faint_draft(first)
        if faint is not None:
            first = faint
        if first is None:
            when = "" if self._scene.fire_us is None else " after the release"
            return ShotTrack((), f"no streak{when} moves like a shot from {self._scene.cannon_side}'s cannon")
        if self._finder.exposure_us is None:
            self._finder.expose(self._exposure_of(first))
        self._finder.released(first.fit.flight.start_us)
        closer = self._look.sharpened(first) if faint is None else self._look.followed(first, since=0)
        drafts = [self._look.with_faint_shadows(closer, self._lamp)]
        while len(drafts) < _MOST_LEGS and (
            self._scene.covers(drafts[-1].sights[-1].point_mm, 15.0) or self._heads_over_board(drafts[-1])
        ):
            onward = self._onward(drafts[-1], least=1 if len(drafts) == 1 else 2)
            if onward is None:
                break
            shorter, following = onward
            drafts[-1:] = [shorter, self._look.sharpened(following, since=shorter.pictures[-1] + 1)]
        drafts = self._begun_again(drafts)
        drafts = self._bounced(self._handed_over(self._joined(drafts)))
        drafts = [self._trimmed(draft) for draft in drafts]
        lost = self._heads_over_board(drafts[-1])
        reason = "the shot was lost from sight" if lost else "the shot left the board"
        return ShotTrack(tuple(draft.leg for draft in drafts), reason, self._finder.exposure_us, lost)

    def _heads_over_board(self, draft: Draft) -> bool:
        """Whether a flight is over the board soon after it was seen last."""
        soon = draft.fit.flight.at(1000.0 * draft.sights[-1].time_ms + _SOON_US)[0]
        return self._scene.covers(soon[:2])

    def _exposure_of(self, draft: Draft) -> float | None:
        """How long the pictures were exposed, from how far the shot smears at its speed."""
        shares = []
        for sight in draft.sights:
            speed = float(np.linalg.norm(draft.fit.flight.velocity_at(1000.0 * sight.time_ms)))
            shares.append(sight.streak.length_px * self._mm_per_px / speed)
        return 1000.0 * float(np.median(shares)) if len(shares) >= 3 else None

    def _first_draft(self) -> Draft | None:
        """Find the first flight; it is looked for in the pictures before anybody stirs, in which only the shot moves.

        Of 466 filmed shots 11 seemed to begin in a later one; none of them was the shot.
        """
        fire_us = self._scene.fire_us
        count = self._finder.end
        start = 0
        if fire_us is not None:
            start = next((k for k in range(count) if self._times[k] > fire_us - 4000), count)
        quiet = min(self._stirred, count)
        first = self._likeliest_first(start, quiet) or self._cannon.only_one_streak(start, quiet)
        if first is not None or quiet == count:
            return first
        # Perhaps it was not the shot that moved the first: a flight that shows plainly is no accident.
        first = self._likeliest_first(start, count)
        if first is None or first.pictures[0] < quiet or len(first.pictures) >= _ENOUGH_SIGHTS:
            return first
        return None

    def _likeliest_first(self, start: int, end: int) -> Draft | None:
        """Of the flights from the cannon that show in pictures from `start` to before `end`, find the one that most speaks for."""
        best: tuple[float, Draft] | None = None
        followed: set[tuple[Streak, bool]] = set()
        for line, sights in self._cannon.likely(start, end):
            if followed.issuperset((s.streak, s.is_shadow) for s in sights):
                continue  # a part of a flight that was followed already
            draft = self._grow(self._cannon.prior(line), sights)
            if len(draft.pictures) <= _STRANGERS and not self._leads_to_struck(draft.fit):
                continue
            # The shadow makes a fine straight way too, but none that begins at the muzzle.
            if draft.fit.misfit <= _SOUND_MISFIT * len(draft.sights):
                followed |= {(s.streak, s.is_shadow) for s in draft.sights}
            pictures = draft.pictures
            enough = pictures[min(_ENOUGH_SIGHTS, len(pictures)) - 1]
            early, late = draft.until(enough), draft.after(enough)
            score = sum(s.worth for s in early) + _MORE_SHARE * sum(s.worth for s in late)
            score -= float(self._cannon.late(draft.sights[0].point_mm[1], line.velocity[1]))
            if self._lamp is not None and all(
                s.streak.lit <= MOST_LIT and not s.is_shadow for s in draft.sights
            ):
                # A dark shot would throw a shadow as well: this is the shadow of one that hardly shows.
                score -= _UNSHADED * len(early)
            score -= _MISFIT_SHARE * max(draft.fit.misfit - 2.0 * len(draft.sights), 0.0)
            if best is None or score > best[0]:
                best = (score, draft)
        return None if best is None else best[1]

    def _leads_to_struck(self, fit: FlightFit) -> bool:
        """Whether a flight comes by somebody who stirred first about when he did; where nobody stirs, any flight may be."""
        if self._stirred == len(self._times):
            return True
        frame_us = float(np.median(np.diff(self._times)))
        stirred_us = float(self._times[self._stirred])
        times_us = np.arange(stirred_us - frame_us - _STIR_US, stirred_us + _STIR_US, _STIR_STEP_US)
        points, spread = fit.flight.at(times_us), fit.spread_at(times_us)
        reach_mm = _STRUCK_MM + 3.0 * np.sqrt((spread[:, 0, 0] + spread[:, 1, 1]) / 2)
        return any(
            bool((np.hypot(*(points[:, :2] - each.foot_mm).T) <= reach_mm).any()) for each in self._struck
        )

    def _faint_draft(self, first: Draft | None) -> Draft | None:
        """Look for a first flight too faint for streaks; ``None`` where one is seen as well as can be."""
        if not self._struck:
            return None
        stirred_us = min(each.time_us for each in self._struck)
        quiet = quiet_pictures(self._times, self._scene.fire_us, stirred_us)
        plain, worth = 0, 0.0
        if first is not None:
            plain = len({s.streak.frame for s in own_of(first.sights)}.intersection(quiet))
            due = [k for k in quiet if self._times[k] > first.fit.flight.start_us]
            worth = plain - MISFIT_WORTH * first.fit.misfit
            if plain >= _FEWEST_PLAIN and worth >= _WELL_SEEN * len(due):
                return None
        told_us = self._finder.exposure_us
        self._finder.expose(told_us or _LIKELY_EXPOSURES_US[0])
        frame_us = float(np.median(np.diff(self._times)))
        best: tuple[float, Draft, Flight] | None = None
        for flight in faint_flights(
            self._frames,
            quiet,
            self._struck,
            self._scene,
            self._view,
            self._finder,
            frame_us,
            self._sways,
        ):
            draft = self._shown(flight, quiet)
            if draft is not None and (best is None or _worth(draft) > best[0]):
                best = (_worth(draft), draft, flight)
                if best[0] >= _SEEN_AT_ONCE * len(quiet):
                    break
        exposure_us = self._finder.exposure_us
        if best is not None and told_us is None:
            for likely_us in _LIKELY_EXPOSURES_US[1:]:
                self._finder.expose(likely_us)
                draft = self._shown(best[2], quiet)
                if draft is not None and _worth(draft) > best[0]:
                    best, exposure_us = (_worth(draft), draft, best[2]), likely_us
        if best is None or best[0] <= worth or (worth > 0 and len(best[1].sights) < plain):
            self._finder.expose(told_us)
            self._look.forget()
            return None
        self._finder.expose(exposure_us)
        self._look.learn(best[1])
        return self._shaded(best[1])

    def _shaded(self, draft: Draft) -> Draft:
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

    def _shown(self, flight: Flight, quiet: range) -> Draft | None:
        """Look for the shot along a flight while nothing else moves; ``None`` where too little shows."""
        pictures = [
            k
            for k in quiet
            if (time_us := 1000.0 * self._finder.middle_ms(k)) > flight.start_us
            and self._scene.covers(flight.at(time_us)[0, :2])
        ]
        if len(pictures) < 2:
            return None
        sights = self._look.shown(flight, pictures)
        if len(sights) < max(2, _SEEN_ENOUGH * len(pictures)):
            return None
        muzzle = self._cannon.muzzle_point()
        start = flight.start_mm[:2] if muzzle is None else muzzle
        prior = self._cannon.prior(Way(flight.start_us / 1000.0, start, flight.velocity_mps[:2]))
        draft = self._look.cleaned(prior, sights, near=self._fitter.fit(prior, sights))
        kept = len(draft.sights)
        good = kept >= max(2, _SEEN_ENOUGH * len(pictures)) and draft.fit.misfit <= _BEGUN_MISFIT * kept
        return draft if good else None

    def _begun_again(self, drafts: list[Draft]) -> list[Draft]:
        """Look for a first flight that no two streaks show, now that it is known what the shot looks like.

        It leads from the muzzle at the release to somewhere just before the next flight; where exactly is tried out.
        """
        muzzle, fire_us = self._scene.muzzle_mm, self._scene.fire_us
        start = self._cannon.muzzle_point()
        if len(drafts) < 2 or len(drafts[0].pictures) > 1 or not self._look.knows_shot:
            return drafts
        if muzzle is None or fire_us is None or start is None:
            return drafts
        following = self._look.followed(drafts[1], since=0)
        begin = following.pictures[0]
        best: Draft | None = None
        for turn_us in np.linspace(self._times[begin - 1], self._times[begin], _TURNS):
            flown_ms = (float(turn_us) - fire_us) / 1000.0
            if flown_ms <= 0:
                continue
            velocity = (following.fit.flight.at(turn_us)[0] - muzzle) / flown_ms
            velocity[2] += GRAVITY_MM_PER_MS2 / 2 * flown_ms
            flight = Flight(float(fire_us), np.array(muzzle), velocity)
            pictures = [k for k in range(begin) if fire_us < 1000.0 * self._finder.middle_ms(k) < turn_us]
            found = [self._look.hidden(k, *self._look.smeared(flight, k)) for k in pictures]
            sights = tuple(sight for sight in found if sight is not None)
            if len(sights) < 2 or (best is not None and len(sights) < len(best.sights)):
                continue
            prior = self._cannon.prior(Way(fire_us / 1000.0, start, velocity[:2]))
            draft = Draft(prior, sights, self._fitter.fit(prior, sights))
            better = best is None or (len(sights), -draft.fit.misfit) > (len(best.sights), -best.fit.misfit)
            if better and draft.fit.misfit <= _BEGUN_MISFIT * len(sights):
                best = draft
        return drafts if best is None else [best, following, *drafts[2:]]

    def _grow(self, prior: FlightPrior, sights: Sequence[Sight]) -> Draft:
        """Follow a flight picture by picture from its first sights, as far as it explains what is seen."""
        kept = list(sights[:3])
        fit = self._fitter.fit(prior, kept)
        while len(kept) > 2 and furthest_px(fit) > 3.0:
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
                and len({s.streak.frame for s in kept}) < _FEWEST_PLAIN
            ):
                break  # it has struck somebody, and two sights cannot tell that it flew on as before
            near = self._near(fit, k)
            taken = False
            if near:
                kept, fit, taken = self._adding(prior, kept, fit, near)
                if not taken and len(near) == 2:
                    kept, fit, taken = self._adding(prior, kept, fit, near[:1])
            missed = 0 if taken else missed + 1
            if missed > _MISSED_PICTURES:
                break
        # Where the shot itself was seen and then but a shadow, that is more likely something that begins to move.
        seen = max((s.streak.frame for s in kept if not s.is_shadow), default=kept[-1].streak.frame)
        if 0 < len({s.streak.frame for s in kept if s.streak.frame > seen}) <= _SHADOWS_ALONE:
            kept = [s for s in kept if s.streak.frame <= seen]
            fit = self._fitter.fit(prior, kept, near=fit)
        return Draft(prior, tuple(kept), fit)

    def _adding(
        self, prior: FlightPrior, kept: list[Sight], fit: FlightFit, new: Sequence[Sight]
    ) -> tuple[list[Sight], FlightFit, bool]:
        """Take new sights into a flight if it explains them as well; says whether it does."""
        more = sorted([*kept, *new], key=lambda s: s.streak.frame)
        trial = self._fitter.fit(prior, more, near=fit)
        own = [r for r, s in zip(trial.residuals_px, own_of(more), strict=False) if s in new]
        thrown = [r for r, s in zip(trial.shadow_residuals_px, thrown_of(more), strict=False) if s in new]
        good = max(own, default=0.0) <= 2.5 and max(thrown, default=0.0) <= _STRAY_SHADOW_PX
        if good and trial.misfit - fit.misfit <= 16.0 * len(new):
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
        time_us = float(self._times[k])
        where = fit.flight.at(time_us)
        if where[0, 2] < -15.0:
            return None  # well below the board: the flight has ended
        pixel = self._view.project(where)[0]
        spread_px = float(np.sqrt(np.trace(fit.spread_at(time_us)[0, :2, :2]))) / self._mm_per_px
        reach_px = min(3.0 + 3.0 * spread_px, 14.0)
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
        if where[0, 2] < -15.0:
            return None
        where[:, 2] = np.maximum(where[:, 2], SHOT_DIAMETER_MM / 2)
        thrown = lamp.shadow(where)
        # How far it may lie off: the flight's own spread, its height's along the shadow, and the lamp's.
        spread = fit.spread_at(time_us)[0]
        reach = np.array([[1.0, 0.0, lamp.slope[0]], [0.0, 1.0, lamp.slope[1]]])
        covariance = reach @ spread @ reach.T + np.eye(2) * (lamp.slope_sigma * where[0, 2]) ** 2
        covariance += np.eye(2) * (1.5 * self._mm_per_px) ** 2
        on_plane = self._view.on_plane(self._view.project(thrown), PLANE_MM)[0]
        off = self._finder.points_mm(k) - on_plane
        distance = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
        distance[~dark] = np.inf
        best = int(np.argmin(distance))
        if distance[best] > 9.0 or float(np.hypot(*off[best])) > _SHADOW_REACH_PX * self._mm_per_px:
            return None
        near = replace(self._finder.sight(k, best), is_shadow=True)
        return near if self._finder.shaped(near, fit.flight.velocity_at(time_us)[:2]) else None

    def _onward(self, draft: Draft, least: int) -> tuple[Draft, Draft] | None:
        """Find the flight after this one; the last sights of this one may turn out not to be of the shot."""
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
            found = None if shorter is None else self._next_way(shorter)
            if shorter is None or found is None:
                continue
            score, way, sights = found
            value = score - sum(sight.worth for sight in draft.after(pictures[-1 - cut]))
            if value >= _LEAST_SCORE and (best is None or value > best[0]):
                best = (value, shorter, way, sights)
        if best is None:
            return None
        _, shorter, way, sights = best
        return shorter, self._grow(self._contact_prior(shorter, way, sights), sights)

    def _next_way(self, draft: Draft) -> tuple[float, Way, list[Sight]] | None:
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
        agreement = self._finder.agreeing(ways, first, np.minimum(first + 10, self._finder.end), 4.0)
        counts = agreement.counts
        # Smears that change in strength or width are parts of a moving soldier.
        rough = agreement.widths_off / np.maximum(counts, 1)
        earliest, latest = agreement.ends
        late = 0.6 * (first - begin) + 0.5 * (latest - earliest + 1 - counts)
        score = agreement.strength - _OFF_WORTH * agreement.off_mm - late - apart_mm / 15.0 - rough
        score[counts < np.where(ways.speeds < _SLOW_MPS, 3, 2)] = -np.inf
        if not np.any(np.isfinite(score)):
            return None
        best = int(score.argmax())
        sights = [self._finder.sight(k, which) for k, which in agreement.on_way(best)]
        return float(score[best]), ways.way(best), sights

    def _flown(self, draft: Draft, times_ms: FloatArray) -> FloatArray:
        """Where a flight would be seen on the comparison plane if it went on, shape (N, 2)."""
        flown = draft.fit.flight.at(times_ms * 1000.0)
        flown[:, 2] = np.maximum(flown[:, 2], SHOT_DIAMETER_MM / 2)
        return self._view.on_plane(self._view.project(flown), PLANE_MM)

    def _contact_prior(self, draft: Draft, line: Way, sights: Sequence[Sight]) -> FlightPrior:
        """Describe a flight that starts where the one before ended, give or take what may lie between two contacts."""
        times = np.linspace(draft.sights[-1].time_ms, sights[0].time_ms, 40)
        seen = self._flown(draft, times)
        traced = line.point_mm + (times - line.time_ms)[:, None] * line.velocity
        apart = np.hypot(*(seen - traced).T)
        nearest = int(np.argmin(apart))
        start_mm = draft.fit.flight.at(1000.0 * float(times[nearest]))[0]
        start_mm[2] = max(start_mm[2], SHOT_DIAMETER_MM / 2)
        return FlightPrior.of(
            start_us=1000.0 * float(times[nearest]),
            start_sigma_us=3000.0,
            start_mm=start_mm,
            start_sigma_mm=np.array([6.0, 6.0, 10.0]) + float(apart[nearest]),
            velocity_mps=np.array([line.velocity[0], line.velocity[1], 0.0]),
            velocity_sigma_mps=np.array([2.0, 2.0, 2.0]),
        )

    def _joined(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Make one flight of two wherever one explains the sights of both about as well."""
        joined = [drafts[0]]
        apart = self._robust(drafts[0], ()).misfit
        for draft in drafts[1:]:
            last = joined[-1]
            fit, alone = self._robust(last, draft.sights), self._robust(draft, ()).misfit
            if fit.misfit - (apart + alone) < _JOIN_LOSS and furthest_px(fit) < _STRAY_PX:
                joined[-1] = Draft(last.prior, (*last.sights, *draft.sights), fit)
                apart = fit.misfit
            else:
                joined.append(draft)
                apart = alone
        return joined

    def _robust(self, draft: Draft, more: Sequence[Sight]) -> FlightFit:
        """Fit a flight to its sights and more, those far off pulling less."""
        return self._fitter.fit(draft.prior, (*draft.sights, *more), robust=True, near=draft.fit)

    def _handed_over(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Give what a flight begins with to the one before, where that leads there and its own rest does not."""
        handed = list(drafts)
        for i in range(1, len(handed)):
            while len(handed[i].pictures) > 1:
                before, draft = handed[i - 1], handed[i]
                first, rest = draft.until(draft.pictures[0]), draft.after(draft.pictures[0])
                own = own_of(first)
                # Where the flight itself begins is not asked: it begins with what is in question. Of two or three
                # pictures the rest says nothing: any two are on one flight.
                alone = self._fitter.fit(loosened(draft.prior), rest, near=draft.fit)
                few = len(draft.pictures) <= _FEWEST_PLAIN
                if not own or (not few and self._fitter.off(alone, own[0]) <= _STRAY_SIGMAS):
                    break
                if self._fitter.off(before.fit, own[0]) > (_LIKELY_SIGMAS if few else _STRAY_SIGMAS):
                    break
                sights = (*before.sights, *first)
                fit = self._fitter.fit(before.prior, sights, near=before.fit)
                handed[i - 1] = self._look.sharpened(Draft(before.prior, sights, fit), before.pictures[0])
                handed[i] = Draft(loosened(draft.prior), rest, alone)
        return handed

    def _bounced(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Cut flights at their bounces off the board; what follows one may go on in the next flight."""
        bounced: list[Draft] = []
        open_end = False
        for draft in drafts:
            parts = self._split_at_board(draft)
            if open_end:
                parts[:1] = self._joined([bounced.pop(), parts[0]])
            bounced += parts
            open_end = len(parts) > 1
        return bounced

    def _split_at_board(self, draft: Draft) -> list[Draft]:
        """Cut a flight in two where a bounce off the board explains its sights much better than none."""
        draft = self._until_struck(draft)
        pictures = draft.pictures
        if draft.fit.misfit < _BOUNCE_GAIN or len(pictures) < _FEWEST_ROUND_BOUNCE:
            return [draft]
        free = self._fitter.fit(draft.prior, draft.sights, robust=True, near=draft.fit)
        shadows = self._fitter.shadows(draft.sights)
        own = seen_of(own_of(draft.sights))
        falling = []
        latest = len(pictures) - _FEWEST_SINCE_BOUNCE
        for i in range(0, latest, max(1, latest // _LANDINGS)):
            until = draft.until(pictures[i])
            near = self._fitter.fit(draft.prior, until, near=free)
            falling.append((near, (self._times[pictures[i]] + self._times[pictures[i + 1]]) / 2.0))
        best = fit_bounced(self._view, own, draft.prior, shadows=shadows, falling=falling)
        if best is None or free.misfit - best.misfit < _BOUNCE_GAIN:
            return [draft]
        before = tuple(s for s in draft.sights if 1000.0 * s.time_ms <= best.landing_us)
        after = tuple(s for s in draft.sights if 1000.0 * s.time_ms > best.landing_us)
        if not before or len({s.streak.frame for s in after}) < _FEWEST_SINCE_BOUNCE:
            return [draft]
        return [Draft(draft.prior, before, best.before), Draft(best.after_prior, after, best.after)]

    def _until_struck(self, draft: Draft) -> Draft:
        """Leave out what was seen once a soldier stirred, where the flight up to then leads elsewhere: he was struck."""
        stirred_us = min((each.time_us for each in self._struck), default=np.inf)
        pictures = [k for k in draft.pictures if self._times[k] < stirred_us]
        if len(pictures) < _FEWEST_PLAIN or len(pictures) == len(draft.pictures):
            return draft
        kept = draft.until(pictures[-1])
        fit = self._fitter.fit(draft.prior, kept, near=draft.fit)
        if fit.misfit >= _BOUNCE_GAIN or draft.fit.misfit - fit.misfit < _BOUNCE_GAIN:
            return draft
        return Draft(draft.prior, kept, fit)

    def _trimmed(self, draft: Draft) -> Draft:
        """Leave out what was seen last where the rest leads elsewhere: the shot has touched something before."""
        while len(draft.pictures) > _FEWEST_TRIMMED:
            before = draft.pictures[-2]
            kept = draft.until(before)
            fit = self._fitter.fit(draft.prior, kept, near=draft.fit)
            off = [self._fitter.off(fit, s) for s in draft.after(before) if not s.is_shadow]
            if max(off, default=0.0) <= _STRAY_SIGMAS:
                break
            draft = Draft(draft.prior, kept, fit)
        return draft
