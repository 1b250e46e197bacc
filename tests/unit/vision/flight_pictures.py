"""Pictures of a shot over a board, drawn from a path that is integrated step by step: the truth of the track's tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.registration import BoardView
from vision.scene import Scene
from vision.shot.flight_fit import Seen

Path = Callable[[float], NDArray[np.float64] | None]

WIDTH_PX, HEIGHT_PX = 960, 540
MUZZLE_MM = (150.0, -40.0, 50.0)
FIRE_US = 1_100_000
DRAG_PER_M = 0.04
GRAVITY_MPS2 = 9.80665
GRAINS = 32
"""Pictures of a film that have noise of their own: to draw it takes longer than all else that is in them."""
SLOPE = np.array([0.5, -0.25])
"""How far a shadow reaches for each unit of height, (x, y): away from the lamp, which lights the shot's other side."""


def camera(height_mm: float = 1200.0) -> BoardView:
    """A camera that hangs a little tilted over the board and sees all of it."""
    tilt = cv2.Rodrigues(np.array([0.03, -0.02, 0.01]))[0]
    rotation = np.asarray(tilt @ np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]))
    matrix = np.array([[1180.0, 0.0, WIDTH_PX / 2], [0.0, 1180.0, HEIGHT_PX / 2], [0.0, 0.0, 1.0]])
    return BoardView(
        camera_matrix=matrix,
        distortion=np.array([-0.1, 0.02, 0.0, 0.0, 0.0]),
        rotation=rotation,
        translation_mm=np.array([0.0, 0.0, height_mm]) - rotation @ np.array([190.0, 400.0, 0.0]),
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
        error_mm=0.1,
    )


def seen_at(times_us: NDArray[np.float64], pixels: NDArray[np.float64], *, sigma_px: float = 0.6) -> Seen:
    """Sights that are equally good in every direction."""
    count = len(times_us)
    return Seen(times_us, pixels, np.tile([1.0, 0.0], (count, 1)), np.full((count, 2), sigma_px))


def scene(
    *,
    fps: float = 120.0,
    muzzle_mm: tuple[float, float, float] | None = MUZZLE_MM,
    fire_us: int | None = FIRE_US,
    exposure_us: int | None = 1000,
) -> Scene:
    """A board of 45 mm squares with the Allies' cannon behind it."""
    return Scene(
        square_mm=45.0,
        cannon_side=Side.A,
        fps=fps,
        muzzle_mm=muzzle_mm,
        fire_us=fire_us,
        exposure_us=exposure_us,
    )


def fly(
    start_mm: Sequence[float],
    velocity_mps: Sequence[float],
    turns: Sequence[tuple[float, Sequence[float]]] = (),
) -> Path:
    """Integrate a path from the release; `turns` are (ms after release, new velocity in m/s)."""
    step_s = 2.5e-4
    place, velocity = np.array(start_mm, dtype=np.float64), np.array(velocity_mps, dtype=np.float64)
    waiting = sorted(turns, key=lambda turn: turn[0])
    places = [place]
    gravity = np.array([0.0, 0.0, -GRAVITY_MPS2])
    for i in range(1000):
        if waiting and i * step_s * 1e3 >= waiting[0][0] - 1e-9:
            velocity = np.array(waiting.pop(0)[1], dtype=np.float64)
        before = velocity
        velocity = velocity + (gravity - DRAG_PER_M * float(np.sqrt(velocity @ velocity)) * velocity) * step_s
        place = place + (before + velocity) / 2 * step_s * 1e3
        places.append(place)
    points = np.array(places)

    def at(since_ms: float) -> NDArray[np.float64] | None:
        if since_ms < 0 or since_ms > 249:
            return None
        return np.array(
            [np.interp(since_ms * 4, np.arange(len(points)), points[:, axis]) for axis in range(3)]
        )

    return at


@dataclass(frozen=True)
class Film:
    frames: list[NDArray[np.uint8]]
    timestamps_us: list[int]


def film(
    path: Path | None,
    view: BoardView,
    *,
    fps: float = 120.0,
    exposure_us: int = 1000,
    shot: tuple[int, int, int] = (235, 240, 240),
    grey: bool = False,
    shadow: float = 0.45,
    length_ms: float = 260.0,
    seed: int = 0,
    topple_at_ms: float | None = None,
    lit_from_one_side: bool = False,
) -> Film:
    """Draw the shot, its shadow of some depth, the noise, and, if asked for, a dark figure that topples slowly.

    Asked for, it is a ball that the lamp lights from one side; else a disc.
    """
    board, grains = _board(view), _grains(seed)
    frames, times = [], []
    first_us = FIRE_US - 80_000
    for k in range(int(length_ms * fps / 1000)):
        time_us = first_us + round(k * 1e6 / fps)
        picture = board.copy()
        if topple_at_ms is not None:
            _figure(picture, view, max(0.0, (time_us - FIRE_US) / 1000 - topple_at_ms))
        if path is not None:
            moments = [(time_us - FIRE_US + exposure_us * (i / 15 - 0.5)) / 1000 for i in range(16)]
            seen = [p for p in map(path, moments) if p is not None]
            if shadow > 0:
                fallen = [np.array([*(p[:2] + SLOPE * p[2]), 0.0]) for p in seen]
                _smear(picture, view, fallen, (0.0, 0.0, 0.0), strength=shadow, blur_px=2.0)
            _smear(picture, view, seen, shot, strength=1.0, blur_px=0.6, lamp=shadow * lit_from_one_side)
        picture += grains[k % GRAINS]
        image = np.clip(np.round(picture), 0, 255).astype(np.uint8)
        frames.append(np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)) if grey else image)
        times.append(time_us)
    return Film(frames, times)


@lru_cache(maxsize=1)
def _grains(seed: int) -> list[NDArray[np.float16]]:
    """The noise of the pictures of a film; short numbers do for it, and keep less memory."""
    rng = np.random.default_rng(seed)
    return [rng.normal(0.0, 1.5, (HEIGHT_PX, WIDTH_PX, 3)).astype(np.float16) for _ in range(GRAINS)]


def _board(view: BoardView) -> NDArray[np.float32]:
    picture = np.full((HEIGHT_PX, WIDTH_PX, 3), (95.0, 120.0, 140.0), dtype=np.float32)
    for x in range(9):
        ends = view.project(np.array([[45.0 * x, 0.0, 0.0], [45.0 * x, 810.0, 0.0]]))
        cv2.line(picture, *(tuple(int(c) for c in e) for e in ends), (60, 60, 60), 1, cv2.LINE_AA)
    for y in range(19):
        ends = view.project(np.array([[0.0, 45.0 * y, 0.0], [360.0, 45.0 * y, 0.0]]))
        cv2.line(picture, *(tuple(int(c) for c in e) for e in ends), (60, 60, 60), 1, cv2.LINE_AA)
    return picture


def _smear(
    picture: NDArray[np.float32],
    view: BoardView,
    points: Sequence[NDArray[np.float64]],
    colour: Sequence[float],
    *,
    strength: float,
    blur_px: float,
    lamp: float = 0.0,
) -> None:
    """Draw discs over one another; of a ball the lamp's share of the light falls on the side that is turned to it."""
    if not points:
        return
    pixels = view.project(np.array(points))
    towards_px = pixels - view.project(np.array(points) + np.array([*SLOPE, 0.0]))
    radius_px = 3.0 * 1180.0 / (float(view.camera_mm[2]) - float(points[0][2]))
    cover, light = np.zeros((2, *picture.shape[:2]), dtype=np.float32)
    for (u, v), towards in zip(pixels, towards_px, strict=True):
        disc = np.zeros_like(cover[:40, :40])
        left, top = int(u) - 20, int(v) - 20
        if not (0 <= left < WIDTH_PX - 40 and 0 <= top < HEIGHT_PX - 40):
            continue
        centre = (round((u - left) * 16), round((v - top) * 16))
        cv2.circle(disc, centre, round(radius_px * 16), 1.0, -1, cv2.LINE_AA, 4)
        cover[top : top + 40, left : left + 40] += disc / 16
        shade = _shade(np.array([u - left, v - top]), towards, radius_px, lamp)
        light[top : top + 40, left : left + 40] += disc * shade / 16
    rows, columns = np.flatnonzero(cover.any(axis=1)), np.flatnonzero(cover.any(axis=0))
    if not len(rows):
        return
    box = np.s_[max(rows[0] - 8, 0) : rows[-1] + 9, max(columns[0] - 8, 0) : columns[-1] + 9]
    alpha, lit = (
        strength * cv2.GaussianBlur(each[box], (0, 0), blur_px)[..., None] for each in (cover, light)
    )
    picture[box] = picture[box] * (1 - alpha) + np.array(colour, dtype=np.float32) * lit


def _shade(
    middle: NDArray[np.float64], towards: NDArray[np.float64], radius_px: float, lamp: float
) -> NDArray[np.float32]:
    """How bright a ball is on 40 x 40 px, after Lambert, against a flat board: the lamp's share of the light, and the rest from all over."""
    across, down = np.meshgrid(*2 * [np.arange(40.0)])
    aslant = float(np.hypot(*SLOPE))
    facing = (
        ((across - middle[0]) * towards[0] + (down - middle[1]) * towards[1]) / np.hypot(*towards) / radius_px
    )
    upwards = np.sqrt(
        np.maximum(1 - ((across - middle[0]) ** 2 + (down - middle[1]) ** 2) / radius_px**2, 0.0)
    )
    return (1 - lamp + lamp * np.maximum(upwards + aslant * facing, 0.0)).astype(np.float32)


def _figure(picture: NDArray[np.float32], view: BoardView, falling_ms: float) -> None:
    lean = min(np.pi / 2, 0.5e-4 * falling_ms**2)
    foot = np.array([202.0, 382.0, 0.0])
    head = foot + 42.0 * np.array([0.2 * np.sin(lean), 0.98 * np.sin(lean), np.cos(lean)])
    pixels = view.project(np.array([foot, head]))
    cv2.line(picture, *(tuple(int(c) for c in p) for p in pixels), (45, 70, 55), 11, cv2.LINE_AA)
