"""Trains what tells who stands where: ``python -m benchmarks._train_feet FOLDER... [--disorders N]``.

Needs PyTorch and onnx (``pip install -e '.[train]'``), which nothing else does. Each folder holds recordings with their
truth: clips as ``rig clips`` writes them, and stills of ``python -m benchmarks._film_stills``. Tables that several shots
and hands have brought into disorder are filmed as well, since nothing looks more like a soldier than one that lies. Each
table is laid out as `vision.soldiers.feet` does, a megabyte each: before the shot, after it, once with patches of other
light on it, and a few times with marks printed on its squares, which are no soldiers either. The network learns from four
fifths of the recordings where somebody stands and which way it looks. Each time the table is mirrored, turned, bent and lit
a little otherwise, and its colours are others, so that what is learnt holds for other figures than the twin's. On the last
fifth it is measured. What is shipped is the mean of three rounds of `--go-on` (`_mean_network`).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks._networks import Descent, as_onnx, functional, network, nn, take_over, torch
from benchmarks._tables import FilmedTable, Foot, asked, from_everywhere, parted
from game.montecassino import BOARD_FILES, BOARD_ROWS, Side, Square
from vision.soldiers import Board
from vision.soldiers.feet import CELL_PX, LAYERS, SQUARE_PX, find_feet, lay_out
from vision.soldiers.surface import Raster, learn_surface, strangeness

__all__ = ["Case", "cases_in", "train"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

# Square each step looks at, how far apart its points are, and of how many units it is.
_STEPS = ((5, 1, 24), (3, 1, 32), (3, 2, 32), (3, 4, 32), (3, 2, 32), (3, 1, 48))
_ANSWERS = 4  # foot, how far off it is across and down, and which way it looks
_DROPPED = 0.1
_EPOCHS = 8
_BATCH = 8
_RATE, _DECAY = 3e-3, 1e-4
_GENTLE = 0.5  # of the rate, where it goes on from what is known
# In pixels: a cell so near to a foot is right; one not much farther is neither right nor wrong.
_RIGHT_PX, _NEITHER_PX = 2.0, 4.0
_PLACE, _FACING = 0.2, 0.2  # what misplacement and facing count
# Of the layers: what is bright or dark, what is strange, sharp or tinted, hues, and how far the camera leans.
_SHADES, _AMOUNTS, _HUES, _TINTS, _LEANS = (1, 3, 9), (0, 2, 4), (5, 6), (2, 5, 6), (7, 8)
_SEEN = 7  # layers that have noise
# Standard deviations of what is varied: radians, logarithms, pixels.
_TURN_RAD, _STRETCH, _ASPECT, _GAIN, _LIGHT, _NOISE = 0.08, 0.18, 0.05, 0.25, 0.25, 0.025
_SHIFT_PX = 4.0
_BENT = (((16, 8), 1.5), ((36, 18), 0.9))  # at so many places of the board, by up to so many pixels
_INVERTED, _COLOURLESS, _LAYER_LOST, _SOFTENED = 0.12, 0.1, 0.07, 0.4  # shares
# Patches of other light: how many, how far they reach, how soft they are.
_PATCHES, _PATCH_MM, _SOFT_MM = (2, 9), (6.0, 40.0), (0.5, 14.0)
_DARK_SHARE, _DARKER, _BRIGHTER = 0.65, (-0.5, -0.08), (0.05, 0.4)
_PRINTED = 3
# Marks printed on squares: on one in so many, how large and how bold as shares of a square, how opaque, how soft in pixels.
_EVERY, _MARK_SIZE, _BOLDNESS, _OPAQUE, _SOFT_PX = (1, 4), (0.12, 0.45), (0.02, 0.1), (0.3, 1.0), (0.3, 1.2)
_MARKS = ("cross", "star", "ring", "square", "letter")
_SPARED_PX = 5  # about what is no board


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One picture of a table."""

    recording: str
    layers: NDArray[np.float16]
    """Shape (LAYERS, rows, columns); kept small."""
    square_mm: float
    feet_mm: FloatArray
    """Everybody's, x and y: shape (N, 2)."""
    allied: NDArray[np.bool_]
    """Who is of the Allies, shape (N,)."""

    @property
    def feet_px(self) -> FloatArray:
        """Where on the layers everybody stands, (column, row): shape (N, 2)."""
        return self.feet_mm * SQUARE_PX / self.square_mm + SQUARE_PX - 0.5


def cases_in(table: FilmedTable) -> list[Case]:
    """Give the cases of one table: before, after, one of them with patches of other light, and before with marks printed anew."""
    board, view = table.before.board, table.before.view
    rng = np.random.default_rng(zlib.crc32(table.name.encode()))
    pictures: list[tuple[FloatImage, dict[str, Foot | None]]] = [
        (board.flat, dict(table.stood_mm)),
        (table.after, table.now_mm),
    ]
    flat, feet_mm = pictures[int(rng.random() < 0.5)]
    pictures.append((_patched(flat, rng, board.raster.mm_per_px), feet_mm))
    pictures += [(_printed(board, rng), dict(table.stood_mm)) for _ in range(_PRINTED)]
    cases = []
    for flat, feet_mm in pictures:
        standing = {at: mm for at, mm in feet_mm.items() if mm is not None}
        cases.append(
            Case(
                table.name,
                _layers(board.raster, flat, view.camera_mm).astype(np.float16),
                board.raster.square_mm,
                np.array(list(standing.values())).reshape(-1, 2),
                np.array([table.sides[at] == Side.A for at in standing], dtype=np.bool_),
            )
        )
    return cases


def _layers(raster: Raster, flat: FloatImage, camera_mm: FloatArray) -> FloatImage:
    bare = np.ascontiguousarray(flat[raster.board])
    surface = learn_surface(bare, raster.px_per_square)
    shades = surface.shades(bare)
    return lay_out(raster, flat, surface, shades, strangeness(bare, surface, shades), camera_mm)


def _patched(flat: FloatImage, rng: np.random.Generator, mm_per_px: float) -> FloatImage:
    """Light patches of a picture otherwise."""
    light = np.ones(flat.shape[:2], dtype=np.float32)
    for _ in range(int(rng.integers(*_PATCHES))):
        middle = (int(rng.integers(flat.shape[1])), int(rng.integers(flat.shape[0])))
        long_px = rng.uniform(*_PATCH_MM) / mm_per_px
        radii = (max(1, int(long_px)), max(1, int(long_px * rng.uniform(0.35, 1))))
        patch = np.zeros_like(light)
        cv2.ellipse(patch, middle, radii, float(rng.uniform(0, 180)), 0, 360, 1.0, -1)
        patch = cv2.GaussianBlur(patch, (0, 0), max(rng.uniform(*_SOFT_MM) / mm_per_px, 0.3))
        by = rng.uniform(*(_DARKER if rng.random() < _DARK_SHARE else _BRIGHTER))
        light *= 1 + np.float32(by) * patch
    return np.asarray(np.clip(flat * light[..., None], 0, 255), dtype=np.float32)


def _printed(board: Board, rng: np.random.Generator) -> FloatImage:
    """Print a mark on many squares of a board, under whoever stands there."""
    n, raster = board.raster.px_per_square, board.raster
    drawn = np.zeros(board.flat.shape[:2], dtype=np.uint8)
    mark = str(rng.choice(_MARKS))
    across, down, diagonally = (int(rng.integers(*_EVERY)) for _ in range(3))
    aside = rng.uniform(-0.3, 0.3, 2) * (rng.random() < 0.5)
    half_px = max(2, round(rng.uniform(*_MARK_SIZE) * n / 2))
    bold_px = max(1, round(rng.uniform(*_BOLDNESS) * n))
    turn_rad = float(rng.choice([0.0, np.pi / 4, rng.uniform(0, np.pi)]))
    for row in range(BOARD_ROWS):
        for file in range(BOARD_FILES):
            if row % down == 0 and (file + row // down * (diagonally - 1)) % across == 0:
                middle = (np.array([file, row]) + 0.5 + aside) * n
                _draw(drawn[raster.board], mark, middle, half_px, bold_px, turn_rad, rng)
    ink = cv2.GaussianBlur(drawn.astype(np.float32) / 255, (0, 0), rng.uniform(*_SOFT_PX))
    figures = cv2.dilate((board.cover > 0).astype(np.uint8), np.ones((_SPARED_PX, _SPARED_PX), np.uint8))
    ink *= np.float32(rng.uniform(*_OPAQUE)) * (1 - figures)
    colour = rng.uniform(0, 255, int(board.flat.shape[2])).astype(np.float32)
    return np.asarray(board.flat + ink[..., None] * (colour - board.flat), dtype=np.float32)


def _draw(
    ink: NDArray[np.uint8],
    mark: str,
    middle: FloatArray,
    half_px: int,
    bold_px: int,
    turn_rad: float,
    rng: np.random.Generator,
) -> None:
    """Draw one mark about its middle (column, row)."""
    at = (round(float(middle[0])), round(float(middle[1])))
    if mark == "ring":
        cv2.circle(ink, at, half_px, 255, bold_px, cv2.LINE_AA)
    elif mark == "letter":
        letter = str(rng.choice(list("ABCDEFGHKMNPRSTWXYZ0123456789")))
        corner = (at[0] - half_px, at[1] + half_px)
        cv2.putText(
            ink,
            letter,
            corner,
            cv2.FONT_HERSHEY_SIMPLEX,
            half_px / 10,
            255,
            max(1, bold_px // 2),
            cv2.LINE_AA,
        )
    else:
        arms = {"cross": 4, "square": 4, "star": 6}[mark]
        angles = turn_rad + np.arange(arms) * 2 * np.pi / arms
        ends = np.rint(middle + half_px * np.column_stack([np.cos(angles), np.sin(angles)])).astype(np.int32)
        if mark == "square":
            cv2.polylines(ink, [ends], True, 255, bold_px, cv2.LINE_AA)
        else:
            for end in ends:
                cv2.line(ink, at, (int(end[0]), int(end[1])), 255, bold_px, cv2.LINE_AA)


# --- the network


@dataclass(frozen=True, slots=True, eq=False)
class _Warp:
    """Where the pixels of a varied table come from: both counted from the middle."""

    turned: FloatArray
    shift_px: FloatArray
    bent_px: FloatImage
    """Shape (rows, columns, 2)."""

    def back(self, places_px: FloatArray) -> FloatArray:
        """Give where places (N, 2) of the table lie once it is varied."""
        half = (np.array(self.bent_px.shape[1::-1]) - 1) / 2
        undo = np.linalg.inv(self.turned).T
        found = (places_px - self.shift_px) @ undo
        for _ in range(2):
            columns, rows = np.clip(np.rint(found + half), 0, 2 * half).astype(int).T
            found = (places_px - self.shift_px - self.bent_px[rows, columns]) @ undo
        return found


def _drawn_warp(size_px: tuple[int, int], mirrored: FloatArray, rng: np.random.Generator) -> _Warp:
    turn, stretch, aspect = rng.normal(0, _TURN_RAD), rng.normal(0, _STRETCH), rng.normal(0, _ASPECT)
    scales = mirrored * np.exp(stretch + np.array([aspect, -aspect]))
    turned = scales[:, None] * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    bent = np.zeros((*size_px, 2), np.float32)
    for places, most_px in _BENT:
        by = rng.normal(0, rng.uniform(0, most_px), (*places, 2)).astype(np.float32)
        bent += cv2.resize(by, size_px[::-1], interpolation=cv2.INTER_CUBIC)
    return _Warp(turned, rng.uniform(-_SHIFT_PX, _SHIFT_PX, 2), bent)


def _varied(cases: Sequence[Case], rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
    """Mirror, turn, bend and light tables otherwise.

    Returns
    -------
    Layers, and of each cell: whether a foot is there, how much that counts, how far off it is, whether who stands there looks
    towards larger y, and how much that counts.
    """
    count, size_px = len(cases), cases[0].layers.shape[1:]
    mirrored = np.where(rng.random((count, 2)) < 0.5, -1.0, 1.0)
    warps = [_drawn_warp(size_px, way, rng) for way in mirrored]
    half = (np.array(size_px[::-1]) - 1) / 2
    at_px = np.stack(np.meshgrid(np.arange(size_px[1]), np.arange(size_px[0])), axis=-1) - half
    grid = np.stack([at_px @ warp.turned.T + warp.shift_px + warp.bent_px for warp in warps]) / (half + 0.5)
    layers = functional.grid_sample(
        torch.from_numpy(np.stack([case.layers for case in cases]).astype(np.float32)),
        torch.from_numpy(grid.astype(np.float32)),
        padding_mode="zeros",
        align_corners=False,
    )
    layers[:, _LEANS] *= torch.from_numpy(mirrored).float()[..., None, None]
    _light_otherwise(layers, rng)
    return layers, *_wanted(cases, warps, mirrored[:, 1] < 0)


def _light_otherwise(layers: torch.Tensor, rng: np.random.Generator) -> None:
    """Change brightness, colours and sharpness of tables, in place."""
    count, size_px = len(layers), layers.shape[2:]

    def drawn(spread: float, *shape: int) -> torch.Tensor:
        return torch.from_numpy(rng.normal(0, spread, (count, *shape))).float()

    soften = np.where(rng.random(count) < _SOFTENED, rng.uniform(-0.6, 1, count), 0)
    layers += torch.from_numpy(soften).float()[:, None, None, None] * (
        functional.avg_pool2d(layers, 3, 1, 1) - layers
    )
    light = functional.interpolate(drawn(_LIGHT, 1, 10, 5).exp(), size=size_px, mode="bicubic").clamp(
        0.3, 2.5
    )
    layers[:, _SHADES] *= light * drawn(_GAIN, len(_SHADES), 1, 1).exp()
    layers[:, _AMOUNTS] *= drawn(_GAIN, len(_AMOUNTS), 1, 1).exp()
    hue = torch.from_numpy(rng.uniform(-np.pi, np.pi, count)).float()[:, None, None]
    red, yellow = (layers[:, k].clone() for k in _HUES)
    depth = drawn(_GAIN, 1, 1).exp()
    layers[:, _HUES[0]] = (hue.cos() * red - hue.sin() * yellow) * depth
    layers[:, _HUES[1]] = (hue.sin() * red + hue.cos() * yellow) * depth
    for table in layers:
        if rng.random() < _COLOURLESS:
            table[list(_TINTS)] = 0
        if rng.random() < _LAYER_LOST:
            table[int(rng.choice([*_SHADES, 0, 4]))] = 0
        if rng.random() < _INVERTED:
            table[list(_SHADES)] *= -1
    shown = [k for k in range(LAYERS) if k not in _LEANS]
    layers[:, shown] = layers[:, shown].clamp(-1, 1)
    noise = torch.from_numpy(rng.uniform(0, 2 * _NOISE, (count, 1, 1, 1))).float()
    layers[:, :_SEEN] += noise * torch.randn(count, _SEEN, *size_px)


def _wanted(
    cases: Sequence[Case], warps: Sequence[_Warp], turned_about: NDArray[np.bool_]
) -> list[torch.Tensor]:
    """Say what is right for each cell, as `_varied` gives it."""
    height_px, width_px = cases[0].layers.shape[1:]
    half = (np.array([width_px, height_px]) - 1) / 2
    rows, columns = np.indices((-(-height_px // CELL_PX), -(-width_px // CELL_PX))) * CELL_PX
    shape = (len(cases), *rows.shape)
    foot, counts, faces, face_counts = (np.full(shape, of, np.float32) for of in (0, 1, 0, 0))
    off = np.zeros((len(cases), 2, *rows.shape), np.float32)
    for k, case in enumerate(cases):
        places = warps[k].back(case.feet_px - half) + half
        # One that stands near its own base tells little of which way soldiers look: the place tells it as well.
        lines = case.feet_mm[:, 1] / case.square_mm
        from_base = np.where(case.allied, lines, BOARD_ROWS - lines)
        rare = 2 * np.clip(0.25 * np.exp(0.35 * (from_base - BOARD_ROWS / 2)) + 0.12, 0, 2)
        for (u, v), allied, weight in zip(places, case.allied, rare, strict=True):
            away_px = np.hypot(columns - u, rows - v)
            right = away_px < _RIGHT_PX
            counts[k][(away_px < _NEITHER_PX) & ~right & (foot[k] == 0)] = 0
            foot[k][right], counts[k][right] = 1, 1
            off[k][:, right] = u - columns[right], v - rows[right]
            faces[k][right], face_counts[k][right] = allied != turned_about[k], weight
    return [torch.from_numpy(of) for of in (foot, counts, off, faces, face_counts)]


def train_network(cases: Sequence[Case], known: bytes | None) -> nn.Sequential:
    """Train a network on cases, from nothing or from one that is known."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    net = network(LAYERS, _STEPS, CELL_PX, _ANSWERS, _DROPPED, to_the_rim=True)
    if known is not None:
        take_over([net], known)
    net = net.to(memory_format=torch.channels_last)
    batches = max(1, len(cases) // _BATCH)
    rate = _RATE if known is None else _GENTLE * _RATE
    descent = Descent(net, rate, _DECAY, _EPOCHS * batches)
    for epoch in range(_EPOCHS):
        order = rng.permutation(len(cases))
        total = 0.0
        for k in range(batches):
            chosen = [cases[n] for n in order[k * _BATCH : (k + 1) * _BATCH]]
            layers, foot, counts, off, faces, face_counts = _varied(chosen, rng)
            told = net(layers.contiguous(memory_format=torch.channels_last))
            doubt = functional.binary_cross_entropy_with_logits(told[:, 0], foot, reduction="none") * counts
            misplaced = (told[:, 1:3] - off).abs().sum(dim=1) * foot
            lost = (
                functional.binary_cross_entropy_with_logits(told[:, 3], faces, reduction="none") * face_counts
            )
            feet = foot.sum().clamp(min=1)
            loss = (doubt.sum() + _PLACE * misplaced.sum()) / feet
            total += descent.step(loss + _FACING * lost.sum() / face_counts.sum().clamp(min=1))
        print(f"epoch {epoch + 1} of {_EPOCHS}: loss {total / batches:.4f}", flush=True)
    return net.eval().to(memory_format=torch.contiguous_format)


def train(cases: Sequence[Case], out: Path, *, go_on: bool) -> None:
    """Train on cases, measure on those held back, and write the network into a folder."""
    known = (out / "feet.onnx").read_bytes() if go_on else None
    learnt, held_back = parted(cases)
    if known is not None:
        measure(held_back, known)
    model = as_onnx([train_network(learnt, known)], "feet")
    (out / "feet.onnx").write_bytes(model)
    measure(held_back, model)


def measure(cases: Sequence[Case], model: bytes) -> None:
    """Say how often a network errs on cases that it never saw."""
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model, dtype=np.uint8))
    missed = extra = wrong_way = 0
    off_mm: list[float] = []
    for case in cases:
        feet = find_feet(case.layers.astype(np.float32), case.square_mm, net).likeliest()
        seen = {square: foot for square, foot in feet.items() if foot.log_odds > 0}
        squares = [Square.at_mm(x_mm, y_mm, case.square_mm) for x_mm, y_mm in case.feet_mm]
        for square, foot_mm, allied in zip(squares, case.feet_mm, case.allied, strict=True):
            foot = None if square is None else seen.pop(square, None)
            if foot is None:
                missed += 1
                continue
            off_mm.append(float(np.hypot(*(foot_mm - (foot.x_mm, foot.y_mm)))))
            wrong_way += (foot.forward_odds > 0) != allied
        extra += len(seen)
    print(
        f"{len(cases)} pictures held back, {missed + len(off_mm)} soldiers: {missed} missed, {extra} too many"
    )
    if off_mm:
        print("feet off, mm: median {:.2f}, 99 % {:.2f}".format(*np.percentile(off_mm, [50, 99])))
    print(f"looks the wrong way: {wrong_way}")


def main() -> None:
    """Train on the recordings in the folders given."""
    given = asked(__doc__, "vision/soldiers/feet.onnx")
    cases = list(from_everywhere(cases_in, given.truths, given.disorders))
    train(cases, given.out, go_on=given.go_on)


if __name__ == "__main__":
    main()
