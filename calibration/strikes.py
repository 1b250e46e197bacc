"""Which soldier each of many scattered shots touches first, for a whole grid of aims at once.

Theory of operation
-------------------
A shot stays in the upright plane through the cannon's pivot in which the barrel points. So where it passes a soldier
sideways depends on traverse and azimuth alone, and how high it flies there on elevation and speed alone. A grid of
directions times elevations, each with the same scattered shots, therefore needs

- one flight for each elevation and shot, followed over distance instead of time: with p = dz/dx and w = 1/vx^2 the
  equations of motion (`calibration.flight`) become::

      dz/dx = p        dp/dx = -g w        dw/dx = 2 k sqrt(1 + p^2) w

  whose right side is smooth, so that a few steps of the classical Runge-Kutta scheme reach across the board;
- for each direction and shot the few soldiers within reach of its plane, nearest first, each with the height below
  which the shot touches it there (`Figure.cap_m`);
- then for each elevation one comparison for each of those few, and the first that holds.

Simple, and stated: a shot that comes down on the board before anybody bounces once, losing speed upwards by its
restitution and along the board by sliding friction; the bounce's own arc has no drag, and after its end the shot runs
along the board. A soldier is a stack of cylinders, and its body's width stands for how long the shot is beside it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.aim import Cannon
from calibration.figure import Figure
from calibration.flight import STANDARD_GRAVITY_MPS2
from calibration.hodograph import cores
from calibration.scatter import Draws

__all__ = ["Bounce", "Paths", "TouchBins", "Touches", "first_touches"]

_STEP_M = 0.04
_STEEPEST_RAD = np.radians(89.5)


@dataclass(frozen=True, slots=True)
class Bounce:
    """What the board takes from a shot.

    Parameters
    ----------
    restitution : float
        Speed upwards after the bounce, as a part of the speed downwards before it.
    friction : float
        Coefficient of sliding: the shot loses that part of its change of upright speed along the board.
    """

    restitution: float = 0.62
    friction: float = 0.3


@dataclass(frozen=True, slots=True)
class TouchBins:
    """Into what classes touches are sorted.

    Parameters
    ----------
    heights : tuple of float
        Inner edges of the classes of height, in parts of the soldier's height, rising.
    offsets : tuple of float
        Inner edges of the classes of sideways offset, in parts of the body's reach, rising; negative where the shot
        passes to the left of the axis, as the shooter sees it.
    """

    heights: tuple[float, ...]
    offsets: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """How many classes of height and of offset there are."""
        return len(self.heights) + 1, len(self.offsets) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Flights over distance: heights and slopes at evenly spaced distances from the muzzle.

    Parameters
    ----------
    muzzle_m : (e, n) array
        From the pivot to the muzzle, over the ground.
    height_m, slope : (e, n, nodes) array
        Of the shot's centre over the board, and dz/dx.
    landing_m : (e, n) array
        From the pivot to where the shot comes down on the board; infinite where it flies beyond the last node.
    bounce_slope, bounce_bend : (e, n) array
        dz/dx just after it, and d2z/dx2 from there on.
    """

    muzzle_m: NDArray[np.float64]
    height_m: NDArray[np.float64]
    slope: NDArray[np.float64]
    landing_m: NDArray[np.float64]
    bounce_slope: NDArray[np.float64]
    bounce_bend: NDArray[np.float64]

    @classmethod
    def fly(
        cls,
        cannon: Cannon,
        elevations_rad: ArrayLike,
        draws: Draws,
        *,
        reach_m: float,
        shot_radius_m: float,
        bounce: Bounce,
    ) -> Paths:
        """Follow each scattered shot at each elevation up to a distance of `reach_m` from the pivot."""
        elevation = np.add.outer(np.asarray(elevations_rad, dtype=float), draws.elevation_rad)
        elevation = np.clip(elevation, -_STEEPEST_RAD, _STEEPEST_RAD)
        cosine = np.cos(elevation)
        speed_mps = cannon.muzzle_speed_mps * draws.speed_factor
        z_m = cannon.pivot_height_m + cannon.barrel_m * np.sin(elevation)
        p = np.tan(elevation)
        w = 1.0 / (speed_mps * cosine) ** 2
        steps = int(np.ceil(reach_m / _STEP_M)) + 1
        heights, slopes = np.empty((steps + 1, *z_m.shape)), np.empty((steps + 1, *z_m.shape))
        bends = np.empty_like(heights)
        for node in range(steps + 1):
            heights[node], slopes[node], bends[node] = z_m, p, w
            if node < steps:
                z_m, p, w = _advance(z_m, p, w, cannon.drag_per_m)
        muzzle_m = cannon.barrel_m * cosine
        landing_m, slope, w = _landing(heights, slopes, bends, shot_radius_m)
        # Coulomb's friction while it slides: vx is less by friction * (1 + restitution) * |vz|.
        kept = np.maximum(1.0 + bounce.friction * (1.0 + bounce.restitution) * slope, 0.05)
        return cls(
            muzzle_m=muzzle_m,
            height_m=np.moveaxis(heights, 0, 2).copy(),
            slope=np.moveaxis(slopes, 0, 2).copy(),
            landing_m=muzzle_m + landing_m,
            bounce_slope=-bounce.restitution * slope / kept,
            bounce_bend=-STANDARD_GRAVITY_MPS2 * w / kept**2,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """What each shot touched first.

    Parameters
    ----------
    code : (e, d, n) array of int32
        For each elevation, direction and shot: -1 for nobody, else
        ((soldier * height classes + height class) * offset classes + offset class) * 2 + 1 where it came off the board.
    soldiers : int
    bins : TouchBins
    """

    code: NDArray[np.int32]
    soldiers: int
    bins: TouchBins

    def mean(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the mean over the shots of each aim, (e, d), where each touch is worth what `values` says.

        Parameters
        ----------
        values : (soldiers, heights, offsets, 2) array_like
            Worth of a touch; the last axis is direct, and after the board. A shot that touches nobody is worth 0.
        """
        worth = np.append(np.asarray(values, dtype=float).reshape(-1), 0.0)
        means: NDArray[np.float64] = worth[self.code].mean(axis=2)
        return means

    def deviation(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the standard deviation from shot to shot of what `mean` averages, (e, d)."""
        worth = np.append(np.asarray(values, dtype=float).reshape(-1), 0.0)
        deviations: NDArray[np.float64] = worth[self.code].std(axis=2)
        return deviations

    def chance(self) -> NDArray[np.float64]:
        """Return the chance that a shot touches each soldier before any other, (e, d, soldiers, 2).

        The last axis is direct, and after the board.
        """
        elevations, directions, shots = self.code.shape
        heights, offsets = self.bins.shape
        aim, _ = np.nonzero((self.code >= 0).reshape(-1, shots))
        code = self.code[self.code >= 0]
        place = (aim * self.soldiers + code // (2 * heights * offsets)) * 2 + code % 2
        counts = np.bincount(place, minlength=elevations * directions * self.soldiers * 2)
        chances: NDArray[np.float64] = counts.reshape(elevations, directions, self.soldiers, 2) / shots
        return chances


def first_touches(
    cannon: Cannon,
    *,
    elevations_rad: ArrayLike,
    traverses_m: ArrayLike,
    azimuths_rad: ArrayLike,
    soldiers_m: ArrayLike,
    figure: Figure,
    bins: TouchBins,
    draws: Draws,
    bounce: Bounce | None = None,
) -> Touches:
    """Find what each shot touches first, for every elevation in every direction.

    Parameters
    ----------
    cannon : Cannon
        Its limits are the caller's business.
    elevations_rad : (e,) array_like
    traverses_m, azimuths_rad : (d,) array_like
        The directions, one traverse and azimuth each.
    soldiers_m : (s, 2) array_like
        Where they stand, x and y of the board frame.
    figure : Figure
    bins : TouchBins
        Classes of touches to tell apart.
    draws : Draws
        The scattered shots, the same for all aims.
    bounce : Bounce, optional
        What the board does to the shot.
    """
    elevations = np.atleast_1d(np.asarray(elevations_rad, dtype=float))
    traverses = np.atleast_1d(np.asarray(traverses_m, dtype=float))
    azimuths = np.atleast_1d(np.asarray(azimuths_rad, dtype=float))
    soldiers = np.asarray(soldiers_m, dtype=float).reshape(-1, 2)
    if traverses.shape != azimuths.shape or traverses.ndim != 1 or elevations.ndim != 1:
        raise ValueError("expected one azimuth for each traverse, and a row of elevations")
    if draws.placement_m.shape[1] != len(soldiers):
        raise ValueError(
            f"the draws are for {draws.placement_m.shape[1]} soldiers, there are {len(soldiers)}"
        )
    shape = (len(elevations), len(traverses), len(draws))
    code = np.full(shape, -1, dtype=np.int32)
    touches = Touches(code, len(soldiers), bins)
    near = _Encounters.find(cannon, traverses, azimuths, soldiers, figure, draws)
    if not len(near.group):
        return touches
    paths = Paths.fly(
        cannon,
        elevations,
        draws,
        reach_m=float(near.distance_m.max()) + figure.reach_m,
        shot_radius_m=figure.shot_radius_m,
        bounce=bounce or Bounce(),
    )

    def follow(elevation: int) -> None:
        if paths.height_m[elevation].min() > figure.top_m:
            return
        code[elevation].reshape(-1)[near.groups] = _codes(paths, elevation, near, figure, bins)

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(follow, range(len(elevations))))
    return touches


@dataclass(frozen=True, slots=True, eq=False)
class _Encounters:
    """Every pass of a plane of fire by a soldier within reach, grouped by direction and shot, nearest first."""

    group: NDArray[np.intp]
    groups: NDArray[np.intp]
    """The different groups, direction * shots + shot ..."""
    starts: NDArray[np.intp]
    """... and where each begins."""
    shot: NDArray[np.intp]
    soldier: NDArray[np.intp]
    distance_m: NDArray[np.float64]
    """Along the plane, from the pivot to beside the soldier's axis."""
    offset_m: NDArray[np.float64]
    """Of the plane to the right of the axis."""
    half_chord_m: NDArray[np.float64]
    """Half of the way beside the soldier's body ..."""
    half_base_m: NDArray[np.float64]
    """... and beside its base."""
    cap_m: NDArray[np.float64]
    """Below this height beside the axis the shot touches ..."""
    body_top_m: NDArray[np.float64]
    """... and below this one at either end of the body's half chord; 0 where it passes beside the body."""

    @classmethod
    def find(
        cls,
        cannon: Cannon,
        traverses: NDArray[np.float64],
        azimuths: NDArray[np.float64],
        soldiers: NDArray[np.float64],
        figure: Figure,
        draws: Draws,
    ) -> _Encounters:
        shots = len(draws)
        placed = soldiers + draws.placement_m
        strip = cannon.strip
        right, ahead = (
            (placed[..., 0] - strip.left_x_m) * strip.forward,
            (placed[..., 1] - strip.y_m) * strip.forward,
        )
        found: list[tuple[NDArray[np.float64], ...]] = []
        indices: list[tuple[NDArray[np.intp], ...]] = []
        for direction, (traverse, azimuth) in enumerate(zip(traverses, azimuths, strict=True)):
            turned = azimuth + draws.azimuth_rad
            sine, cosine = np.sin(turned)[:, None], np.cos(turned)[:, None]
            beside = right - (traverse + draws.traverse_m)[:, None]
            offset = ahead * sine - beside * cosine
            shot, soldier = np.nonzero(np.abs(offset) < figure.reach_m)
            along = beside[shot, soldier] * sine[shot, 0] + ahead[shot, soldier] * cosine[shot, 0]
            # A shot has left the barrel before it can touch anybody.
            free = along > cannon.barrel_m
            shot, soldier, along = shot[free], soldier[free], along[free]
            found.append((along, offset[shot, soldier]))
            indices.append((direction * shots + shot, shot, soldier))
        distance, offset = (np.concatenate(each) for each in zip(*found, strict=True))
        group, shot, soldier = (np.concatenate(each) for each in zip(*indices, strict=True))
        order = np.lexsort((distance, group))
        group, shot, soldier = group[order], shot[order], soldier[order]
        distance, offset = distance[order], offset[order]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        return cls(
            group=group,
            groups=group[starts],
            starts=starts,
            shot=shot,
            soldier=soldier,
            distance_m=distance,
            offset_m=offset,
            half_chord_m=np.sqrt(np.maximum(figure.body_reach_m**2 - offset**2, 0.0)),
            half_base_m=np.sqrt(np.maximum(figure.reach_m**2 - offset**2, 0.0)),
            cap_m=figure.cap_m(offset),
            body_top_m=np.where(np.abs(offset) < figure.body_reach_m, figure.body_top_m, 0.0),
        )


def _codes(
    paths: Paths, elevation: int, near: _Encounters, figure: Figure, bins: TouchBins
) -> NDArray[np.int32]:
    """Return the code of the first touch of each group at one elevation."""
    shot, distance = near.shot, near.distance_m
    nodes = paths.height_m.shape[2]
    along = (distance - paths.muzzle_m[elevation][shot]) / _STEP_M
    node = np.minimum(along.astype(np.intp), nodes - 2)
    part = along - node
    at = shot * nodes + node
    height, slope = paths.height_m[elevation].reshape(-1), paths.slope[elevation].reshape(-1)
    z0, z1 = height[at], height[at + 1]
    p0, p1 = slope[at] * _STEP_M, slope[at + 1] * _STEP_M
    # Hermite's cubic through both nodes.
    rise = z1 - z0
    c3 = p0 + p1 - 2 * rise
    c2 = rise - p0 - c3
    z_m = z0 + part * (p0 + part * (c2 + part * c3))
    steep = np.abs(p0 + part * (2 * c2 + part * 3 * c3)) / _STEP_M
    landing = paths.landing_m[elevation][shot]
    bounced = landing < distance - near.half_base_m
    if bounced.any():
        which = np.flatnonzero(bounced)
        of, beyond = shot[which], distance[which] - landing[which]
        p = paths.bounce_slope[elevation][of]
        bend = paths.bounce_bend[elevation][of]
        arc_m = figure.shot_radius_m + beyond * (p + beyond * bend / 2)
        z_m[which] = np.maximum(arc_m, figure.shot_radius_m)
        steep[which] = np.where(arc_m > figure.shot_radius_m, np.abs(p + beyond * bend), 0.0)
    # Beside the axis, or further down or up the slope where it passes the body's far or near side.
    touched = (z_m < near.cap_m) | (z_m - steep * near.half_chord_m < near.body_top_m)
    count = len(touched)
    first = np.minimum.reduceat(np.where(touched, np.arange(count), count), near.starts)
    code = np.full(len(first), -1, dtype=np.int32)
    hit = first < count
    first = first[hit]
    heights, offsets = bins.shape
    height_class = np.searchsorted(bins.heights, z_m[first] / figure.height_m)
    offset_class = np.searchsorted(bins.offsets, near.offset_m[first] / figure.body_reach_m)
    code[hit] = ((near.soldier[first] * heights + height_class) * offsets + offset_class) * 2 + bounced[first]
    return code


def _advance(
    z: NDArray[np.float64], p: NDArray[np.float64], w: NDArray[np.float64], k: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Take one Runge-Kutta step of fourth order over `_STEP_M`."""
    h, g = _STEP_M, STANDARD_GRAVITY_MPS2
    w1 = 2 * k * np.sqrt(1 + p * p) * w
    p1 = -g * w
    p_2, w_2 = p + h / 2 * p1, w + h / 2 * w1
    p2, w2 = -g * w_2, 2 * k * np.sqrt(1 + p_2 * p_2) * w_2
    p_3, w_3 = p + h / 2 * p2, w + h / 2 * w2
    p3, w3 = -g * w_3, 2 * k * np.sqrt(1 + p_3 * p_3) * w_3
    p_4, w_4 = p + h * p3, w + h * w3
    p4, w4 = -g * w_4, 2 * k * np.sqrt(1 + p_4 * p_4) * w_4
    return (
        z + h / 6 * (p + 2 * (p_2 + p_3) + p_4),
        p + h / 6 * (p1 + 2 * (p2 + p3) + p4),
        w + h / 6 * (w1 + 2 * (w2 + w3) + w4),
    )


def _landing(
    heights: NDArray[np.float64], slopes: NDArray[np.float64], w: NDArray[np.float64], radius_m: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return where the shot comes down on the board, from the muzzle, and slope and w there."""
    down = heights[1:] <= radius_m
    lands = down.any(axis=0)
    node = np.where(lands, down.argmax(axis=0), 0)

    def take(values: NDArray[np.float64], shift: int) -> NDArray[np.float64]:
        taken: NDArray[np.float64] = np.take_along_axis(values, (node + shift)[None], axis=0)[0]
        return taken

    z0, rise = take(heights, 0), take(heights, 1) - take(heights, 0)
    p0, p1 = take(slopes, 0) * _STEP_M, take(slopes, 1) * _STEP_M
    c3 = p0 + p1 - 2 * rise
    c2 = rise - p0 - c3
    part = np.where(lands, np.clip((radius_m - z0) / np.where(rise == 0, -1.0, rise), 0.0, 1.0), 0.0)
    for _ in range(4):
        slope = p0 + part * (2 * c2 + part * 3 * c3)
        error = z0 + part * (p0 + part * (c2 + part * c3)) - radius_m
        part = np.clip(part - error / np.where(slope < 0, slope, -1.0), 0.0, 1.0)
    slope = np.minimum((p0 + part * (2 * c2 + part * 3 * c3)) / _STEP_M, 0.0)
    w_there = take(w, 0) + part * (take(w, 1) - take(w, 0))
    return np.where(lands, (node + part) * _STEP_M, np.inf), slope, w_there
