"""Trains what tells who stands from who lies: ``python -m benchmarks._train_fates FOLDER... [--pushes N]``.

Each folder holds recordings with their truth, as ``rig clips`` writes them. Shots seldom push anybody, so tables on which
hands have pushed soldiers about are filmed as well. Of every soldier that does not stand
plainly after the shot, and of some that do, the surroundings are laid out as `vision.falls.upright` does. Its networks
learn where in them somebody stands, and where not, first anywhere, then where they were most wrong too; windows are
turned, stretched and lit a little otherwise each time. What they say of recordings that they were not trained on is weighed together with the rest of the evidence (`vision.falls.fate`) by logistic regression.
Both are checked on recordings left out, recording by recording, and written to one file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from rig.analyse import scene_in
from rig.recording import read_frames, read_recording, write_recording
from twin.clips import film_pushes
from vision.falls.fate import NETWORK_MEASURES, Evidence, measures
from vision.falls.upright import (
    LAYERS,
    LEAK,
    REACH_PX,
    SIDES,
    STEPS,
    WINDOW_PX,
    Network,
    Step,
    Surroundings,
    leaky,
)
from vision.falls.whereabouts import Change, place_of
from vision.reading import NoReading, TableBefore, read_before
from vision.steady import Steady, typical

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_LAST_PICTURES = 9
_UNITS = (12, 16, 16, 1)  # of each step
_NETWORKS = 2
_FOLDS = 3
_EPOCHS = (6, 12)  # with windows from anywhere, then with those that it gets wrong as well
_BATCH = 128
_RATE = 2e-3
_LAST_RATE = 0.03  # of it
_DECAY = 3e-2
_DROPPED = 0.3  # of what the step over all of a window is given
_NEAR_PX = 3.6  # a place so near to a foot is neither right nor wrong
_SHAKE_PX = 0.45
_TURN_RAD, _STRETCH, _GAIN = 0.35, 0.08, 0.2  # standard deviations by which windows are made to differ
_CORE = np.s_[8:16, 8:16]  # of a window
_MIDDLE_PX = (2 * REACH_PX + WINDOW_PX - 1) / 2  # of surroundings
_PLAIN = 8  # plainly standing soldiers of a recording, the nearest to where something happened first
_RIDGE = 0.3
_DEAF = 0.2  # of the weight, for what is judged without the network
_STANDING = 0.15  # of the weight of those that fell: after real shots it is about as much


def _shapes() -> list[tuple[int, int, int, int]]:
    """Shape of each step's weights."""
    return list(zip(SIDES, SIDES, (LAYERS, *_UNITS), _UNITS, strict=False))


_BLANK = Network(
    (tuple(Step(np.zeros(shape, np.float32), np.zeros(shape[-1], np.float32)) for shape in _shapes()),)
)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One soldier after one shot."""

    recording: str
    evidence: Evidence | None
    """What is seen of it; ``None`` where it stands plainly."""
    surroundings: Surroundings
    own_px: FloatArray | None
    """Where it stands in its surroundings, (column, row) from the middle; ``None`` where it fell."""
    others_mm: tuple[tuple[float, float], ...]
    """Where others stand, from its old place."""
    others_px: FloatArray


def cases_in(
    name: str, before: TableBefore, after: NDArray[np.uint8], now_mm: Mapping[str, tuple[float, float] | None]
) -> list[Case]:
    """Give the cases of one recording.

    Parameters
    ----------
    name
        Its name.
    before, after
        The table before the shot, and the picture of it at rest afterwards.
    now_mm
        Where the soldier of each square stands now; ``None`` where it fell. Of squares left out nothing is learnt.
    """
    board, view = before.board, before.view
    sway = Steady(before.picture).measure(after)
    flat = board.raster.lay(after, shift_px=(sway.du_px, sway.dv_px)) / np.float32(sway.gain)
    places = [place_of(soldier, board, view) for soldier in board.standing.soldiers]
    change = Change(board, view, np.asarray(flat, dtype=np.float32), places, _BLANK)
    plain = [place for place in places if change.stands_plainly(place)]
    unclear = [place for place in places if place not in plain]
    taken = np.zeros(board.raster.shape, dtype=np.bool_)
    for place in plain:
        taken[place.window] |= place.shape
    feet_mm = [(place.soldier.x_mm, place.soldier.y_mm) for place in plain]
    stirred = np.array([(p.soldier.x_mm, p.soldier.y_mm) for p in unclear]).reshape(-1, 2)
    plain.sort(key=lambda p: np.hypot(*(stirred - (p.soldier.x_mm, p.soldier.y_mm)).T).min(initial=1e9))
    cases = []
    for place in [*unclear, *plain[:_PLAIN]]:
        square = str(place.soldier.square)
        if square not in now_mm:
            continue
        foot_mm = np.array([place.soldier.x_mm, place.soldier.y_mm])
        others = [mm for at, mm in now_mm.items() if at != square and mm is not None]
        others_mm = np.array(others, dtype=np.float64).reshape(-1, 2) - foot_mm
        surroundings = change.surroundings(place)
        own = now_mm[square]
        cases.append(
            Case(
                name,
                change.evidence(place, [p for p in unclear if p is not place], taken, feet_mm)
                if place in unclear
                else None,
                surroundings,
                None if own is None else surroundings.offset_px(np.array(own) - foot_mm)[0],
                tuple((float(x), float(y)) for x, y in others_mm),
                surroundings.offset_px(others_mm),
            )
        )
    return cases


def read_cases(folder: Path) -> list[Case]:
    """Give the cases of a recording with its truth."""
    recording = read_recording(folder)
    frames = list(read_frames(folder, recording))
    before = read_before(frames, recording.timestamps_us[: len(frames)], scene_in(folder, recording))
    if isinstance(before, NoReading):
        return []
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    now_mm: dict[str, tuple[float, float] | None] = {
        soldier["square"]: (soldier["x_mm"], soldier["y_mm"]) for soldier in truth["before"] + truth["moved"]
    }
    now_mm |= {fall["square"]: None for fall in truth["falls"]}
    return cases_in(str(folder), before, typical(frames[-min(_LAST_PICTURES, len(frames) // 2) :]), now_mm)


def film_cases(seed: int) -> list[Case]:
    """Give the cases of a table on which soldiers were pushed about."""
    clip = film_pushes(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / f"pushes-{seed:05d}"
        folder.mkdir()
        (folder / "truth.json").write_text(json.dumps(clip.truth.as_json()), encoding="utf-8")
        write_recording(folder, clip.keys, clip.frames)
        return read_cases(folder)


# --- the network


def _window(case: Case, at_px: FloatArray, rng: np.random.Generator) -> FloatImage:
    """Cut a window about (column, row) from the middle, a little turned, stretched and lit otherwise.

    Every other one is mirrored at the line to the camera.
    """
    turn, stretch = rng.normal(0, _TURN_RAD), np.exp(rng.normal(0, _STRETCH))
    mirror = -1.0 if rng.random() < 0.5 else 1.0
    across, down = np.cos(turn) * stretch, np.sin(turn) * stretch
    way = np.array([[across, -down * mirror], [down, across * mirror]])
    half = np.full(2, (WINDOW_PX - 1) / 2)
    cut = cv2.warpAffine(
        np.ascontiguousarray(case.surroundings.layers.transpose(1, 2, 0)),
        np.column_stack([way, np.asarray(at_px) + _MIDDLE_PX - way @ half]),
        (WINDOW_PX, WINDOW_PX),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    bright = cut[..., 1] * np.exp(rng.normal(0, _GAIN)) + rng.normal(0, _GAIN / 2)
    cut[..., 1] = np.clip(bright, -1, 1)
    return np.asarray(cut.transpose(2, 0, 1), dtype=np.float32)


def _standing_windows(case: Case, rng: np.random.Generator) -> list[FloatImage]:
    if case.own_px is None or np.abs(case.own_px).max() > REACH_PX:
        return []
    times = 2 if case.evidence is None else 6
    return [_window(case, case.own_px + rng.normal(0, _SHAKE_PX, 2), rng) for _ in range(times)]


def _feet_px(case: Case) -> FloatArray:
    return case.others_px if case.own_px is None else np.vstack([case.others_px, case.own_px])


def _empty_windows(case: Case, rng: np.random.Generator, count: int = 12) -> list[FloatImage]:
    """Windows about places where nobody stands, most of them where something is."""
    found: list[FloatImage] = []
    feet = _feet_px(case)
    for at in rng.uniform(-REACH_PX, REACH_PX, (7 * count, 2)):
        if np.hypot(*(feet - at).T).min(initial=np.inf) < _NEAR_PX:
            continue
        window = _window(case, at, rng)
        is_bare = window[0][_CORE].mean() < 0.25
        if not is_bare or rng.random() < 0.2:
            found.append(window)
        if len(found) == count:
            break
    return found


def _mistaken_windows(case: Case, net: Network, rng: np.random.Generator, count: int = 4) -> list[FloatImage]:
    """Windows about the places where nobody stands that look most like it to a network."""
    odds = net.map(case.surroundings).copy()
    down, across = np.mgrid[-REACH_PX : REACH_PX + 1, -REACH_PX : REACH_PX + 1]
    for u, v in _feet_px(case):
        odds[np.hypot(across - u, down - v) < _NEAR_PX] = -np.inf
    found: list[FloatImage] = []
    while len(found) < 2 * count and odds.max() > -2.5:
        row, column = np.unravel_index(int(np.argmax(odds)), odds.shape)
        at = np.array([column - REACH_PX, row - REACH_PX], dtype=np.float64)
        found += [_window(case, at, rng) for _ in range(2)]
        odds[np.hypot(across - at[0], down - at[1]) < 3] = -np.inf
    return found


def train_network(cases: Sequence[Case], seed: int, members: int = _NETWORKS) -> Network:
    """Train some networks on cases, and on what each got most wrong."""
    return Network(tuple(_train_one(cases, np.random.default_rng((seed, k))) for k in range(members)))


def _train_one(cases: Sequence[Case], rng: np.random.Generator) -> tuple[Step, ...]:
    standing = [w for case in cases for w in _standing_windows(case, rng)]
    unclear = [case for case in cases if case.evidence is not None]
    empty = [w for case in unclear for w in _empty_windows(case, rng)]
    weights: list[FloatImage] = []
    for shape in _shapes():
        given, units = int(np.prod(shape[:3])), shape[3]
        weights += [
            rng.normal(0, (2 / given) ** 0.5, (given, units)).astype(np.float32),
            np.zeros(units, np.float32),
        ]
    for epochs in _EPOCHS:
        if epochs != _EPOCHS[0]:
            net = Network((_steps(weights),))
            empty += [w for case in unclear for w in _mistaken_windows(case, net, rng)]
        windows = np.array(standing + empty, dtype=np.float32).transpose(0, 2, 3, 1)
        labels = np.r_[np.ones(len(standing)), np.zeros(len(empty))].astype(np.float32)
        _descend(weights, windows, labels, epochs, rng)
    return _steps(weights)


def _steps(weights: Sequence[FloatImage]) -> tuple[Step, ...]:
    both = zip(weights[::2], _shapes(), weights[1::2], strict=True)
    return tuple(Step(values.reshape(shape), bias) for values, shape, bias in both)


def _descend(
    weights: list[FloatImage], windows: FloatImage, labels: FloatImage, epochs: int, rng: np.random.Generator
) -> None:
    """Fit by Adam with decaying weights (Loshchilov and Hutter 2019)."""
    mean, power = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    count = 0
    for epoch in range(epochs):
        rate = _RATE * (1 - epoch / epochs + _LAST_RATE)
        order = rng.permutation(len(windows))
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            count += 1
            for k, slope in enumerate(_slopes(weights, windows[chosen], labels[chosen], rng)):
                mean[k] += 0.1 * (slope - mean[k])
                power[k] += 0.01 * (slope**2 - power[k])
                move = (mean[k] / (1 - 0.9**count)) / (np.sqrt(power[k] / (1 - 0.99**count)) + 1e-7)
                decay = _DECAY * weights[k] if k % 2 == 0 else 0.0
                weights[k] = np.asarray(weights[k] - rate * (move + decay), dtype=np.float32)


def _slopes(
    weights: Sequence[FloatImage], windows: FloatImage, labels: FloatImage, rng: np.random.Generator
) -> list[FloatImage]:
    """Give the slope of the mean log loss for each array of weights."""
    given: list[FloatImage] = []
    made: list[FloatImage] = []
    left = np.ones(1, np.float32)
    seen = windows
    for k, (side, step) in enumerate(zip(SIDES, STEPS, strict=True)):
        cut = _squares(seen, side, step)
        if k == len(SIDES) - 2:
            left = (rng.random(cut.shape, dtype=np.float32) > _DROPPED).astype(np.float32)
            left /= 1 - _DROPPED
            cut = cut * left
        given.append(cut)
        made.append(np.asarray(cut @ weights[2 * k] + weights[2 * k + 1]))
        seen = leaky(made[-1])
    chance = 1 / (1 + np.exp(-np.clip(made[-1].reshape(-1), -30, 30)))
    off = np.asarray((chance - labels) / len(labels), dtype=np.float32).reshape(made[-1].shape)
    slopes: list[FloatImage] = []
    for k in range(len(SIDES) - 1, -1, -1):
        units = made[k].shape[3]
        flat = off.reshape(-1, units)
        slopes = [given[k].reshape(len(flat), -1).T @ flat, flat.sum(axis=0), *slopes]
        if k == 0:
            break
        back = np.asarray(off @ weights[2 * k].T)
        if k == len(SIDES) - 2:
            back *= left
        off = _joined(back, made[k - 1], SIDES[k])
        off[made[k - 1] <= 0] *= LEAK
    return slopes


def _squares(pictures: FloatImage, side: int, step: int) -> FloatImage:
    """Cut pictures (N, height, width, layers) into squares, each as one row: (N, rows, columns, its points)."""
    view = np.lib.stride_tricks.sliding_window_view(pictures, (side, side), axis=(1, 2))
    view = view[:, ::step, ::step].transpose(0, 1, 2, 4, 5, 3)
    return np.ascontiguousarray(view).reshape(*view.shape[:3], -1)


def _joined(cut: FloatImage, like: FloatImage, side: int) -> FloatImage:
    """Add up squares of a side, one point apart, into the pictures that they were cut from."""
    count, rows, columns, units = *cut.shape[:3], like.shape[3]
    points = cut.reshape(count, rows, columns, side, side, units)
    picture = np.zeros_like(like)
    for down in range(side):
        for across in range(side):
            picture[:, down : down + rows, across : across + columns] += points[:, :, :, down, across]
    return picture


# --- the rest of the evidence


def fit_weights(table: FloatArray, stands: FloatArray) -> tuple[FloatArray, float]:
    """Fit weights and an offset: the mean of two fits, one of which does not hear the network.

    It has seen the twin's figures only, and must not overrule everything else where others stand on the table.
    """
    weights, offset = _fit(table, stands)
    deaf = [k for k in range(table.shape[1]) if k not in NETWORK_MEASURES]
    others, other_offset = _fit(table[:, deaf], stands)
    weights *= 1 - _DEAF
    weights[deaf] += _DEAF * others
    return weights, (1 - _DEAF) * offset + _DEAF * other_offset


def _fit(table: FloatArray, stands: FloatArray) -> tuple[FloatArray, float]:
    """Fit a logistic regression with a ridge on standardised columns: weights and offset for the columns as given."""
    # More of those that do not lie stand in what is trained on than after a real shot.
    weight = np.where(stands > 0, _STANDING * np.sum(1 - stands) / max(float(np.sum(stands)), 1.0), 1.0)
    middle, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    columns = np.column_stack([(table - middle) / spread, np.ones(len(table))])

    def misfit(weights: FloatArray) -> tuple[float, FloatArray]:
        odds = columns @ weights
        ridge = np.r_[weights[:-1], 0.0]
        cost = np.sum(weight * (np.logaddexp(0, odds) - stands * odds)) + _RIDGE * np.sum(ridge**2)
        return float(cost), columns.T @ (weight * (1 / (1 + np.exp(-odds)) - stands)) + 2 * _RIDGE * ridge

    found = minimize(misfit, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ middle)


def left_out(cases: Sequence[Case]) -> tuple[list[Case], FloatArray]:
    """Give the unclear cases with what a network says that never saw their recording, and their chances likewise.

    One network does for that: the mean of some says much the same, a little better.
    """
    names = sorted({case.recording for case in cases})
    fold = dict(zip(names, np.random.default_rng(0).integers(_FOLDS, size=len(names)), strict=True))
    judged: list[Case] = []
    for k in range(_FOLDS):
        net = train_network([case for case in cases if fold[case.recording] != k], k, members=1)
        judged += [
            replace(
                case,
                evidence=replace(case.evidence, upright=net.search(case.surroundings, case.others_mm)),
            )
            for case in cases
            if case.evidence is not None and fold[case.recording] == k
        ]
    table, stands = _table(judged)
    at = np.array([fold[case.recording] for case in judged])
    chances = np.zeros(len(judged))
    for k in range(_FOLDS):
        weights, offset = fit_weights(table[at != k], stands[at != k])
        chances[at == k] = 1 / (1 + np.exp(-(table[at == k] @ weights + offset)))
    return judged, chances


def _table(cases: Sequence[Case]) -> tuple[FloatArray, FloatArray]:
    rows = [measures(case.evidence) for case in cases if case.evidence is not None]
    return np.array(rows), np.array([case.own_px is not None for case in cases], dtype=np.float64)


def train(cases: Sequence[Case], out: Path) -> None:
    """Train on cases, say how well it does on what was left out, and write the weights."""
    judged, chances = left_out(cases)
    table, stands = _table(judged)
    wrong = (chances > 0.5) != (stands > 0)
    right = np.where(stands > 0, chances, 1 - chances)
    print(
        f"{len({case.recording for case in cases})} recordings, {len(judged)} soldiers that do not stand plainly"
    )
    print(f"stand: {int(stands.sum())}, of them taken to have fallen: {int((wrong & (stands > 0)).sum())}")
    print(f"fell: {int((1 - stands).sum())}, of them taken to stand: {int((wrong & (stands == 0)).sum())}")
    print(f"mean log loss {-np.log(np.maximum(right, 1e-9)).mean():.4f}, all on recordings left out")
    weights, offset = fit_weights(table, stands)
    net = train_network(cases, 0)
    kept = {"measures": weights.astype(np.float32), "measures_bias": np.array(offset, dtype=np.float32)}
    for k, member in enumerate(net.members):
        for n, step in enumerate(member):
            kept |= {f"{k}_weights_{n}": step.weights.astype(np.float16), f"{k}_bias_{n}": step.bias}
    np.savez_compressed(out, allow_pickle=False, **kept)


def main() -> None:
    """Train on the recordings in the folders given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of recordings with truth.json")
    parser.add_argument("--out", type=Path, default=Path("vision/falls/upright.npz"))
    parser.add_argument("--pushes", type=int, default=120, help="how many tables to push soldiers about on")
    given = parser.parse_args()
    truths = [truth for folder in given.folders for truth in sorted(folder.glob("*/truth.json"))]
    for folder in given.folders:
        if not any(truth.parent.parent == folder for truth in truths):
            parser.error(f"{folder}: no recordings with their truth in it (folders with a truth.json)")
    with ProcessPoolExecutor() as workers:
        found = [
            *workers.map(read_cases, [truth.parent for truth in truths]),
            *workers.map(film_cases, range(given.pushes)),
        ]
    train([case for cases in found for case in cases], given.out)


if __name__ == "__main__":
    main()
