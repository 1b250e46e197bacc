"""Trains what tells whether it is he who stands there: ``python -m benchmarks._train_stands_there FOLDER... [--disorders N]``.

Needs PyTorch and onnx (``pip install -e '.[train]'``), which nothing else does. Each folder holds recordings with their truth, as
``rig clips`` writes them; tables that several shots and hands have brought into disorder are filmed as well, others than those that
`benchmarks._train_fates` learns from, whose networks say where to look. Of every soldier that does not stand plainly afterwards each
place where he may stand is looked at as `vision.falls.stands_there` does. Its network learns from four fifths of the recordings
which of them he stands in; they are turned, shifted, stretched and lit a little otherwise each time, over some a body is laid that
was not there, and of some layers nothing is shown. How much it counts beside the rest of the evidence is fitted to the last fifth, and printed for `vision.falls.fate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks._logistic import fit_logistic
from benchmarks._networks import Descent, as_onnx, functional, nn, take_over, torch
from benchmarks._tables import FilmedTable, Foot, asked, from_everywhere, parted
from benchmarks._unclear import look_after
from vision.falls.fate import Evidence, odds_beside
from vision.falls.stands_there import LAYERS, SIDE_PX
from vision.falls.upright import network as upright_network

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_FIRST_DISORDER = 100_000
# Of each step: how many units, the side of the square it looks at, how far apart its answers are, and how much is added at the rim.
_STEPS = ((32, 3, 2, 1), (48, 3, 2, 1), (64, 3, 1, 1), (96, 3, 2, 1), (96, 3, 2, 1), (96, 4, 1, 0))
_DROPPED = 0.25  # of the units of the last step
_LEAK = 0.1
_EPOCHS = 16
_BATCH = 64
_RATE, _DECAY = 2e-3, 2e-2
_GENTLE = 0.3  # of the rate, where it goes on from what is known
_WIDE_PX = SIDE_PX + 12  # what is kept of each place, for turning and shifting
_TURN_RAD, _STRETCH, _SHIFT_PX, _GAIN, _SHADE, _DARKER, _NOISE = 0.15, 0.08, 2.0, 0.2, 0.1, 0.3, 0.02
# Layers that go together: strange, of his colours, bright, dark, changed, covered by others. Of each nothing is shown now and then.
_GROUPS = ((0, 8), (1, 9), (2, 10), (3, 11), (4,), (6, 7))
_STRANGE, _OWN, _BRIGHT, _DARK, _CHANGED = range(5)
_UNSEEN = 0.08
# How often a body that was not there is laid over a place, how far from its middle, and half its length and width, in pixels.
_COVERED = 0.3
_COVER_OFF_PX, _COVER_LONG_PX, _COVER_WIDE_PX = 18.0, (7.0, 15.0), (3.0, 6.5)
_ALIKE = 0.4  # of these, how often it wears colours like his
_GRAIN = 0.15
# A place so near to where he stands is his; one not much farther is neither his nor not.
_HIS_MM, _NEITHER_MM = 6.0, 9.0
_FARTHEST_MM = 60.0  # one who stands farther off was carried there
_SURE = 0.99  # that the truth is so, as far as it is to be learnt


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One soldier after one shot."""

    recording: str
    evidence: Evidence
    """What else is seen of him."""
    stands: bool
    layers: NDArray[np.float16]
    """Of each place where he may stand, shape (places, LAYERS, side, side)."""
    off_mm: FloatArray
    """How far he stands from each; infinite where he fell."""


def cases_in(table: FilmedTable) -> list[Case]:
    """Give the cases of one table."""
    look = look_after(table, upright_network())
    cases = []
    for place in look.unclear:
        square = str(place.soldier.square)
        if square not in table.now_mm:
            continue
        now_mm = table.now_mm[square]
        shift_mm = None if now_mm is None else np.subtract(now_mm, (place.soldier.x_mm, place.soldier.y_mm))
        if shift_mm is not None and np.hypot(*shift_mm) > _FARTHEST_MM:
            continue
        evidence = look.after.evidence(place, look.taken, look.feet_mm)
        places_mm = look.after.places_mm(place, evidence, look.feet_mm)
        around = look.after.around(place)
        layers = [around.at(each, look.taken, _WIDE_PX).astype(np.float16) for each in places_mm]
        cases.append(
            Case(table.name, evidence, shift_mm is not None, np.stack(layers), _off_mm(shift_mm, places_mm))
        )
    return cases


def _off_mm(shift_mm: FloatArray | None, places_mm: Sequence[Foot]) -> FloatArray:
    if shift_mm is None:
        return np.full(len(places_mm), np.inf)
    return np.asarray(np.hypot(*(np.array(places_mm) - shift_mm).T))


# --- the network


def _network() -> nn.Sequential:
    built, given = [], LAYERS
    for units, side, apart, rim in _STEPS:
        built += [nn.Conv2d(given, units, side, stride=apart, padding=rim), nn.LeakyReLU(_LEAK)]
        given = units
    return nn.Sequential(*built, nn.Dropout2d(_DROPPED), nn.Conv2d(given, 1, 1))


def _varied(layers: NDArray[np.float16], rng: np.random.Generator) -> torch.Tensor:
    """Cut out what the network looks at, each turned, shifted, stretched and lit otherwise, every other one mirrored."""
    count, wide = len(layers), layers.shape[-1]
    turn, stretch = rng.normal(0, _TURN_RAD, count), np.exp(rng.normal(0, _STRETCH, count))
    mirror = np.where(rng.random(count) < 0.5, -1.0, 1.0)
    shift = rng.normal(0, _SHIFT_PX, (count, 2)) * 2 / (wide - 1)
    across, down = np.cos(turn) * stretch, np.sin(turn) * stretch
    ways = np.stack([across, -down * mirror, down, across * mirror], axis=1).reshape(count, 2, 2)
    theta = np.concatenate([ways * ((SIDE_PX - 1) / (wide - 1)), shift[..., None]], axis=2)
    grid = functional.affine_grid(
        torch.from_numpy(theta).float(), [count, LAYERS, SIDE_PX, SIDE_PX], align_corners=True
    )
    seen = functional.grid_sample(
        torch.from_numpy(layers).float(), grid, padding_mode="border", align_corners=True
    )

    def drawn(values: FloatArray) -> torch.Tensor:
        return torch.from_numpy(values.reshape(count, 1, 1, 1)).float()

    bright, dark = list(_GROUPS[_BRIGHT]), list(_GROUPS[_DARK])
    gain, shade = drawn(np.exp(rng.normal(0, _GAIN, count))), drawn(rng.normal(0, _SHADE, count))
    seen[:, bright] = (seen[:, bright] * gain + shade).clamp(-1, 1)
    seen[:, dark] *= drawn(np.exp(rng.normal(0, _DARKER, count)))
    for covered in np.flatnonzero(rng.random(count) < _COVERED):
        _cover(seen[covered], rng)
    for group in _GROUPS:
        seen[:, list(group)] *= drawn((rng.random(count) >= _UNSEEN).astype(np.float64))
    return seen + _NOISE * torch.randn_like(seen)


def _cover(place: torch.Tensor, rng: np.random.Generator) -> None:
    """Lay a body over a place, shape (LAYERS, SIDE_PX, SIDE_PX): a bar with round ends, of colours like his or of others."""
    across, down = np.meshgrid(*2 * [np.arange(SIDE_PX) - (SIDE_PX - 1) / 2])
    x, y = rng.uniform(-_COVER_OFF_PX, _COVER_OFF_PX, 2)
    way, long, wide = rng.uniform(0, np.pi), rng.uniform(*_COVER_LONG_PX), rng.uniform(*_COVER_WIDE_PX)
    along = (across - x) * np.cos(way) + (down - y) * np.sin(way)
    aside = (down - y) * np.cos(way) - (across - x) * np.sin(way)
    inside = np.clip(wide + 0.5 - np.hypot(np.maximum(np.abs(along) - long, 0), aside), 0, 1)
    share = torch.from_numpy(inside).float()
    own = rng.uniform(0.4, 1.0) if rng.random() < _ALIKE else rng.uniform(0.0, 0.3)
    shown: dict[int, float | torch.Tensor] = {
        _STRANGE: rng.uniform(0.7, 1.0),
        _OWN: own + _GRAIN * torch.randn_like(share),
        _BRIGHT: rng.uniform(-1.0, 1.0) + _GRAIN * torch.randn_like(share),
        _DARK: rng.uniform(-0.4, 0.8) + _GRAIN * torch.randn_like(share),
        _CHANGED: 1.0,
    }
    for layer, values in shown.items():
        place[layer] = place[layer] * (1 - share) + values * share


def train_network(cases: Sequence[Case], known: bytes | None) -> bytes:
    """Train a network on cases, from nothing or from what is known, and write it."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    net = _network()
    if known is not None:
        take_over([net], known)
    off_mm = np.concatenate([case.off_mm for case in cases])
    layers = [place for case in cases for place in case.layers]  # not put together: they fill gigabytes
    told = np.flatnonzero((off_mm <= _HIS_MM) | (off_mm > _NEITHER_MM))
    batches = len(told) // _BATCH
    descent = Descent(net, _RATE if known is None else _GENTLE * _RATE, _DECAY, _EPOCHS * batches)
    net.train()
    for epoch in range(_EPOCHS):
        rng.shuffle(told)
        total = 0.0
        for k in range(batches):
            some = told[k * _BATCH : (k + 1) * _BATCH]
            his = torch.from_numpy(np.where(off_mm[some] <= _HIS_MM, _SURE, 1 - _SURE)).float()
            odds = net(_varied(np.stack([layers[place] for place in some]), rng))[:, 0, 0, 0]
            total += descent.step(functional.binary_cross_entropy_with_logits(odds, his))
        print(f"epoch {epoch + 1} of {_EPOCHS}: loss {total / batches:.4f}", flush=True)
    net.eval()
    return as_onnx([net], "stands_there")


# --- beside the rest of the evidence


def judged(cases: Sequence[Case], model: bytes) -> tuple[FloatArray, FloatArray]:
    """Give what else is seen of each case, and what a network says of the likeliest place: log-odds, shape (N, 2); who stands, (N,)."""
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model, dtype=np.uint8))
    inside = (_WIDE_PX - SIDE_PX) // 2
    table = []
    for case in cases:
        odds = []
        for each in case.layers[..., inside:-inside, inside:-inside].astype(np.float32):
            net.setInput(np.ascontiguousarray(each[None]))
            odds.append(float(net.forward().ravel()[0]))
        table.append((odds_beside(replace(case.evidence, there=None)), max(odds)))
    return np.array(table), np.array([case.stands for case in cases], dtype=np.float64)


def train(cases: Sequence[Case], out: Path, *, go_on: bool) -> None:
    """Train on cases, write the network into a folder, and print what it counts."""
    learnt, held_back = parted(cases)
    known = (out / "stands_there.onnx").read_bytes() if go_on else None
    model = train_network(learnt, known)
    (out / "stands_there.onnx").write_bytes(model)
    measure(held_back, model)


def measure(cases: Sequence[Case], model: bytes) -> None:
    """Say how well cases are told by the rest of the evidence, by the network and by both, and what each counts then."""
    table, stands = judged(cases, model)
    weights, offset = fit_logistic(table, stands, np.ones(len(stands)))
    print(f"{len(cases)} soldiers held back do not stand plainly, {int(stands.sum())} of them stand")
    for name, odds in (("else", table[:, 0]), ("network", table[:, 1]), ("both", table @ weights + offset)):
        loss = np.logaddexp(0, odds) - stands * odds
        print(f"{name}: {int(((odds > 0) != (stands > 0)).sum())} wrong, mean log loss {loss.mean():.4f}")
    print(f"weights {np.round(weights, 3).tolist()}, offset {offset:.3f}")


def main() -> None:
    """Train on the recordings in the folders given."""
    given = asked(__doc__, "vision/falls/stands_there.onnx", first_disorder=_FIRST_DISORDER)
    cases = list(from_everywhere(cases_in, given.truths, given.disorders))
    train(cases, given.out, go_on=given.go_on)


if __name__ == "__main__":
    main()
