"""The board found by its pattern alone, where neither markers nor corners say where it is.

A board is 8 by 18 squares whatever it looks like. So: straight segments are found, and parted into two directions that
are square to each other but for perspective; each direction's vanishing point turns the picture into one seen from
straight above; there the segments lie on a lattice, whose step is the period that both directions share; and of all
windows of 8 by 18 squares on that lattice the one with most of its edges drawn is the board.

The pattern looks the same from either end (B2). Which end is whose is told by the soldiers, where it is known who
should stand where, or by the cannon, where it is known where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.registration.fit import Unknowns
from vision.registration.view import BoardView, NoBoard
from vision.scene import Scene

__all__ = ["ends_told", "find_outline"]

Image = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

_NO_BOARD = "no board in the picture: no pattern of 8 by 18 squares is seen"
_TWO_BOARDS = "two boards are in the picture; show the camera one, or lay markers beside it"
_SEARCHED_PX = 1280  # width of the picture that lines are looked for in: fewer and shorter ones are seen in a smaller one
_SHORTEST_PX = 10.0
_CONTRAST, _CONTRAST_TILES = 8.0, (16, 9)
_FEWEST_SEGMENTS = 60
_SPREAD_RAD = np.radians(12.0)  # by which perspective and the lens turn lines of one direction
_STEPS = np.arange(8.0, 140.0, 0.1)  # px that a square may measure
_FUNDAMENTAL = 0.6  # of the strongest period's power; a longer one with as much is the true one
_NEAR_LATTICE = 0.17  # of a step: a segment so near a line of the lattice is on it
_FEWEST_EDGES = 0.45  # of a board's edges that must be drawn
_SECOND_BOARD = 0.75  # of the best window's edges, on a window beside it
# How much better the soldiers must fit one way round, in standard errors of a chance fit.
_SOLDIERS_TELL = 1.5
_CANNON_TELLS = 2.5  # how much more there must be to see where the cannon stands than at the other end
# Where it is looked whether the cannon stands there: around the muzzle, each way, at about the height of a cannon; and grey levels
# that are added to either spread, so that where there is nothing at all noise decides nothing.
_AROUND_MUZZLE_MM = np.linspace(-28.0, 28.0, 29)
_CANNON_Z_MM = 30.0
_NOISE = 2.0
_LEAST_LOST = 0.3  # of a row of edges, by a window that lies one square farther
_SAMPLES = 20  # along the side of a square
_FIGURE = 5  # of them a figure seen from above is as wide as
_RIM = 4  # of them along each side, where lines run, are left out


def find_outline(shades: Image, scene: Scene) -> FloatArray | NoBoard:
    """Find the board's four outer corners, up to half a turn.

    Parameters
    ----------
    shades
        The picture in grey.
    scene
        The board, and the lens where it is known.

    Returns
    -------
    Pixels of the corners in the order of `Scene.corners_px`, shape (4, 2); or the same beginning with the opposite
    corner, for the pattern does not tell.
    """
    share = _SEARCHED_PX / max(shades.shape)
    sized = shades
    if share != 1.0:
        how = cv2.INTER_AREA if share < 1.0 else cv2.INTER_CUBIC
        sized = np.asarray(cv2.resize(shades, None, fx=share, fy=share, interpolation=how))
    unknowns = Unknowns.of(scene, shades.shape[1], shades.shape[0])
    lens = unknowns.lens(unknowns.start(np.zeros(6)))
    # Faint lines need more contrast; where it is not needed it only brings out grain.
    for contrast in (None, cv2.createCLAHE(_CONTRAST, _CONTRAST_TILES)):
        searched = sized if contrast is None else np.asarray(contrast.apply(sized), dtype=np.uint8)
        found = _outline(searched, share, *lens)
        if not isinstance(found, NoBoard):
            break
    return found


def _outline(
    searched: Image, share: float, camera: FloatArray, distortion: FloatArray
) -> FloatArray | NoBoard:
    """Find the outline in a picture that is so much as large as the one it is told in."""
    found, *_ = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(searched)
    if found is None:
        return NoBoard(_NO_BOARD)
    segments = (np.asarray(found, dtype=np.float64).reshape(-1, 2, 2) + 0.5) / share - 0.5
    segments = segments[np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1) * share >= _SHORTEST_PX]
    if len(segments) < _FEWEST_SEGMENTS:
        return NoBoard(_NO_BOARD)
    straight = cv2.undistortPoints(segments.reshape(-1, 1, 2), camera, distortion).reshape(-1, 2, 2)
    rays = np.concatenate([straight, np.ones((len(straight), 2, 1))], axis=2)
    turned = _seen_from_above(rays)
    if turned is None:
        return NoBoard(_NO_BOARD)
    upright, rotation = turned
    lattice = _lattice(upright)
    if lattice is None:
        return NoBoard(_NO_BOARD)
    window = _window(upright, lattice)
    if isinstance(window, NoBoard):
        return window
    if _is_another(rays[_beside(lattice.of_plane(upright), window)]):
        return NoBoard(_TWO_BOARDS)
    corners = np.column_stack([lattice.to_plane(window), np.ones(4)]) @ rotation.T
    pixels, _ = cv2.projectPoints(corners, np.zeros(3), np.zeros(3), camera, distortion)
    return np.asarray(pixels, dtype=np.float64).reshape(4, 2)


def _beside(places: FloatArray, window: FloatArray) -> NDArray[np.bool_]:
    """Say which segments on the lattice, shape (N, 2, 2), lie beside a window of it, shape (4, 2)."""
    low, high = window.min(axis=0) - 0.5, window.max(axis=0) + 0.5
    return np.asarray(((places < low) | (places > high)).any(axis=2).all(axis=1))


def _is_another(rays: FloatArray) -> bool:
    """Say whether segments make a board, given the lines of sight of their ends, shape (N, 2, 3)."""
    if len(rays) < _FEWEST_SEGMENTS:
        return False
    turned = _seen_from_above(rays)
    lattice = None if turned is None else _lattice(turned[0])
    return turned is not None and lattice is not None and not isinstance(_window(turned[0], lattice), NoBoard)


def _seen_from_above(rays: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Turn segments so that lines of the board lie along x and y.

    Parameters
    ----------
    rays
        Ends of the segments as lines of sight, shape (N, 2, 3).

    Returns
    -------
    upright, rotation
        Ends on the plane seen from above, shape (N, 2, 2), and the rotation from there to the camera, shape (3, 3).
    """
    along = rays[:, 1, :2] - rays[:, 0, :2]
    length = np.linalg.norm(along, axis=1)
    angle = np.arctan2(along[:, 1], along[:, 0]) % (np.pi / 2)
    # The direction that most of the length has, modulo a quarter turn.
    bins = 90
    count, _ = np.histogram(angle, bins=bins, range=(0, np.pi / 2), weights=length)
    wide = np.ones(9)
    smooth = np.convolve(np.concatenate([count[-4:], count, count[:4]]), wide, mode="valid")
    main = (np.argmax(smooth) + 0.5) * np.pi / 2 / bins
    lines = np.cross(rays[:, 0], rays[:, 1])
    lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    if not (np.isfinite(lines).all() and np.isfinite(length).all()):
        return None
    directions = []
    whole = np.arctan2(along[:, 1], along[:, 0])
    for quarter in (0.0, np.pi / 2):
        off = (whole - main - quarter + np.pi / 2) % np.pi - np.pi / 2
        near = np.abs(off) < _SPREAD_RAD
        if near.sum() < _FEWEST_SEGMENTS / 4:
            return None
        directions.append(_vanishing(lines[near], length[near], main + quarter))
    first, second = directions
    third = np.cross(first, second)
    third /= np.linalg.norm(third)
    # The two directions are square to each other; what the guessed lens makes of them is shared out evenly.
    both = np.linalg.svd(np.column_stack([first, second, third]))
    rotation = both[0] @ both[2]
    if rotation[2, 2] < 0:
        rotation[:, 1:] *= -1
    level = rays @ rotation
    if (level[..., 2] <= 0.2).any():
        return None
    return level[..., :2] / level[..., 2:], rotation


def _vanishing(lines: FloatArray, weight: FloatArray, angle_rad: float) -> FloatArray:
    """Direction in space that lines of sight planes share, of unit length, near an angle in the picture."""
    direction = np.array([np.cos(angle_rad), np.sin(angle_rad), 0.0])
    scale = 0.1
    for _ in range(12):
        off = lines @ direction
        robust = weight / (1 + (off / scale) ** 2)
        vectors = np.linalg.eigh((lines * robust[:, None]).T @ lines)[1]
        turned = vectors[:, 0] * np.sign(vectors[:, 0] @ direction)
        direction = turned / np.linalg.norm(turned)
        scale = max(scale * 0.6, 0.004)
    return np.asarray(direction, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Lines at x = x0 + i step and y = y0 + j step."""

    step: float
    x0: float
    y0: float

    def of_plane(self, points: FloatArray) -> FloatArray:
        return (points - (self.x0, self.y0)) / self.step

    def to_plane(self, places: FloatArray) -> FloatArray:
        return places * self.step + (self.x0, self.y0)


def _lattice(upright: FloatArray) -> _Lattice | None:
    """Find the lattice that segments lie on."""
    along = upright[:, 1] - upright[:, 0]
    length = np.linalg.norm(along, axis=1)
    level = np.abs(along[:, 1]) < 0.1 * np.abs(along[:, 0])
    steep = np.abs(along[:, 0]) < 0.1 * np.abs(along[:, 1])
    if min(level.sum(), steep.sum()) < _FEWEST_SEGMENTS / 4:
        return None
    middle = upright.mean(axis=1)
    # The plane is measured in what a pixel about is, so that one set of steps serves every lens.
    unit = np.ptp(middle, axis=0).max() / _SEARCHED_PX
    steps = _STEPS * unit
    sums = [
        length[chosen] @ np.exp(2j * np.pi * middle[chosen, axis, None] / steps) / length[chosen].sum()
        for chosen, axis in ((steep, 0), (level, 1))
    ]
    power = np.abs(sums[0]) * np.abs(sums[1])
    peaks = np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] >= power[2:])) + 1
    if len(peaks) == 0:
        return None
    strong = peaks[power[peaks] >= _FUNDAMENTAL * power[peaks].max()]
    best = int(strong[-1])
    step = float(steps[best])
    phases = [float(np.angle(each[best]) / (2 * np.pi) * step) for each in sums]
    return _Lattice(step, phases[0], phases[1])


def _window(upright: FloatArray, lattice: _Lattice) -> FloatArray | NoBoard:
    """Find the 8 by 18 squares with most of their edges drawn: their corners on the lattice, shape (4, 2)."""
    ends = lattice.of_plane(upright)
    low = np.floor(ends.min(axis=(0, 1))).astype(int) - 1
    ends = ends - low
    across, down = (int(each) for each in np.ceil(ends.max(axis=(0, 1))).astype(int) + 2)
    if max(across, down) > 400:
        return NoBoard(_NO_BOARD)
    level = _drawn(ends, (down, across))
    steep = _drawn(ends[..., ::-1], (across, down)).T
    scored = []
    total = BOARD_FILES * (BOARD_ROWS + 1) + (BOARD_FILES + 1) * BOARD_ROWS
    for files, rows in ((BOARD_FILES, BOARD_ROWS), (BOARD_ROWS, BOARD_FILES)):
        if down <= rows or across <= files:
            continue
        score = _box(level, files, rows + 1)[:, :-1] + _box(steep, files + 1, rows)[:-1]
        row, column = (int(each) for each in np.unravel_index(int(np.argmax(score)), score.shape))
        scored.append((float(score[row, column]) / total, column, row, files, rows, score / total))
    if not scored:
        return NoBoard(_NO_BOARD)
    share, i, j, files, rows, score = max(scored, key=lambda each: each[0])
    if share < _FEWEST_EDGES:
        return NoBoard(_NO_BOARD)
    # A window one square farther must have lost about a row of edges, or where the board ends cannot be told.
    for x, y, row in (
        (1, 0, 2 * rows + 1),
        (-1, 0, 2 * rows + 1),
        (0, 1, 2 * files + 1),
        (0, -1, 2 * files + 1),
    ):
        if 0 <= j + y < score.shape[0] and 0 <= i + x < score.shape[1]:
            lost = (share - float(score[j + y, i + x])) * total / (share * row)
            if lost < _LEAST_LOST:
                return NoBoard("a pattern of squares is seen, but not where it begins and ends")
    beside = score.copy()
    beside[max(0, j - rows + 1) : j + rows, max(0, i - files + 1) : i + files] = 0
    if float(beside.max()) > _SECOND_BOARD * share:
        return NoBoard(_TWO_BOARDS)
    # Begin with a corner from which the shorter side, 8 squares, runs along x of the board.
    corners = [(i, j), (i + files, j), (i + files, j + rows), (i, j + rows)]
    if files != BOARD_FILES:
        corners = corners[1:] + corners[:1]
    # Seen from above, y of the board turns left from x; in a picture, whose v runs down, it turns right otherwise.
    corners = [corners[k] for k in (1, 0, 3, 2)]
    places: FloatArray = np.array(corners, dtype=np.float64) + low
    return places


def _drawn(ends: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Say what share of each level edge of the lattice segments (N, 2, 2) draw: at [j, i] of the one from (i, j) to (i + 1, j)."""
    edges = np.zeros(shape)
    for (first_x, first_y), (last_x, last_y) in ends:
        beside = (first_y + last_y) / 2
        line = round(beside)
        turned = abs(last_y - first_y) > 0.1 * abs(last_x - first_x)
        if turned or abs(beside - line) > _NEAR_LATTICE:
            continue
        first, last = sorted((first_x, last_x))
        for place in range(int(first), int(last) + 1):
            part = min(last, place + 1) - max(first, place)
            edges[line, place] = min(1.0, edges[line, place] + max(part, 0.0))
    return edges


def _box(edges: FloatArray, wide: int, high: int) -> FloatArray:
    """Sum up all boxes of a size, by their upper left corner."""
    sums = np.pad(edges.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    return np.asarray(sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide])


def ends_told(shades: Image, scene: Scene, view: BoardView) -> bool | None:
    """Say whether a camera has the board's ends the right way round.

    Parameters
    ----------
    shades
        The picture in grey.
    scene
        Who should stand where, and where the cannon stands, as far as it is known.
    view
        The camera.

    Returns
    -------
    True if so, False if the board is turned by half, None if nothing tells.
    """
    if scene.expected:
        strange = _strangeness(shades, scene, view)
        expected = np.zeros((BOARD_ROWS, BOARD_FILES))
        for square in scene.expected:
            across_squares, along_squares = square.centre_mm(1.0)
            expected[int(along_squares), int(across_squares)] = 1
        turned = expected[::-1, ::-1]
        differ = expected != turned
        if differ.any():
            # Ranks, so that one odd square cannot outweigh the others.
            rank = strange.ravel().argsort().argsort().reshape(strange.shape) / strange.size
            gain = ((expected - turned) * (rank - 0.5))[differ].sum()
            chance = np.sqrt(differ.sum() / 12)
            if abs(gain) > _SOLDIERS_TELL * chance:
                return bool(gain > 0)
    if scene.muzzle_mm is not None:
        x_mm, y_mm, _ = scene.muzzle_mm
        here = _busy(shades, view, (x_mm, y_mm))
        there = _busy(shades, view, (scene.width_mm - x_mm, scene.length_mm - y_mm))
        if max(here, there) > _CANNON_TELLS * min(here, there):
            return here > there
    return None


def _strangeness(shades: Image, scene: Scene, view: BoardView) -> FloatArray:
    """How little each square looks like the others of its kind, shape (18, 8)."""
    of_square = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    x, y = np.meshgrid(
        (np.arange(BOARD_FILES)[:, None] + of_square).ravel(),
        (np.arange(BOARD_ROWS)[:, None] + of_square).ravel(),
    )
    board = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    pixels = view.project(board * (scene.square_mm, scene.square_mm, 1.0)).astype(np.float32)
    flat = cv2.remap(shades, pixels.reshape(*x.shape, 2), None, cv2.INTER_LINEAR).astype(np.float64)
    # What is larger than a figure is painted: a landscape's woods and fields.
    fine = flat - cv2.blur(flat, (_FIGURE, _FIGURE))
    tiles = fine.reshape(BOARD_ROWS, _SAMPLES, BOARD_FILES, _SAMPLES).swapaxes(1, 2)
    inner = tiles[:, :, _RIM:-_RIM, _RIM:-_RIM]
    patches = inner.reshape(BOARD_ROWS, BOARD_FILES, -1)
    kind = (np.arange(BOARD_ROWS)[:, None] >= BOARD_ROWS // 2) * 2 + (
        np.arange(BOARD_ROWS)[:, None] + np.arange(BOARD_FILES)
    ) % 2
    strange = np.zeros((BOARD_ROWS, BOARD_FILES))
    for each in range(4):
        alike = patches[kind == each]
        strange[kind == each] = np.abs(alike - np.median(alike, axis=0)).mean(axis=1)
    return strange


def _busy(shades: Image, view: BoardView, at_mm: tuple[float, float]) -> float:
    """How much there is to see around a place beside the board, as a spread of grey levels."""
    x, y = np.meshgrid(at_mm[0] + _AROUND_MUZZLE_MM, at_mm[1] + _AROUND_MUZZLE_MM)
    pixels = view.project(np.column_stack([x.ravel(), y.ravel(), np.full(x.size, _CANNON_Z_MM)])).astype(
        np.float32
    )
    seen = cv2.remap(
        shades, pixels.reshape(*x.shape, 2), None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return float(np.std(np.asarray(seen, dtype=np.float64))) + _NOISE
