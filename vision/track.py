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
from vision.bounce import fit_bounced
from vision.flight import (
    GRAVITY_MM_PER_MS2,
    Flight,
    FlightFit,
    FlightPrior,
    Seen,
    Shadows,
    Waypoint,
    fit_flight,
)
from vision.lamp import Lamp
from vision.registration import BoardView
from vision.scene import Scene
from vision.sights import MOST_LIT, PLANE_MM, SHADOW_WORTH, Agreement, Sight, SightFinder, Way, Ways
from vision.smear import Smear, SmearFitter
from vision.steady import STILL, Steady, typical
from vision.streaks import SHOT_DIAMETER_MM, Streak

__all__ = ["Leg", "ShotTrack", "find_track"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

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
_RELEASE_SLACK_MS = 12.0
_LATEST_US, _LONGEST_US = 400_000, 500_000
_PLAIN_SCORE = 6.0
_GONE_US, _LONG_GONE_US = 60_000, 250_000
_BATCH = 6  # pictures whose ways are worked out together
_OFF_WORTH = 0.05  # what each mm off a way takes off what speaks for it
_SLOWEST_MPS = 0.4
_MOST_APART_MM = 75.0
_MISSED_PICTURES = 3  # hidden by a soldier, or the colour of what is below
_BOUNCE_SPEED_UP = 1.15  # a contact slows the shot; the margin is for the unknown height
_LATER_PICTURES = 8
_JOIN_LOSS = 9.0  # by how much one flight may raise the sum of squares of two
_STRAY_PX = 3.0
_FEWEST_TRIMMED, _STRAY_SIGMAS = 2, 4.0
_SHADOWS_ALONE = 1  # pictures at the end of a flight
_FEWEST_ROUND_BOUNCE = 4
_LANDINGS = 8  # times of a bounce from which the search may begin
_BOUNCE_GAIN = 8.0  # by how much a bounce must lower the sum of squares to be believed
_MOST_LEGS = 8
_SAME_SHARE = 0.6
_TRIED = 6  # ways from the cannon that are followed in full
_MISFIT_SHARE = 0.3
_UNSHADED = 0.25
# A flight after a bounce can be the longer one: what counts is that the first is seen from the cannon on.
_ENOUGH_SIGHTS = 6
_MORE_SHARE = 0.4
_LATE_SHARE = 0.8
_LEAST_SCORE = 0.8  # a flight of two faint streaks far from where it should begin is none
_SLOW_MPS = 1.5
_SHADOW_REACH_PX = 30.0
_STRAY_SHADOW_PX = 3.5
_STILL_PICTURES = 12
_FEWEST_PLAIN = 3
_SPOILT_SIGMAS = 5.0
_SUSPECTS = 4
_EARLIER_PICTURES = 2
_START_SLACK_US = 3000.0  # by which the start of a flight may be off
_PLAIN_SMEARS = 6  # that tell the shot's colour
_PLAIN_GAIN = 60.0
# What the closer look must tell of a shot that makes no streak.
_HIDDEN_GAIN, _HIDDEN_SIGMAS, _HIDDEN_STRENGTH = 100.0, 4.0, 0.6
_SHOWN = (0.6, 1.5)
_TURNS, _BEGUN_MISFIT = 12, 4.0
_HIDDEN_SPREAD_PX = 4.0  # beyond, a flight does not say where to look
_LIT_PX, _LENS_PX = 0.35, 0.5
# Clock, lens and the lit side of the shot are off by so much of the speed, whatever the sights say; two sights can be
# strangers to each other.
_SPEED_SHARE, _FEW_SIGHTS, _FEW_SHARE = 0.007, 2, 0.2
_DIRECTED_PX = 8.0  # a smear longer than this shows its direction


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
        if not self.legs:
            return None
        speed, sigma = self.legs[0].fit.speed_mps
        few = len(self.legs[0].streaks) <= _FEW_SIGHTS
        return speed, float(np.hypot(sigma, (_FEW_SHARE if few else _SPEED_SHARE) * speed))

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
class _Draft:
    """A leg while it is being put together."""

    prior: FlightPrior
    sights: tuple[Sight, ...]
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

    def until(self, picture: int) -> tuple[Sight, ...]:
        """Sights in the pictures up to one, itself included."""
        return tuple(s for s in self.sights if s.streak.frame <= picture)

    def after(self, picture: int) -> tuple[Sight, ...]:
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


# What speaks for a way, whether it is a shadow's, and where it is among which ways.
_Found = tuple[float, bool, Ways, Agreement, int]


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
        self._frames = frames
        self._steady: Steady | None = None
        self._fitter: SmearFitter | None = None
        self._sways: dict[int, FloatArray] = {}
        self._lamp = lamp
        self._finder = SightFinder(frames, timestamps_us, scene, view)
        self._times = list(timestamps_us)
        self._end = self._until(scene.fire_us)
        self._scene = scene
        self._view = view
        self._mm_per_px = self._finder.mm_per_px
        # What no closer look takes away: the lamp lights one side of the shot. Of what an unmeasured lens bends, the
        # flight takes up most, and the rest is here.
        self._blind_px = _LENS_PX if scene.intrinsics is None else _LIT_PX
        self._ahead = 1.0 if scene.cannon_side is Side.A else -1.0

    def follow(self) -> ShotTrack:
        first = self._first_draft()
        if first is None:
            when = "" if self._scene.fire_us is None else " after the release"
            return ShotTrack((), f"no streak{when} moves like a shot from {self._scene.cannon_side}'s cannon")
        if self._finder.exposure_us is None:
            self._finder.expose(self._exposure_of(first))
        self._end = self._until(first.fit.flight.start_us)
        drafts = [self._sharpened(first)]
        while len(drafts) < _MOST_LEGS and self._over_board(drafts[-1].sights[-1].point_mm, 15.0):
            onward = self._onward(drafts[-1], least=1 if len(drafts) == 1 else 2)
            if onward is None:
                break
            shorter, following = onward
            drafts[-1:] = [shorter, self._sharpened(following, since=shorter.pictures[-1] + 1)]
        drafts = self._begun_again(drafts)
        drafts = self._bounced(self._handed_over(self._joined(drafts)))
        drafts = [self._trimmed(draft) for draft in drafts]
        end = drafts[-1].fit.flight.at(1000.0 * drafts[-1].sights[-1].time_ms + 8000.0)[0]
        lost = self._over_board(end[:2])
        reason = "the shot was lost from sight" if lost else "the shot left the board"
        return ShotTrack(tuple(draft.leg for draft in drafts), reason, self._finder.exposure_us, lost)

    def _until(self, release_us: float | None) -> int:
        """Give the picture after the last in which the shot matters; later it rolls at most, too slow to fell anybody."""
        if release_us is None:
            return len(self._times)
        return next((k for k, t in enumerate(self._times) if t > release_us + _LONGEST_US), len(self._times))

    def _onward(self, draft: _Draft, least: int) -> tuple[_Draft, _Draft] | None:
        """Find the flight after this one; the last sights of this one may turn out not to be of the shot."""
        best: tuple[float, _Draft, Way, list[Sight]] | None = None
        pictures = draft.pictures
        for cut in range(3):
            if len(pictures) - cut < min(least, len(pictures)):
                break
            kept = draft.until(pictures[-1 - cut])
            if len(pictures) - cut == 1 and not kept[0].is_shadow:
                shorter = self._from_one_streak(kept[0])
            else:
                shorter = _Draft(draft.prior, kept, self._fit(draft.prior, kept)) if cut else draft
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

    def _over_board(self, point_mm: FloatArray, margin_mm: float = 0.0) -> bool:
        x, y = point_mm
        return bool(
            -margin_mm <= x <= self._scene.width_mm + margin_mm
            and -margin_mm <= y <= self._scene.length_mm + margin_mm
        )

    def _exposure_of(self, draft: _Draft) -> float | None:
        """How long the pictures were exposed, from how far the shot smears at its speed."""
        shares = []
        for sight in draft.sights:
            speed = float(np.linalg.norm(draft.fit.flight.velocity_at(1000.0 * sight.time_ms)))
            shares.append(sight.streak.length_px * self._mm_per_px / speed)
        return 1000.0 * float(np.median(shares)) if len(shares) >= 3 else None

    # ---- the first flight

    def _first_draft(self) -> _Draft | None:
        fire_us = self._scene.fire_us
        count = self._end
        start = 0
        if fire_us is not None:
            start = next((k for k in range(count) if self._times[k] > fire_us - 4000), count)
        best: tuple[float, _Draft] | None = None
        followed: set[tuple[Streak, bool]] = set()
        for line, sights in self._likely(start):
            if followed.issuperset((s.streak, s.is_shadow) for s in sights):
                continue  # a part of a flight that was followed already
            draft = self._grow(self._muzzle_prior(line), sights)
            # The shadow makes a fine straight way too, but none that begins at the muzzle.
            followed |= {(s.streak, s.is_shadow) for s in draft.sights}
            pictures = draft.pictures
            enough = pictures[min(_ENOUGH_SIGHTS, len(pictures)) - 1]
            early, late = draft.until(enough), draft.after(enough)
            score = sum(s.worth for s in early) + _MORE_SHARE * sum(s.worth for s in late)
            score -= float(self._late(draft.sights[0].point_mm[1], line.velocity[1]))
            if self._lamp is not None and all(
                s.streak.lit <= MOST_LIT and not s.is_shadow for s in draft.sights
            ):
                # A dark shot would throw a shadow as well: this is the shadow of one that hardly shows.
                score -= _UNSHADED * len(early)
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
            self._view.project(np.array([self._scene.muzzle_mm])), PLANE_MM
        )[0]
        return point

    def _likely(self, start: int) -> list[tuple[Way, list[Sight]]]:
        """Ways from the cannon, or of a shadow from there, with what lies on them; those that most speaks for first."""
        fire_us, times, count = self._scene.fire_us, self._times, self._end
        found: list[_Found] = []
        for begin in range(start, count, _BATCH):
            if found and self._decided(begin, max(found, key=lambda f: f[0])):
                break
            if fire_us is not None and times[begin] - fire_us > _LATEST_US:
                break
            for is_shadow, ways, latest in self._proposals(range(begin, min(begin + _BATCH, count)), start):
                agreement = self._finder.agreeing(
                    ways, np.maximum(start, latest - 3), np.minimum(count, latest + 25), 7.0
                )
                worth = SHADOW_WORTH if is_shadow else 1.0
                score = worth * agreement.strength - _OFF_WORTH * agreement.off_mm
                score -= self._late(self._finder.first_mm(agreement)[:, 1], ways.velocities[:, 1])
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
            if is_shadow and sum(s.streak.lit > MOST_LIT for s in sights) > len(sights) / 3:
                continue
            taken.append(own)
            likely.append((ways.way(i), [replace(s, is_shadow=is_shadow) for s in sights]))
            if len(likely) == _TRIED:
                break
        return likely

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
        own = self._from_cannon(ways, self._muzzle_point())
        yield False, ways.some(own), latest[own]
        if self._lamp is not None:
            thrown = self._from_cannon(ways, self._muzzle_shadow())
            yield True, ways.some(thrown), latest[thrown]

    def _muzzle_shadow(self) -> FloatArray | None:
        """Give the muzzle's shadow as it is seen on the comparison plane."""
        if self._scene.muzzle_mm is None or self._lamp is None:
            return None
        thrown = self._lamp.shadow(np.array([self._scene.muzzle_mm]))
        point: FloatArray = self._view.on_plane(self._view.project(thrown), PLANE_MM)[0]
        return point

    def _from_cannon(self, ways: Ways, muzzle: FloatArray | None) -> BoolArray:
        """Which ways come from the muzzle, or where that is not known from behind the first line, at the release."""
        fire_us, speeds = self._scene.fire_us, ways.speeds
        if muzzle is None:
            edge = -45.0 if self._ahead > 0 else self._scene.length_mm + 45.0
            flown_ms = (edge - ways.points_mm[:, 1]) / ways.velocities[:, 1]
            x = ways.points_mm[:, 0] + flown_ms * ways.velocities[:, 0]
            behind: BoolArray = (x >= -20.0) & (x <= self._scene.width_mm + 20.0)
            if fire_us is not None:
                # Where exactly the muzzle is adds to what the release may be off.
                slack_ms = _RELEASE_SLACK_MS + 40.0 / np.abs(ways.velocities[:, 1])
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

    def _late(self, first_y_mm: FloatArray, ahead_mps: FloatArray) -> FloatArray:
        """Penalty for pictures between the muzzle and the first streak that should have shown the shot."""
        start_mm = 0.0 if self._ahead > 0 else self._scene.length_mm
        away_ms = np.abs(first_y_mm - start_mm) / np.maximum(np.abs(ahead_mps), 1e-6)
        late: FloatArray = _LATE_SHARE * away_ms / 1000.0 * self._scene.fps
        return late

    def _only_one_streak(self, start: int) -> _Draft | None:
        """Find a flight so short that one picture shows it: from the known muzzle, at the known time, to one streak."""
        best: tuple[float, _Draft] | None = None
        for k in range(start, min(start + 4, self._end)):
            for sight in self._finder.sights(k):
                draft = self._from_one_streak(sight)
                if draft is None:
                    continue
                score = sight.worth - 0.5 * (k - start)
                if best is None or score > best[0]:
                    best = (score, draft)
        return None if best is None else best[1]

    def _from_one_streak(self, sight: Sight) -> _Draft | None:
        """Describe the flight from the muzzle that made a streak, where its place and shape allow one."""
        muzzle, fire_us = self._muzzle_point(), self._scene.fire_us
        if muzzle is None or fire_us is None:
            return None
        line = self._straight_from(muzzle, fire_us / 1000.0, sight)
        if line is None or not self._finder.shaped(sight, line.velocity):
            return None
        prior = self._muzzle_prior(line)
        return _Draft(prior, (sight,), self._fit(prior, [sight]))

    def _ends(self, sight: Sight, heading: FloatArray) -> Sequence[Sight]:
        """Where a long smear begins and ends, as two sights: together they show its direction and speed."""
        s = sight.streak
        exposure_us = self._finder.exposure_us
        if exposure_us is None or s.length_px < _DIRECTED_PX:
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

    def _straight_from(self, muzzle: FloatArray, fire_ms: float, sight: Sight) -> Way | None:
        """Draw the way from the muzzle to a streak; along the smear where the streak is still at the muzzle."""
        way = sight.point_mm - muzzle
        far = float(np.hypot(*way))
        flown_ms, open_ms = sight.time_ms - fire_ms, self._finder.open_ms(sight)
        if far > 25.0:
            velocity = way / max(flown_ms, 1e-3)
        elif open_ms is not None and sight.streak.length_px >= _DIRECTED_PX:
            smear_mm = sight.streak.length_px * self._mm_per_px
            velocity = sight.axis * np.sign(sight.axis[1]) * self._ahead * smear_mm / open_ms
        else:
            return None
        if not _SPEED_RANGE_MPS[0] <= float(np.hypot(*velocity)) <= _SPEED_RANGE_MPS[1]:
            return None
        if velocity[1] * self._ahead * _SIDEWAYS < abs(velocity[0]):
            return None
        return Way(fire_ms, muzzle, velocity)

    def _muzzle_prior(self, line: Way) -> FlightPrior:
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
        sights: Sequence[Sight],
        passes: Waypoint | None = None,
        *,
        robust: bool = False,
        near: FlightFit | None = None,
    ) -> FlightFit:
        own = [s for s in sights if not s.is_shadow]
        if len(own) == 1 and len({s.streak.frame for s in sights}) == 1:
            own = list(self._ends(own[0], prior.mean[4:6]))
        return fit_flight(
            self._view,
            _seen(own),
            prior,
            passes=passes,
            shadows=self._shadows(sights),
            robust=robust,
            near=near,
        )

    def _shadows(self, sights: Sequence[Sight]) -> Shadows | None:
        thrown = _thrown(sights)
        return None if self._lamp is None or not thrown else Shadows(self._lamp, _seen(thrown))

    def _grow(self, prior: FlightPrior, sights: Sequence[Sight]) -> _Draft:
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
        for k in range(kept[-1].streak.frame + 1, self._end):
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
            fit = self._fit(prior, kept, near=fit)
        return _Draft(prior, tuple(kept), fit)

    def _adding(
        self, prior: FlightPrior, kept: list[Sight], fit: FlightFit, new: Sequence[Sight]
    ) -> tuple[list[Sight], FlightFit, bool]:
        """Take new sights into a flight if it explains them as well; says whether it does."""
        more = sorted([*kept, *new], key=lambda s: s.streak.frame)
        trial = self._fit(prior, more, near=fit)
        own = [r for r, s in zip(trial.residuals_px, _own(more), strict=False) if s in new]
        thrown = [r for r, s in zip(trial.shadow_residuals_px, _thrown(more), strict=False) if s in new]
        good = max(own, default=0.0) <= 2.5 and max(thrown, default=0.0) <= _STRAY_SHADOW_PX
        if good and trial.misfit - fit.misfit <= 16.0 * len(new):
            return more, trial, True
        return kept, fit, False

    def _near(self, fit: FlightFit, k: int) -> list[Sight]:
        """Streaks of picture k that the flight leads to: the shot, its shadow, or both."""
        own, thrown = self._nearest(fit, k), self._nearest_shadow(fit, k)
        if own is not None and thrown is not None and own.streak is thrown.streak:
            # Near the board the two run together; what is seen of both is neither's middle.
            thrown = None
        return [s for s in (own, thrown) if s is not None]

    def _counterpart(self, fit: FlightFit, sight: Sight) -> Sight | None:
        """Find the shadow of a sight of the shot, or the shot that throws a sighted shadow."""
        found = (self._nearest if sight.is_shadow else self._nearest_shadow)(fit, sight.streak.frame)
        return None if found is None or found.streak is sight.streak else found

    def _nearest_shadow(self, fit: FlightFit, k: int) -> Sight | None:
        """Find the streak of picture k where the flight throws its shadow, if there is one."""
        lamp = fit.lamp or self._lamp
        points = self._finder.points_mm(k)
        if lamp is None or not len(points):
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
        off = points - on_plane
        distance = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
        distance[~self._finder.dark(k)] = np.inf
        best = int(np.argmin(distance))
        if distance[best] > 9.0 or float(np.hypot(*off[best])) > _SHADOW_REACH_PX * self._mm_per_px:
            return None
        near = replace(self._finder.sight(k, best), is_shadow=True)
        return near if self._finder.shaped(near, fit.flight.velocity_at(time_us)[:2]) else None

    # ---- a closer look at what was found

    def _look_closer(self, plain: _Draft) -> None:
        """Learn from a flight what the shot looks like, and how the camera was held before it."""
        own = _own(plain.sights)
        begin = own[0].streak.frame
        self._steady = Steady(typical(self._frames[max(0, begin - _STILL_PICTURES) : max(1, begin)]))
        self._fitter = SmearFitter(self._frames, self._times, SHOT_DIAMETER_MM / self._mm_per_px)
        self._fitter.learn(
            [
                (s.streak.frame, _place_px(s), self._smeared(plain.fit.flight, s.streak.frame)[1])
                for s in sorted(own, key=lambda s: -s.streak.contrast)[:_PLAIN_SMEARS]
            ]
        )

    def _sharpened(self, draft: _Draft, since: int = 0) -> _Draft:
        """Measure again where the shot lies in each picture, now that its colour, speed and direction are known.

        Pictures before the given one are another flight's.
        """
        if self._finder.exposure_us is None or len(_own(draft.sights)) < _FEWEST_PLAIN:
            return draft  # two may be strangers
        if self._fitter is None:
            self._look_closer(draft)
        if self._fitter is None:
            return draft
        sights = []
        for sight in draft.sights:
            k = sight.streak.frame
            way = self._smeared(draft.fit.flight, k)[1]
            smear = None if sight.is_shadow else self._fitter.fit(k, _place_px(sight), way)
            if smear is not None and smear.gain >= _PLAIN_GAIN:
                sights.append(self._measured(sight, smear))
            else:
                sights.append(_placed(sight, _place_px(sight) - self._sway(k)))
        return self._followed(self._cleaned(draft.prior, sights, near=draft.fit), since)

    def _cleaned(self, prior: FlightPrior, sights: Sequence[Sight], near: FlightFit) -> _Draft:
        """Leave out sights far off what the others tell: patches in which the shot ran together with something."""
        kept = list(sights)
        fit = self._fit(prior, kept, near=near)
        while _furthest_px(fit) > _SPOILT_SIGMAS * _SIGHT_PX and len(_own(kept)) > _FEWEST_PLAIN:
            # Not always the farthest off is the odd one, but the one without which the others agree.
            far_px = dict(zip(map(id, _own(kept)), fit.residuals_px, strict=True))
            far_px |= dict(zip(map(id, _thrown(kept)), fit.shadow_residuals_px, strict=True))
            suspects = {id(s) for s in sorted(kept, key=lambda s: -far_px[id(s)])[:_SUSPECTS]}
            suspects |= {id(s) for s in (kept[0], kept[-1])}
            without = [[s for s in kept if s is not odd] for odd in kept if id(odd) in suspects]
            fits = [self._fit(prior, each, near=fit) for each in without]
            best = min(range(len(fits)), key=lambda i: fits[i].misfit)
            kept, fit = without[best], fits[best]
        return _Draft(prior, tuple(kept), fit)

    def _followed(self, draft: _Draft, since: int) -> _Draft:
        """Look for the shot where the flight puts it in pictures that show no streak there."""
        if self._fitter is None:
            return draft
        first, last = draft.pictures[0], draft.pictures[-1]
        missed = 0
        for k in range(max(first - _EARLIER_PICTURES, since), min(last + _LATER_PICTURES, self._end)):
            if any(s.streak.frame == k and not s.is_shadow for s in draft.sights):
                continue
            middle, way = self._smeared(draft.fit.flight, k)
            if 1000.0 * self._finder.middle_ms(k) <= draft.fit.flight.start_us - _START_SLACK_US:
                continue
            if self._spread_px(draft.fit, k) > _HIDDEN_SPREAD_PX:
                continue
            sight = self._hidden(k, middle, way)
            if sight is not None and self._off(draft.fit, sight) <= _HIDDEN_SIGMAS:
                sights = sorted([*draft.sights, sight], key=lambda s: s.streak.frame)
                fit = self._fit(draft.prior, sights, near=draft.fit)
                if fit.misfit - draft.fit.misfit <= _HIDDEN_SIGMAS**2:
                    draft = _Draft(draft.prior, tuple(sights), fit)
                    missed = 0
                    continue
            missed += k > last
            if missed > 1:
                break
        return draft

    def _hidden(self, k: int, middle: FloatArray, way: FloatArray) -> Sight | None:
        """Look for the shot near a place of picture k that shows no streak of it."""
        place = middle + self._sway(k)
        if self._fitter is None or not self._over_board(self._on_plane(place)):
            return None
        smear = self._fitter.fit(k, place, way)
        if smear is None or smear.gain < _HIDDEN_GAIN or not _SHOWN[0] <= smear.share <= _SHOWN[1]:
            return None
        return self._unseen(k, smear, way)

    def _begun_again(self, drafts: list[_Draft]) -> list[_Draft]:
        """Look for a first flight that no two streaks show, now that it is known what the shot looks like.

        It leads from the muzzle at the release to somewhere just before the next flight; where exactly is tried out.
        """
        muzzle, fire_us = self._scene.muzzle_mm, self._scene.fire_us
        start = self._muzzle_point()
        if len(drafts) < 2 or len(drafts[0].pictures) > 1 or self._fitter is None:
            return drafts
        if muzzle is None or fire_us is None or start is None:
            return drafts
        following = self._followed(drafts[1], since=0)
        begin = following.pictures[0]
        best: _Draft | None = None
        for turn_us in np.linspace(self._times[begin - 1], self._times[begin], _TURNS):
            flown_ms = (float(turn_us) - fire_us) / 1000.0
            if flown_ms <= 0:
                continue
            velocity = (following.fit.flight.at(turn_us)[0] - muzzle) / flown_ms
            velocity[2] += GRAVITY_MM_PER_MS2 / 2 * flown_ms
            flight = Flight(float(fire_us), np.array(muzzle), velocity)
            pictures = [k for k in range(begin) if fire_us < 1000.0 * self._finder.middle_ms(k) < turn_us]
            found = [self._hidden(k, *self._smeared(flight, k)) for k in pictures]
            sights = tuple(sight for sight in found if sight is not None)
            if len(sights) < 2 or (best is not None and len(sights) < len(best.sights)):
                continue
            prior = self._muzzle_prior(Way(fire_us / 1000.0, start, velocity[:2]))
            draft = _Draft(prior, sights, self._fit(prior, sights))
            better = best is None or (len(sights), -draft.fit.misfit) > (len(best.sights), -best.fit.misfit)
            if better and draft.fit.misfit <= _BEGUN_MISFIT * len(sights):
                best = draft
        return drafts if best is None else [best, following, *drafts[2:]]

    def _spread_px(self, fit: FlightFit, k: int) -> float:
        """How far off a flight may put the shot in picture k."""
        spread = fit.spread_at(1000.0 * self._finder.middle_ms(k))[0]
        return float(np.sqrt(np.trace(spread[:2, :2]))) / self._mm_per_px

    def _unseen(self, k: int, smear: Smear, way: FloatArray) -> Sight:
        """Make a sight of a smear that is no streak."""
        length_px = float(np.hypot(*way))
        along = way / max(length_px, 1e-9)
        width_px = SHOT_DIAMETER_MM / self._mm_per_px
        streak = Streak(
            k,
            self._times[k],
            0.0,
            0.0,
            length_px,
            width_px,
            (float(along[0]), float(along[1])),
            _FAINT_CONTRAST,
        )
        bare = Sight(streak, self._finder.middle_ms(k), np.zeros(2), np.zeros(2), _HIDDEN_STRENGTH)
        sight = self._measured(bare, smear)
        points = self._view.on_plane(np.array([_place_px(sight), _place_px(sight) + along]), PLANE_MM)
        axis = points[1] - points[0]
        return replace(sight, point_mm=points[0], axis=axis / max(float(np.hypot(*axis)), 1e-9))

    def _measured(self, sight: Sight, smear: Smear) -> Sight:
        """Put a sight where a smear was measured."""
        moved = _placed(sight, smear.place_px - self._sway(sight.streak.frame))
        sigmas = np.hypot(smear.sigmas_px, self._blind_px)
        ends = float(np.hypot(sigmas[0], _PLAIN_ENDS * sight.streak.length_px))
        return replace(moved, sigmas_px=(ends, float(sigmas[1])))

    def _sway(self, k: int) -> FloatArray:
        """How far the camera's shaking moved picture k, (u, v) px."""
        if k not in self._sways:
            sway = STILL if self._steady is None else self._steady.measure(self._frames[k])
            self._sways[k] = np.array([sway.du_px, sway.dv_px])
        return self._sways[k]

    def _on_plane(self, place_px: FloatArray) -> FloatArray:
        point: FloatArray = self._view.on_plane(place_px[None], PLANE_MM)[0]
        return point

    def _smeared(self, flight: Flight, k: int) -> tuple[FloatArray, FloatArray]:
        """Where a flight puts the smear of picture k, (u, v), and its direction times its length, px."""
        middle_us, open_us = 1000.0 * self._finder.middle_ms(k), 1000.0 * (self._finder.open_ms_of(k) or 0.0)
        begin, middle, end = self._view.project(
            flight.at(np.array([middle_us - open_us / 2, middle_us, middle_us + open_us / 2]))
        )
        return middle, end - begin

    def _joined(self, drafts: Sequence[_Draft]) -> list[_Draft]:
        """Make one flight of two wherever one explains the sights of both about as well."""
        joined = [drafts[0]]
        for draft in drafts[1:]:
            last = joined[-1]
            sights = (*last.sights, *draft.sights)
            fit = self._fit(last.prior, sights, robust=True, near=last.fit)
            apart = sum(self._fit(d.prior, d.sights, robust=True, near=d.fit).misfit for d in (last, draft))
            worse = fit.misfit - apart
            if worse < _JOIN_LOSS and _furthest_px(fit) < _STRAY_PX:
                joined[-1] = _Draft(last.prior, sights, fit)
            else:
                joined.append(draft)
        return joined

    def _handed_over(self, drafts: Sequence[_Draft]) -> list[_Draft]:
        """Give what a flight begins with to the one before, where that leads there and its own rest does not."""
        handed = list(drafts)
        for i in range(1, len(handed)):
            while len(handed[i].pictures) > _FEWEST_PLAIN:
                before, draft = handed[i - 1], handed[i]
                first, rest = draft.until(draft.pictures[0]), draft.after(draft.pictures[0])
                own = _own(first)
                # Where the flight itself begins is not asked: it begins with what is in question.
                alone = self._fit(_loosened(draft.prior), rest, near=draft.fit)
                if not own or self._off(alone, own[0]) <= _STRAY_SIGMAS:
                    break
                if self._off(before.fit, own[0]) > _STRAY_SIGMAS:
                    break
                sights = (*before.sights, *first)
                fit = self._fit(before.prior, sights, near=before.fit)
                handed[i - 1] = self._sharpened(_Draft(before.prior, sights, fit), before.pictures[0])
                handed[i] = _Draft(_loosened(draft.prior), rest, alone)
        return handed

    def _trimmed(self, draft: _Draft) -> _Draft:
        """Leave out what was seen last where the rest leads elsewhere: the shot has touched something before."""
        while len(draft.pictures) > _FEWEST_TRIMMED:
            before = draft.pictures[-2]
            kept = draft.until(before)
            fit = self._fit(draft.prior, kept, near=draft.fit)
            off = [self._off(fit, s) for s in draft.after(before) if not s.is_shadow]
            if max(off, default=0.0) <= _STRAY_SIGMAS:
                break
            draft = _Draft(draft.prior, kept, fit)
        return draft

    def _off(self, fit: FlightFit, sight: Sight) -> float:
        """How many standard deviations a sight is off a flight that does not know it."""
        time_us = 1000.0 * sight.time_ms
        where = fit.flight.at(time_us)[0]
        pixels = self._view.project(np.concatenate([where[None], where + np.eye(3)]))
        slopes = (pixels[1:] - pixels[0]).T
        seen = _seen([sight])
        whitening = seen.whitening[0]
        spread = whitening @ slopes @ fit.spread_at(time_us)[0] @ slopes.T @ whitening.T + np.eye(2)
        off = whitening @ (seen.pixels[0] - pixels[0])
        return float(np.sqrt(off @ np.linalg.solve(spread, off)))

    def _bounced(self, drafts: Sequence[_Draft]) -> list[_Draft]:
        """Cut flights at their bounces off the board; what follows one may go on in the next flight."""
        bounced: list[_Draft] = []
        open_end = False
        for draft in drafts:
            parts = self._split_at_board(draft)
            if open_end:
                parts[:1] = self._joined([bounced.pop(), parts[0]])
            bounced += parts
            open_end = len(parts) > 1
        return bounced

    def _split_at_board(self, draft: _Draft) -> list[_Draft]:
        """Cut a flight in two where a bounce off the board explains its sights much better than none."""
        pictures = draft.pictures
        if draft.fit.misfit < _BOUNCE_GAIN or len(pictures) < _FEWEST_ROUND_BOUNCE:
            return [draft]
        free = self._fit(draft.prior, draft.sights, robust=True, near=draft.fit)
        shadows = self._shadows(draft.sights)
        own = _seen(_own(draft.sights))
        falling = []
        # After the bounce two pictures at least must show where the shot goes.
        for i in range(0, len(pictures) - 2, max(1, (len(pictures) - 2) // _LANDINGS)):
            until = draft.until(pictures[i])
            near = self._fit(draft.prior, until, near=free)
            falling.append((near, (self._times[pictures[i]] + self._times[pictures[i + 1]]) / 2.0))
        best = fit_bounced(self._view, own, draft.prior, shadows=shadows, falling=falling)
        if best is None or free.misfit - best.misfit < _BOUNCE_GAIN:
            return [draft]
        before = tuple(s for s in draft.sights if 1000.0 * s.time_ms <= best.landing_us)
        after = tuple(s for s in draft.sights if 1000.0 * s.time_ms > best.landing_us)
        if not before or not after:
            return [draft]
        return [_Draft(draft.prior, before, best.before), _Draft(best.after_prior, after, best.after)]

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

    # ---- flights after a contact

    def _next_way(self, draft: _Draft) -> tuple[float, Way, list[Sight]] | None:
        """Find the way that starts where this flight ends, with how much speaks for it and what lies on it."""
        begin = draft.sights[-1].streak.frame + 1
        end = min(begin + _LATER_PICTURES, self._end)
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
        traced = ways.points_mm[:, None] + since_ms[:, :, None] * ways.velocities[:, None]
        off_mm = np.hypot(*np.moveaxis(flown_mm - traced, 2, 0))
        until = np.searchsorted(flown_ms, np.array(self._times)[first] / 1000.0)
        off_mm[np.arange(len(flown_ms)) > until[:, None]] = np.inf
        apart_mm = off_mm.min(axis=1)
        able = apart_mm <= _MOST_APART_MM
        ways, first, apart_mm = ways.some(able), first[able], apart_mm[able]
        if not len(ways):
            return None
        agreement = self._finder.agreeing(ways, first, np.minimum(first + 10, self._end), 4.0)
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

    def _flown(self, draft: _Draft, times_ms: FloatArray) -> FloatArray:
        """Where a flight would be seen on the comparison plane if it went on, shape (N, 2)."""
        flown = draft.fit.flight.at(times_ms * 1000.0)
        flown[:, 2] = np.maximum(flown[:, 2], SHOT_DIAMETER_MM / 2)
        return self._view.on_plane(self._view.project(flown), PLANE_MM)

    def _contact_prior(self, draft: _Draft, line: Way, sights: Sequence[Sight]) -> FlightPrior:
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


def _seen(sights: Sequence[Sight]) -> Seen:
    """Give when, where and how well sights were seen."""
    streaks = [s.streak for s in sights]
    across = np.array([_SHADOW_PX if s.is_shadow else _SIGHT_PX for s in sights])
    # Of a smear that hardly stands out, only parts are seen: its line is known better than its middle.
    contrast = np.array([s.contrast for s in streaks])
    faint = np.clip((_PLAIN_CONTRAST - contrast) / (_PLAIN_CONTRAST - _FAINT_CONTRAST), 0.0, 1.0)
    length = np.array([s.length_px for s in streaks])
    along = np.hypot(across, (_PLAIN_ENDS + faint * (_FAINT_ENDS - _PLAIN_ENDS)) * length)
    sigmas = np.column_stack([along, across * (1 + 1.5 * faint)]).reshape(-1, 2)
    for sigma, sight in zip(sigmas, sights, strict=True):
        if sight.sigmas_px is not None:
            sigma[:] = sight.sigmas_px
    return Seen(
        np.array([1000.0 * s.time_ms for s in sights]),
        np.array([(s.u_px, s.v_px) for s in streaks]).reshape(-1, 2),
        np.array([s.axis for s in streaks]).reshape(-1, 2),
        sigmas,
    )


def _loosened(prior: FlightPrior) -> FlightPrior:
    """Let a flight begin somewhere near where it was thought to."""
    sigma = prior.sigma.copy()
    sigma[:4] = np.maximum(sigma[:4], [6000.0, 20.0, 20.0, 20.0])
    return FlightPrior(prior.mean, sigma)


def _place_px(sight: Sight) -> FloatArray:
    return np.array([sight.streak.u_px, sight.streak.v_px])


def _placed(sight: Sight, place_px: FloatArray) -> Sight:
    return replace(sight, streak=replace(sight.streak, u_px=float(place_px[0]), v_px=float(place_px[1])))


def _own(sights: Sequence[Sight]) -> list[Sight]:
    return [s for s in sights if not s.is_shadow]


def _thrown(sights: Sequence[Sight]) -> list[Sight]:
    return [s for s in sights if s.is_shadow]


def _furthest_px(fit: FlightFit) -> float:
    """How far the worst sight of the shot or its shadow is off a flight."""
    return float(max(fit.residuals_px.max(initial=0.0), fit.shadow_residuals_px.max(initial=0.0)))
