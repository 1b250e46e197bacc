"""Trains what tells who stands from who lies: ``python -m benchmarks._train_fates FOLDER... [--pushes N]``.

Each folder holds recordings with their truth, as ``rig clips`` writes them. Shots seldom push anybody, so tables on which
hands have pushed soldiers about are filmed as well. Of every soldier that does not stand
plainly after the shot, and of some that do, the surroundings are laid out as `vision.falls.upright` does. Its network learns
where in them somebody stands, and where not, first anywhere, then where it was most wrong. What it says of recordings
that it was not trained on is weighed together with the rest of the evidence (`vision.falls.fate`) by logistic regression.
Both are checked on recordings left out, recording by recording, and written to one file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
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
from vision.falls.upright import REACH_PX, WINDOW_PX, Network, Surroundings
from vision.falls.whereabouts import Change, place_of
from vision.reading import NoReading, TableBefore, read_before
from vision.steady import Steady, typical

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_LAST_PICTURES = 9
_UNITS = 24
_NETWORKS = 2
_FOLDS = 6
_ROUNDS = 3
_EPOCHS = 12
_BATCH = 256
_STEP = 2e-3
_DECAY = 3e-2
_NEAR_PX = 3.6  # a place so near to a foot is neither right nor wrong
_SHAKE_PX = 0.45
_PLAIN = 8  # plainly standing soldiers of a recording, the nearest to where something happened first
_RIDGE = 0.3
_DEAF = 0.4  # of the weight, for what is judged without the network
_STANDING = 0.15  # of the weight of those that fell: after real shots it is about as much
_LAST_STEP = 0.05  # of the learning rate
_FROM_MIDDLE = np.arange(WINDOW_PX) - (WINDOW_PX - 1) / 2
_DISC = np.tile((np.hypot(*np.meshgrid(_FROM_MIDDLE, _FROM_MIDDLE)) < WINDOW_PX / 2 + 0.5).ravel(), 2)
"""The round window, of both layers."""
_BLANK = Network(
    np.zeros((2 * WINDOW_PX**2, 1), np.float32), np.zeros(1, np.float32), np.zeros(1, np.float32), 0.0
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
    """Cut a window about (column, row) from the middle; every other one mirrored at the line to the camera."""
    side = 2 * REACH_PX + WINDOW_PX
    column, row = (float(v) + (side - 1) / 2 for v in at_px)
    cut = np.stack(
        [
            cv2.getRectSubPix(layer, (WINDOW_PX, WINDOW_PX), (column, row))
            for layer in case.surroundings.layers
        ]
    )
    return cut[:, ::-1] if rng.random() < 0.5 else cut


def _standing_windows(case: Case, rng: np.random.Generator) -> list[FloatImage]:
    if case.own_px is None or np.abs(case.own_px).max() > REACH_PX:
        return []
    times = 2 if case.evidence is None else 6
    return [_window(case, case.own_px + rng.normal(0, _SHAKE_PX, 2), rng) for _ in range(times)]


def _feet_px(case: Case) -> FloatArray:
    return case.others_px if case.own_px is None else np.vstack([case.others_px, case.own_px])


def _empty_windows(case: Case, rng: np.random.Generator, count: int = 14) -> list[FloatImage]:
    """Windows about places where nobody stands, most of them where something is."""
    found: list[FloatImage] = []
    feet = _feet_px(case)
    for at in rng.uniform(-REACH_PX, REACH_PX, (6 * count, 2)):
        if np.hypot(*(feet - at).T).min(initial=np.inf) < _NEAR_PX:
            continue
        window = _window(case, at, rng)
        is_bare = window[0, 6:14, 6:14].mean() < 0.25
        if not is_bare or rng.random() < 0.2:
            found.append(window)
        if len(found) == count:
            break
    return found


def _mistaken_windows(case: Case, net: Network, rng: np.random.Generator, count: int = 3) -> list[FloatImage]:
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


def train_network(cases: Sequence[Case], seed: int) -> Network:
    """Train some networks on cases, and on what each got most wrong, and join them to one that gives their mean."""
    nets = [_train_one(cases, np.random.default_rng((seed, k))) for k in range(_NETWORKS)]
    return Network(
        np.concatenate([net.hidden for net in nets], axis=1),
        np.concatenate([net.hidden_bias for net in nets]),
        np.concatenate([net.out / _NETWORKS for net in nets]),
        sum(net.out_bias for net in nets) / _NETWORKS,
    )


def _train_one(cases: Sequence[Case], rng: np.random.Generator) -> Network:
    standing = [w for case in cases for w in _standing_windows(case, rng)]
    unclear = [case for case in cases if case.evidence is not None]
    empty = [w for case in unclear for w in _empty_windows(case, rng)]
    net = _BLANK
    for _ in range(_ROUNDS):
        if net is not _BLANK:
            empty += [w for case in unclear for w in _mistaken_windows(case, net, rng)]
        windows = np.array(standing + empty, dtype=np.float32).reshape(-1, len(_DISC)) * _DISC
        labels = np.r_[np.ones(len(standing)), np.zeros(len(empty))].astype(np.float32)
        net = _descend(windows, labels, rng)
    return net


def _descend(windows: FloatImage, labels: FloatImage, rng: np.random.Generator) -> Network:
    """Fit by Adam with decaying weights (Loshchilov and Hutter 2019)."""
    width = windows.shape[1]
    weights = [
        rng.normal(0, width**-0.5, (width, _UNITS)).astype(np.float32),
        np.zeros(_UNITS, np.float32),
        rng.normal(0, _UNITS**-0.5, _UNITS).astype(np.float32),
        np.zeros(1, np.float32),
    ]
    mean, power = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    step = 0
    for epoch in range(_EPOCHS):
        rate = _STEP * (1 - epoch / _EPOCHS) + _LAST_STEP * _STEP
        order = rng.permutation(len(windows))
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            step += 1
            for k, slope in enumerate(_slopes(weights, windows[chosen], labels[chosen])):
                mean[k] += 0.1 * (slope - mean[k])
                power[k] += 0.01 * (slope**2 - power[k])
                move = (mean[k] / (1 - 0.9**step)) / (np.sqrt(power[k] / (1 - 0.99**step)) + 1e-7)
                decay = _DECAY * weights[k] if k % 2 == 0 else 0.0
                weights[k] = np.asarray(weights[k] - rate * (move + decay), dtype=np.float32)
    hidden, hidden_bias, out, out_bias = weights
    return Network(hidden * _DISC[:, None], hidden_bias, out, float(out_bias[0]))


def _slopes(weights: Sequence[FloatImage], windows: FloatImage, labels: FloatImage) -> list[FloatImage]:
    hidden, hidden_bias, out, out_bias = weights
    units = windows @ hidden + hidden_bias
    lit = np.maximum(units, 0.1 * units)
    off = (1 / (1 + np.exp(-np.clip(lit @ out + out_bias, -30, 30))) - labels) / len(labels)
    behind = np.outer(off, out) * np.where(units > 0, 1, 0.1)
    found = (windows.T @ behind, behind.sum(axis=0), lit.T @ off, np.array([off.sum()]))
    return [np.asarray(slope, dtype=np.float32) for slope in found]


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
    """Give the unclear cases with what a network says that never saw their recording, and their chances likewise."""
    names = sorted({case.recording for case in cases})
    fold = dict(zip(names, np.random.default_rng(0).integers(_FOLDS, size=len(names)), strict=True))
    judged: list[Case] = []
    for k in range(_FOLDS):
        net = train_network([case for case in cases if fold[case.recording] != k], k)
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
    np.savez_compressed(
        out,
        hidden=net.hidden.astype(np.float16),
        hidden_bias=net.hidden_bias,
        out=net.out,
        out_bias=np.float32(net.out_bias),
        measures=weights.astype(np.float32),
        measures_bias=np.float32(offset),
    )


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
    cases = [case for truth in truths for case in read_cases(truth.parent)]
    train([*cases, *(case for seed in range(given.pushes) for case in film_cases(seed))], given.out)


if __name__ == "__main__":
    main()
