"""A flight of the shot while it is being put together: the sights that are taken for it, and what fits them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.shot.flight_fit import FlightFit, FlightPrior, Seen, Shadows, fit_flight
from vision.shot.shot_track import Leg
from vision.shot.sights import MOST_LIT, Sight, SightFinder
from vision.shot.streaks import SHOT_RADIUS_MM
from vision.soldiers.lamp import Lamp

__all__ = [
    "DIRECTED_PX",
    "FAINT_CONTRAST",
    "FEWEST_PLAIN",
    "PLAIN_ENDS",
    "SIGHT_PX",
    "Draft",
    "DraftFitter",
    "furthest_px",
    "loosened",
    "may_be_thrown",
    "misses_px",
    "own_of",
    "place_px",
    "placed",
    "seen_of",
    "sigmas_px",
    "thrown_of",
]

FloatArray = NDArray[np.float64]

SIGHT_PX = 0.6
"""How well a plain sight of the shot is placed across its smear, standard deviation."""
_SHADOW_PX = 1.2  # of its shadow: that is soft, and the board's print shows through
# By how much of its length the middle of a smear may be off along it: of a plain one, and of one that hardly shows.
PLAIN_ENDS, _FAINT_ENDS = 0.03, 0.25
# Grey levels by which a plain smear stands out, and one that hardly shows.
_PLAIN_CONTRAST, FAINT_CONTRAST = 32.0, 13.0
FEWEST_PLAIN = 3  # sights of a flight that shows plainly: two may be strangers
# The lamp lights one side of the shot: where it is brighter than what is below, it seems to lie nearer to the lamp. Of a ball after
# Lambert, of whose light a share D is a lamp's that throws shadows as long as what throws them, the brightest middle lies aside by
# a quarter of its radius times D / (1 - D/3); with what is below taken off, it is so much instead. Of 28 of the twin's that were
# brighter in so large a share of their smear, 0.45 mm on average across their ways was 0.18 with that; 30 dark ones were not off.
_LIT_SIDE_MM, _LIT = 2.0, 0.8
_MOST_ASIDE_MM = SHOT_RADIUS_MM / 2
DIRECTED_PX = 8.0  # a smear longer than this shows its direction


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A leg while it is being put together."""

    prior: FlightPrior
    sights: tuple[Sight, ...]
    fit: FlightFit
    bounced: float = 0.0
    """As `vision.shot.shot_track.Leg` has it."""

    @property
    def leg(self) -> Leg:
        """The leg, as it is told."""
        streaks = {s.streak.frame: s.streak for s in self.sights if s.is_shadow}
        streaks |= {s.streak.frame: s.streak for s in self.sights if not s.is_shadow}
        shadows = tuple(s.streak for s in self.sights if s.is_shadow)
        return Leg(self.fit, tuple(streaks[frame] for frame in sorted(streaks)), shadows, self.bounced)

    @property
    def pictures(self) -> tuple[int, ...]:
        """Indices of the pictures that show the shot or its shadow."""
        return tuple(sorted({s.streak.frame for s in self.sights}))

    def until(self, picture: int) -> tuple[Sight, ...]:
        """Sights in the pictures up to one, itself included."""
        return tuple(s for s in self.sights if s.streak.frame <= picture)

    def after(self, picture: int) -> tuple[Sight, ...]:
        """Sights in the pictures after one."""
        return tuple(s for s in self.sights if s.streak.frame > picture)


class DraftFitter:
    """Fits flights to sights.

    Parameters
    ----------
    finder
        Knows the exposure, which may be found out on the way.
    view, lamp
        The camera, and what throws the shot's shadow.
    """

    def __init__(self, finder: SightFinder, view: BoardView, lamp: Lamp | None) -> None:
        self._finder = finder
        self._view = view
        self._lamp = lamp
        self._mm_per_px = finder.mm_per_px

    def fit(
        self,
        prior: FlightPrior,
        sights: Sequence[Sight],
        *,
        robust: bool = False,
        near: FlightFit | None = None,
    ) -> FlightFit:
        """Fit a flight to sights of the shot and of its shadow.

        Parameters
        ----------
        prior, robust, near
            As for `vision.shot.flight_fit.fit_flight`.
        sights
            At least one.
        """
        own = own_of(sights)
        if len(own) == 1 and len({s.streak.frame for s in sights}) == 1:
            own = list(self._ends(own[0], prior.mean[4:6]))
        return fit_flight(
            self._view, self.seen(own), prior, shadows=self.shadows(sights), robust=robust, near=near
        )

    def _ends(self, sight: Sight, heading: FloatArray) -> Sequence[Sight]:
        """Where a long smear begins and ends, as two sights: together they show its direction and speed."""
        s = sight.streak
        exposure_us = self._finder.exposure_us
        if exposure_us is None or s.length_px < DIRECTED_PX:
            return [sight]
        closed_ms = s.timestamp_us / 1000.0 + exposure_us / 2000.0
        opened_ms = 2 * sight.time_ms - closed_ms
        sense = 0.5 * s.length_px * float(np.sign(sight.axis @ heading))
        ends = []
        for time_ms, way in ((opened_ms, -sense), (closed_ms, sense)):
            end = replace(s, u_px=s.u_px + way * s.axis[0], v_px=s.v_px + way * s.axis[1])
            place_mm = sight.point_mm + way * self._mm_per_px * sight.axis
            ends.append(replace(sight, streak=end, time_ms=time_ms, point_mm=place_mm))
        return ends

    def seen(self, own: Sequence[Sight]) -> Seen:
        """Give sights of the shot itself as a fit takes them: its middle, whichever side of it the lamp lights."""
        seen = seen_of(own)
        lit = np.array([s.streak.lit >= _LIT for s in own], dtype=np.bool_)
        if self._lamp is None or not lit.any():
            return seen
        below_mm = self._view.on_plane(seen.pixels[lit])
        aside_mm = self._lamp.slope_at(below_mm) * _lit_side_mm(self._lamp.darkness)
        far_mm = np.hypot(*aside_mm.T)[:, None]
        aside_mm *= np.minimum(1.0, _MOST_ASIDE_MM / np.maximum(far_mm, 1e-9))
        pixels = seen.pixels.copy()
        pixels[lit] = self._view.project(_on_board(below_mm + aside_mm))
        return replace(seen, pixels=pixels)

    def shadows(self, sights: Sequence[Sight]) -> Shadows | None:
        """Give those sights that are of the shadow, as a fit takes them; ``None`` without any, or without a lamp."""
        thrown = thrown_of(sights)
        return None if self._lamp is None or not thrown else Shadows(self._lamp, seen_of(thrown))

    def off(self, fit: FlightFit, sight: Sight) -> float:
        """How many standard deviations a sight is off a flight that does not know it."""
        time_us = 1000.0 * sight.time_ms
        where = fit.flight.at(time_us)[0]
        pixels = self._view.project(np.concatenate([where[None], where + np.eye(3)]))
        slopes = (pixels[1:] - pixels[0]).T
        seen = seen_of([sight]) if sight.is_shadow else self.seen([sight])
        whitening = seen.whitening[0]
        spread = whitening @ slopes @ fit.spread_at(time_us)[0] @ slopes.T @ whitening.T + np.eye(2)
        off = whitening @ (seen.pixels[0] - pixels[0])
        return float(np.sqrt(off @ np.linalg.solve(spread, off)))


def _on_board(places_mm: FloatArray) -> FloatArray:
    return np.column_stack([places_mm, np.zeros(len(places_mm))])


def _lit_side_mm(darkness: float) -> float:
    """How far the shot's middle lies from where it seems to lie, for a shadow as long as what throws it.

    Parameters
    ----------
    darkness
        The lamp's share of the light on the board.
    """
    return _LIT_SIDE_MM * darkness / (1 - darkness / 3)


def seen_of(sights: Sequence[Sight]) -> Seen:
    """Give when, where and how well sights were seen."""
    table = np.array([_row(s) for s in sights]).reshape(-1, 7)
    return Seen(table[:, 0], table[:, 1:3], table[:, 3:5], table[:, 5:])


def _row(sight: Sight) -> tuple[float, ...]:
    """Time, place, direction and standard deviations of a sight."""
    streak = sight.streak
    return (1000.0 * sight.time_ms, streak.u_px, streak.v_px, *streak.axis, *sigmas_px(sight))


def sigmas_px(sight: Sight) -> tuple[float, float]:
    """Say how well a sight's middle is known: standard deviations along the smear and across."""
    if sight.sigmas_px is not None:
        return sight.sigmas_px
    across = _SHADOW_PX if sight.is_shadow else SIGHT_PX
    # Of a smear that hardly stands out, only parts are seen: its line is known better than its middle.
    faint = (_PLAIN_CONTRAST - sight.streak.contrast) / (_PLAIN_CONTRAST - FAINT_CONTRAST)
    faint = min(max(faint, 0.0), 1.0)
    along = math.hypot(across, (PLAIN_ENDS + faint * (_FAINT_ENDS - PLAIN_ENDS)) * sight.streak.length_px)
    return along, across * (1 + 1.5 * faint)


def loosened(prior: FlightPrior) -> FlightPrior:
    """Let a flight begin somewhere near where it was thought to."""
    sigma = prior.sigma.copy()
    sigma[:4] = np.maximum(sigma[:4], [6000.0, 20.0, 20.0, 20.0])
    return FlightPrior(prior.mean, sigma)


def place_px(sight: Sight) -> FloatArray:
    """Where a sight lies in its picture, (u, v)."""
    return np.array([sight.streak.u_px, sight.streak.v_px])


def placed(sight: Sight, at_px: FloatArray) -> Sight:
    """Put a sight elsewhere in its picture."""
    return replace(sight, streak=replace(sight.streak, u_px=float(at_px[0]), v_px=float(at_px[1])))


def own_of(sights: Sequence[Sight]) -> list[Sight]:
    """Those of the shot itself."""
    return [s for s in sights if not s.is_shadow]


def thrown_of(sights: Sequence[Sight]) -> list[Sight]:
    """Those of its shadow."""
    return [s for s in sights if s.is_shadow]


def may_be_thrown(sights: Sequence[Sight]) -> bool:
    """Whether sights may all be of the shot's shadow: one a picture, and few that seem brighter than what is behind them."""
    lit = sum(s.streak.lit > MOST_LIT for s in sights)
    return len({s.streak.frame for s in sights}) == len(sights) and lit <= len(sights) / 3


def misses_px(
    fit: FlightFit, sights: Sequence[Sight]
) -> tuple[list[tuple[Sight, float]], list[tuple[Sight, float]]]:
    """How far each sight is off the flight that was fitted to them: those of the shot itself, and those of its shadow.

    A lone smear that was fitted by its two ends is there twice, with the beginning first.
    """
    own = own_of(sights)
    if len(own) == 1:
        own *= len(fit.residuals_px)
    of_own = list(zip(own, fit.residuals_px.tolist(), strict=True))
    return of_own, list(zip(thrown_of(sights), fit.shadow_residuals_px.tolist(), strict=True))


def furthest_px(fit: FlightFit) -> float:
    """How far the worst sight of the shot or its shadow is off a flight."""
    return float(max(fit.residuals_px.max(initial=0.0), fit.shadow_residuals_px.max(initial=0.0)))
