"""The first flight of the shot, from the cannon on: as streaks show it, as all pictures together do, or as its shadow does.

Pairs of streaks that a shot from the cannon could have made in two pictures each propose a way; the one that most pictures agree
with is fitted as a free flight in space and followed picture by picture. Where too few show it, what changes along all ways is
looked at. The shadow makes a fine flight as well, and where nobody says where the muzzle is, one that may begin there: what tells is
the shot beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot.closer_look import CloserLook
from vision.shot.draft import FEWEST_PLAIN, Draft, DraftFitter, may_be_thrown, own_of, sigmas_px, thrown_of
from vision.shot.faint import Stirred, faint_flights, quiet_pictures
from vision.shot.flight import Flight
from vision.shot.from_cannon import CannonSearch
from vision.shot.growing import Grower
from vision.shot.shot_track import MISFIT_WORTH
from vision.shot.sights import LIKELY_EXPOSURES_US, SightFinder, Way
from vision.shot.streaks import Streak
from vision.soldiers.lamp import Lamp
from vision.steady import Sways

__all__ = ["FirstFlightSearch"]

# Of a flight's misfit beyond two squared standard deviations a sight: what speaks for the flight is less by so much of it.
_MISFIT_SHARE = 0.3
# A flight after a bounce can be the longer one: what counts is that the first is seen from the cannon on. So what is seen after so
# many pictures counts by this share.
_ENOUGH_SIGHTS, _MORE_SHARE = 6, 0.4
# Squared standard deviations a sight. Where a flight's sights contradict each other more, other ways through some of them have their
# turn; one too faint for streaks is not believed beyond the second.
_SOUND_MISFIT, _BEGUN_MISFIT = 2.0, 4.0
# Pictures of a flight before anybody stirs; with fewer, a short one may be anything that moves.
_FEWEST_BEGUN = 2
# Where less than this share of the pictures in which only the shot moves shows it, it is looked for along all ways.
_WELL_SEEN = 0.6
_SEEN_ENOUGH = 0.5  # to believe it; 56 ways where none flew showed nothing
_SEEN_AT_ONCE = 0.8  # no other way is tried then
# By how much less a shadow must contradict what is known of the muzzle and the pictures. Of 77 filmed shots by which no shadow was
# seen 4 were the shadow, by 4.7 to 18.8 less; the others at most by 0.2.
_SHADOW_MISFIT = 3.0
# By how much two of one flight contradict each other at most: a shot and its shadow of drawn and filmed shots did by up to 5.9, what was
# no such pair by 9 and more.
_ONE_MISFIT = 6.5
# Heights at which the shot is looked for that throws a shadow: so many standard deviations up and down of where that was seen last, so
# far apart in its picture, as it is looked for within as much, and so many at most.
_HIGHER_SIGMAS, _HIGHER_PX, _MOST_HEIGHTS = 2.0, 7.0, 11


class FirstFlightSearch:
    """Looks for the first flight.

    Parameters
    ----------
    frames, timestamps_us, scene, view, lamp, sways
        As for `vision.shot.track.find_track`.
    struck
        Those who stirred first.
    stirred
        The first picture by which the shot has struck somebody.
    finder, fitter, cannon, grower, look
        What was seen, what fits flights to it, what looks for ways from the cannon, what follows them, and what looks closer.
    """

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        scene: Scene,
        view: BoardView,
        lamp: Lamp | None,
        sways: Sways,
        struck: Sequence[Stirred],
        stirred: int,
        *,
        finder: SightFinder,
        fitter: DraftFitter,
        cannon: CannonSearch,
        grower: Grower,
        look: CloserLook,
    ) -> None:
        self._frames = frames
        self._times = timestamps_us
        self._scene = scene
        self._view = view
        self._lamp = lamp
        self._sways = sways
        self._struck = struck
        self._stirred = stirred
        self._finder = finder
        self._fitter = fitter
        self._cannon = cannon
        self._grower = grower
        self._look = look
        stirred_us = min((each.time_us for each in struck), default=np.inf)
        self._quiet = quiet_pictures(timestamps_us, scene.fire_us, stirred_us)

    def found(self) -> Draft | None:
        """Find it, measured as closely as can be; ``None`` where nothing moves like a shot from the cannon."""
        plain = self._plain()
        faint = self._faint(plain)
        first = plain if faint is None else faint
        if first is None:
            return None
        first = self._or_its_shadow(first, is_faint=faint is not None)
        if self._finder.exposure_us is None:
            about_us = self._exposure_of(first)
            if about_us is not None:
                self._look.exposed_us(first, about_us)
        self._finder.released(first.fit.flight.start_us)
        closer = self._look.sharpened(first) if faint is None else self._look.followed(first, since=0)
        return self._look.with_faint_shadows(closer, self._lamp)

    def _plain(self) -> Draft | None:
        """Find it by streaks; it is looked for in the pictures before anybody stirs, in which only the shot moves.

        Of 466 filmed shots 11 seemed to begin in a later one; none of them was the shot.
        """
        fire_us = self._scene.fire_us
        count = self._finder.end
        start = 0
        if fire_us is not None:
            start = next((k for k in range(count) if self._times[k] > fire_us - 4000), count)
        quiet = min(self._stirred, count)
        first = self._likeliest(start, quiet) or self._cannon.only_one_streak(start, quiet)
        if first is not None or quiet == count:
            return first
        # Perhaps it was not the shot that moved the first: a flight that shows plainly is no accident.
        first = self._likeliest(start, count)
        if first is None:
            return None
        # One picture and others of when soldiers move already may show the shot at the muzzle, and anything else.
        begun = sum(k < quiet for k in first.pictures)
        return first if begun >= _FEWEST_BEGUN or len(first.pictures) >= _ENOUGH_SIGHTS else None

    def _likeliest(self, start: int, end: int) -> Draft | None:
        """Of the flights from the cannon that show in pictures from `start` to before `end`, find the one that most speaks for."""
        best: tuple[float, Draft] | None = None
        followed: set[tuple[Streak, bool]] = set()
        for line, sights in self._cannon.likely(start, end):
            if followed.issuperset((s.streak, s.is_shadow) for s in sights):
                continue  # a part of a flight that was followed already
            draft = self._grower.grown(self._cannon.prior(line), sights)
            # The shadow makes a fine straight way too, but none that begins at the muzzle.
            if draft.fit.misfit <= _SOUND_MISFIT * len(draft.sights):
                followed |= {(s.streak, s.is_shadow) for s in draft.sights}
            pictures = draft.pictures
            enough = pictures[min(_ENOUGH_SIGHTS, len(pictures)) - 1]
            early, late = draft.until(enough), draft.after(enough)
            score = sum(s.worth for s in early) + _MORE_SHARE * sum(s.worth for s in late)
            score -= float(self._cannon.late(draft.sights[0].point_mm[1], line.velocity[1]))
            score -= _MISFIT_SHARE * max(draft.fit.misfit - 2.0 * len(draft.sights), 0.0)
            if best is None or score > best[0]:
                best = (score, draft)
        return None if best is None else best[1]

    def _faint(self, first: Draft | None) -> Draft | None:
        """Look for a first flight too faint for streaks; ``None`` where one is seen as well as can be."""
        if not self._struck:
            return None
        plain, worth = 0, 0.0
        if first is not None:
            plain = len({s.streak.frame for s in own_of(first.sights)}.intersection(self._quiet))
            due = [k for k in self._quiet if self._times[k] > first.fit.flight.start_us]
            worth = plain - MISFIT_WORTH * first.fit.misfit
            if plain >= FEWEST_PLAIN and worth >= _WELL_SEEN * len(due):
                return None
        told_us = self._finder.exposure_us
        self._finder.expose(told_us or LIKELY_EXPOSURES_US[0])
        frame_us = float(np.median(np.diff(self._times)))
        found: tuple[Draft, Flight] | None = None
        for flight in faint_flights(
            self._frames,
            self._quiet,
            self._struck,
            self._scene,
            self._view,
            self._finder,
            frame_us,
            self._sways,
        ):
            draft = self._shown(flight)
            if draft is not None and (found is None or _worth(draft) > _worth(found[0])):
                found = draft, flight
                if _worth(draft) >= _SEEN_AT_ONCE * len(self._quiet):
                    break
        faint = None if found is None else self._closer(*found, is_exposure_told=told_us is not None)
        if faint is None or _worth(faint) <= worth or (worth > 0 and len(faint.sights) < plain):
            self._finder.expose(told_us)
            self._look.forget()
            return None
        self._look.learn(faint)
        return self._grower.shaded(faint)

    def _closer(self, draft: Draft, flight: Flight, *, is_exposure_told: bool) -> Draft:
        """Look again for a shot that showed along a flight of the grid: the fit may lead nearer to it."""
        about_us = self._finder.exposure_us
        if not is_exposure_told and about_us is not None:
            self._look.exposed_us(draft, about_us)
            draft = self._shown(flight) or draft
        closer = self._shown(draft.fit.flight)
        return draft if closer is None or _worth(closer) <= _worth(draft) else closer

    def _or_its_shadow(self, first: Draft, *, is_faint: bool) -> Draft:
        """Take a first flight for that of the shot's shadow, where that explains far better what was seen, or the shot shows beside."""
        if self._lamp is None or len(first.sights) < _FEWEST_BEGUN or not may_be_thrown(first.sights):
            return first
        # As well placed as they were: else the shadow, which is said to be seen less sharply, would explain anything better.
        thrown = tuple(replace(s, is_shadow=True, sigmas_px=sigmas_px(s)) for s in first.sights)
        shadow = Draft(first.prior, thrown, self._fitter.fit(first.prior, thrown))
        better = first.fit.misfit - shadow.fit.misfit
        if better < -_SHADOW_MISFIT:
            return first
        told_us = self._finder.exposure_us
        if told_us is None:
            self._finder.expose(self._exposure_of(first))
        # Where the shadow alone shows for most of the way, what shows for the rest is more likely that too.
        is_shadow = better > (0.0 if thrown_of(first.sights) else _SHADOW_MISFIT)
        both = self._throwing(shadow, least=_FEWEST_BEGUN if is_shadow else FEWEST_PLAIN)
        self._finder.expose(told_us)
        likeliest = both or (shadow if is_shadow else first)
        if is_faint and likeliest is not shadow:
            self._look.learn(likeliest)
        else:
            self._look.forget()
        return likeliest

    def _throwing(self, shadow: Draft, *, least: int) -> Draft | None:
        """Look for the shot that throws a shadow, in so many pictures at least: at each height it may be elsewhere."""
        best: tuple[float, Draft] | None = None
        for flight in self._at_heights(shadow):
            own = self._shown(flight)
            if own is None or len(own.sights) < least:
                continue
            sights = sorted([*own.sights, *shadow.sights], key=lambda s: s.streak.frame)
            both = Draft(shadow.prior, tuple(sights), self._fitter.fit(shadow.prior, sights, near=shadow.fit))
            apart = both.fit.misfit - shadow.fit.misfit - own.fit.misfit
            if apart <= _ONE_MISFIT and (best is None or _worth(both) > best[0]):
                best = (_worth(both), both)
        return None if best is None else best[1]

    def _at_heights(self, shadow: Draft) -> list[Flight]:
        """Give flights that throw a shadow, at all heights at which they may."""
        last_us = 1000.0 * shadow.sights[-1].time_ms
        ends = [shadow.fit.higher(last_us, sigmas) for sigmas in (-_HIGHER_SIGMAS, _HIGHER_SIGMAS)]
        low_px, high_px = self._view.project(np.concatenate([end.at(last_us) for end in ends]))
        count = 1 + math.ceil(float(np.hypot(*(high_px - low_px))) / _HIGHER_PX)
        heights = np.linspace(-_HIGHER_SIGMAS, _HIGHER_SIGMAS, min(count, _MOST_HEIGHTS))
        return [shadow.fit.higher(last_us, sigmas) for sigmas in heights.tolist()]

    def _shown(self, flight: Flight) -> Draft | None:
        """Look for the shot along a flight while nothing else moves; ``None`` where too little shows."""
        pictures = [
            k
            for k in self._quiet
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

    def _exposure_of(self, draft: Draft) -> float | None:
        """How long the pictures were exposed, from how far the shot smears at its speed."""
        shares = []
        for sight in draft.sights:
            speed = float(np.linalg.norm(draft.fit.flight.velocity_at(1000.0 * sight.time_ms)))
            shares.append(sight.streak.length_px * self._finder.mm_per_px / speed)
        return 1000.0 * float(np.median(shares)) if len(shares) >= 3 else None


def _worth(draft: Draft) -> float:
    """How many pictures speak for a flight, less what they lie off it."""
    return len(draft.sights) - MISFIT_WORTH * draft.fit.misfit
