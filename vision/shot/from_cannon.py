"""Where a shot from the cannon may have flown: ways through the first streaks, with what speaks for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.scene import Scene
from vision.shot.draft import DIRECTED_PX, Draft, DraftFitter, may_be_thrown
from vision.shot.faint import USUAL_MUZZLE_Z_MM, Stirred
from vision.shot.flight import GRAVITY_MM_PER_MS2
from vision.shot.flight_fit import FlightPrior
from vision.shot.sights import (
    LIKELY_EXPOSURES_US,
    SHADOW_WORTH,
    Agreement,
    Sight,
    SightFinder,
    Way,
    Ways,
)
from vision.soldiers.lamp import Lamp

__all__ = ["OFF_WORTH", "CannonSearch"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

OFF_WORTH = 0.05
"""What each mm off a way takes off what speaks for it."""

_SPEED_RANGE_MPS = (1.2, 25.0)
# A cannon behind the first line shoots ahead, at most this much sideways for each unit ahead.
_SIDEWAYS = 1.5
_MUZZLE_REACH_MM = 20.0  # so near to the muzzle, where it is told, a way passes
# A muzzle that is not told is somewhere over the strip: so far behind the first line, give or take; and how well its (x, y, z)
# is known then.
_BEHIND_MM, _BEHIND_SLACK_MM = 45.0, 40.0
_UNTOLD_SIGMA_MM = (60.0, 25.0, 10.0)
# When the shot left is told on the camera's clock, to within this.
_RELEASE_SIGMA_US = 3000.0
# A muzzle over the soldiers' heads is aimed a little down at the near ones, and level at the far ones.
_USUAL_RISE_MPS = -0.3
_RISE_SIGMA_MPS = 1.1
# How high a flight leads where the first soldier was struck: it meets him between foot and head, or bounced just before and
# would lead a little below the board there. Where its height hardly shows, that keeps it from climbing over all heads: of 150
# filmed shots the 12 that were farthest off were off by 15 to 117 mm without it, and all less with it.
_STRUCK_Z_MM, _STRUCK_SIGMA_MM = 15.0, 25.0
_STRUCK_ASIDE_MM, _STRUCK_LATE_MS = 40.0, 12.0
_RELEASE_SLACK_MS = 12.0  # by which a way may seem to leave earlier or later than the shot did
_LATEST_US = 400_000  # after the release no way begins
# Where no release is told: so long after the best way was seen last no other one is looked for, if so much speaks for it; else the
# longer time.
_PLAIN_SCORE, _GONE_US, _LONG_GONE_US = 6.0, 60_000, 250_000
_BATCH = 6  # pictures whose ways are worked out together
# A way is held against so many pictures before and after the second that it was drawn through, and what lies so near is on it.
_EARLIER_PICTURES, _LATER_PICTURES = 3, 25
_NEAR_MM = 7.0
# One streak alone is looked for in so many pictures; each that passes before it takes so much off what speaks for it.
_ONE_STREAK_PICTURES, _PASSED_WORTH = 4, 0.5
_SAME_SHARE = 0.6  # of a way's sights: with more of them in common, two are one way
_TRIED = 6  # ways from the cannon that are followed in full
_LATE_SHARE = 0.8  # what each picture that should have shown the shot before takes off what speaks for a way
_GUESSED_SPEED_SHARE = 0.4  # standard deviation of a speed that a likely exposure tells

# What speaks for a way, whether it is a shadow's, and where it is among which ways.
_Found = tuple[float, bool, Ways, Agreement, int]


class CannonSearch:
    """Looks for ways that begin at the cannon, at the release, as far as either is known.

    Parameters
    ----------
    finder, fitter
        What was seen, and what fits flights to it.
    timestamps_us, scene, lamp
        As for `vision.shot.track.find_track`.
    struck
        Those who stirred first.
    """

    def __init__(
        self,
        finder: SightFinder,
        fitter: DraftFitter,
        timestamps_us: Sequence[int],
        scene: Scene,
        lamp: Lamp | None,
        struck: Sequence[Stirred],
    ) -> None:
        self._finder = finder
        self._fitter = fitter
        self._times = timestamps_us
        self._scene = scene
        self._lamp = lamp
        self._struck = struck
        self._mm_per_px = finder.mm_per_px
        self._ahead = 1.0 if scene.cannon_side is Side.A else -1.0
        self._behind_first_line_mm = -_BEHIND_MM if self._ahead > 0 else scene.length_mm + _BEHIND_MM

    def likely(self, start: int, end: int) -> list[tuple[Way, list[Sight]]]:
        """Ways from the cannon, or of a shadow from there, with what lies on them; those that most speaks for first.

        Parameters
        ----------
        start, end
            The first picture to look at, and the one after the last.
        """
        fire_us, times = self._scene.fire_us, self._times
        found: list[_Found] = []
        for begin in range(start, end, _BATCH):
            if found and self._decided(begin, max(found, key=lambda f: f[0])):
                break
            if fire_us is not None and times[begin] - fire_us > _LATEST_US:
                break
            for is_shadow, ways, latest in self._proposals(range(begin, min(begin + _BATCH, end)), start):
                agreement = self._finder.agreeing(
                    ways,
                    np.maximum(start, latest - _EARLIER_PICTURES),
                    np.minimum(end, latest + _LATER_PICTURES),
                    _NEAR_MM,
                )
                worth = SHADOW_WORTH if is_shadow else 1.0
                score = worth * agreement.strength - OFF_WORTH * agreement.off_mm
                score -= self.late(self._finder.first_mm(agreement)[:, 1], ways.velocities[:, 1])
                enough = np.flatnonzero(agreement.counts >= self._least_pictures())
                found += [(float(score[i]), is_shadow, ways, agreement, int(i)) for i in enough]
        found.sort(key=lambda f: -f[0])
        likely: list[tuple[Way, list[Sight]]] = []
        taken: list[set[tuple[bool, int, int]]] = []
        for _, is_shadow, ways, agreement, i in found:
            own = {(is_shadow, *each) for each in agreement.on_way(i)}
            # One way comes in many variants, a sight more or less; other ways must have their turn.
            if any(len(own & other) > _SAME_SHARE * len(own) for other in taken):
                continue
            sights = [self._finder.sight(k, which) for k, which in agreement.on_way(i)]
            if is_shadow and not may_be_thrown(sights):
                continue
            taken.append(own)
            likely.append((ways.way(i), [replace(s, is_shadow=is_shadow) for s in sights]))
            if len(likely) == _TRIED:
                break
        return likely

    def prior(self, line: Way) -> FlightPrior:
        """Say what is known beforehand of a first flight that is seen as a way."""
        muzzle = self._scene.muzzle_mm
        fire_us = self._scene.fire_us
        if muzzle is not None:
            start_mm, start_sigma_mm = np.array(muzzle), np.full(3, 2.0)
        else:
            y = self._behind_first_line_mm
            flown_ms = (y - line.point_mm[1]) / line.velocity[1]
            x = line.at(line.time_ms + flown_ms)[0]
            start_mm, start_sigma_mm = np.array([x, y, USUAL_MUZZLE_Z_MM]), np.array(_UNTOLD_SIGMA_MM)
        if fire_us is not None:
            start_us, start_sigma_us = float(fire_us), _RELEASE_SIGMA_US
        else:
            flown_ms = (start_mm[1] - line.point_mm[1]) / line.velocity[1]
            start_us, start_sigma_us = 1000.0 * (line.time_ms + flown_ms), 30_000.0
        rise_mps, rise_sigma_mps = self._rise(line, start_mm, start_sigma_mm)
        return FlightPrior.of(
            start_us=start_us,
            start_sigma_us=start_sigma_us,
            start_mm=start_mm,
            start_sigma_mm=start_sigma_mm,
            velocity_mps=np.array([line.velocity[0], line.velocity[1], rise_mps]),
            velocity_sigma_mps=np.array([4.0, 4.0, rise_sigma_mps]),
        )

    def _rise(self, line: Way, start_mm: FloatArray, start_sigma_mm: FloatArray) -> tuple[float, float]:
        """How fast a shot rises at the muzzle, and how well that is known: as is usual, and so that it meets who was struck."""
        weight = 1 / _RISE_SIGMA_MPS**2
        total = weight * _USUAL_RISE_MPS
        flown_ms = self._flown_to_struck_ms(line, start_mm)
        if flown_ms is not None:
            fallen_mm = GRAVITY_MM_PER_MS2 / 2 * flown_ms**2
            sigma_mps = float(np.hypot(_STRUCK_SIGMA_MM, start_sigma_mm[2])) / flown_ms
            total += (_STRUCK_Z_MM - float(start_mm[2]) + fallen_mm) / flown_ms / sigma_mps**2
            weight += 1 / sigma_mps**2
        return total / weight, float(np.sqrt(1 / weight))

    def _flown_to_struck_ms(self, line: Way, start_mm: FloatArray) -> float | None:
        """How long a shot on a way flies to a soldier whom it comes by when he stirs; None where it comes by nobody then."""
        along = line.velocity / float(np.hypot(*line.velocity)) ** 2
        for each in self._struck:
            foot_mm = np.array(each.foot_mm)
            come_ms = float((foot_mm - line.point_mm) @ along)
            aside_mm = float(np.hypot(*(foot_mm - line.at(line.time_ms + come_ms))))
            late_ms = each.time_us / 1000.0 - (line.time_ms + come_ms)
            flown_ms = float((foot_mm - start_mm[:2]) @ along)
            slack_ms = _STRUCK_LATE_MS + 1000.0 / self._scene.fps
            if aside_mm < _STRUCK_ASIDE_MM and abs(late_ms) < slack_ms and flown_ms > 0:
                return flown_ms
        return None

    def late(self, first_y_mm: FloatArray, ahead_mps: FloatArray) -> FloatArray:
        """Penalty for pictures between the muzzle and the first streak that should have shown the shot."""
        start_mm = 0.0 if self._ahead > 0 else self._scene.length_mm
        away_ms = np.abs(first_y_mm - start_mm) / np.maximum(np.abs(ahead_mps), 1e-6)
        late: FloatArray = _LATE_SHARE * away_ms / 1000.0 * self._scene.fps
        return late

    def only_one_streak(self, start: int, end: int) -> Draft | None:
        """Find a flight so short that one picture shows it: from the known muzzle, at the known time, to one streak."""
        best: tuple[float, Draft] | None = None
        for k in range(start, min(start + _ONE_STREAK_PICTURES, end)):
            for sight in self._finder.sights(k):
                draft = self.from_one_streak(sight)
                if draft is None:
                    continue
                score = sight.worth - _PASSED_WORTH * (k - start)
                if best is None or score > best[0]:
                    best = (score, draft)
        return None if best is None else best[1]

    def from_one_streak(self, sight: Sight) -> Draft | None:
        """Describe the flight from the muzzle that made a streak, where its place and shape allow one."""
        draft = self._drawn_to(sight)
        if draft is not None or self._finder.exposure_us is not None:
            return draft
        # Where no exposure is told the smear tells the way, but hardly the speed.
        for likely_us in LIKELY_EXPOSURES_US:
            self._finder.expose(likely_us)
            draft = self._drawn_to(replace(sight, time_ms=self._finder.middle_ms(sight.streak.frame)))
            if draft is not None:
                break
        self._finder.expose(None)
        if draft is None:
            return None
        covariance, velocity_mps = draft.fit.covariance.copy(), draft.fit.flight.velocity_mps
        covariance[4:7, 4:7] += np.outer(velocity_mps, velocity_mps) * _GUESSED_SPEED_SHARE**2
        return replace(draft, fit=replace(draft.fit, covariance=covariance))

    def _drawn_to(self, sight: Sight) -> Draft | None:
        """Draw the flight from the muzzle to a streak."""
        muzzle, fire_us = self.muzzle_point(), self._scene.fire_us
        if muzzle is None or fire_us is None:
            return None
        line = self._straight_from(muzzle, fire_us / 1000.0, sight)
        if line is None or not self._finder.shaped(sight, line.velocity):
            return None
        prior = self.prior(line)
        return Draft(prior, (sight,), self._fitter.fit(prior, [sight]))

    def _decided(self, k: int, best: _Found) -> bool:
        """Whether no way that shows from picture k on can still outdo the best one so far."""
        score, _, _, agreement, i = best
        if self._scene.fire_us is not None:
            late_ms = (self._times[k] - self._scene.fire_us) / 1000.0 - _RELEASE_SLACK_MS
            return _LATE_SHARE * late_ms / 1000.0 * self._scene.fps > score
        # Soldiers fall after the shot: what moves long after a plain way is none.
        since_us = self._times[k] - self._times[agreement.on_way(i)[-1][0]]
        return since_us > (_GONE_US if score >= _PLAIN_SCORE else _LONG_GONE_US)

    def _proposals(self, pictures: range, start: int) -> Iterator[tuple[bool, Ways, IntArray]]:
        """Ways through a streak of one of the pictures and one just before it: whether of a shadow, and that picture."""
        pairs = [(self._finder.pairs(j, k), k) for k in pictures for j in range(max(start, k - 2), k)]
        ways = Ways.joined([each for each, _ in pairs])
        latest = np.concatenate([np.full(len(each), k) for each, k in pairs]) if pairs else np.zeros(0, int)
        ahead = ways.velocities[:, 1] * self._ahead
        forward = (ahead >= _SPEED_RANGE_MPS[0]) & (ahead * _SIDEWAYS >= np.abs(ways.velocities[:, 0]))
        forward &= ways.speeds <= _SPEED_RANGE_MPS[1]
        ways, latest = ways.some(forward), latest[forward]
        own = self._from_cannon(ways, self.muzzle_point())
        yield False, ways.some(own), latest[own]
        if self._lamp is not None:
            thrown = self._from_cannon(ways, self._muzzle_shadow(self._lamp))
            yield True, ways.some(thrown), latest[thrown]

    def _from_cannon(self, ways: Ways, muzzle: FloatArray | None) -> BoolArray:
        """Which ways come from the muzzle, or where that is not known from behind the first line, at the release."""
        fire_us, speeds = self._scene.fire_us, ways.speeds
        if muzzle is None:
            flown_ms = (self._behind_first_line_mm - ways.points_mm[:, 1]) / ways.velocities[:, 1]
            x = ways.points_mm[:, 0] + flown_ms * ways.velocities[:, 0]
            behind: BoolArray = (x >= -20.0) & (x <= self._scene.width_mm + 20.0)
            if fire_us is not None:
                # Where exactly the muzzle is adds to what the release may be off.
                slack_ms = _RELEASE_SLACK_MS + _BEHIND_SLACK_MM / np.abs(ways.velocities[:, 1])
                behind &= np.abs(ways.times_ms + flown_ms - fire_us / 1000.0) < slack_ms
            return behind
        along = ways.velocities / speeds[:, None]
        back = ways.points_mm - muzzle
        aside = np.abs(back[:, 0] * along[:, 1] - back[:, 1] * along[:, 0])
        come_mm = (back * along).sum(axis=1)
        passing: BoolArray = (aside <= _MUZZLE_REACH_MM) & (come_mm >= -10.0)
        if fire_us is not None:
            passing &= np.abs(ways.times_ms - come_mm / speeds - fire_us / 1000.0) < _RELEASE_SLACK_MS
        return passing

    def _least_pictures(self) -> int:
        return 2 if self._scene.muzzle_mm is not None else 3

    def muzzle_point(self) -> FloatArray | None:
        """Give the muzzle as it is seen on the comparison plane."""
        muzzle_mm = self._scene.muzzle_mm
        return None if muzzle_mm is None else self._finder.on_plane(np.array([muzzle_mm]))[0]

    def _muzzle_shadow(self, lamp: Lamp) -> FloatArray | None:
        """Give the muzzle's shadow as it is seen on the comparison plane."""
        muzzle_mm = self._scene.muzzle_mm
        return None if muzzle_mm is None else self._finder.on_plane(lamp.shadow(np.array([muzzle_mm])))[0]

    def _straight_from(self, muzzle: FloatArray, fire_ms: float, sight: Sight) -> Way | None:
        """Draw the way from the muzzle to a streak; along the smear where the streak is still at the muzzle."""
        way = sight.point_mm - muzzle
        far = float(np.hypot(*way))
        flown_ms, open_ms = sight.time_ms - fire_ms, self._finder.open_ms(sight)
        if far > 25.0:
            velocity = way / max(flown_ms, 1e-3)
        elif open_ms is not None and sight.streak.length_px >= DIRECTED_PX:
            smear_mm = sight.streak.length_px * self._mm_per_px
            velocity = sight.axis * np.sign(sight.axis[1]) * self._ahead * smear_mm / open_ms
        else:
            return None
        if not _SPEED_RANGE_MPS[0] <= float(np.hypot(*velocity)) <= _SPEED_RANGE_MPS[1]:
            return None
        if velocity[1] * self._ahead * _SIDEWAYS < abs(velocity[0]):
            return None
        return Way(fire_ms, muzzle, velocity)
