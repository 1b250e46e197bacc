"""Where one flight ends and the next begins, looked at once more when all of them are known.

Flights that are one are joined, what a flight begins with may be the end of the one before, a bounce off the board cuts
a flight in two, and what was seen last may be of the time after something was touched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.registration import BoardView
from vision.shot.bounce import fit_bounced
from vision.shot.closer_look import CloserLook
from vision.shot.draft import FEWEST_PLAIN, Draft, DraftFitter, furthest_px, loosened, own_of
from vision.shot.faint import Stirred
from vision.shot.flight_fit import FlightFit
from vision.shot.sights import Sight

__all__ = ["Seams"]

_JOIN_LOSS = 9.0  # by how much one flight may raise the sum of squares of two
_STRAY_PX = 3.0
_FEWEST_TRIMMED, _STRAY_SIGMAS, _LIKELY_SIGMAS = 2, 4.0, 2.5
_FEWEST_ROUND_BOUNCE = 4
_LANDINGS = 8  # times of a bounce from which the search may begin
# By how much a bounce lowers the sum of squares where it is as likely as none, and what makes it e times likelier. Of 392 shots 37
# had bounced and were seen once more before they struck, most of them aimed so; they count here as the 4 % that they are where
# shots are aimed at soldiers.
_EVEN_GAIN, _GAIN_SCALE = 5.3, 2.5
_STRUCK_GAIN = 8.0  # by how much a flight must be better without what was seen once a soldier stirred


class Seams:
    """Puts right where flights meet.

    Parameters
    ----------
    fitter, look
        What fits flights to what was seen, and what looks at it closely.
    timestamps_us, view
        As for `vision.shot.track.find_track`.
    struck
        Those who stirred first.
    """

    def __init__(
        self,
        fitter: DraftFitter,
        look: CloserLook,
        timestamps_us: Sequence[int],
        view: BoardView,
        struck: Sequence[Stirred],
    ) -> None:
        self._fitter = fitter
        self._look = look
        self._times = timestamps_us
        self._view = view
        self._struck = struck

    def mended(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Give the same way, cut where the shot touched something."""
        drafts = self._bounced(self._handed_over(self._joined(drafts)))
        return [self._trimmed(draft) for draft in drafts]

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
                few = len(draft.pictures) <= FEWEST_PLAIN
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
            split = len(parts) > 1
            if open_end:
                parts[:1] = self._joined([bounced.pop(), parts[0]])
            bounced += parts
            open_end = split
        return bounced

    def _split_at_board(self, draft: Draft) -> list[Draft]:
        """Cut a flight in two where it likely bounced off the board; it keeps how likely that is."""
        draft = self._until_struck(draft)
        pictures = draft.pictures
        if draft.fit.misfit < _EVEN_GAIN or len(pictures) < _FEWEST_ROUND_BOUNCE:
            return [draft]
        free = self._fitter.fit(draft.prior, draft.sights, robust=True, near=draft.fit)
        shadows = self._fitter.shadows(draft.sights)
        own = self._fitter.seen(own_of(draft.sights))
        falling = []
        latest = len(pictures) - 1
        for i in range(0, latest, max(1, latest // _LANDINGS)):
            until = draft.until(pictures[i])
            near = self._fitter.fit(draft.prior, until, near=free)
            falling.append((near, (self._times[pictures[i]] + self._times[pictures[i + 1]]) / 2.0))
        best = fit_bounced(self._view, own, draft.prior, shadows=shadows, falling=falling)
        if best is None or best.misfit > free.misfit:
            return [draft]
        before = tuple(s for s in draft.sights if 1000.0 * s.time_ms <= best.landing_us)
        after = tuple(s for s in draft.sights if 1000.0 * s.time_ms > best.landing_us)
        if not before or not after:
            return [draft]
        gain = free.misfit - best.misfit
        bounced = 1 / (1 + math.exp((_EVEN_GAIN - gain) / _GAIN_SCALE))
        if gain <= _EVEN_GAIN:
            return [replace(draft, bounced=bounced)]
        return [Draft(draft.prior, before, best.before, bounced), Draft(best.after_prior, after, best.after)]

    def _until_struck(self, draft: Draft) -> Draft:
        """Leave out what was seen once a soldier stirred, where the flight up to then leads elsewhere: he was struck."""
        stirred_us = min((each.time_us for each in self._struck), default=np.inf)
        pictures = [k for k in draft.pictures if self._times[k] < stirred_us]
        if len(pictures) < FEWEST_PLAIN or len(pictures) == len(draft.pictures):
            return draft
        kept = draft.until(pictures[-1])
        fit = self._fitter.fit(draft.prior, kept, near=draft.fit)
        if fit.misfit >= _STRUCK_GAIN or draft.fit.misfit - fit.misfit < _STRUCK_GAIN:
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
