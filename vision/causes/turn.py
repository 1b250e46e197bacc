"""What may have turned the shot between two flights, and how well each explanation fits.

A single touch needs both flights to meet at a body or at the board, two touches need the flight before to meet the
first body and the flight after, traced back, the second; no touch at all needs both flights to be one. A soldier that
moved speaks for having been touched when it began to move, one that did not stir speaks against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from game.montecassino import Square
from vision.causes.stirring import stirring_cost
from vision.causes.touches import Touch
from vision.outcome import Soldier, Standing
from vision.shot import Leg
from vision.shot.streaks import SHOT_RADIUS_MM

__all__ = ["EDGE_US", "STRIKE_REACH_MM", "Account", "Turn"]

FloatArray = NDArray[np.float64]

# Centre of the shot to the middle of the foot of the soldier it strikes: legs and trunk are narrow, arms and rifle reach out to 20 mm. Of
# 209 first touches, 41 of them of another maker's figures, half were 5.8 to 9 mm off, one in twenty 15 mm and more.
STRIKE_REACH_MM = 8.0
_STRIKE_SIGMA_MM = 4.0
# Nearer to the middle of a figure than this share of its height, and the shot's own radius, nothing flies past untouched. Who did not
# move had no more than his trunk in the way; who did had been touched: of 439 that fell or were pushed and that a first flight
# led to within 9 mm of, none was flown past; of 43 others that one came to within 6 to 9 mm of, 37. With the trunk for all, a
# shot was told to fly past one of two who stand in line, strike the farther one and come back: of 2,374 falls 56 causes are told
# wrongly, with it 66.
_SOLID, _SOLID_IF_MOVED, _SOLID_SIGMA_MM = 0.11, 0.2, 1.2
_NEVER_PAST = 1e-4  # a flight may be read wrongly
_PAST_SIGMA_MM = 2.0
_BOARD_SIGMA_MM = 2.0
_BOARD_TURN_SIGMA_RAD = 0.10  # the board takes speed, but hardly changes the direction over it
# Rubbing takes so much of the speed over the board for each m/s of fall (friction times one and the rebound), at most
# what it takes to make the shot roll; of 85 bounces of the twin, median and spread.
_RUBBED = 0.5
_ROLLING_LOSS = 2 / 7
_KEPT_ON_BOARD_SIGMA = 0.04
_MODEL_SIGMA_MM = 1.5  # what the flight's equation leaves out
_SPEED_SIGMA_MPS = 0.35

# How much of its speed over the board the shot has left between two touches. A soldier takes some: median and standard deviation of
# 144 ways from one soldier to another.
_KEPT_BY_SOLDIER, _KEPT_SIGMA = 0.63, 0.18
_TOO_FAST = 1e3  # there and back at once
# Costs are halves of squared standard deviations, as log-likelihoods are.
_SECOND_TOUCH_COST = 2.5
_BOARD_COST = 1.5  # a shot is aimed at soldiers
_UNKNOWN_COST = 9.0
# Flights that meet to no less than this between the pictures on either side of a turn, and to less a picture farther out, have been
# parted too early or too late. Of 208 shots first contacts of four are told nearer by it, to 1 mm instead of 8 to 24; with three here one of 208 is told worse.
_APART, _MISPARTED_COST = 6.0, 2.0
_UNMOVED_COST = 4.0
_TURNED_COST = 1.5  # a soldier may send the shot anywhere; the density of the one way that it took
_OPEN_COST = 1.0  # of each guess at what a shot met that was not seen again
_NEAR_HEIGHTS = 0.8  # of a figure: who stands farther from both flights has no part in the turn
_STEP_MS, _FEWEST_STEPS, _MOST_STEPS = 0.4, 8, 120  # from one instant that is looked at to the next
EDGE_US = 500.0  # a turn may lie within the exposure of the pictures on either side
_OPEN_END_MS, _OPEN_END_FRAMES = 20.0, 3.5


@dataclass(frozen=True, slots=True)
class Account:
    """One explanation of one turn."""

    cost: float
    """Half of squared standard deviations, as log-likelihoods are."""
    touches: tuple[Touch, ...]
    """What was touched, in order."""


class Turn:
    """The time between the last picture of one flight and the first of the next.

    Parameters
    ----------
    before, after
        The flights; none after where the shot was not seen again.
    standing, stirred_us, frame_us
        As for `vision.causes.contacts.find_contacts`.
    from_cannon
        Whether the flight before is the first.
    slack_us
        How much earlier or later than between those pictures it may have been.
    """

    def __init__(
        self,
        before: Leg,
        after: Leg | None,
        standing: Standing,
        stirred_us: Mapping[Square, int],
        frame_us: float,
        *,
        from_cannon: bool,
        slack_us: float = 0.0,
    ) -> None:
        self._after = after
        self._standing = standing
        self._from_cannon = from_cannon
        self._stirred_us = stirred_us
        self._frame_us = frame_us
        self._height_mm = standing.height_mm
        begin_us = before.last_us - EDGE_US - slack_us
        end_us = (
            after.first_us + EDGE_US + slack_us
            if after is not None
            else begin_us + max(1000.0 * _OPEN_END_MS, _OPEN_END_FRAMES * frame_us)
        )
        count = int(np.clip((end_us - begin_us) / 1000.0 / _STEP_MS, _FEWEST_STEPS, _MOST_STEPS))
        self._times_us = np.linspace(begin_us, end_us, count)
        self._before = before
        self._here_spread = before.fit.spread_at(self._times_us)
        self._here = _above_board(before.flight.at(self._times_us))
        if after is not None:
            self._there_spread = after.fit.spread_at(self._times_us)
            self._there = _above_board(after.flight.at(self._times_us))
        else:
            self._there, self._there_spread = self._here, self._here_spread
        middle_us = float(self._times_us.mean())
        self._aside_here = _aside(before.flight.velocity_at(middle_us))
        self._aside_there = self._aside_here if after is None else _aside(after.flight.velocity_at(middle_us))
        self._near = self._soldiers_near(standing.soldiers)
        self._past_here = {s.square: self._past(s, self._here, self._here_spread) for s in self._near}
        self._past_there = {s.square: self._past(s, self._there, self._there_spread) for s in self._near}

    def accounts(self) -> tuple[Account, ...]:
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
        return (*found, *self._just_beyond())

    def _just_beyond(self) -> list[Account]:
        """Single touches a picture earlier or later, where the flights meet nowhere between: one has a sight of the other's, then."""
        if self._after is None or float(self._meeting.min()) < _APART:
            return []
        wider = Turn(
            self._before,
            self._after,
            self._standing,
            self._stirred_us,
            self._frame_us,
            from_cannon=self._from_cannon,
            slack_us=self._frame_us,
        )
        found = [wider._single(s) for s in (None, *wider._near)]
        return [replace(each, cost=each.cost + _MISPARTED_COST) for each in found if each.cost < _APART]

    def _soldiers_near(self, soldiers: Sequence[Soldier]) -> list[Soldier]:
        ways = np.concatenate([self._here[:, :2], self._there[:, :2]])
        reach_mm = _NEAR_HEIGHTS * self._height_mm
        return [s for s in soldiers if np.hypot(*(ways - [s.x_mm, s.y_mm]).T).min() < reach_mm]

    # ---- costs along the turn, one for each instant

    def _touching(self, what: Soldier | None, points: FloatArray, spread: FloatArray) -> FloatArray:
        """Cost of touching a soldier (or the board) at each instant of a flight."""
        if what is None:
            variance = spread[:, 2, 2] + _BOARD_SIGMA_MM**2
            on_board: FloatArray = (points[:, 2] - SHOT_RADIUS_MM) ** 2 / variance / 2
            return on_board
        away = np.hypot(points[:, 0] - what.x_mm, points[:, 1] - what.y_mm)
        variance = _STRIKE_SIGMA_MM**2 + self._variance_aside(points, spread)
        # A solid thing is touched on the way towards it (and left on the way from it), not while flying past.
        nearest = int(np.argmin(away))
        past = away - away[nearest]
        past[: nearest + 1 if points is self._here else 0] = 0.0
        past[nearest if points is not self._here else len(past) :] = 0.0
        off = (away - STRIKE_REACH_MM) ** 2 / variance + (past / _PAST_SIGMA_MM) ** 2
        cost: FloatArray = off / 2 + self._stirring(what.square)
        return cost

    def _variance_aside(self, points: FloatArray, spread: FloatArray) -> FloatArray:
        """How well a flight is known across its way: how far along it was at an instant does not change how far off it came by."""
        aside = self._aside_here if points is self._here else self._aside_there
        variance: FloatArray = aside @ spread[:, :2, :2] @ aside
        return variance

    def _past(self, what: Soldier, points: FloatArray, spread: FloatArray) -> FloatArray:
        """Cost of flying past a soldier untouched, at each instant."""
        away = np.hypot(points[:, 0] - what.x_mm, points[:, 1] - what.y_mm)
        sigma = np.sqrt(_SOLID_SIGMA_MM**2 + self._variance_aside(points, spread))
        solid = _SOLID_IF_MOVED if what.square in self._stirred_us else _SOLID
        touched = ndtr((solid * self._height_mm + SHOT_RADIUS_MM - away) / sigma)
        touched[points[:, 2] > self._height_mm] = 0.0  # over the head it is free to pass
        cost: FloatArray = -np.log(np.maximum(1.0 - touched, _NEVER_PAST))
        return cost

    def _until(self, what: Soldier | None) -> FloatArray:
        """Cost of having flown past others before touching `what`, at each instant."""
        total = np.zeros(len(self._times_us))
        for s in self._near:
            if s is not what:
                total += np.maximum.accumulate(self._past_here[s.square])
        return total

    def _since(self, what: Soldier | None) -> FloatArray:
        """Cost of flying past others after touching `what`, at each instant."""
        total = np.zeros(len(self._times_us))
        for s in self._near:
            if s is not what:
                total += np.maximum.accumulate(self._past_there[s.square][::-1])[::-1]
        return total

    def _stirring(self, square: Square) -> FloatArray:
        """Cost of the soldier's own motion if it was touched at each instant."""
        if square not in self._stirred_us:
            return np.full(len(self._times_us), _UNMOVED_COST)
        return stirring_cost(self._stirred_us[square], self._times_us, self._frame_us)

    @cached_property
    def _meeting(self) -> FloatArray:
        """Cost of both flights being at the same place at each instant."""
        gap = self._here - self._there
        spread = self._here_spread + self._there_spread + np.eye(3) * _MODEL_SIGMA_MM**2
        cost: FloatArray = np.einsum("ni,nij,nj->n", gap, np.linalg.inv(spread), gap) / 2
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
        return float((angle / _BOARD_TURN_SIGMA_RAD) ** 2 + (kept - usual) ** 2 / variance) / 2

    # ---- explanations

    def _touch(self, what: Soldier | None, share: FloatArray, points: FloatArray) -> Touch:
        """Describe a touch from how likely it is at each instant."""
        x, y, z = (float(c) for c in share @ points)
        square = None if what is None else what.square
        return Touch(square, what is None, float(share @ self._times_us), (x, y, z))

    def _nothing(self) -> Account:
        after = self._after
        if after is None:
            return Account(0.0, ())
        middle = len(self._times_us) // 2
        middle_us = float(self._times_us[middle])
        change = after.flight.velocity_at(middle_us) - self._before.flight.velocity_at(middle_us)
        variance = (
            self._before.fit.covariance[4:7, 4:7]
            + after.fit.covariance[4:7, 4:7]
            + np.eye(3) * _SPEED_SIGMA_MPS**2
        )
        apart = float(self._meeting[middle])
        # Where the sights scatter more than they should, a bounce may have been read into them.
        seen = self._before
        strain = max(1.0, seen.fit.misfit / (2 * (len(seen.streaks) + len(seen.shadows))))
        unlike = float(change @ np.linalg.solve(variance, change)) / 2
        return Account(apart + unlike / strain, ())

    def _unknown(self) -> Account:
        touch = replace(self._touch(None, _weights(self._meeting), self._here), on_board=False)
        return Account(_UNKNOWN_COST + float(self._meeting.min()), (touch,))

    def _single(self, what: Soldier | None) -> Account:
        cost = self._touching(what, self._here, self._here_spread) + self._meeting
        cost += self._until(what) + self._since(what)
        extra = _BOARD_COST + self._bend() if what is None else _TURNED_COST
        return Account(float(cost.min()) + extra, (self._touch(what, _weights(cost), self._here),))

    def _double(self, first: Soldier | None, second: Soldier | None) -> Account:
        ahead = self._touching(first, self._here, self._here_spread) + self._until(first)
        behind = self._touching(second, self._there, self._there_spread) + self._since(second)
        # From the board it comes with any share of its speed, but with no more.
        off = self._kept - _KEPT_BY_SOLDIER if first is not None else np.maximum(self._kept - 1.0, 0.0)
        cost = ahead[:, None] + behind[None, :] + (off / _KEPT_SIGMA) ** 2 / 2
        share = _weights(cost)
        struck = self._touch(first, share.sum(axis=1), self._here)
        struck_then = self._touch(second, share.sum(axis=0), self._there)
        return Account(float(cost.min()) + _SECOND_TOUCH_COST + _TURNED_COST, (struck, struck_then))

    @cached_property
    def _kept(self) -> FloatArray:
        """Speed over the board from one touch to the next, as a share of that before, for each pair of instants."""
        apart_mm = np.hypot(
            self._here[:, None, 0] - self._there[None, :, 0], self._here[:, None, 1] - self._there[None, :, 1]
        )
        elapsed_ms = (self._times_us[None, :] - self._times_us[:, None]) / 1000.0
        came_mps = float(np.linalg.norm(self._before.flight.velocity_at(float(self._times_us[0]))))
        kept: FloatArray = np.where(
            elapsed_ms >= 0.0, apart_mm / np.maximum(elapsed_ms, 0.1) / came_mps, _TOO_FAST
        )
        return kept

    def open_end(self, *, over_board: bool) -> tuple[Account, ...]:
        """Guess what the shot may have met after it was seen last.

        Parameters
        ----------
        over_board
            Whether it was lost over the board; else it left it, and may have touched no more than somebody who stood
            at the edge and stirred.
        """
        near: list[Soldier | None] = [s for s in self._near if over_board or s.square in self._stirred_us]
        found = [Account(_OPEN_COST, ())]
        for what in ([None] if over_board else []) + near:
            cost = self._touching(what, self._here, self._here_spread) + self._until(what)
            touch = self._touch(what, _weights(cost), self._here)
            found.append(Account(float(cost.min()) + _OPEN_COST, (touch,)))
        return tuple(found)


def _aside(velocity_mps: FloatArray) -> FloatArray:
    """Give the unit vector (x, y) across a flight."""
    across = np.array([-velocity_mps[1], velocity_mps[0]])
    return np.asarray(across / max(float(np.hypot(*across)), 1e-6))


def _above_board(points: FloatArray) -> FloatArray:
    points[:, 2] = np.maximum(points[:, 2], SHOT_RADIUS_MM)
    return points


def _weights(cost: FloatArray) -> FloatArray:
    """Turn costs into probabilities, adding up to one."""
    weights = np.exp(cost.min() - cost)
    shares: FloatArray = weights / weights.sum()
    return shares
