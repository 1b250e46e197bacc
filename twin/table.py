"""The table: soldiers on their squares, a shot among them, and the hands that put things right between shots."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS, Side, Square
from twin import soldier
from twin.contacts import BOARD, EDGE, SHOT, blame_is_shared, cause_of_fall
from twin.limits import at_least, within
from twin.physics import FALLEN_RAD, BodySettings, Box, ShotRun, ShotSettings
from twin.pictures.scene import Arrangement, CannonPose, Snapshot
from twin.streams import stream
from twin.truth import ShotTruth, Standing, TrueFall

MOVED_MM = 5.0
"""A soldier pushed farther than this, and still standing, was moved."""

LEANING_RAD = math.radians(25.0)
"""Nearer than this to the angle of a fall, a soldier leans, and nobody can say whether it stands or lies."""

_FARTHEST_SLIP_MM = 5.0
_PELLET_STEP_S = 1e-3
_SHOT_PLACES = 24  # of the shot, kept over an exposure
_HARDLY_MM = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFaults:
    """What people do at the table that they should not; by default nothing."""

    sleeve_square: str | None = None
    """Whose soldier, such as "A-44", a sleeve brushes over in every shot ..."""
    sleeve_after_us: int = 300_000
    """... and how long after the release."""
    hand_at_us: int | None = None
    """From here on, on the table's clock, somebody holds an arm over the board; it is seen and touches nothing ..."""
    hand_for_us: int | None = None
    """... for so long; None for ever."""
    hand_mm: tuple[float, float] = (200.0, 560.0)
    """Where its fingertips are, board frame."""

    def __post_init__(self) -> None:
        at_least(self, 0, "sleeve_after_us", "hand_at_us", "hand_for_us")
        if self.sleeve_square is not None:
            Square.parse(self.sleeve_square)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """The board, who stands on it how well, and the shot."""

    square_mm: float = 45.0
    """Side of one square."""
    strip_mm: float = 65.0
    """Length of the strip for the cannon behind each first line; 0 for a board without."""
    placement_sd_mm: float = 1.6
    """How far from the middle of its square a hand sets a soldier, standard deviation in x and in y."""
    facing_sd_rad: float = 0.22
    """How far from straight ahead a soldier looks, standard deviation."""
    bodies: BodySettings = field(default_factory=BodySettings)
    """Soldiers and board as bodies."""
    shot: ShotSettings = field(default_factory=ShotSettings)
    """The shot itself."""
    faults: TableFaults = field(default_factory=TableFaults)
    """What people do at the table that they should not."""

    def __post_init__(self) -> None:
        within(self, 10, 200, "square_mm")
        within(self, 0, 1000, "strip_mm")
        within(self, 0, 100, "placement_sd_mm")
        within(self, 0, math.pi, "facing_sd_rad")

    @property
    def width_mm(self) -> float:
        """Of the squares, along x."""
        return BOARD_FILES * self.square_mm

    @property
    def length_mm(self) -> float:
        """Of the squares, along y."""
        return BOARD_ROWS * self.square_mm

    @property
    def surface(self) -> Box:
        """The playing surface with its strips, board frame."""
        return Box(0.0, -self.strip_mm / 1e3, self.width_mm / 1e3, (self.length_mm + self.strip_mm) / 1e3)


class TableError(RuntimeError):
    """Something was asked of the table that it cannot do now."""


class Table:
    """The board with its soldiers, on its own clock in microseconds.

    Parameters
    ----------
    settings : TableSettings
        Board, soldiers and shot.
    soldiers : mapping of Square to Side
        Who stands where.
    seed : int
        Draws how the hands place the soldiers.
    """

    def __init__(self, settings: TableSettings, soldiers: Mapping[Square, Side], *, seed: int = 0) -> None:
        self.settings = settings
        self._hand = stream(seed, "placement")
        self._now_us = 0
        self._squares: list[Square] = []
        self._run: ShotRun | None = None
        self._launch: _Launch | None = None
        self._truth: ShotTruth | None = None
        self._resting_shot_m: NDArray[np.float64] | None = None
        self._still = Arrangement((), (), np.zeros((0, 7)), None)
        self._now = self._still
        self.set_up(soldiers)

    # --- time

    @property
    def now_us(self) -> int:
        """How far the table has been advanced."""
        return self._now_us

    @property
    def at_rest(self) -> bool:
        """Whether nothing moves."""
        return self._run is None

    def advance(self, to_us: int) -> None:
        """Let time pass up to `to_us`; costs nothing while everything is at rest."""
        if to_us < self._now_us:
            raise TableError(f"the table stands at {self._now_us} us and cannot go back to {to_us} us")
        self._now_us = to_us
        run, launch = self._run, self._launch
        if run is None or launch is None:
            return
        run.advance((to_us - launch.at_us) / 1e6)
        if run.at_rest:
            self.stop()
        else:
            self._now = replace(self._now, poses=_frozen(run.poses))

    def stop(self) -> None:
        """Let everything stand still where it is; what had not come to rest, such as a shot that rolls, stops."""
        run, launch = self._run, self._launch
        if run is None or launch is None:
            return
        self._run = None
        self._truth = self._read_truth(run, launch)
        self._resting_shot_m = None if run.shot_gone else run.shot_m
        self._still = self._now = replace(self._now, poses=_frozen(run.poses))

    def _rest(self, poses: NDArray[np.float64]) -> None:
        """Everything stands still from now on; an arm over the board does not."""
        self._still = replace(self._now, poses=poses, hand_mm=None)
        self._now = self._still

    def settle(self) -> None:
        """Let time pass until everything is at rest."""
        while not self.at_rest:
            self.advance(self._now_us + 10_000)

    # --- the shot

    def launch(
        self,
        muzzle_mm: tuple[float, float, float],
        azimuth_rad: float,
        elevation_rad: float,
        speed_mps: float,
        at_us: int,
    ) -> None:
        """Let the shot leave the muzzle; one that still lies about is picked up first.

        Parameters
        ----------
        muzzle_mm : (x, y, z)
            The shot's centre as it leaves, board frame.
        azimuth_rad : float
            Direction over the board, from +y towards +x.
        elevation_rad : float
            Above the horizontal.
        speed_mps : float
            Speed at the muzzle.
        at_us : int
            When, on the table's clock; not before `now_us`.

        Raises
        ------
        TableError
            While another shot is still on its way.
        """
        self.advance(at_us)
        self._require_rest("fire")
        flat = math.cos(elevation_rad)
        direction = np.array(
            [flat * math.sin(azimuth_rad), flat * math.cos(azimuth_rad), math.sin(elevation_rad)]
        )
        self.clear_shot()
        self._launch = _Launch(at_us, muzzle_mm, azimuth_rad, elevation_rad, speed_mps, self.standing())
        self._truth = None
        self._run = ShotRun(
            bodies=self.settings.bodies,
            shot=self.settings.shot,
            surface=self.settings.surface,
            poses=self._still.poses,
            stances=self._still.stances,
            muzzle_m=np.array(muzzle_mm) / 1e3,
            velocity_mps=speed_mps * direction,
            brush=self._brush(),
        )

    def truth(self) -> ShotTruth:
        """Return what happened in the last shot, once everything is at rest.

        Raises
        ------
        TableError
            If no shot was fired, or things still move.
        """
        if self._truth is None:
            raise TableError("there is no truth yet: no shot has come to rest")
        return self._truth

    # --- hands

    def standing(self) -> tuple[Standing, ...]:
        """Return everybody on its feet, by the square it belongs to."""
        tilt_rad = lean_rad(self._now.poses)
        return tuple(
            Standing(side, square, float(pose[0]) * 1e3, float(pose[1]) * 1e3)
            for side, square, pose, tilt in sorted(
                zip(self._now.sides, self._squares, self._now.poses, tilt_rad, strict=True),
                key=lambda row: row[1],
            )
            if tilt <= FALLEN_RAD
        )

    @property
    def soldiers(self) -> dict[Square, Side]:
        """Who is on the board, standing or lying, by the square it belongs to."""
        return dict(sorted(zip(self._squares, self._now.sides, strict=True)))

    def set_up(self, soldiers: Mapping[Square, Side]) -> None:
        """Lay out a position: whoever already stands for that square and side is not touched."""
        self._require_rest("set up")
        keep = [
            index
            for index, square in enumerate(self._squares)
            if soldiers.get(square) is self._still.sides[index]
        ]
        kept = {self._squares[index] for index in keep}
        new = [square for square in sorted(soldiers) if square not in kept]
        fresh = [self._place(square, soldiers[square]) for square in new]
        stances = [int(self._hand.integers(soldier.STANCES)) for _ in new]
        self._squares = [*(self._squares[index] for index in keep), *new]
        self._still = self._now = Arrangement(
            (*(self._still.sides[index] for index in keep), *(soldiers[square] for square in new)),
            (*(self._still.stances[index] for index in keep), *stances),
            _frozen(np.vstack([self._still.poses[keep], *fresh])),
            self._now.cannon,
        )

    def remove(self, square: Square) -> None:
        """Take the soldier of that square off the board."""
        self._index(square)
        soldiers = self.soldiers
        del soldiers[square]
        self.set_up(soldiers)

    def put_back(self, square: Square) -> None:
        """Set the soldier of that square upright in the middle of it."""
        index = self._index(square)
        self._require_rest("put back")
        poses = self._still.poses.copy()
        poses[index] = self._place(square, self._still.sides[index])
        self._rest(_frozen(poses))

    def push(self, square: Square, by_mm: tuple[float, float], turn_rad: float) -> None:
        """Push the soldier of that square aside and turn it, whatever is in the way."""
        index = self._index(square)
        self._require_rest("push")
        poses = self._still.poses.copy()
        poses[index, :2] += np.array(by_mm) / 1e3
        w, x, y, z = poses[index, 3:]
        c, s = math.cos(turn_rad / 2), math.sin(turn_rad / 2)
        poses[index, 3:] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
        self._rest(_frozen(poses))

    def clear_shot(self) -> None:
        """Pick up a shot that lies on the table."""
        self._require_rest("pick the shot up")
        self._resting_shot_m = None

    def place_cannon(self, cannon: CannonPose | None) -> None:
        """Show the cannon in a pose, or take it away; it is only seen, nothing touches it."""
        if cannon != self._now.cannon:
            self._now = replace(self._now, cannon=cannon)

    # --- eyes

    def arrangement(self) -> tuple[Arrangement, Arrangement]:
        """Return how everything stood when the table was last at rest, and how it stands now."""
        hand_mm = self._hand_mm()
        if hand_mm != self._now.hand_mm:
            self._now = replace(self._now, hand_mm=hand_mm)
        return self._still, self._now

    def snapshot(self, seen: tuple[Arrangement, Arrangement], opened_us: int, closed_us: int) -> Snapshot:
        """Return what an exposure saw that has just ended.

        Parameters
        ----------
        seen : pair of Arrangement
            `arrangement` in the middle of the exposure.
        opened_us, closed_us : int
            Begin and end of the exposure, not after `now_us`.
        """
        shot_m = self._shot_over(opened_us, closed_us)
        in_flight = self._run is not None and shot_m is not None
        return Snapshot(
            *seen,
            shot_m,
            len(shot_m) / _SHOT_PLACES if in_flight and shot_m is not None else 1.0,
            None if self._launch is None else self._launch.at_us,
        )

    def _shot_over(self, opened_us: int, closed_us: int) -> NDArray[np.float64] | None:
        run, launch = self._run, self._launch
        if run is None or launch is None:
            return None if self._resting_shot_m is None else self._resting_shot_m[None, :]
        opened_s, closed_s = (opened_us - launch.at_us) / 1e6, (closed_us - launch.at_us) / 1e6
        if closed_s < 0.0 or (run.shot_gone and opened_s > run.path[-1][0]):
            return None
        first = max(0, bisect.bisect_left(run.path, (opened_s,)) - 1)
        points = run.path[first:]
        if not run.shot_gone:
            x_m, y_m, z_m = (float(value) for value in run.shot_m)
            points = [*points, (run.now_s, x_m, y_m, z_m)]
        path = np.array(points)
        times = np.linspace(opened_s, closed_s, _SHOT_PLACES)
        # Before the release it is inside the barrel, and once gone it is out of the picture.
        times = times[(times >= 0.0) & ((times <= path[-1, 0]) | (not run.shot_gone))]
        if not len(times):
            return None
        return np.column_stack([np.interp(times, path[:, 0], path[:, axis]) for axis in (1, 2, 3)])

    # --- inside

    def _brush(self) -> tuple[int, float] | None:
        """Return whom a sleeve brushes over in this shot, and when."""
        faults = self.settings.faults
        if faults.sleeve_square is None:
            return None
        square = Square.parse(faults.sleeve_square)
        return (self._index(square), faults.sleeve_after_us / 1e6) if square in self._squares else None

    def _hand_mm(self) -> tuple[float, float] | None:
        faults = self.settings.faults
        if faults.hand_at_us is None or self._now_us < faults.hand_at_us:
            return None
        if faults.hand_for_us is not None and self._now_us >= faults.hand_at_us + faults.hand_for_us:
            return None
        return faults.hand_mm

    def _place(self, square: Square, side: Side) -> NDArray[np.float64]:
        centre_mm = square.centre_mm(self.settings.square_mm)
        sd_mm = self.settings.placement_sd_mm
        most_mm = max(_FARTHEST_SLIP_MM, 2 * sd_mm)
        slip_mm = np.clip(self._hand.normal(0.0, sd_mm, 2), -most_mm, most_mm)
        yaw_rad = (0.0 if side is Side.A else math.pi) + float(
            np.clip(self._hand.normal(0.0, self.settings.facing_sd_rad), -0.6, 0.6)
        )
        return np.array(
            [
                (centre_mm[0] + slip_mm[0]) / 1e3,
                (centre_mm[1] + slip_mm[1]) / 1e3,
                0.0,
                math.cos(yaw_rad / 2),
                0.0,
                0.0,
                math.sin(yaw_rad / 2),
            ]
        )

    def _index(self, square: Square) -> int:
        try:
            return self._squares.index(square)
        except ValueError:
            raise TableError(f"no soldier belongs to {square}") from None

    def _require_rest(self, act: str) -> None:
        if self._run is not None:
            raise TableError(f"cannot {act} while things move on the table")

    def _read_truth(self, run: ShotRun, launch: _Launch) -> ShotTruth:
        before = {standing.square: standing for standing in launch.before}
        at_us = launch.clock_us
        falls: list[TrueFall] = []
        moved: list[Standing] = []
        unclear: list[Square] = []
        tilt_rad = run.tilt_rad
        sides = self._still.sides
        for index, square in sorted(enumerate(self._squares), key=lambda row: row[1]):
            if square not in before:
                continue
            if abs(tilt_rad[index] - FALLEN_RAD) < LEANING_RAD:
                unclear.append(square)
            if tilt_rad[index] > FALLEN_RAD:
                cause = cause_of_fall(run.log.contacts, index)
                falls.append(TrueFall(sides[index], square, cause, at_us(run.fell_at_s[index])))
                if blame_is_shared(run.log.contacts, index):
                    unclear.append(square)
                continue
            x_mm, y_mm = (float(value) * 1e3 for value in run.poses[index, :2])
            moved_mm = math.hypot(x_mm - before[square].x_mm, y_mm - before[square].y_mm)
            if abs(moved_mm - MOVED_MM) < _HARDLY_MM:
                unclear.append(square)
            if moved_mm > MOVED_MM:
                moved.append(Standing(sides[index], square, x_mm, y_mm))
        names = {BOARD: "board", EDGE: "edge"} | {
            index: str(square) for index, square in enumerate(self._squares)
        }
        touches = run.log.shot_contacts()
        return ShotTruth(
            launched_us=launch.at_us,
            muzzle_mm=launch.muzzle_mm,
            speed_mps=launch.speed_mps,
            azimuth_rad=launch.azimuth_rad,
            elevation_rad=launch.elevation_rad,
            before=launch.before,
            falls=tuple(falls),
            moved=tuple(moved),
            pellet=tuple(
                (at_us(t_s), x_m * 1e3, y_m * 1e3, z_m * 1e3) for t_s, x_m, y_m, z_m in _thinned(run.path)
            ),
            contacts=tuple((at_us(touch.began_s), names[touch.other(SHOT)]) for touch in touches),
            first_contact_mm=(
                None
                if not touches or touches[0].shot_m is None
                else (
                    touches[0].shot_m[0] * 1e3,
                    touches[0].shot_m[1] * 1e3,
                    touches[0].shot_m[2] * 1e3,
                )
            ),
            unclear=tuple(unclear),
        )


@dataclass(frozen=True, slots=True)
class _Launch:
    at_us: int
    muzzle_mm: tuple[float, float, float]
    azimuth_rad: float
    elevation_rad: float
    speed_mps: float
    before: tuple[Standing, ...]

    def clock_us(self, since_s: float) -> int:
        return self.at_us + round(since_s * 1e6)


def _frozen(poses: NDArray[np.float64]) -> NDArray[np.float64]:
    poses.setflags(write=False)
    return poses


def lean_rad(poses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each of (n, 7) poses leans, (n,): the z of its own upright axis is 1 - 2 (x² + y²)."""
    upright = 1.0 - 2.0 * (poses[:, 4] ** 2 + poses[:, 5] ** 2)
    tilt: NDArray[np.float64] = np.arccos(np.clip(upright, -1.0, 1.0))
    return tilt


def _thinned(
    path: list[tuple[float, float, float, float]],
) -> list[tuple[float, float, float, float]]:
    """Keep a point about each millisecond, and none where the shot lies still."""
    kept = [path[0]]
    for point in path[1:]:
        last = kept[-1]
        if point[0] - last[0] < 0.95 * _PELLET_STEP_S:
            continue
        if math.dist(point[1:], last[1:]) > 1e-6:
            kept.append(point)
    return kept
