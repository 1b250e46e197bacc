"""The shot's way over the table: its streaks linked into flights, one after each thing it touched.

The first flight starts at the muzzle. Pairs of streaks that a shot from there could have made in two pictures each
propose a way; the one that most pictures agree with is fitted as a free flight in space and followed picture by
picture until the shot is no longer where the flight puts it: there it touched something. From near that place the
next flight is looked for in the same manner, and so on until it leaves the board or is lost. A streak has a length
too: with the exposure it is the speed once more, which tells the shot from other small things that move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.flight import Flight, FlightFit, FlightPrior, fit_flight
from vision.registration import BoardView
from vision.scene import Scene
from vision.streaks import SHOT_DIAMETER_MM, Streak, StreakFinder

__all__ = ["Leg", "ShotTrack", "follow_shot"]

FloatArray = NDArray[np.float64]

# Streaks are compared on the plane at the usual height of a flight; heights off it show as small bends there.
_PLANE_MM = 40.0
_SPEED_RANGE_MPS = (1.2, 25.0)
# A cannon behind the first line shoots ahead, at most this much sideways for each unit ahead.
_SIDEWAYS = 1.5
_MUZZLE_REACH_MM = 20.0
# The trigger's release is told on the camera's clock; the shot leaves within this.
_RELEASE_SIGMA_US = 3000.0
_SIGHT_PX = 0.6
_MISSED_PICTURES = 3  # hidden by a soldier, or the colour of what is below
_BOUNCE_SPEED_UP = 1.15  # a contact slows the shot; the margin is for the unknown height
_LATER_PICTURES = 8
_SLOW_MPS = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """A part of the shot's way on which it touched nothing."""

    fit: FlightFit
    streaks: tuple[Streak, ...]
    """Where it was seen on this leg, one a picture, in time order."""

    @property
    def flight(self) -> Flight:
        """The flight of this leg."""
        return self.fit.flight

    @property
    def first_us(self) -> int:
        """Time of the first picture that shows it."""
        return self.streaks[0].timestamp_us

    @property
    def last_us(self) -> int:
        """Time of the last picture that shows it."""
        return self.streaks[-1].timestamp_us


@dataclass(frozen=True, slots=True, eq=False)
class ShotTrack:
    """The shot's way as far as it was seen."""

    legs: tuple[Leg, ...]
    """Flights in time order; empty where no shot was found."""
    reason: str
    """Why there is no track, or why it ends where it does; one sentence."""
    exposure_us: float | None = None
    """Exposure as the streaks' lengths tell it."""

    @property
    def found(self) -> bool:
        """Whether a shot was seen at all."""
        return bool(self.legs)

    @property
    def release_us(self) -> float | None:
        """When the shot left the muzzle."""
        return self.legs[0].flight.start_us if self.legs else None

    @property
    def speed_mps(self) -> tuple[float, float] | None:
        """Speed at the muzzle and its standard deviation."""
        return self.legs[0].fit.speed_mps if self.legs else None

    @property
    def points(self) -> tuple[tuple[int, float, float, float], ...]:
        """Where it was seen: time in us, then x, y, z of the centre in mm (z from the flight's model)."""
        return tuple(
            (streak.timestamp_us, *(float(c) for c in leg.flight.at(float(streak.timestamp_us))[0]))
            for leg in self.legs
            for streak in leg.streaks
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Sight:
    """A streak and where it lies on the comparison plane."""

    streak: Streak
    time_ms: float
    point_mm: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A straight way at constant speed on the comparison plane."""

    time_ms: float
    point_mm: FloatArray
    velocity: FloatArray
    """mm a ms."""

    def at(self, time_ms: float) -> FloatArray:
        point: FloatArray = self.point_mm + (time_ms - self.time_ms) * self.velocity
        return point


def follow_shot(
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    view: BoardView,
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
    """
    if len(frames) < 3:
        return ShotTrack((), f"a shot needs at least three pictures to be seen, and there are {len(frames)}")
    follower = _Follower(frames, timestamps_us, scene, view)
    return follower.follow()


class _Follower:
    """One search for one shot; holds the pictures and what was found in them so far."""

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        scene: Scene,
        view: BoardView,
    ) -> None:
        self._finder = StreakFinder(frames, timestamps_us, scene, view)
        self._times = list(timestamps_us)
        self._scene = scene
        self._view = view
        self._sights: dict[int, list[_Sight]] = {}
        self._mm_per_px = view.mm_per_px(scene.width_mm / 2, scene.length_mm / 2, _PLANE_MM)
        self._ahead = 1.0 if scene.cannon_side is Side.A else -1.0
        self._exposure_us: float | None = float(scene.exposure_us) if scene.exposure_us else None

    def follow(self) -> ShotTrack:
        first = self._first_leg()
        if first is None:
            when = "" if self._scene.fire_us is None else " after the release"
            return ShotTrack((), f"no streak{when} moves like a shot from {self._scene.cannon_side}'s cannon")
        if self._exposure_us is None:
            self._exposure_us = self._exposure_of(first)
        legs = [first]
        reason = "the shot was lost from sight"
        while len(legs) < 8:
            following = self._next_leg(legs[-1])
            if following is None:
                end = legs[-1].flight.at(float(legs[-1].last_us) + 8000.0)[0]
                if not self._over_board(end[:2]):
                    reason = "the shot left the board"
                break
            legs.append(following)
        return ShotTrack(tuple(legs), reason, self._exposure_us)

    # ---- streaks on the comparison plane

    def _seen(self, k: int) -> list[_Sight]:
        if k not in self._sights:
            streaks = self._finder.streaks(k)
            points = self._view.on_plane(
                np.array([(s.u_px, s.v_px) for s in streaks]).reshape(-1, 2), _PLANE_MM
            )
            self._sights[k] = [
                _Sight(s, s.timestamp_us / 1000.0, p) for s, p in zip(streaks, points, strict=True)
            ]
        return self._sights[k]

    def _over_board(self, point_mm: FloatArray, margin_mm: float = 0.0) -> bool:
        x, y = point_mm
        return bool(
            -margin_mm <= x <= self._scene.width_mm + margin_mm
            and -margin_mm <= y <= self._scene.length_mm + margin_mm
        )

    def _agreeing(self, line: _Line, pictures: Sequence[int], tolerance_mm: float) -> list[_Sight]:
        """The sight nearest to the line in each picture in which one is near enough, until it is lost."""
        chosen: list[_Sight] = []
        missed = 0
        for k in pictures:
            where = line.at(self._times[k] / 1000.0)
            near = min(self._seen(k), key=lambda s: float(np.hypot(*(s.point_mm - where))), default=None)
            allowed = tolerance_mm + 0.02 * float(np.hypot(*(where - line.point_mm)))
            if (
                near is not None
                and np.hypot(*(near.point_mm - where)) <= allowed
                and self._shaped(near, line)
            ):
                chosen.append(near)
                missed = 0
                continue
            if self._over_board(where):
                missed += 1
            if missed > _MISSED_PICTURES:
                break
        return chosen

    def _shaped(self, sight: _Sight, line: _Line) -> bool:
        """Whether the smear is as long as the speed makes it, and lies along the way."""
        if self._exposure_us is None:
            return True
        expected_px = float(np.hypot(*line.velocity)) * self._exposure_us / 1000.0 / self._mm_per_px
        length_px = sight.streak.length_px
        return bool(length_px <= 1.6 * expected_px + 8.0 and length_px >= 0.4 * expected_px - 6.0)

    def _exposure_of(self, leg: Leg) -> float | None:
        speeds = [float(np.linalg.norm(leg.flight.velocity_at(float(s.timestamp_us)))) for s in leg.streaks]
        shares = [s.length_px * self._mm_per_px / speed for s, speed in zip(leg.streaks, speeds, strict=True)]
        return 1000.0 * float(np.median(shares)) if len(shares) >= 3 else None

    def _weight(self, sights: Sequence[_Sight]) -> float:
        return sum(min(s.streak.contrast, 50.0) / 50.0 + 0.5 for s in sights)

    # ---- the first flight

    def _first_leg(self) -> Leg | None:
        fire_us = self._scene.fire_us
        count = len(self._times)
        start = 0
        if fire_us is not None:
            start = next((k for k in range(count) if self._times[k] > fire_us - 4000), count)
        best: tuple[float, _Line, list[_Sight]] | None = None
        opened: int | None = None
        for k in range(start, count):
            # The shot crosses the board in well under a quarter of a second.
            if opened is not None and self._times[k] - self._times[opened] > 250_000:
                break
            if fire_us is not None and self._times[k] - fire_us > 400_000:
                break
            for line in self._proposals(k, start):
                pictures = range(max(start, k - 12), min(count, k + 25))
                sights = self._agreeing(line, [j for j in pictures if j >= k - 2], 7.0)
                score = self._weight(sights) - self._late(line, sights)
                if len(sights) >= self._least_pictures() and (best is None or score > best[0]):
                    best = (score, line, sights)
                    opened = opened if opened is not None else k
        if best is None:
            return self._only_one_streak(start)
        _, line, sights = best
        return self._grow(self._muzzle_prior(line), sights, at_muzzle=True)

    def _least_pictures(self) -> int:
        return 2 if self._scene.muzzle_mm is not None else 3

    def _muzzle_point(self) -> FloatArray | None:
        """The muzzle as it is seen on the comparison plane."""
        if self._scene.muzzle_mm is None:
            return None
        point: FloatArray = self._view.on_plane(
            self._view.project(np.array([self._scene.muzzle_mm])), _PLANE_MM
        )[0]
        return point

    def _proposals(self, k: int, start: int) -> Iterator[_Line]:
        """Ways through a streak of picture k and one of the pictures just before it."""
        muzzle = self._muzzle_point()
        for j in range(max(start, k - 3), k):
            for a in self._seen(j):
                for b in self._seen(k):
                    velocity = (b.point_mm - a.point_mm) / (b.time_ms - a.time_ms)
                    speed = float(np.hypot(*velocity))
                    if not _SPEED_RANGE_MPS[0] <= speed <= _SPEED_RANGE_MPS[1]:
                        continue
                    if velocity[1] * self._ahead * _SIDEWAYS < abs(velocity[0]):
                        continue
                    line = _Line(a.time_ms, a.point_mm, velocity)
                    if self._from_cannon(line, muzzle):
                        yield line

    def _from_cannon(self, line: _Line, muzzle: FloatArray | None) -> bool:
        if muzzle is None:
            edge = -45.0 if self._ahead > 0 else self._scene.length_mm + 45.0
            x = line.at(line.time_ms + (edge - line.point_mm[1]) / line.velocity[1])[0]
            return bool(-20.0 <= x <= self._scene.width_mm + 20.0)
        along = line.velocity / np.hypot(*line.velocity)
        back = line.point_mm - muzzle
        aside = abs(float(back[0] * along[1] - back[1] * along[0]))
        if aside > _MUZZLE_REACH_MM or float(back @ along) < -10.0:
            return False
        if self._scene.fire_us is None:
            return True
        left_ms = line.time_ms - float(back @ along) / float(np.hypot(*line.velocity))
        return abs(left_ms - self._scene.fire_us / 1000.0) < 12.0

    def _late(self, line: _Line, sights: Sequence[_Sight]) -> float:
        """Pictures between the muzzle and the first streak that should have shown it."""
        if not sights:
            return 0.0
        start_mm = 0.0 if self._ahead > 0 else self._scene.length_mm
        away_ms = abs(sights[0].point_mm[1] - start_mm) / max(abs(line.velocity[1]), 1e-6)
        return 0.5 * away_ms / 1000.0 * self._scene.fps

    def _only_one_streak(self, start: int) -> Leg | None:
        """A flight so short that one picture shows it: from the known muzzle, at the known time, to one streak."""
        muzzle, fire_us = self._muzzle_point(), self._scene.fire_us
        if muzzle is None or fire_us is None:
            return None
        best: tuple[float, _Line, _Sight] | None = None
        for k in range(start, min(start + 4, len(self._times))):
            for sight in self._seen(k):
                flown_ms = sight.time_ms - fire_us / 1000.0
                way = sight.point_mm - muzzle
                far = float(np.hypot(*way))
                if flown_ms > 1.0 and _SPEED_RANGE_MPS[0] <= far / flown_ms <= _SPEED_RANGE_MPS[1]:
                    velocity = way / flown_ms
                    if velocity[1] * self._ahead * _SIDEWAYS < abs(velocity[0]):
                        continue
                    aligned = abs(float(self._axis_mm(sight) @ way)) / far
                    if sight.streak.length_px > 5 and aligned < 0.97:
                        continue
                    line = _Line(fire_us / 1000.0, muzzle, velocity)
                    score = self._weight([sight]) + aligned - 0.2 * (k - start)
                    if self._shaped(sight, line) and (best is None or score > best[0]):
                        best = (score, line, sight)
        if best is None:
            return None
        _, line, sight = best
        return self._grow(self._muzzle_prior(line), [sight], at_muzzle=True)

    def _axis_mm(self, sight: _Sight) -> FloatArray:
        """The smear's direction on the comparison plane, of length one."""
        s = sight.streak
        ends = np.array([(s.u_px, s.v_px), (s.u_px + 4 * s.axis[0], s.v_px + 4 * s.axis[1])])
        points = self._view.on_plane(ends, _PLANE_MM)
        way = points[1] - points[0]
        direction: FloatArray = way / np.hypot(*way)
        return direction

    def _muzzle_prior(self, line: _Line) -> FlightPrior:
        velocity = np.array([line.velocity[0], line.velocity[1], 0.0])
        muzzle = self._scene.muzzle_mm
        fire_us = self._scene.fire_us
        if muzzle is not None:
            start_mm, start_sigma_mm = np.array(muzzle), np.full(3, 2.0)
        else:
            # Behind the first line, somewhere over the strip, about as high as a soldier.
            y = -45.0 if self._ahead > 0 else self._scene.length_mm + 45.0
            flown_ms = (y - line.point_mm[1]) / line.velocity[1]
            x = line.at(line.time_ms + flown_ms)[0]
            start_mm, start_sigma_mm = np.array([x, y, 48.0]), np.array([60.0, 25.0, 10.0])
        if fire_us is not None:
            start_us, start_sigma_us = float(fire_us), _RELEASE_SIGMA_US
        else:
            flown_ms = (start_mm[1] - line.point_mm[1]) / line.velocity[1]
            start_us, start_sigma_us = 1000.0 * (line.time_ms + flown_ms), 30_000.0
        return FlightPrior.of(
            start_us=start_us,
            start_sigma_us=start_sigma_us,
            start_mm=start_mm,
            start_sigma_mm=start_sigma_mm,
            velocity_mps=velocity,
            velocity_sigma_mps=np.array([4.0, 4.0, 2.0]),
        )

    # ---- following a flight

    def _fit(self, prior: FlightPrior, sights: Sequence[_Sight]) -> FlightFit:
        return fit_flight(
            self._view,
            np.array([float(s.streak.timestamp_us) for s in sights]),
            np.array([(s.streak.u_px, s.streak.v_px) for s in sights]),
            prior,
            sigma_px=_SIGHT_PX,
        )

    def _grow(self, prior: FlightPrior, sights: Sequence[_Sight], *, at_muzzle: bool) -> Leg:
        """Follow a flight picture by picture from its first sights, as far as it explains what is seen."""
        kept = list(sights[:3])
        fit = self._fit(prior, kept)
        while len(kept) > 2 and float(fit.residuals_px.max()) > 3.0:
            kept = kept[:-1]
            fit = self._fit(prior, kept)
        missed = 0
        for k in range(kept[-1].streak.frame + 1, len(self._times)):
            near = self._nearest(fit, k)
            if near is None:
                missed += 1
                if missed > _MISSED_PICTURES:
                    break
                continue
            trial = self._fit(prior, [*kept, near])
            if trial.residuals_px[-1] > 2.5 or trial.misfit - fit.misfit > 16.0:
                missed += 1
                if missed > _MISSED_PICTURES:
                    break
                continue
            kept.append(near)
            fit = trial
            missed = 0
        return Leg(fit, tuple(s.streak for s in kept))

    def _nearest(self, fit: FlightFit, k: int) -> _Sight | None:
        """The streak of picture k that the flight leads to, if there is one."""
        time_us = float(self._times[k])
        where = fit.flight.at(time_us)
        if where[0, 2] < -15.0:
            return None  # well below the board: the flight has ended
        pixel = self._view.project(where)[0]
        spread_px = float(np.sqrt(np.trace(fit.spread_at(time_us)[:2, :2]))) / self._mm_per_px
        reach_px = min(3.0 + 3.0 * spread_px, 14.0)
        velocity = fit.flight.velocity_at(time_us)[:2]
        line = _Line(time_us / 1000.0, where[0, :2], velocity)
        near = min(
            self._seen(k),
            key=lambda s: float(np.hypot(s.streak.u_px - pixel[0], s.streak.v_px - pixel[1])),
            default=None,
        )
        if near is None or not self._shaped(near, line):
            return None
        off_px = float(np.hypot(near.streak.u_px - pixel[0], near.streak.v_px - pixel[1]))
        return near if off_px <= reach_px else None

    # ---- flights after a contact

    def _next_leg(self, leg: Leg) -> Leg | None:
        last = leg.streaks[-1]
        begin = last.frame + 1
        end = min(begin + _LATER_PICTURES, len(self._times))
        limit = _BOUNCE_SPEED_UP * float(np.linalg.norm(leg.flight.velocity_at(float(last.timestamp_us))))
        best: tuple[float, _Line, list[_Sight]] | None = None
        for k in range(begin + 1, end):
            for j in range(max(begin, k - 2), k):
                for a in self._seen(j):
                    for b in self._seen(k):
                        velocity = (b.point_mm - a.point_mm) / (b.time_ms - a.time_ms)
                        speed = float(np.hypot(*velocity))
                        if not 0.4 <= speed <= limit + 0.3:
                            continue
                        line = _Line(a.time_ms, a.point_mm, velocity)
                        apart = self._apart(leg, line, a.time_ms)
                        if apart > 75.0 or not (self._shaped(a, line) and self._shaped(b, line)):
                            continue
                        sights = self._agreeing(line, range(j, min(j + 10, len(self._times))), 4.0)
                        if len(sights) < (3 if speed < _SLOW_MPS else 2):
                            continue
                        late = 0.6 * (j - begin)
                        score = self._weight(sights) - late - apart / 15.0 - self._rough(sights)
                        if best is None or score > best[0]:
                            best = (score, line, sights)
        if best is None or best[0] < 0.8:
            return None
        _, line, sights = best
        return self._grow(self._contact_prior(leg, line, sights), sights, at_muzzle=False)

    def _rough(self, sights: Sequence[_Sight]) -> float:
        """Penalty for smears that change in strength or width, as parts of a moving soldier do."""
        widths = np.array([s.streak.width_px for s in sights])
        expected_px = SHOT_DIAMETER_MM / self._mm_per_px + 1.0
        return float(np.mean(np.abs(widths - expected_px)) / expected_px)

    def _apart(self, leg: Leg, line: _Line, until_ms: float) -> float:
        """How near the way, traced back, comes to where the flight before would have been, in mm."""
        times = np.linspace(leg.last_us / 1000.0, until_ms, 12)
        flown = leg.flight.at(times * 1000.0)
        flown[:, 2] = np.maximum(flown[:, 2], SHOT_DIAMETER_MM / 2)
        seen = self._view.on_plane(self._view.project(flown), _PLANE_MM)
        traced = line.point_mm + (times - line.time_ms)[:, None] * line.velocity
        return float(np.hypot(*(seen - traced).T).min())

    def _contact_prior(self, leg: Leg, line: _Line, sights: Sequence[_Sight]) -> FlightPrior:
        """A flight that starts where the one before ended, give or take what may lie between two contacts."""
        times = np.linspace(leg.last_us / 1000.0, sights[0].time_ms, 40)
        flown = leg.flight.at(times * 1000.0)
        flown[:, 2] = np.maximum(flown[:, 2], SHOT_DIAMETER_MM / 2)
        seen = self._view.on_plane(self._view.project(flown), _PLANE_MM)
        traced = line.point_mm + (times - line.time_ms)[:, None] * line.velocity
        apart = np.hypot(*(seen - traced).T)
        nearest = int(np.argmin(apart))
        return FlightPrior.of(
            start_us=1000.0 * float(times[nearest]),
            start_sigma_us=3000.0,
            start_mm=flown[nearest],
            start_sigma_mm=np.array([6.0, 6.0, 10.0]) + float(apart[nearest]),
            velocity_mps=np.array([line.velocity[0], line.velocity[1], 0.0]),
            velocity_sigma_mps=np.array([2.0, 2.0, 2.0]),
        )
