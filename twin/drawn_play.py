"""Positions, aims and hands drawn at random: what happens on a table that is filmed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from game.montecassino import (
    ALL_SQUARES,
    BOARD_ROWS,
    Side,
    Square,
)
from twin.physics import FALLEN_RAD, GRAVITY_MPS2
from twin.table import LEANING_RAD, Table, TableSettings, lean_rad
from twin.truth import Standing

__all__ = ["draw_aim", "draw_point_blank", "draw_soldiers", "push_about", "somebody_leans"]

_PUSH_SHARES = (0.2, 0.5, 0.3)
"""Of those that hands push: a nudge, aside, and off to another square."""
_NEIGHBOURS = (0.5, 1.4)
"""How far from each other two stand of whom one is thrown against the other, in heights."""
_POINT_BLANK_MM = (20.0, 45.0)
_TURNED_SHARE = 0.4
"""Of those that hands push, those that look any way afterwards: who is struck at the rim of its base spins."""


def draw_soldiers(rng: np.random.Generator) -> dict[Square, Side]:
    """Draw a position: as at the start, in knots, or scattered; either side nearer its own base on the whole."""
    kind = rng.random()
    soldiers: dict[Square, Side] = {}
    for side in Side:
        if kind < 0.25:
            for number in range(1, 25):
                if rng.random() < 0.92:
                    soldiers[Square(side, number)] = side
            continue
        forward = rng.uniform(1.0, 8.0)
        middle = forward if side is Side.A else BOARD_ROWS - forward
        spread = 2.0 if kind < 0.65 else 4.0
        rows = np.array([square.centre_mm(1.0)[1] for square in ALL_SQUARES])
        weights = np.exp(-0.5 * ((rows - middle) / spread) ** 2) + 0.015
        count = int(rng.integers(4, 25))
        for index in rng.choice(len(ALL_SQUARES), size=count, replace=False, p=weights / weights.sum()):
            soldiers.setdefault(ALL_SQUARES[index], side)
    return soldiers


def somebody_leans(table: Table) -> bool:
    """Whether of anybody it is unclear whether it stands or lies."""
    off_rad = np.abs(lean_rad(table.arrangement()[1].poses) - FALLEN_RAD)
    return bool((off_rad < LEANING_RAD).any())


def push_about(rng: np.random.Generator, table: Table, fallen: Sequence[Standing]) -> None:
    """Push some of those that stand, most of them near where one of the fallen stood."""
    lying = np.array([(each.x_mm, each.y_mm) for each in fallen])
    still = table.standing()
    away_mm = np.array([np.hypot(*(lying - (each.x_mm, each.y_mm)).T).min() for each in still])
    weight = np.exp(-away_mm / 50.0) + 0.01
    count = min(int(rng.integers(1, 6)), len(still))
    for index in rng.choice(len(still), size=count, replace=False, p=weight / weight.sum()):
        each = still[index]
        far_mm = rng.choice(
            [rng.uniform(0.0, 3.4), min(6.6 + rng.exponential(7.0), 30.0), rng.uniform(30.0, 90.0)],
            p=_PUSH_SHARES,
        )
        for way in rng.uniform(-math.pi, math.pi, 20):
            dx_mm, dy_mm = far_mm * math.cos(way), far_mm * math.sin(way)
            to_mm = (each.x_mm + dx_mm, each.y_mm + dy_mm)
            on_board = 0.0 < to_mm[0] < table.settings.width_mm and 0.0 < to_mm[1] < table.settings.length_mm
            if on_board and _is_free(table, each, to_mm):
                is_spun = rng.random() < _TURNED_SHARE
                turn_rad = rng.uniform(-math.pi, math.pi) if is_spun else rng.normal(0, 0.9)
                table.push(each.square, (dx_mm, dy_mm), turn_rad)
                break


def _is_free(table: Table, each: Standing, at_mm: tuple[float, float]) -> bool:
    """Whether a soldier could stand there: nobody's line from foot to head is in the way."""
    height_mm = table.settings.bodies.soldier_height_mm
    for pose in table.arrangement()[1].poses:
        foot_mm = pose[:2] * 1e3
        if np.hypot(*(foot_mm - (each.x_mm, each.y_mm))) < 1.0:
            continue
        w, x, y, z = pose[3:]
        along_mm = height_mm * 2 * np.array([x * z + w * y, y * z - w * x])
        off_mm = np.array(at_mm) - foot_mm
        share = np.clip(off_mm @ along_mm / max(float(along_mm @ along_mm), 1e-6), 0.0, 1.0)
        is_standing = np.hypot(*along_mm) < height_mm / 2
        if np.hypot(*(off_mm - share * along_mm)) < (0.5 if is_standing else 0.26) * height_mm:
            return False
    return True


def draw_aim(
    rng: np.random.Generator, table: TableSettings, soldiers: Mapping[Square, Side], side: Side
) -> tuple[tuple[float, float, float], float, float, float]:
    """Draw muzzle, azimuth, elevation and speed of a shot at somebody, often the nearer ones' heads or feet."""
    beyond_mm = rng.uniform(30.0, 60.0)
    muzzle_mm = (
        float(rng.uniform(40.0, table.width_mm - 40.0)),
        float(-beyond_mm if side is Side.A else table.length_mm + beyond_mm),
        float(rng.uniform(40.0, 62.0)),
    )
    targets = sorted(square for square, who in soldiers.items() if who is not side) or sorted(soldiers)
    x_mm, y_mm = targets[int(rng.integers(len(targets)))].centre_mm(table.square_mm)
    away_mm = math.hypot(x_mm - muzzle_mm[0], y_mm - muzzle_mm[1])
    speed_mps = float(rng.uniform(4.0, 7.0) if rng.random() < 0.25 else rng.uniform(7.0, 13.0))
    time_s = away_mm / 1e3 / speed_mps
    at_mm = float(rng.uniform(4.0, table.bodies.soldier_height_mm * 0.95))
    rise_m = (at_mm - muzzle_mm[2]) / 1e3 + 0.5 * GRAVITY_MPS2 * time_s**2
    azimuth_rad = math.atan2(x_mm - muzzle_mm[0] + rng.normal(0, 8.0), y_mm - muzzle_mm[1])
    return muzzle_mm, azimuth_rad, math.atan2(rise_m, away_mm / 1e3), speed_mps


def draw_point_blank(
    rng: np.random.Generator, table: Table
) -> tuple[tuple[float, float, float], float, float, float] | None:
    """Draw muzzle, azimuth, elevation and speed of a shot that throws somebody against another; None: there is no such pair."""
    height_mm = table.settings.bodies.soldier_height_mm
    feet_mm = np.array([(each.x_mm, each.y_mm) for each in table.standing()]).reshape(-1, 2)
    apart = np.hypot(*(feet_mm[:, None] - feet_mm[None]).transpose(2, 0, 1)) / height_mm
    pairs = np.argwhere((apart > _NEIGHBOURS[0]) & (apart < _NEIGHBOURS[1]))
    for struck, other in rng.permutation(pairs):
        way_mm = feet_mm[other] - feet_mm[struck]
        azimuth_rad = math.atan2(way_mm[0], way_mm[1]) + float(rng.normal(0, 0.25))
        along = np.array([math.sin(azimuth_rad), math.cos(azimuth_rad)])
        from_mm = feet_mm[struck] - (0.4 * height_mm + rng.uniform(*_POINT_BLANK_MM)) * along
        if np.delete(np.hypot(*(feet_mm - from_mm).T), struck).min() > 0.5 * height_mm:
            muzzle_mm = (float(from_mm[0]), float(from_mm[1]), float(rng.uniform(0.6, 0.95)) * height_mm)
            return muzzle_mm, azimuth_rad, 0.0, float(rng.uniform(4.0, 13.0))
    return None
