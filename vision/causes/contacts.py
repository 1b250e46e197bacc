"""What the shot touched on its way, in which order, when and where.

Between two flights the shot touched something. Each explanation of such a turn is weighed by how well it fits: a
single touch needs both flights to meet at a body or at the board, two touches need the flight before to meet the
first body and the flight after, traced back, the second; no touch at all needs both flights to be one. A soldier that
moved speaks for having been touched when it began to move, one that did not stir speaks against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from game.montecassino import Square
from vision.outcome import Soldier, Standing
from vision.shot import Leg, ShotTrack

__all__ = ["STRANGERS", "Course", "ShotContacts", "Touch", "find_contacts", "stirring_cost"]

FloatArray = NDArray[np.float64]

_SHOT_RADIUS_MM = 3.0
_USUAL_SPEED_MPS = 8.0
# Centre of the shot to the middle of the foot of the soldier it strikes: legs and trunk are narrow, arms and rifle
# reach out to 20 mm, and the foot is known to a few mm.
_STRIKE_REACH_MM = 10.5
_STRIKE_SIGMA_MM = 5.5
_CORE = 0.11  # radius of what is solid at any height, as a share of the height
_CORE_SIGMA_MM = 2.0
_PAST_SIGMA_MM = 3.0
_BOARD_SIGMA_MM = 2.0
_BOARD_TURN_SIGMA_RAD = 0.10  # the board takes speed, but hardly changes the direction over it
# Rubbing takes so much of the speed over the board for each m/s of fall (friction times one and the rebound), at most
# what it takes to make the shot roll; of 85 bounces of the twin, median and spread.
_RUBBED = 0.5
_ROLLING_LOSS = 2 / 7
_KEPT_ON_BOARD_SIGMA = 0.04
_MOST_OFF_COST = 6.0
_MODEL_SIGMA_MM = 1.5  # what the flight's equation leaves out
_SPEED_SIGMA_MPS = 0.35
_SHADOW_MM = 12.0

# A soldier takes speed from the shot; only a graze leaves it nearly all.
_USUAL_KEPT = 0.8
_KEPT_SIGMA = 0.2
STRANGERS = 2
"""So many sights can be strangers to each other, or of the shot after it struck: where the time of release was not told, 7 of
15 such flights did not begin at the cannon; of 33 of more sights all did."""

# Costs are halves of squared standard deviations, as log-likelihoods are.
_SECOND_TOUCH_COST = 2.5
_BOARD_COST = 1.5  # a shot is aimed at soldiers
_UNKNOWN_COST = 9.0
_MOST_SUNK_COST = 2.0  # one height in ten is read wrongly, by any amount
_SHADOW_COST = 4.0
_UNMOVED_COST = 4.0
_PASSING_COST = 4.0
_FAR_FETCHED = 8.0
_UNTOUCHED_SHARE = 0.03
# That what was followed up to the first motion of a soldier was not the shot, but its shadow or a soldier's head. What
# the turns up to there cost together is 1 to 4 on most ways that were the shot's.
_MISREAD_COST = 9.5
_MOST_STRAINED = 12.0
_LED_ASTRAY = 0.1  # a way that was read wrongly leads anywhere
# A shot is aimed at soldiers: of 550 of the twin 2 % touched the board before the first soldier, of shots filmed
# otherwise more. The turns weigh the board as they would anywhere on the way; this makes up the difference.
_ELSE_FIRST_SHARE = 0.05
# How much likelier it is that a flight is cut in two before the first soldier where it bounced: of 550 of the twin two
# were cut in two by a bounce that there was not.
_CUT_SHARE = 15.0
_HEIGHT_SIGMA_MM = 2.5  # on top of what the fit states: so it was with 57 flights that stated less than 6
_USUAL_FALL_MM, _LEAST_FALL_MM = 12.0, 3.0  # from where a shot is seen last to a soldier
# So many sights at the end may be of the time after a bounce without showing it: of 27 bounces 10 had them.
_UNTOLD_SIGHTS = 1
_BOUNCE_STEPS = 24
# A millimetre: a flight that was read wrongly may seem at any height. Of 67 that stated 3.5 mm and more 6 were off by more than
# three standard deviations and 10 mm; of 36 that stated less, most of which by their shadows, none was.
_STRAY_DENSITY, _STRAYING_MM = 1e-3, 5.0
_LONGEST_FLIGHT_US = 200_000
_UNSEEN_FIRST = 0.97  # how often the first soldier that a shot met was the first of all that it met
# Per cosine of the turn to the next that it struck: of 78 shots of the twin that felled two, 61 had turned by less than 100
# degrees at the first.
_ONWARD = 0.6
_TURNED_COST = 1.5  # a soldier may send the shot anywhere; the density of the one way that it took
_STEP_MS = 0.4
_EDGE_US = 500.0  # a turn may lie within the exposure of the pictures on either side
# A soldier struck by the shot is seen to move in the next picture (98 of 100 no more than 1.2 ms after it), seldom much
# later, where the blow was weak; a shot in front of it may be taken for its motion up to 2 ms early.
_STIR_MS = 2.0
_STIR_SIGMA_MS = 4.0
_EARLY_MS = 3.0
_EARLY_SIGMA_MS = 2.5
_MISTIMED_COST = 3.0
_OPEN_END_MS, _OPEN_END_FRAMES = 20.0, 3.5
_KEPT_COURSES = 64
_LEAST_SHARE = 1e-4


@dataclass(frozen=True, slots=True)
class Touch:
    """One touch of the shot."""

    square: Square | None
    """Whose soldier; ``None`` for the board or something unknown."""
    on_board: bool
    """Whether it was the playing surface."""
    time_us: float
    point_mm: tuple[float, float, float]
    """The shot's centre, board frame."""
    speed_mps: float = _USUAL_SPEED_MPS
    """How fast it came, over the board."""


@dataclass(frozen=True, slots=True)
class Course:
    """One possible account of the whole way: every touch in order."""

    touches: tuple[Touch, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class ShotContacts:
    """All accounts of the shot's way that are worth keeping, the likeliest first; probabilities add up to one."""

    courses: tuple[Course, ...]

    @property
    def first(self) -> Touch | None:
        """The likeliest first touch, all accounts taken together; ``None`` where nothing was touched."""
        shares: dict[tuple[Square | None, bool] | None, float] = {}
        for course in self.courses:
            start = course.touches[0] if course.touches else None
            key = None if start is None else (start.square, start.on_board)
            shares[key] = shares.get(key, 0.0) + course.probability
        best = max(shares, key=lambda key: shares[key], default=None)
        if best is None:
            return None
        starts = (course.touches[0] for course in self.courses if course.touches)
        return next(touch for touch in starts if (touch.square, touch.on_board) == best)


@dataclass(frozen=True, slots=True)
class _Account:
    """One explanation of one turn."""

    cost: float
    touches: tuple[Touch, ...]


def find_contacts(
    track: ShotTrack,
    standing: Standing,
    stirred_us: Mapping[Square, int],
    *,
    frame_us: float,
    shot_from_mm: tuple[float, float],
) -> ShotContacts:
    """Weigh what the shot may have touched.

    Parameters
    ----------
    track
        The shot's way.
    standing
        Who stood where before the shot.
    stirred_us
        First picture in which each soldier that fell or was pushed had moved.
    frame_us
        Time between two pictures.
    shot_from_mm
        Where it came from (x, y): the muzzle, or a place far behind it.
    """
    if not track.found:
        return ShotContacts(_guessed(track, standing, stirred_us, frame_us, shot_from_mm))
    first_to_stir = _first_to_stir(track, stirred_us, frame_us)
    first_us = min((stirred_us[square] for square in first_to_stir), default=0)
    turns: list[tuple[_Account, ...]] = []
    strained = 0.0
    for i, leg in enumerate(track.legs):
        seen_from_us = leg.first_us + _EDGE_US if i else leg.flight.start_us
        turns.append(_in_passing(leg, seen_from_us, standing, stirred_us, frame_us))
        after = track.legs[i + 1] if i + 1 < len(track.legs) else None
        turn = _Turn(leg, after, standing, stirred_us, frame_us, from_cannon=i == 0)
        turns.append(
            turn.accounts() if after is not None else turn.open_end(over_board=track.lost_over_board)
        )
        if leg.last_us < first_us + frame_us and (after is not None or track.lost_over_board):
            strained += min(account.cost for account in turns[-1])
    courses: list[tuple[float, tuple[Touch, ...]]] = [(1.0, ())]
    for accounts in turns:
        least = min(a.cost for a in accounts)
        weighed = [(float(np.exp(least - a.cost)), a.touches) for a in accounts]
        grown = [
            (share * weight, (*touches, *more)) for share, touches in courses for weight, more in weighed
        ]
        courses = sorted(grown, key=lambda c: -c[0])[:_KEPT_COURSES]
    courses = [
        each for course in courses for each in _perhaps_bounced(track, *course, standing.height_mm, first_us)
    ]
    if first_to_stir:
        # Nobody else was there to push the first one that moved.
        untouched = sum(share for share, touches in courses if not touches)
        courses = [
            (share if any(t.square in first_to_stir for t in touches) else share * _UNTOUCHED_SHARE, touches)
            for share, touches in courses
            if touches
        ]
        # The less the turns before fit the flights, the likelier it was not the shot that was followed.
        misread = float(np.exp(min(strained, _MOST_STRAINED) - _MISREAD_COST))
        sights_us = [streak.timestamp_us for leg in track.legs for streak in leg.streaks]
        surely_its_way = sum(us < first_us for us in sights_us) > STRANGERS
        courses += [
            (share * guess.probability, guess.touches)
            for share, believed in ((untouched * _UNTOUCHED_SHARE, surely_its_way), (misread, False))
            for guess in _guessed(track, standing, stirred_us, frame_us, shot_from_mm, believed=believed)
        ]
        courses.sort(key=lambda c: -c[0])
    total = sum(share for share, _ in courses)
    return ShotContacts(
        tuple(Course(touches, share / total) for share, touches in courses if share / total >= _LEAST_SHARE)
    )


def _guessed(
    track: ShotTrack,
    standing: Standing,
    stirred_us: Mapping[Square, int],
    frame_us: float,
    shot_from_mm: tuple[float, float],
    *,
    believed: bool = False,
) -> tuple[Course, ...]:
    """Accounts of a shot that was not seen to touch anything: it touched the first that moved, nearly always first.

    Of several that moved in one picture it touched that one likelier from which the others lie ahead.
    believed: whether the way that was seen is taken to be the shot's. Where it does not lead to the first that moved,
    something turned it.
    """
    if not stirred_us:
        return ()
    firsts = _first_to_stir(track, stirred_us, frame_us) or _earliest(stirred_us, frame_us)
    release_us = track.release_us
    if release_us is not None and min(stirred_us[s] for s in firsts) - release_us > _LONGEST_FLIGHT_US:
        return (Course((), 1.0),)
    courses = []
    there = {square: soldier for square in sorted(firsts) if (soldier := standing.at(square)) is not None}
    for square, soldier in there.items():
        time_us = float(stirred_us[square]) - frame_us / 2
        way = np.zeros(2)
        if track.found:
            velocity = track.legs[-1].flight.velocity_at(float(track.legs[-1].last_us))[:2]
            way = velocity / max(float(np.hypot(*velocity)), 1e-6)
        x_mm, y_mm = np.array([soldier.x_mm, soldier.y_mm]) - _STRIKE_REACH_MM * way
        touch = Touch(square, False, time_us, (float(x_mm), float(y_mm), standing.height_mm / 2))
        before = Touch(None, False, time_us - frame_us / 2, touch.point_mm)
        near = _led_to(track, soldier, stirred_us[square], frame_us)
        onward = _flown_on(soldier, there.values(), shot_from_mm)
        courses += [
            Course((touch,), onward * _UNSEEN_FIRST * (near if believed else max(near, _LED_ASTRAY))),
            Course((before, touch), onward * (1 - _UNSEEN_FIRST) * max(near, _LED_ASTRAY)),
        ]
    total = sum(course.probability for course in courses)
    return tuple(replace(course, probability=course.probability / total) for course in courses)


def _flown_on(first: Soldier, others: Iterable[Soldier], shot_from_mm: tuple[float, float]) -> float:
    """How well a shot that struck one soldier first flies on to the others."""
    foot = np.array([first.x_mm, first.y_mm])
    way = foot - shot_from_mm
    share = 1.0
    for other in others:
        if other is not first:
            ahead = np.array([other.x_mm, other.y_mm]) - foot
            share *= float(np.exp(_ONWARD * (ahead @ way) / (np.hypot(*ahead) * np.hypot(*way))))
    return share


def _led_to(track: ShotTrack, soldier: Soldier, stirred_us: int, frame_us: float) -> float:
    """How well the way that was seen before a soldier moved leads to it, if it goes on."""
    seen = [leg for leg in track.legs if leg.first_us < stirred_us]
    if not seen:
        return 1.0
    leg = seen[-1]
    since_us = min(float(leg.last_us), stirred_us - frame_us)
    times_us = np.arange(since_us, max(float(stirred_us), leg.last_us + frame_us), 1000.0)
    away = np.hypot(*(leg.flight.at(times_us)[:, :2] - [soldier.x_mm, soldier.y_mm]).T)
    nearest = int(np.argmin(away))
    spread = leg.fit.spread_at(float(times_us[nearest]))[0]
    variance = _STRIKE_SIGMA_MM**2 + (spread[0, 0] + spread[1, 1]) / 2
    off = max(float(away[nearest]) - _STRIKE_REACH_MM, 0.0) ** 2 / variance
    return float(np.exp(-off / 2))


def _perhaps_bounced(
    track: ShotTrack, share: float, touches: tuple[Touch, ...], height_mm: float, first_us: float
) -> list[tuple[float, tuple[Touch, ...]]]:
    """Weigh an account by how seldom a shot touches something else before the first soldier; it may stand for two.

    From above a bounce just before that soldier hardly shows: had the shot touched nothing, it would have come to the
    soldier somewhere between its foot and its head; had it bounced before, its first flight would lead below the board
    there.
    """
    struck = next((i for i, t in enumerate(touches) if t.square is not None), None)
    if struck is None:
        # The first that moved was struck later, out of sight.
        elsewhere = bool(touches) and touches[0].time_us < first_us
        return [(share * _ELSE_FIRST_SHARE if elsewhere else share, touches)]
    leg, soldier = track.legs[0], touches[struck]
    seen_between = len(track.legs) > 1 and track.legs[1].first_us < soldier.time_us
    if struck > 0:
        if not seen_between or not touches[0].time_us <= track.legs[1].first_us:
            return [(share * _ELSE_FIRST_SHARE, touches)]
        # It was seen once more in between: its flight was cut in two there.
        over, _ = _heights_told(leg, soldier.time_us, height_mm)
        usual = 1 / height_mm + _STRAY_DENSITY
        return [(share * _ELSE_FIRST_SHARE * _CUT_SHARE * usual / over, touches)]
    if seen_between:
        return [(share, touches)]
    over, below = _heights_told(leg, soldier.time_us, height_mm)
    bounced = share * _ELSE_FIRST_SHARE * below / over
    return [(share, touches), (bounced, (_bounce_before(leg, soldier), *touches))]


def _heights_told(leg: Leg, time_us: float, height_mm: float) -> tuple[float, float]:
    """Density of the height at which a flight seems to come to a soldier: of one that meets it, and of one that bounced."""
    z_mm = float(leg.flight.at(time_us)[0, 2]) - _SHOT_RADIUS_MM
    stated_mm = float(np.sqrt(leg.fit.spread_at(time_us)[0, 2, 2]))
    sigma_mm = float(np.hypot(stated_mm, _HEIGHT_SIGMA_MM))
    over = (ndtr((height_mm - z_mm) / sigma_mm) - ndtr(-z_mm / sigma_mm)) / height_mm
    # It may have bounced at any time since it was seen last but one: the likelier the farther it fell.
    seen_mm = float(leg.flight.at(_surely_flown_us(leg, time_us))[0, 2]) - _SHOT_RADIUS_MM
    below = (ndtr(-z_mm / sigma_mm) - ndtr(-max(seen_mm, z_mm + _LEAST_FALL_MM) / sigma_mm)) / _USUAL_FALL_MM
    stray = _STRAY_DENSITY * min(1.0, stated_mm / _STRAYING_MM) ** 2
    return float(over) + stray, float(below) + stray


def _surely_flown_us(leg: Leg, struck_us: float) -> float:
    """Until when a shot had not bounced, as its sights tell."""
    return min(float(leg.streaks[-min(1 + _UNTOLD_SIGHTS, len(leg.streaks))].timestamp_us), struck_us)


def _bounce_before(leg: Leg, struck: Touch) -> Touch:
    """Where the shot touched the board, if it did so just before it struck a soldier."""
    times_us = np.linspace(_surely_flown_us(leg, struck.time_us), struck.time_us, _BOUNCE_STEPS)
    points = leg.flight.at(times_us)
    landed = np.flatnonzero(points[:, 2] <= _SHOT_RADIUS_MM)
    k = int(landed[0]) if len(landed) else _BOUNCE_STEPS // 2
    x, y = (float(v) for v in points[k, :2])
    speed_mps = float(np.hypot(*leg.flight.velocity_at(float(times_us[k]))[:2]))
    return Touch(None, True, float(times_us[k]), (x, y, _SHOT_RADIUS_MM), speed_mps)


def _first_to_stir(track: ShotTrack, stirred_us: Mapping[Square, int], frame_us: float) -> set[Square]:
    """Those who were the first to move after the release, all of one picture."""
    release_us = track.release_us
    if release_us is None:
        return set()
    if len(track.legs[0].streaks) > STRANGERS:
        stirred_us = {s: us for s, us in stirred_us.items() if us >= release_us - frame_us}
    return _earliest(stirred_us, frame_us)


def _earliest(stirred_us: Mapping[Square, int], frame_us: float) -> set[Square]:
    begin_us = min(stirred_us.values(), default=0)
    return {square for square, us in stirred_us.items() if us < begin_us + frame_us / 2}


def _in_passing(
    leg: Leg, begin_us: float, standing: Standing, stirred_us: Mapping[Square, int], frame_us: float
) -> tuple[_Account, ...]:
    """Explanations of a leg by itself: nothing touched, or one who moved just then, so lightly that no turn shows."""
    accounts = [_Account(0.0, ())]
    times_us = np.arange(begin_us, leg.last_us - _EDGE_US, 1000.0 * _STEP_MS)
    if len(times_us) < 2:
        return tuple(accounts)
    points = _above_board(leg.flight.at(times_us))
    for s in standing.soldiers:
        if s.square not in stirred_us:
            continue
        away = np.hypot(points[:, 0] - s.x_mm, points[:, 1] - s.y_mm)
        above = np.maximum(points[:, 2] - standing.height_mm - _SHOT_RADIUS_MM, 0.0)
        cost = np.maximum(away - _STRIKE_REACH_MM, 0.0) ** 2 / _STRIKE_SIGMA_MM**2 / 2 + above**2 / 100.0 / 2
        cost += stirring_cost(stirred_us[s.square], times_us, frame_us)
        if cost.min() < _FAR_FETCHED:
            share = _weights(cost)
            x, y, z = (float(c) for c in share @ points)
            speed_mps = float(np.hypot(*leg.flight.velocity_at(float(share @ times_us))[:2]))
            touch = Touch(s.square, False, float(share @ times_us), (x, y, z), speed_mps)
            accounts.append(_Account(float(cost.min()) + _PASSING_COST, (touch,)))
    return tuple(accounts)


def stirring_cost(stirred_us: int, times_us: FloatArray, frame_us: float) -> FloatArray:
    """Cost of a soldier's first motion being seen when it was, if it was touched at each instant."""
    lag_ms = (stirred_us - times_us) / 1000.0
    frame_ms = frame_us / 1000.0
    late = np.maximum(lag_ms - frame_ms - _STIR_MS, 0.0)
    early = np.maximum(-lag_ms - np.minimum(_EARLY_MS, 0.5 * frame_ms), 0.0)
    cost = (late / _STIR_SIGMA_MS) ** 2 / 2 + (early / _EARLY_SIGMA_MS) ** 2 / 2
    capped: FloatArray = np.minimum(cost, _MISTIMED_COST)
    return capped


class _Turn:
    """The time between the last picture of one flight and the first of the next."""

    def __init__(
        self,
        before: Leg,
        after: Leg | None,
        standing: Standing,
        stirred_us: Mapping[Square, int],
        frame_us: float,
        *,
        from_cannon: bool,
    ) -> None:
        self._after = after
        self._from_cannon = from_cannon
        self._stirred_us = stirred_us
        self._frame_us = frame_us
        self._height_mm = standing.height_mm
        begin_us = before.last_us - _EDGE_US
        end_us = (
            after.first_us + _EDGE_US
            if after is not None
            else begin_us + max(1000.0 * _OPEN_END_MS, _OPEN_END_FRAMES * frame_us)
        )
        count = int(np.clip((end_us - begin_us) / 1000.0 / _STEP_MS, 8, 120))
        self._times_us = np.linspace(begin_us, end_us, count)
        self._before = before
        self._here_spread = before.fit.spread_at(self._times_us)
        self._here, self._here_sunk = _kept_above(before.flight.at(self._times_us), self._here_spread)
        if after is not None:
            self._there_spread = after.fit.spread_at(self._times_us)
            self._there, self._there_sunk = _kept_above(after.flight.at(self._times_us), self._there_spread)
        else:
            self._there, self._there_spread = self._here, self._here_spread
            self._there_sunk = self._here_sunk
        self._near = self._soldiers_near(standing.soldiers)
        self._through_here = {s.square: self._through(s, self._here) for s in self._near}
        self._through_there = {s.square: self._through(s, self._there) for s in self._near}

    def accounts(self) -> tuple[_Account, ...]:
        """Every explanation of the turn between two flights."""
        found = [self._nothing(), self._unknown()]
        found += [self._single(s) for s in (None, *self._near)]
        found += [
            self._double(first, second)
            for first in (None, *self._near)
            for second in (None, *self._near)
            # Whether it bounced before the first soldier is weighed for all accounts at once.
            if first is not second and not (self._from_cannon and first is None)
        ]
        return tuple(found)

    def _soldiers_near(self, soldiers: Sequence[Soldier]) -> list[Soldier]:
        ways = np.concatenate([self._here[:, :2], self._there[:, :2]])
        reach = 0.8 * self._height_mm
        return [s for s in soldiers if np.hypot(*(ways - [s.x_mm, s.y_mm]).T).min() < reach]

    # ---- costs along the turn, one for each instant

    def _touching(self, what: Soldier | None, points: FloatArray, spread: FloatArray) -> FloatArray:
        """Cost of touching a soldier (or the board) at each instant of a flight."""
        z_variance = spread[:, 2, 2]
        if what is None:
            on_board: FloatArray = (
                (points[:, 2] - _SHOT_RADIUS_MM) ** 2 / (z_variance + _BOARD_SIGMA_MM**2) / 2
            )
            return on_board + (self._here_sunk if points is self._here else self._there_sunk)
        away = np.hypot(points[:, 0] - what.x_mm, points[:, 1] - what.y_mm)
        variance = _STRIKE_SIGMA_MM**2 + (spread[:, 0, 0] + spread[:, 1, 1]) / 2
        above = np.maximum(points[:, 2] - self._height_mm - _SHOT_RADIUS_MM, 0.0)
        cost: FloatArray = (away - _STRIKE_REACH_MM) ** 2 / variance / 2 + above**2 / (z_variance + 9.0) / 2
        # A solid thing is touched on the way towards it (and left on the way from it), not while flying past.
        nearest = int(np.argmin(away))
        past = away - away[nearest]
        past[: nearest + 1 if points is self._here else 0] = 0.0
        past[nearest if points is not self._here else len(past) :] = 0.0
        cost += (past / _PAST_SIGMA_MM) ** 2 / 2 + self._stirring(what.square)
        return cost + (self._here_sunk if points is self._here else self._there_sunk)

    def _through(self, what: Soldier, points: FloatArray) -> FloatArray:
        """Cost of being inside a soldier at each instant."""
        away = np.hypot(points[:, 0] - what.x_mm, points[:, 1] - what.y_mm)
        inside = np.maximum(_CORE * self._height_mm + _SHOT_RADIUS_MM - away, 0.0) / _CORE_SIGMA_MM
        # Over the head it is free to pass; how high it flies is known to a few mm only.
        low = np.clip((self._height_mm + 6.0 - points[:, 2]) / 12.0, 0.0, 1.0)
        cost: FloatArray = low * inside**2 / 2
        return cost

    def _until(self, what: Soldier | None) -> FloatArray:
        """Cost of having flown through others before touching `what`, at each instant."""
        total = np.zeros(len(self._times_us))
        for s in self._near:
            if s is not what:
                total += np.maximum.accumulate(self._through_here[s.square])
        return total

    def _since(self, what: Soldier | None) -> FloatArray:
        """Cost of flying through others after touching `what`, at each instant."""
        total = np.zeros(len(self._times_us))
        for s in self._near:
            if s is not what:
                total += np.maximum.accumulate(self._through_there[s.square][::-1])[::-1]
        return total

    def _stirring(self, square: Square) -> FloatArray:
        """Cost of the soldier's own motion if it was touched at each instant."""
        if square not in self._stirred_us:
            return np.full(len(self._times_us), _UNMOVED_COST)
        return stirring_cost(self._stirred_us[square], self._times_us, self._frame_us)

    def _meeting(self, sigma_mm: float = _MODEL_SIGMA_MM) -> FloatArray:
        """Cost of both flights being at the same place at each instant."""
        gap = self._here - self._there
        spread = self._here_spread + self._there_spread + np.eye(3) * sigma_mm**2
        cost: FloatArray = np.einsum("ni,nij,nj->n", gap, np.linalg.inv(spread), gap) / 2
        return cost

    def _loose_meeting(self) -> FloatArray:
        """Cost of meeting where the track may have changed over from the shot to its shadow beside it, or back."""
        cost: FloatArray = np.minimum(self._meeting(), _SHADOW_COST + self._meeting(_SHADOW_MM))
        return cost

    def _bend(self) -> float:
        """Cost of the turn in direction for a bounce off the board."""
        middle_us = float(self._times_us.mean())
        after = self._after
        if after is None:
            return 0.0
        was, now = self._before.flight.velocity_at(middle_us), after.flight.velocity_at(middle_us)
        angle = np.arctan2(was[0] * now[1] - was[1] * now[0], was[:2] @ now[:2])
        flat_mps = max(float(np.hypot(*was[:2])), 1e-6)
        kept = float(np.hypot(*now[:2])) / flat_mps
        usual = 1.0 - min(_RUBBED * abs(float(was[2])) / flat_mps, _ROLLING_LOSS)
        variance = _KEPT_ON_BOARD_SIGMA**2
        for fit, way in ((self._before.fit, was), (after.fit, now)):
            along = way[:2] / max(float(np.hypot(*way[:2])), 1e-6)
            variance += float(along @ fit.covariance[4:6, 4:6] @ along) / flat_mps**2
        off = (kept - usual) ** 2 / variance
        return float((angle / _BOARD_TURN_SIGMA_RAD) ** 2 / 2 + min(off / 2, _MOST_OFF_COST))

    def _bends(self, first: Soldier | None, second: Soldier | None) -> FloatArray:
        """Cost of the turns in direction where one of two touches is the board, for each pair of instants."""
        after = self._after
        between = self._there[None, :, :2] - self._here[:, None, :2]
        cost = np.zeros(between.shape[:2])
        if after is None:
            return cost
        middle_us = float(self._times_us.mean())
        for what, leg in ((first, self._before), (second, after)):
            if what is None:
                way = leg.flight.velocity_at(middle_us)[:2]
                across = between[..., 0] * way[1] - between[..., 1] * way[0]
                angle = np.arctan2(np.abs(across), between @ way)
                cost += (angle / (2 * _BOARD_TURN_SIGMA_RAD)) ** 2 / 2
        return cost

    # ---- explanations

    def _touch(
        self, what: Soldier | None, share: FloatArray, points: FloatArray, last: Touch | None = None
    ) -> Touch:
        """Describe a touch from how likely it is at each instant; `last` is the touch just before it."""
        x, y, z = (float(c) for c in share @ points)
        time_us = float(share @ self._times_us)
        speed_mps = float(np.hypot(*self._before.flight.velocity_at(float(self._times_us[0]))[:2]))
        if last is not None:
            way_mm = float(np.hypot(x - last.point_mm[0], y - last.point_mm[1]))
            speed_mps = min(speed_mps, way_mm / max((time_us - last.time_us) / 1000.0, 0.1))
        return Touch(None if what is None else what.square, what is None, time_us, (x, y, z), speed_mps)

    def _nothing(self) -> _Account:
        after = self._after
        if after is None:
            return _Account(0.0, ())
        middle = len(self._times_us) // 2
        middle_us = float(self._times_us[middle])
        change = after.flight.velocity_at(middle_us) - self._before.flight.velocity_at(middle_us)
        variance = (
            self._before.fit.covariance[4:7, 4:7]
            + after.fit.covariance[4:7, 4:7]
            + np.eye(3) * _SPEED_SIGMA_MPS**2
        )
        apart = float(self._loose_meeting()[middle])
        # Where the sights scatter more than they should, a bounce may have been read into them.
        seen = self._before
        strain = max(1.0, seen.fit.misfit / (2 * (len(seen.streaks) + len(seen.shadows))))
        unlike = float(change @ np.linalg.solve(variance, change)) / 2
        return _Account(apart + unlike / strain, ())

    def _unknown(self) -> _Account:
        meeting = self._meeting()
        touch = replace(self._touch(None, _weights(meeting), self._here), on_board=False)
        return _Account(_UNKNOWN_COST + min(float(meeting.min()), 8.0), (touch,))

    def _single(self, what: Soldier | None) -> _Account:
        meeting = self._meeting() if what is None else self._loose_meeting()
        cost = self._touching(what, self._here, self._here_spread) + meeting
        cost += self._until(what) + self._since(what)
        extra = _BOARD_COST + self._bend() if what is None else _TURNED_COST
        return _Account(float(cost.min()) + extra, (self._touch(what, _weights(cost), self._here),))

    def _double(self, first: Soldier | None, second: Soldier | None) -> _Account:
        ahead = self._touching(first, self._here, self._here_spread) + self._until(first)
        behind = self._touching(second, self._there, self._there_spread) + self._since(second)
        apart = np.hypot(
            self._here[:, None, 0] - self._there[None, :, 0], self._here[:, None, 1] - self._there[None, :, 1]
        )
        elapsed_ms = (self._times_us[None, :] - self._times_us[:, None]) / 1000.0
        speed_mps = np.where(elapsed_ms > 0.1, apart / np.maximum(elapsed_ms, 0.1), np.inf)
        limit = float(np.linalg.norm(self._before.flight.velocity_at(float(self._times_us[0]))))
        hurry = np.where(
            elapsed_ms > 0.1, np.maximum(speed_mps / limit - _USUAL_KEPT, 0.0) / _KEPT_SIGMA, 1e3
        )
        cost = ahead[:, None] + behind[None, :] + hurry**2 / 2 + self._bends(first, second)
        total = float(cost.min()) + _SECOND_TOUCH_COST + _TURNED_COST
        share = _weights(cost)
        struck = self._touch(first, share.sum(axis=1), self._here)
        return _Account(total, (struck, self._touch(second, share.sum(axis=0), self._there, struck)))

    def open_end(self, *, over_board: bool) -> tuple[_Account, ...]:
        """Guess what the shot may have met after it was seen last.

        over_board: whether it was lost over the board; else it left it, and may have touched no more than somebody who
        stood at the edge and stirred.
        """
        near: list[Soldier | None] = [s for s in self._near if over_board or s.square in self._stirred_us]
        found = [_Account(1.0, ())]
        for what in ([None] if over_board else []) + near:
            cost = self._touching(what, self._here, self._here_spread)
            found.append(_Account(float(cost.min()) + 1.0, (self._touch(what, _weights(cost), self._here),)))
        return tuple(found)


def _kept_above(points: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points lifted onto the board where they lie below it, and the cost of their having been there."""
    sunk = np.minimum(points[:, 2] - _SHOT_RADIUS_MM, 0.0)
    cost: FloatArray = np.minimum(sunk**2 / (spread[:, 2, 2] + _BOARD_SIGMA_MM**2) / 2, _MOST_SUNK_COST)
    return _above_board(points), cost


def _above_board(points: FloatArray) -> FloatArray:
    points[:, 2] = np.maximum(points[:, 2], _SHOT_RADIUS_MM)
    return points


def _weights(cost: FloatArray) -> FloatArray:
    """Turn costs into probabilities, adding up to one."""
    weights = np.exp(cost.min() - cost)
    shares: FloatArray = weights / weights.sum()
    return shares
