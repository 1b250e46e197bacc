"""The shot's way over the table: its streaks linked into flights, one after each thing it touched.

The first flight starts at the muzzle. Pairs of streaks that a shot from there could have made in two pictures each
propose a way; the one that most pictures agree with is fitted as a free flight in space and followed picture by
picture until the shot is no longer where the flight puts it: there it touched something. From near that place the
next flight is looked for in the same manner, and so on until it leaves the board or is lost. A streak has a length
too: with the exposure it is the speed once more, which tells the shot from other small things that move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.flight import Flight, FlightFit, FlightPrior, Seen, Shadows, Waypoint, fit_flight
from vision.lamp import Lamp
from vision.registration import BoardView
from vision.scene import Scene
from vision.streaks import SHOT_DIAMETER_MM, Streak, StreakFinder

__all__ = ["Leg", "ShotTrack", "find_track"]

FloatArray = NDArray[np.float64]

# Streaks are compared on the plane at the usual height of a flight; heights off it show as small bends there.
_PLANE_MM = 40.0
_SPEED_RANGE_MPS = (1.2, 25.0)
# A cannon behind the first line shoots ahead, at most this much sideways for each unit ahead.
_SIDEWAYS = 1.5
_MUZZLE_REACH_MM = 20.0
# The trigger's release is told on the camera's clock; the shot leaves within this.
_RELEASE_SIGMA_US = 3000.0
# A muzzle over the soldiers' heads is aimed a little down at the near ones, and level at the far ones.
_USUAL_RISE_MPS = -0.3
_RISE_SIGMA_MPS = 1.1
_SIGHT_PX = 0.6
_SHADOW_PX = 1.2  # it is soft, and the board's print shows through
# By how much of its length the middle of a smear may be off along it: of a plain one, and of one that hardly shows.
_PLAIN_ENDS, _FAINT_ENDS = 0.03, 0.25
_PLAIN_CONTRAST, _FAINT_CONTRAST = 32.0, 13.0
_MISSED_PICTURES = 3  # hidden by a soldier, or the colour of what is below
_BOUNCE_SPEED_UP = 1.15  # a contact slows the shot; the margin is for the unknown height
_LATER_PICTURES = 8
_JOIN_LOSS = 9.0  # by how much one flight may raise the sum of squares of two
_STRAY_PX = 3.0
_BOUNCE_GAIN = 10.0  # by how much a bounce must lower the sum of squares to be believed
_MOST_LEGS = 8
_TRIED = 8  # ways from the cannon that are followed in full
_MISFIT_SHARE = 0.3
# A flight after a bounce can be the longer one: what counts is that the first is seen from the cannon on.
_ENOUGH_SIGHTS = 6
_MORE_SHARE = 0.4
_LATE_SHARE = 0.8
_LEAST_SCORE = 0.8  # a flight of two faint streaks far from where it should begin is none
_SLOW_MPS = 1.5
_SHADOW_WORTH = 0.6  # what a shadow in its place speaks for a flight, as a share of what the shot itself does
_SHADOW_REACH_PX = 30.0
_STRAY_SHADOW_PX = 3.5
_DIRECTED_PX = 8.0  # a smear longer than this shows its direction
_ASIDE_PX = 2.5


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """A part of the shot's way on which it touched nothing."""

    fit: FlightFit
    streaks: tuple[Streak, ...]
    """Where it, or else its shadow, was seen on this leg, one a picture, in time order."""
    shadows: tuple[Streak, ...] = ()
    """Where its shadow was seen."""

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
    """Exposure, given or as the streaks' lengths tell it."""
    lost_over_board: bool = False
    """Whether the shot was still over the board where it was seen last."""

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
        found = []
        for leg in self.legs:
            for streak in leg.streaks:
                x, y, z = leg.flight.at(float(streak.timestamp_us))[0]
                found.append((streak.timestamp_us, float(x), float(y), float(z)))
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Sight:
    """A streak and where it lies on the comparison plane."""

    streak: Streak
    time_ms: float
    """Mid of what the exposure saw of the shot; later than mid-exposure where the shot left during it."""
    point_mm: FloatArray
    axis: tuple[float, float]
    """Direction of the smear on the plane, of length one; its sign means nothing."""
    is_shadow: bool = False
    """Whether it is taken for the shot's shadow on the board."""


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


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """A leg while it is being put together."""

    prior: FlightPrior
    sights: tuple[_Sight, ...]
    fit: FlightFit

    @property
    def leg(self) -> Leg:
        streaks = {s.streak.frame: s.streak for s in self.sights if s.is_shadow}
        streaks |= {s.streak.frame: s.streak for s in self.sights if not s.is_shadow}
        shadows = tuple(s.streak for s in self.sights if s.is_shadow)
        return Leg(self.fit, tuple(streaks[frame] for frame in sorted(streaks)), shadows)

    @property
    def pictures(self) -> tuple[int, ...]:
        """Indices of the pictures that show the shot or its shadow."""
        return tuple(sorted({s.streak.frame for s in self.sights}))

    def until(self, picture: int) -> tuple[_Sight, ...]:
        """Sights in the pictures up to one, itself included."""
        return tuple(s for s in self.sights if s.streak.frame <= picture)

    def after(self, picture: int) -> tuple[_Sight, ...]:
        """Sights in the pictures after one."""
        return tuple(s for s in self.sights if s.streak.frame > picture)


def find_track(
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    view: BoardView,
    lamp: Lamp | None = None,
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
    """
    if len(frames) < 3:
        return ShotTrack((), f"a shot needs at least three pictures to be seen, and there are {len(frames)}")
    follower = _Follower(frames, timestamps_us, scene, view, lamp)
    return follower.follow()


class _Follower:
    """One search for one shot; holds the pictures and what was found in them so far."""

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        scene: Scene,
        view: BoardView,
        lamp: Lamp | None,
    ) -> None:
        self._lamp = lamp
        self._finder = StreakFinder(frames, timestamps_us, scene, view)
        self._times = list(timestamps_us)
        self._scene = scene
        self._view = view
        self._sights: dict[int, list[_Sight]] = {}
        self._planar: dict[int, FloatArray] = {}
        self._mm_per_px = view.mm_per_px(scene.width_mm / 2, scene.length_mm / 2, _PLANE_MM)
        self._ahead = 1.0 if scene.cannon_side is Side.A else -1.0
        self._exposure_us: float | None = float(scene.exposure_us) if scene.exposure_us else None

    def follow(self) -> ShotTrack:
        first = self._first_draft()
        if first is None:
            when = "" if self._scene.fire_us is None else " after the release"
            return ShotTrack((), f"no streak{when} moves like a shot from {self._scene.cannon_side}'s cannon")
        if self._exposure_us is None:
            self._exposure_us = self._exposure_of(first)
        drafts = [first]
        while len(drafts) < _MOST_LEGS and self._over_board(drafts[-1].sights[-1].point_mm, 15.0):
            onward = self._onward(drafts[-1], least=1 if len(drafts) == 1 else 2)
            if onward is None:
                break
            drafts[-1:] = onward
        drafts = [part for draft in self._joined(drafts) for part in self._split_at_board(draft)]
        end = drafts[-1].fit.flight.at(1000.0 * drafts[-1].sights[-1].time_ms + 8000.0)[0]
        lost = self._over_board(end[:2])
        reason = "the shot was lost from sight" if lost else "the shot left the board"
        return ShotTrack(tuple(draft.leg for draft in drafts), reason, self._exposure_us, lost)

    def _onward(self, draft: _Draft, least: int) -> tuple[_Draft, _Draft] | None:
        """Find the flight after this one; the last sights of this one may turn out not to be of the shot."""
        best: tuple[float, _Draft, _Draft] | None = None
        pictures = draft.pictures
        for cut in range(3):
            if len(pictures) - cut < min(least, len(pictures)):
                break
            kept = draft.until(pictures[-1 - cut])
            if len(pictures) - cut == 1 and not kept[0].is_shadow:
                shorter = self._from_one_streak(kept[0])
            else:
                shorter = _Draft(draft.prior, kept, self._fit(draft.prior, kept)) if cut else draft
            found = None if shorter is None else self._next_draft(shorter)
            if shorter is None or found is None:
                continue
            lost = sum(self._strength(sight) for sight in draft.after(pictures[-1 - cut]))
            value = found[0] - lost
            if value >= _LEAST_SCORE and (best is None or value > best[0]):
                best = (value, shorter, found[1])
        return None if best is None else (best[1], best[2])

    # ---- streaks on the comparison plane

    def _points(self, k: int) -> FloatArray:
        """Where the streaks of picture k lie on the comparison plane, shape (n, 2)."""
        if k not in self._planar:
            self._planar[k] = np.array([s.point_mm for s in self._seen(k)]).reshape(-1, 2)
        return self._planar[k]

    def _seen(self, k: int) -> list[_Sight]:
        if k not in self._sights:
            streaks = self._finder.streaks(k)
            centres = np.array([(s.u_px, s.v_px) for s in streaks]).reshape(-1, 2)
            axes = np.array([s.axis for s in streaks]).reshape(-1, 2)
            points = self._view.on_plane(centres, _PLANE_MM)
            ways = self._view.on_plane(centres + 4 * axes, _PLANE_MM) - points
            ways /= np.hypot(ways[:, 0], ways[:, 1])[:, None]
            middle_ms = self._middle_us(k) / 1000.0
            self._sights[k] = [
                _Sight(s, middle_ms, point, (float(way[0]), float(way[1])))
                for s, point, way in zip(streaks, points, ways, strict=True)
            ]
        return self._sights[k]

    def _middle_us(self, k: int) -> float:
        """Mid of the part of an exposure in which the shot was under way."""
        fire_us = self._scene.fire_us
        if fire_us is None or self._exposure_us is None:
            return float(self._times[k])
        opened_us = self._times[k] - self._exposure_us / 2
        closed_us = self._times[k] + self._exposure_us / 2
        return (
            (max(opened_us, float(fire_us)) + closed_us) / 2 if closed_us > fire_us else float(self._times[k])
        )

    def _over_board(self, point_mm: FloatArray, margin_mm: float = 0.0) -> bool:
        x, y = point_mm
        return bool(
            -margin_mm <= x <= self._scene.width_mm + margin_mm
            and -margin_mm <= y <= self._scene.length_mm + margin_mm
        )

    def _agreeing(self, line: _Line, pictures: Sequence[int], tolerance_mm: float) -> list[_Sight]:
        """Find the sight nearest to the line in each picture in which one is near enough, until it is lost."""
        chosen: list[_Sight] = []
        missed = 0
        for k in pictures:
            where = line.at(self._middle_us(k) / 1000.0)
            off = np.hypot(*(self._points(k) - where).T)
            allowed = tolerance_mm + 0.02 * float(np.hypot(*(where - line.point_mm)))
            near = self._seen(k)[int(np.argmin(off))] if len(off) and off.min() <= allowed else None
            if near is not None and self._shaped(near, line):
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
        length_px = sight.streak.length_px
        speed = float(np.hypot(*line.velocity))
        if self._exposure_us is None:
            expected_px = length_px
        else:
            open_ms = 2 * (sight.streak.timestamp_us / 1000.0 - sight.time_ms) + self._exposure_us / 1000.0
            expected_px = speed * open_ms / self._mm_per_px
        if not 0.4 * expected_px - 6.0 <= length_px <= 1.6 * expected_px + 8.0:
            return False
        # The smear's ends may lie beside the way by no more than a contour is blurred.
        axis = sight.axis
        across = abs(float(axis[0] * line.velocity[1] - axis[1] * line.velocity[0])) / speed
        return min(length_px, expected_px) / 2 * across <= _ASIDE_PX

    def _exposure_of(self, draft: _Draft) -> float | None:
        """How long the pictures were exposed, from how far the shot smears at its speed."""
        shares = []
        for sight in draft.sights:
            speed = float(np.linalg.norm(draft.fit.flight.velocity_at(1000.0 * sight.time_ms)))
            shares.append(sight.streak.length_px * self._mm_per_px / speed)
        return 1000.0 * float(np.median(shares)) if len(shares) >= 3 else None

    def _strength(self, sight: _Sight) -> float:
        """How much a streak speaks for a way that leads through it: strong, and as wide as the shot."""
        usual_px = SHOT_DIAMETER_MM / self._mm_per_px + 1.0
        off = abs(sight.streak.width_px - usual_px) / usual_px
        strength = min(sight.streak.contrast, 50.0) / 50.0 + 0.5 - 0.5 * min(off, 1.0)
        return _SHADOW_WORTH * strength if sight.is_shadow else strength

    def _weight(self, line: _Line, sights: Sequence[_Sight]) -> float:
        """How much speaks for a way: strength of its streaks, less what they are off it."""
        off_mm = sum(float(np.hypot(*(s.point_mm - line.at(s.time_ms)))) for s in sights)
        return sum(self._strength(s) for s in sights) - 0.05 * off_mm

    # ---- the first flight

    def _first_draft(self) -> _Draft | None:
        fire_us = self._scene.fire_us
        count = len(self._times)
        start = 0
        if fire_us is not None:
            start = next((k for k in range(count) if self._times[k] > fire_us - 4000), count)
        found: dict[tuple[object, ...], tuple[float, _Line, list[_Sight]]] = {}
        opened: int | None = None
        for k in range(start, count):
            # The shot crosses the board in well under a quarter of a second.
            if opened is not None and self._times[k] - self._times[opened] > 250_000:
                break
            if fire_us is not None and self._times[k] - fire_us > 400_000:
                break
            for line, is_shadow in self._proposals(k, start):
                sights = self._agreeing(line, range(max(start, k - 3), min(count, k + 25)), 7.0)
                if len(sights) < self._least_pictures():
                    continue
                sights = [replace(s, is_shadow=is_shadow) for s in sights]
                score = self._weight(line, sights) - self._late(line, sights)
                key = (is_shadow, *((s.streak.frame, s.streak.u_px) for s in sights))
                if key not in found or score > found[key][0]:
                    found[key] = (score, line, sights)
                opened = opened if opened is not None else k
        best: tuple[float, _Draft] | None = None
        for _, line, sights in sorted(found.values(), key=lambda f: -f[0])[:_TRIED]:
            draft = self._grow(self._muzzle_prior(line), sights)
            # The shadow makes a fine straight way too, but none that begins at the muzzle.
            pictures = draft.pictures
            enough = pictures[min(_ENOUGH_SIGHTS, len(pictures)) - 1]
            early, late = draft.until(enough), draft.after(enough)
            score = sum(map(self._strength, early)) + _MORE_SHARE * sum(map(self._strength, late))
            score -= self._late(line, draft.sights)
            score -= _MISFIT_SHARE * max(draft.fit.misfit - 2.0 * len(draft.sights), 0.0)
            if best is None or score > best[0]:
                best = (score, draft)
        return self._only_one_streak(start) if best is None else best[1]

    def _least_pictures(self) -> int:
        return 2 if self._scene.muzzle_mm is not None else 3

    def _muzzle_point(self) -> FloatArray | None:
        """Give the muzzle as it is seen on the comparison plane."""
        if self._scene.muzzle_mm is None:
            return None
        point: FloatArray = self._view.on_plane(
            self._view.project(np.array([self._scene.muzzle_mm])), _PLANE_MM
        )[0]
        return point

    def _proposals(self, k: int, start: int) -> Iterator[tuple[_Line, bool]]:
        """Ways from the cannon, or of a shadow from there, through streaks of picture k and one just before it."""
        muzzle, shaded = self._muzzle_point(), self._muzzle_shadow()
        for j in range(max(start, k - 2), k):
            for line in self._pairs(j, k, _SPEED_RANGE_MPS[1]):
                ahead = line.velocity[1] * self._ahead
                forward = ahead >= _SPEED_RANGE_MPS[0] and ahead * _SIDEWAYS >= abs(line.velocity[0])
                if not forward:
                    continue
                if self._from_cannon(line, muzzle):
                    yield line, False
                if self._lamp is not None and self._from_cannon(line, shaded):
                    yield line, True

    def _muzzle_shadow(self) -> FloatArray | None:
        """Give the muzzle's shadow as it is seen on the comparison plane."""
        if self._scene.muzzle_mm is None or self._lamp is None:
            return None
        thrown = self._lamp.shadow(np.array([self._scene.muzzle_mm]))
        point: FloatArray = self._view.on_plane(self._view.project(thrown), _PLANE_MM)[0]
        return point

    def _from_cannon(self, line: _Line, muzzle: FloatArray | None) -> bool:
        if muzzle is None:
            edge = -45.0 if self._ahead > 0 else self._scene.length_mm + 45.0
            left_ms = line.time_ms + (edge - line.point_mm[1]) / line.velocity[1]
            if not -20.0 <= line.at(left_ms)[0] <= self._scene.width_mm + 20.0:
                return False
            # Where exactly the muzzle is adds to what the release may be off.
            slack_ms = 12.0 + 40.0 / abs(float(line.velocity[1]))
            fire_us = self._scene.fire_us
            return fire_us is None or abs(left_ms - fire_us / 1000.0) < slack_ms
        along = line.velocity / np.hypot(*line.velocity)
        back = line.point_mm - muzzle
        aside = abs(float(back[0] * along[1] - back[1] * along[0]))
        if aside > _MUZZLE_REACH_MM or float(back @ along) < -10.0:
            return False
        if self._scene.fire_us is None:
            return True
        left_ms = line.time_ms - float(back @ along) / float(np.hypot(*line.velocity))
        return bool(abs(left_ms - self._scene.fire_us / 1000.0) < 12.0)

    def _late(self, line: _Line, sights: Sequence[_Sight]) -> float:
        """Pictures between the muzzle and the first streak that should have shown it."""
        if not sights:
            return 0.0
        start_mm = 0.0 if self._ahead > 0 else self._scene.length_mm
        away_ms = abs(sights[0].point_mm[1] - start_mm) / max(abs(line.velocity[1]), 1e-6)
        return float(_LATE_SHARE * away_ms / 1000.0 * self._scene.fps)

    def _only_one_streak(self, start: int) -> _Draft | None:
        """Find a flight so short that one picture shows it: from the known muzzle, at the known time, to one streak."""
        best: tuple[float, _Draft] | None = None
        for k in range(start, min(start + 4, len(self._times))):
            for sight in self._seen(k):
                draft = self._from_one_streak(sight)
                if draft is None:
                    continue
                score = self._strength(sight) - 0.5 * (k - start)
                if best is None or score > best[0]:
                    best = (score, draft)
        return None if best is None else best[1]

    def _from_one_streak(self, sight: _Sight) -> _Draft | None:
        """Describe the flight from the muzzle that made a streak, where its place and shape allow one."""
        muzzle, fire_us = self._muzzle_point(), self._scene.fire_us
        if muzzle is None or fire_us is None:
            return None
        line = self._straight_from(muzzle, fire_us / 1000.0, sight)
        if line is None or not self._shaped(sight, line):
            return None
        prior = self._muzzle_prior(line)
        return _Draft(prior, (sight,), self._fit(prior, [sight]))

    def _ends(self, sight: _Sight, heading: FloatArray) -> Sequence[_Sight]:
        """Where a long smear begins and ends, as two sights: together they show its direction and speed."""
        s = sight.streak
        if self._exposure_us is None or s.length_px < _DIRECTED_PX:
            return [sight]
        closed_ms = s.timestamp_us / 1000.0 + self._exposure_us / 2000.0
        opened_ms = 2 * sight.time_ms - closed_ms
        axis_mm = np.array(sight.axis)
        sense = 0.5 * s.length_px * float(np.sign(axis_mm @ heading))
        ends = []
        for time_ms, way in ((opened_ms, -sense), (closed_ms, sense)):
            end = replace(s, u_px=s.u_px + way * s.axis[0], v_px=s.v_px + way * s.axis[1])
            ends.append(_Sight(end, time_ms, sight.point_mm + way * self._mm_per_px * axis_mm, sight.axis))
        return ends

    def _straight_from(self, muzzle: FloatArray, fire_ms: float, sight: _Sight) -> _Line | None:
        """Draw the way from the muzzle to a streak; along the smear where the streak is still at the muzzle."""
        way = sight.point_mm - muzzle
        far = float(np.hypot(*way))
        flown_ms = sight.time_ms - fire_ms
        if far > 25.0:
            velocity = way / max(flown_ms, 1e-3)
        elif self._exposure_us is not None and sight.streak.length_px >= _DIRECTED_PX:
            open_ms = 2 * (sight.streak.timestamp_us / 1000.0 - sight.time_ms) + self._exposure_us / 1000.0
            axis = np.array(sight.axis)
            velocity = (
                axis * np.sign(axis[1]) * self._ahead * sight.streak.length_px * self._mm_per_px / open_ms
            )
        else:
            return None
        if not _SPEED_RANGE_MPS[0] <= float(np.hypot(*velocity)) <= _SPEED_RANGE_MPS[1]:
            return None
        if velocity[1] * self._ahead * _SIDEWAYS < abs(velocity[0]):
            return None
        return _Line(fire_ms, muzzle, velocity)

    def _muzzle_prior(self, line: _Line) -> FlightPrior:
        velocity = np.array([line.velocity[0], line.velocity[1], _USUAL_RISE_MPS])
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
            velocity_sigma_mps=np.array([4.0, 4.0, _RISE_SIGMA_MPS]),
        )

    # ---- following a flight

    def _fit(
        self,
        prior: FlightPrior,
        sights: Sequence[_Sight],
        passes: Waypoint | None = None,
        *,
        robust: bool = False,
    ) -> FlightFit:
        own = [s for s in sights if not s.is_shadow]
        thrown = [s for s in sights if s.is_shadow]
        if len(own) == 1 and len({s.streak.frame for s in sights}) == 1:
            own = list(self._ends(own[0], prior.mean[4:6]))
        shadows = None
        if thrown and self._lamp is not None:
            shadows = Shadows(self._lamp, _seen(thrown))
        return fit_flight(
            self._view,
            _seen(own),
            prior,
            passes=passes,
            shadows=shadows,
            robust=robust,
        )

    def _grow(self, prior: FlightPrior, sights: Sequence[_Sight]) -> _Draft:
        """Follow a flight picture by picture from its first sights, as far as it explains what is seen."""
        kept = list(sights[:3])
        fit = self._fit(prior, kept)
        while len(kept) > 2 and _furthest_px(fit) > 3.0:
            kept = kept[:-1]
            fit = self._fit(prior, kept)
        # From the muzzle on, where its height is known best: each shadow tells the height for the next.
        for sight in tuple(kept):
            other = self._counterpart(fit, sight)
            if other is not None:
                kept, fit, _ = self._adding(prior, kept, fit, [other])
        missed = 0
        for k in range(kept[-1].streak.frame + 1, len(self._times)):
            near = self._near(fit, k)
            taken = False
            if near:
                kept, fit, taken = self._adding(prior, kept, fit, near)
                if not taken and len(near) == 2:
                    kept, fit, taken = self._adding(prior, kept, fit, near[:1])
            missed = 0 if taken else missed + 1
            if missed > _MISSED_PICTURES:
                break
        return _Draft(prior, tuple(kept), fit)

    def _adding(
        self, prior: FlightPrior, kept: list[_Sight], fit: FlightFit, new: Sequence[_Sight]
    ) -> tuple[list[_Sight], FlightFit, bool]:
        """Take new sights into a flight if it explains them as well; says whether it does."""
        more = sorted([*kept, *new], key=lambda s: s.streak.frame)
        trial = self._fit(prior, more)
        own = [r for r, s in zip(trial.residuals_px, _own(more), strict=False) if s in new]
        thrown = [r for r, s in zip(trial.shadow_residuals_px, _thrown(more), strict=False) if s in new]
        good = max(own, default=0.0) <= 2.5 and max(thrown, default=0.0) <= _STRAY_SHADOW_PX
        if good and trial.misfit - fit.misfit <= 16.0 * len(new):
            return more, trial, True
        return kept, fit, False

    def _near(self, fit: FlightFit, k: int) -> list[_Sight]:
        """Streaks of picture k that the flight leads to: the shot, its shadow, or both."""
        own, thrown = self._nearest(fit, k), self._nearest_shadow(fit, k)
        if own is not None and thrown is not None and own.streak is thrown.streak:
            # Near the board the two run together; what is seen of both is neither's middle.
            thrown = None
        return [s for s in (own, thrown) if s is not None]

    def _counterpart(self, fit: FlightFit, sight: _Sight) -> _Sight | None:
        """Find the shadow of a sight of the shot, or the shot that throws a sighted shadow."""
        found = (self._nearest if sight.is_shadow else self._nearest_shadow)(fit, sight.streak.frame)
        return None if found is None or found.streak is sight.streak else found

    def _nearest_shadow(self, fit: FlightFit, k: int) -> _Sight | None:
        """Find the streak of picture k where the flight throws its shadow, if there is one."""
        lamp = fit.lamp or self._lamp
        if lamp is None or not self._seen(k):
            return None
        time_us = self._middle_us(k)
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
        on_plane = self._view.on_plane(self._view.project(thrown), _PLANE_MM)[0]
        off = self._points(k) - on_plane
        distance = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
        best = int(np.argmin(distance))
        near = self._seen(k)[best]
        if distance[best] > 9.0 or float(np.hypot(*off[best])) > _SHADOW_REACH_PX * self._mm_per_px:
            return None
        line = _Line(time_us / 1000.0, on_plane, fit.flight.velocity_at(time_us)[:2])
        return replace(near, is_shadow=True) if self._shaped(near, line) else None

    def _joined(self, drafts: Sequence[_Draft]) -> list[_Draft]:
        """Make one flight of two wherever one explains the sights of both about as well."""
        joined = [drafts[0]]
        for draft in drafts[1:]:
            last = joined[-1]
            sights = (*last.sights, *draft.sights)
            fit = self._fit(last.prior, sights, robust=True)
            apart = sum(self._fit(d.prior, d.sights, robust=True).misfit for d in (last, draft))
            worse = fit.misfit - apart
            if worse < _JOIN_LOSS and _furthest_px(fit) < _STRAY_PX:
                joined[-1] = _Draft(last.prior, sights, fit)
            else:
                joined.append(draft)
        return joined

    def _split_at_board(self, draft: _Draft) -> list[_Draft]:
        """Cut a flight in two where a bounce off the board explains its sights much better than none.

        Seen from above, a bounce hardly shows: the shot goes on in its direction, a little slower.
        """
        best: tuple[float, list[_Draft]] | None = None
        for picture in draft.pictures[1:-2]:
            early, late = draft.until(picture), draft.after(picture)
            before = self._fit(draft.prior, early)
            times_us = np.linspace(1000.0 * early[-1].time_ms, 1000.0 * late[0].time_ms, 24)
            flown = before.flight.at(times_us)
            lowest = int(np.argmin(np.abs(flown[:, 2] - SHOT_DIAMETER_MM / 2)))
            above_mm = float(flown[lowest, 2]) - SHOT_DIAMETER_MM / 2
            down = (above_mm**2) / (float(before.spread_at(float(times_us[lowest]))[0, 2, 2]) + 1.0)
            if down > 9.0:
                continue
            velocity = before.flight.velocity_at(float(times_us[lowest]))
            speed = float(np.linalg.norm(velocity))
            rise = abs(float(velocity[2]))
            prior = FlightPrior.of(
                start_us=float(times_us[lowest]),
                start_sigma_us=3000.0,
                start_mm=np.array([flown[lowest, 0], flown[lowest, 1], SHOT_DIAMETER_MM / 2]),
                start_sigma_mm=np.array([3.0, 3.0, 1.0]),
                velocity_mps=np.array([0.85 * velocity[0], 0.85 * velocity[1], 0.6 * rise]),
                velocity_sigma_mps=np.array([0.12 * speed, 0.12 * speed, 0.4 * rise + 0.2]),
            )
            after = self._fit(prior, late)
            bounce = after.flight.start_mm * [1.0, 1.0, 0.0] + [0.0, 0.0, SHOT_DIAMETER_MM / 2]
            landing = Waypoint(after.flight.start_us, bounce, np.array([3.0, 3.0, 1.0]))
            before = self._fit(draft.prior, early, landing)
            misfit = before.misfit + after.misfit
            if best is None or misfit < best[0]:
                best = (misfit, [_Draft(draft.prior, early, before), _Draft(prior, late, after)])
        if best is None or draft.fit.misfit - best[0] < _BOUNCE_GAIN:
            return [draft]
        return best[1]

    def _nearest(self, fit: FlightFit, k: int) -> _Sight | None:
        """Find the streak of picture k that the flight leads to, if there is one."""
        time_us = float(self._times[k])
        where = fit.flight.at(time_us)
        if where[0, 2] < -15.0:
            return None  # well below the board: the flight has ended
        pixel = self._view.project(where)[0]
        spread_px = float(np.sqrt(np.trace(fit.spread_at(time_us)[0, :2, :2]))) / self._mm_per_px
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

    def _next_draft(self, draft: _Draft) -> tuple[float, _Draft] | None:
        """Find the flight that starts where this one ends, with what speaks for it."""
        begin = draft.sights[-1].streak.frame + 1
        end = min(begin + _LATER_PICTURES, len(self._times))
        speed_before = float(np.linalg.norm(draft.fit.flight.velocity_at(1000.0 * draft.sights[-1].time_ms)))
        limit = _BOUNCE_SPEED_UP * speed_before + 0.3
        flown_ms = np.linspace(draft.sights[-1].time_ms, self._times[end - 1] / 1000.0, 10 * _LATER_PICTURES)
        flown_mm = self._flown(draft, flown_ms)
        best: tuple[float, _Line, list[_Sight]] | None = None
        for k in range(begin + 1, end):
            for j in range(max(begin, k - 2), k):
                until = int(np.searchsorted(flown_ms, self._times[j] / 1000.0)) + 1
                for line in self._pairs(j, k, limit):
                    traced = line.point_mm + (flown_ms[:until] - line.time_ms)[:, None] * line.velocity
                    apart = float(np.hypot(*(flown_mm[:until] - traced).T).min())
                    if apart > 75.0:
                        continue
                    sights = self._agreeing(line, range(j, min(j + 10, len(self._times))), 4.0)
                    slow = float(np.hypot(*line.velocity)) < _SLOW_MPS
                    if len(sights) < (3 if slow else 2):
                        continue
                    skipped = sights[-1].streak.frame - sights[0].streak.frame + 1 - len(sights)
                    late = 0.6 * (j - begin) + 0.5 * skipped
                    score = self._weight(line, sights) - late - apart / 15.0 - self._rough(sights)
                    if best is None or score > best[0]:
                        best = (score, line, sights)
        if best is None:
            return None
        score, line, sights = best
        return score, self._grow(self._contact_prior(draft, line, sights), sights)

    def _pairs(self, j: int, k: int, limit_mps: float) -> Iterator[_Line]:
        """Ways through a streak of picture j and one of picture k at no more than a speed."""
        if not self._seen(j) or not self._seen(k):
            return
        elapsed_ms = self._seen(k)[0].time_ms - self._seen(j)[0].time_ms
        velocities = (self._points(k)[None] - self._points(j)[:, None]) / elapsed_ms
        speeds = np.hypot(velocities[..., 0], velocities[..., 1])
        for a, b in np.argwhere((speeds >= 0.4) & (speeds <= limit_mps)):
            first, second = self._seen(j)[a], self._seen(k)[b]
            line = _Line(first.time_ms, first.point_mm, velocities[a, b])
            if self._shaped(first, line) and self._shaped(second, line):
                yield line

    def _rough(self, sights: Sequence[_Sight]) -> float:
        """Penalty for smears that change in strength or width, as parts of a moving soldier do."""
        widths = np.array([s.streak.width_px for s in sights])
        expected_px = SHOT_DIAMETER_MM / self._mm_per_px + 1.0
        return float(np.mean(np.abs(widths - expected_px)) / expected_px)

    def _flown(self, draft: _Draft, times_ms: FloatArray) -> FloatArray:
        """Where a flight would be seen on the comparison plane if it went on, shape (N, 2)."""
        flown = draft.fit.flight.at(times_ms * 1000.0)
        flown[:, 2] = np.maximum(flown[:, 2], SHOT_DIAMETER_MM / 2)
        return self._view.on_plane(self._view.project(flown), _PLANE_MM)

    def _contact_prior(self, draft: _Draft, line: _Line, sights: Sequence[_Sight]) -> FlightPrior:
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


def _seen(sights: Sequence[_Sight]) -> Seen:
    """Give when, where and how well sights were seen."""
    streaks = [s.streak for s in sights]
    across = np.array([_SHADOW_PX if s.is_shadow else _SIGHT_PX for s in sights])
    # Of a smear that hardly stands out, only parts are seen: its line is known better than its middle.
    contrast = np.array([s.contrast for s in streaks])
    faint = np.clip((_PLAIN_CONTRAST - contrast) / (_PLAIN_CONTRAST - _FAINT_CONTRAST), 0.0, 1.0)
    length = np.array([s.length_px for s in streaks])
    along = np.hypot(across, (_PLAIN_ENDS + faint * (_FAINT_ENDS - _PLAIN_ENDS)) * length)
    return Seen(
        np.array([1000.0 * s.time_ms for s in sights]),
        np.array([(s.u_px, s.v_px) for s in streaks]).reshape(-1, 2),
        np.array([s.axis for s in streaks]).reshape(-1, 2),
        np.column_stack([along, across * (1 + 0.5 * faint)]),
    )


def _own(sights: Sequence[_Sight]) -> list[_Sight]:
    return [s for s in sights if not s.is_shadow]


def _thrown(sights: Sequence[_Sight]) -> list[_Sight]:
    return [s for s in sights if s.is_shadow]


def _furthest_px(fit: FlightFit) -> float:
    """How far the worst sight of the shot or its shadow is off a flight."""
    return float(max(fit.residuals_px.max(initial=0.0), fit.shadow_residuals_px.max(initial=0.0)))
