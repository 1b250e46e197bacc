"""Which end of a board is whose, told by its soldiers and by the cannon (B2)."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray

from game.montecassino import Side, Square
from vision.registration.search import ends_told

CAMERA = painted.view(width_px=720, height_px=400, focal_px=800.0)
WIDTH_MM, LENGTH_MM = 8 * painted.SQUARE_MM, 18 * painted.SQUARE_MM
# Not in the middle: at the other end a cannon would stand as far from the other corner.
MUZZLE_MM = (100.0, -50.0, 50.0)
TURNED_MM = (WIDTH_MM - MUZZLE_MM[0], LENGTH_MM - MUZZLE_MM[1])
MIRRORED_MM = (MUZZLE_MM[0], LENGTH_MM - MUZZLE_MM[1])
STANDING = [Square.parse(name) for name in ("A-01", "A-12", "A-23", "A-44", "G-03", "G-65")]


def table(
    spots: Iterable[tuple[float, float, int]] = (), busy: Iterable[tuple[float, float]] = ()
) -> NDArray[np.uint8]:
    """An even board with spots (x, y, grey level) on it, and things of light and dark about it."""
    rng = np.random.default_rng(1)
    picture = rng.normal(120.0, 1.5, (CAMERA.height_px, CAMERA.width_px))
    for x_mm, y_mm, level in spots:
        (u, v) = CAMERA.project(np.array([[x_mm, y_mm, 0.0]]))[0]
        cv2.circle(picture, (round(u), round(v)), 9, float(level), -1)
    for x_mm, y_mm in busy:
        (u, v) = CAMERA.project(np.array([[x_mm, y_mm, 30.0]]))[0]
        cv2.circle(picture, (round(u), round(v)), 14, 60.0, -1)
        cv2.circle(picture, (round(u), round(v)), 6, 190.0, -1)
    return np.clip(picture, 0, 255).astype(np.uint8)


def there(square: Square) -> tuple[float, float]:
    return square.centre_mm(painted.SQUARE_MM)


def turned(square: Square) -> tuple[float, float]:
    x_mm, y_mm = there(square)
    return WIDTH_MM - x_mm, LENGTH_MM - y_mm


@pytest.mark.parametrize(
    ("stands_at", "told"),
    [
        ([MUZZLE_MM[:2]], True),
        ([TURNED_MM], False),
        ([], None),
        ([MUZZLE_MM[:2], TURNED_MM], None),
        ([MIRRORED_MM], None),
    ],
    ids=["where it should", "at the other end", "nowhere", "at either end", "elsewhere"],
)
def test_the_cannon_tells_which_end_is_whose_where_it_stands_at_one_alone(
    stands_at: list[tuple[float, float]], told: bool | None
) -> None:
    scene = painted.scene(CAMERA, markers=None, muzzle_mm=MUZZLE_MM)
    assert ends_told(table(busy=stands_at), scene, CAMERA) is told


@pytest.mark.parametrize("places", [there, turned])
def test_the_soldiers_tell_which_end_is_whose_though_something_stranger_lies_on_one_square(places) -> None:
    """And though a cannon seems to stand at the other."""
    scene = painted.scene(CAMERA, markers=None, muzzle_mm=MUZZLE_MM, expected=dict.fromkeys(STANDING, Side.A))
    other = turned if places is there else there
    spots = [(*places(square), 100) for square in STANDING] + [(*other(STANDING[2]), 255)]
    cannon = TURNED_MM if places is there else MUZZLE_MM[:2]
    assert ends_told(table(spots, [cannon]), scene, CAMERA) is (places is there)


def test_fields_of_a_painted_landscape_are_not_taken_for_soldiers() -> None:
    """Each larger than a square and darker than they, where they would stand were the board turned by half."""
    scene = painted.scene(CAMERA, markers=None, expected=dict.fromkeys(STANDING, Side.A))
    fields = np.zeros((CAMERA.height_px, CAMERA.width_px), np.uint8)
    for square in STANDING:
        x_mm, y_mm = turned(square)
        reach_mm = 0.6 * painted.SQUARE_MM
        corners = [
            (x_mm + x * reach_mm, y_mm + y * reach_mm, 0.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        cv2.fillConvexPoly(fields, np.round(CAMERA.project(np.array(corners))).astype(np.int32), 1)
    shades = table([(*there(square), 100) for square in STANDING])
    painted_over = np.where((fields == 1) & (shades > 110), shades - 60, shades)
    assert ends_told(painted_over.astype(np.uint8), scene, CAMERA) is True


def test_where_soldiers_do_not_tell_the_cannon_does() -> None:
    for expected in ({}, dict.fromkeys(STANDING, Side.A)):
        scene = painted.scene(CAMERA, markers=None, muzzle_mm=MUZZLE_MM, expected=expected)
        spots = [(*place(square), 100) for square in STANDING for place in (there, turned)]
        assert ends_told(table(spots, [MUZZLE_MM[:2]]), scene, CAMERA) is True
        assert ends_told(table(spots, [TURNED_MM]), scene, CAMERA) is False
