"""The bare board, learnt from a picture in which soldiers stand on it.

The picture is laid flat on the board's plane, square by square. A board repeats itself: squares of one field and one
colour of a checkered or woven pattern look alike but for light and grain, and most of them are empty. So the median over alike
squares, under a light that varies smoothly over the board, is the bare board, whatever is printed on it, and the
spread over them is how far bare squares differ by themselves. What does not fit either is strange: a soldier, a pencil,
a hand. A shadow only darkens and keeps the colour, and its edge is mostly soft, so it counts for less.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.over_colours import over_colours
from vision.quick_median import SIGMA_BY_MAD
from vision.registration import BoardView
from vision.scene import Scene

__all__ = [
    "Raster",
    "Shades",
    "Surface",
    "learn_surface",
    "middle",
    "strange_share",
    "strangeness",
]

Image = NDArray[np.uint8]
FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

_MOST_PX_PER_SQUARE = 30  # finer costs time and tells nothing new about figures of half a square
_FEWEST_PX_PER_SQUARE = 16
_LEAST_NOISE = 1.5  # grey levels; compression alone leaves as much
# How strangeness is capped and mixed: colour and brightness on one hand, sharp edges on the other.
_CAP = 8.0
_EDGE_SHARE = 0.3
# A shadow lets through this much of the light at least; darker is a thing.
_DEEPEST_SHADOW = 0.45
_SHADOW_SHARE = 0.3
_SHADOW_CAP = 2.0
# A full rank of soldiers covers half of a line across the board; a drawn line is strange all along.
_LINE_SHARE = 0.3
_PRINT_NOISE = 1.8
# A line that is drawn once is where a row or column differs so much from what squares have there, in spreads of theirs, and so many
# times less from one colour in the board's light.
_DRAWN_NOISE, _DRAWN_BETTER = 2.0, 2.0
_WIDEST_LINE = 0.25  # of a square; what is wider is a rank of soldiers
_SPARSE = 5  # one pixel in so many tells
_ALIKE_SHARE = 0.75  # of the squares of a kind, that its print is learnt from
_FEWEST_BARE = 0.35  # of the squares of a kind, taken to be bare
_COARSE = 8  # blocks along a square's side by which squares are compared
# Of a woven pattern, like a gingham cloth's, every second line is otherwise: squares of one colour of a checkered pattern then
# are of two shades, so far apart as shares of the light and in spreads of each.
_WOVEN_SHARE, _WOVEN_SPREADS = 0.08, 4.0


class Raster:
    """Pixels laid on the board's plane, rows along +y, columns along +x, with a margin of one square all round.

    Parameters
    ----------
    view
        The camera; decides how fine the raster is.
    scene
        The board.
    """

    mm_per_px: float
    """Side of a raster pixel on the board."""

    def __init__(self, view: BoardView, scene: Scene) -> None:
        self.square_mm = scene.square_mm
        fit = scene.square_mm / view.mm_per_px(*scene.centre_mm)
        self.px_per_square = int(np.clip(round(fit), _FEWEST_PX_PER_SQUARE, _MOST_PX_PER_SQUARE))
        self.mm_per_px = self.square_mm / self.px_per_square
        n = self.px_per_square
        self.shape = ((BOARD_ROWS + 2) * n, (BOARD_FILES + 2) * n)
        self.board = np.s_[n : (BOARD_ROWS + 1) * n, n : (BOARD_FILES + 1) * n]
        rows, columns = (self.to_mm(np.arange(size)) for size in self.shape)
        fine = view.project_grid(columns, rows)
        self._u, self._v = np.ascontiguousarray(fine[..., 0]), np.ascontiguousarray(fine[..., 1])

    def lay(
        self,
        picture: Image,
        window: tuple[slice, slice] = np.s_[:, :],
        shift_px: tuple[float, float] = (0.0, 0.0),
    ) -> FloatImage:
        """Lay a picture on the board's plane.

        Parameters
        ----------
        picture
            Shape (height, width) or (height, width, 3).
        window
            Rows and columns of the raster that are wanted.
        shift_px
            (du, dv) by which the picture's content lies right and down of where the board was registered.

        Returns
        -------
        Shape (rows, columns, colours); grey has one colour.
        """
        u, v = self._u[window] + np.float32(shift_px[0]), self._v[window] + np.float32(shift_px[1])
        flat = cv2.remap(picture, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(flat, dtype=np.float32).reshape(*u.shape, -1)

    def to_px(self, mm: FloatArray | float) -> FloatArray:
        """Raster coordinates of board coordinates; pixel centres are whole numbers."""
        return np.asarray(mm, dtype=np.float64) / self.mm_per_px + self.px_per_square - 0.5

    def to_mm(self, px: FloatArray | NDArray[np.int64] | float) -> FloatArray:
        """Board coordinates of raster coordinates."""
        return (np.asarray(px, dtype=np.float64) - self.px_per_square + 0.5) * self.mm_per_px


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The bare board on a raster."""

    colour: FloatImage
    """What a bare board would look like here, shape (height, width, colours)."""
    noise: FloatImage
    """Standard deviation of a bare square from it, shape (height, width), grey levels."""
    tint_noise: FloatImage
    """The same of what is no shade of it: stains and grain change how bright a board is, and its colour little."""

    def shades(self, flat: FloatImage) -> Shades:
        """Hold pixels (height, width, colours) against it."""
        power = over_colours(self.colour * self.colour) + 1
        share = over_colours(flat * self.colour) / power
        off = _shaded(self.colour, share)
        np.subtract(flat, off, out=off)
        return Shades(share, np.sqrt(over_colours(off * off)), np.sqrt(power / self.colour.shape[2]))


@dataclass(frozen=True, slots=True, eq=False)
class Shades:
    """Pixels as shades of the bare board, each of shape (height, width)."""

    share: FloatImage
    """The part of the bare board's light that they have."""
    tint: FloatImage
    """How far they are from any shade of the bare board, in grey levels."""
    level: FloatImage
    """How bright the bare board is."""


def learn_surface(flat: FloatImage, px_per_square: int) -> Surface:
    """Learn the bare board from one picture of it.

    Parameters
    ----------
    flat
        The board without margin, shape (BOARD_ROWS * n, BOARD_FILES * n, colours).
    px_per_square
        The n.
    """
    n = px_per_square
    colours = flat.shape[2]
    patches = flat.reshape(BOARD_ROWS, n, BOARD_FILES, n, colours).transpose(0, 2, 1, 3, 4)
    rows, files = np.mgrid[0:BOARD_ROWS, 0:BOARD_FILES]
    checkered = (rows >= BOARD_ROWS // 2) * 2 + (rows + files) % 2
    brightness = (over_colours(flat) / colours).reshape(BOARD_ROWS, n, BOARD_FILES, n).transpose(0, 2, 1, 3)
    shade = middle(brightness[:, :, 1::3, 1::3].reshape(rows.size, -1).T).reshape(rows.shape)
    kind, light = checkered, _light(shade, checkered)
    if _is_woven(np.asarray(shade / light, dtype=np.float32), checkered, rows % 2):
        kind = 2 * checkered + rows % 2
        light = _light(shade, kind)
    kinds = int(kind.max()) + 1
    looks = _looks(brightness) / light[:, :, None]
    typical = np.empty((kinds, n, n, colours), dtype=np.float32)
    noise = np.empty((kinds, n, n), dtype=np.float32)
    tint_noise = np.empty((kinds, n, n), dtype=np.float32)
    for k in range(kinds):
        of_kind = kind == k
        alike = _most_alike(looks[of_kind])
        here = rows[of_kind][alike], files[of_kind][alike]
        even = patches[here] / light[here][:, None, None, None]
        typical[k] = middle(even)
        off = even - typical[k]
        noise[k] = _spread(off)
        share = over_colours(off * typical[k]) / (over_colours(typical[k] * typical[k]) + 1)
        tint_noise[k] = np.minimum(_spread(off - _shaded(typical[k], share)), noise[k])
    colour = (typical[kind] * light[:, :, None, None, None]).transpose(0, 2, 1, 3, 4)
    colour = np.ascontiguousarray(colour.reshape(flat.shape))
    floors = [
        np.ascontiguousarray(np.maximum(of[kind], _LEAST_NOISE).transpose(0, 2, 1, 3).reshape(flat.shape[:2]))
        for of in (noise, tint_noise)
    ]
    _draw_lines(colour, flat, np.kron(light, np.ones((n, n))).astype(np.float32), floors[0])
    return Surface(colour, *floors)


def _draw_lines(colour: FloatImage, flat: FloatImage, light: FloatImage, noise: FloatImage) -> None:
    """Draw into the bare board the lines that are drawn but once along or across it: alike squares do not have them.

    Parameters
    ----------
    colour
        What squares look like, shape (height, width, colours); changed.
    flat
        The board, likewise.
    light, noise
        On each pixel, and by how much bare squares differ, shape (height, width).
    """
    for across in (False, True):
        bare, seen, lit, off = (
            each.swapaxes(0, 1) if across else each for each in (colour, flat, light, noise)
        )
        some = np.s_[:, ::_SPARSE]
        even, squares = (each[some] / lit[some][..., None] for each in (seen, bare))
        line = middle(even.swapaxes(0, 1))
        unlike_line, unlike_squares = (
            over_colours(np.abs(even - each)) / flat.shape[2] for each in (line[:, None], squares)
        )
        least = _of_ranks(unlike_squares, _LINE_SHARE)
        plain = least > _DRAWN_NOISE * middle(off[some].T)
        drawn = plain & (least > _DRAWN_BETTER * _of_ranks(unlike_line, 1 - _LINE_SHARE))
        drawn &= ~_wide(drawn, round(_WIDEST_LINE * flat.shape[1] / BOARD_FILES) + 1)
        bare[drawn] = line[drawn][:, None] * lit[drawn][..., None]


def _wide(marked: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """Say of each place of a row whether it lies among so many marked ones side by side."""
    opened = cv2.morphologyEx(marked.astype(np.uint8)[None], cv2.MORPH_OPEN, np.ones((1, least), np.uint8))
    return np.asarray(opened[0] > 0)


def _of_ranks(values: FloatImage, share: float) -> FloatImage:
    """Give of each row what so large a share of it is below."""
    rank = round(share * (values.shape[1] - 1))
    return np.asarray(np.partition(values, rank, axis=1)[:, rank])


def _spread(off: FloatImage) -> FloatImage:
    """Give the standard deviation (n, n) of squares' differences (N, n, n, colours) from what is typical."""
    spread = SIGMA_BY_MAD * middle(over_colours(np.abs(off)) / off.shape[-1])
    spread = np.minimum(spread, _PRINT_NOISE * middle(spread.ravel()))
    return np.asarray(cv2.GaussianBlur(spread, (0, 0), off.shape[1] / 20), dtype=np.float32)


def _looks(brightness: FloatImage) -> FloatImage:
    """Describe squares (rows, files, n, n) coarsely, but for their rims: shape (rows, files, numbers)."""
    n = brightness.shape[-1]
    # Pixels of a square to blocks: as products that is several times as fast as means.
    block = np.repeat(np.eye(_COARSE, dtype=np.float32), n // _COARSE, axis=1)[1:-1] / (n // _COARSE)
    within = brightness[:, :, : block.shape[1], : block.shape[1]]
    return np.asarray((block @ (within @ block.T)).reshape(*brightness.shape[:2], -1))


def _most_alike(looks: FloatImage) -> NDArray[np.int64]:
    """Choose those of squares, by their looks (N, numbers), that look most like one another: three in four.

    Bare squares differ by their numbers only, soldiers by how they stand. So the bare ones are found though more than half
    of a field is manned.
    """
    count = len(looks)
    apart = np.abs(looks[:, None] - looks[None]).mean(axis=-1)
    usual = int(np.argmin(np.sort(apart, axis=1)[:, round(_FEWEST_BARE * count)]))
    return np.argsort(apart[usual])[: round(_ALIKE_SHARE * count)]


def middle(values: FloatImage) -> FloatImage:
    """Give the median along the first axis; sorting so few is several times as fast as numpy's own median."""
    ordered = np.sort(values, axis=0)
    count = len(values)
    return np.asarray((ordered[(count - 1) // 2] + ordered[count // 2]) / 2)


def _shaded(colour: FloatImage, share: FloatImage) -> FloatImage:
    """Give shares (..., rows, columns) of colours (rows, columns, colours); spread out first, that is quick."""
    planes = [share.reshape(-1, share.shape[-1])] * colour.shape[-1]
    shaded = np.asarray(cv2.merge(planes), dtype=np.float32).reshape(*share.shape, -1)
    shaded *= colour
    return shaded


def _is_woven(shade: FloatImage, kind: NDArray[np.int64], line: NDArray[np.int64]) -> bool:
    """Whether squares of one kind are of two shades (rows, files), one on every second line, which are plainly apart."""
    for k in range(int(kind.max()) + 1):
        halves = [shade[(kind == k) & (line == parity)] for parity in (0, 1)]
        middles = [float(middle(half)) for half in halves]
        spread = SIGMA_BY_MAD * max(
            float(middle(np.abs(half - at))) for half, at in zip(halves, middles, strict=True)
        )
        apart = abs(middles[1] - middles[0])
        if apart > max(_WOVEN_SHARE * sum(middles) / 2, _WOVEN_SPREADS * spread):
            return True
    return False


def _light(shade: FloatImage, kind: NDArray[np.int64]) -> FloatImage:
    """Brightness of squares, (rows, files), against those of their kind, smoothed over the board."""
    shade = shade.ravel().astype(np.float64)
    rows, files = np.mgrid[-1 : 1 : BOARD_ROWS * 1j, -1 : 1 : BOARD_FILES * 1j]
    x, y = files.ravel(), rows.ravel()
    terms = np.column_stack([np.ones_like(x), x, y, x * x, x * y, y * y])
    light = np.ones(x.size)
    for _ in range(3):
        level = np.array([middle((shade / light)[kind.ravel() == k]) for k in range(int(kind.max()) + 1)])
        relative = shade / np.maximum(level[kind.ravel()], 1.0)
        # Squares with a soldier on them are outliers: weigh by the residual (Cauchy's weights).
        weight = np.ones(x.size)
        for _ in range(8):
            weighted = terms * weight[:, None]
            fit = np.linalg.solve(weighted.T @ terms, weighted.T @ relative)
            off = relative - terms @ fit
            scale = 2 * SIGMA_BY_MAD * float(middle(np.abs(off))) + 1e-3
            weight = 1 / (1 + (off / scale) ** 2)
        light = np.clip(terms @ fit, 0.2, 5.0)
    return np.asarray(light.reshape(kind.shape), dtype=np.float32)


def strangeness(flat: FloatImage, surface: Surface, shades: Shades) -> FloatImage:
    """How little each pixel can be the bare board: 0 to 8, about 1 where it is bare.

    Parameters
    ----------
    flat
        The board without margin, shape (height, width, colours).
    surface
        The bare board.
    shades
        The one held against the other.

    Returns
    -------
    Shape (height, width).
    """
    share, colours = shades.share, surface.colour.shape[2]
    steps = shades.level / surface.noise
    shadow = np.minimum(_SHADOW_SHARE * np.clip(1 - share, 0, 1 - _DEEPEST_SHADOW) * steps, _SHADOW_CAP)
    brightness = shadow + np.maximum(np.maximum(share - 1, _DEEPEST_SHADOW - share), 0) * steps
    tint = np.zeros_like(brightness)
    if colours > 1:
        tint = np.float32(1.5 / np.sqrt(colours)) * shades.tint / surface.tint_noise
    plain = np.minimum(cv2.magnitude(brightness, tint), _CAP)
    both = (1 - _EDGE_SHARE) * plain + _EDGE_SHARE * _edges(flat - surface.colour)
    # A line that is drawn once across the board (the front between the fields) is no figure.
    usual = float(middle(both[::2, ::2].ravel()))
    for axis in (0, 1):
        rank = round(_LINE_SHARE * (both.shape[axis] - 1))
        line = np.partition(both, rank, axis=axis).take([rank], axis=axis)
        both -= np.maximum(line - usual, 0)
    return np.asarray(np.maximum(both, 0), dtype=np.float32)


def strange_share(strange: FloatImage, levels: tuple[float, float]) -> FloatImage:
    """Give 0 for what is as strange as the bare board usually is, 1 for a figure; levels as `Board.strange_levels`."""
    low, high = levels
    return np.asarray(np.clip((strange - low) / (high - low), 0, 1))


def _edges(difference: FloatImage) -> FloatImage:
    """Sharp edges in what is left of a picture without its board, in units of what bare squares have."""
    n = difference.shape[1] // BOARD_FILES
    smooth = cv2.GaussianBlur(difference, (0, 0), max(n / 50, 0.5))
    along, down = (
        cv2.Sobel(smooth, cv2.CV_32F, *way, scale=1 / 8).reshape(difference.shape) for way in ((1, 0), (0, 1))
    )
    along *= along
    down *= down
    along += down
    steep = over_colours(along)
    size = max(3, n // 14)
    steep = np.asarray(cv2.blur(np.sqrt(steep), (size, size)))
    squares = steep.reshape(BOARD_ROWS, n, BOARD_FILES, n).transpose(0, 2, 1, 3).reshape(-1, n, n)
    off = squares - middle(squares)
    spread = SIGMA_BY_MAD * middle(np.abs(off)) + 0.3
    spread = np.maximum(spread, middle(spread.ravel()))
    scaled = np.clip(off / spread, 0, _CAP)
    return np.asarray(
        scaled.reshape(BOARD_ROWS, BOARD_FILES, n, n).transpose(0, 2, 1, 3).reshape(difference.shape[:2]),
        dtype=np.float32,
    )
