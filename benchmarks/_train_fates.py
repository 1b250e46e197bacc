"""Trains what tells who stands from who lies: ``python -m benchmarks._train_fates FOLDER... [--disorders N]``.

Needs PyTorch and onnx (``pip install -e '.[train]'``), which nothing else does. Each folder holds recordings with their
truth, as ``rig clips`` writes them. A shot fells two or three and seldom pushes anybody, so tables that several shots
and hands have brought into disorder are filmed as well. Of every soldier that does not stand plainly afterwards, and of
some that do, the surroundings are laid out as `vision.falls.upright` does. Its networks learn from four fifths of the
recordings where in them somebody stands, and where nobody does; they are turned, shifted, stretched and lit a little
otherwise each time. What they say of the last fifth is weighed together with the rest of the evidence
(`vision.falls.fate`) by logistic regression, which is checked on parts of that fifth left out, recording by recording.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks._logistic import fit_logistic
from benchmarks._networks import Descent, as_onnx, functional, network, nn, take_over, torch
from benchmarks._tables import (
    DISORDER,
    FOLDS,
    FilmedTable,
    Foot,
    asked,
    fold_of,
    from_everywhere,
    parted,
)
from benchmarks._unclear import look_after
from vision.falls.fate import Evidence, chance_of_standing, measures
from vision.falls.upright import (
    CELL_PX,
    LAYERS,
    PX_MM,
    REACH_CELLS,
    WINDOW_PX,
    Network,
    Surroundings,
    likeliest,
)

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_REACH_CELLS = 16  # that are learnt from: others stand there
_PLAIN = 5  # plainly standing soldiers of a recording, the nearest to where something happened first
# Square each step looks at, how far apart its points are, and of how many units it is; the first looks at every second
# place only, as cells lie. Together they look at `WINDOW_PX`.
_STEPS = ((5, 1, 32), (3, 1, 48), (3, 2, 48), (3, 4, 48), (3, 2, 64))
_DROPPED = 0.15  # of the units of the last step
_EPOCHS = (10, 6)  # of each network: what one has learnt by heart, the other contradicts
_BATCH = 32
_RATE, _DECAY = 2e-3, 2e-2
_GENTLE = 0.3  # of the rate, where they go on from what is known
_CROP_CELLS = 10  # about a middle that is drawn
_FAR_SHARE, _FAR_PX, _NEAR_PX = 0.4, 20.0, 4.0  # so far from the old place that middle lies
_TURN_RAD, _STRETCH, _GAIN, _SHADE, _NOISE = 0.2, 0.08, 0.2, 0.1, 0.02  # standard deviations
_SHADES = (1, 4)  # layers that tell brightness
# A cell so near to a foot is right; one not much farther is neither right nor wrong.
_RIGHT_PX, _NEITHER_PX = 1.45, 3.4
_UNCLEAR, _PLAINLY = 6.0, 2.0  # what the soldier's own foot counts, against those of others
_PLACE = 0.2  # what a pixel of misplacement counts against a bit of doubt
_FARTHEST_MM = REACH_CELLS * CELL_PX * PX_MM
_STANDING = 0.25  # of the weight of those that fell: after a single shot it is 0.07 to 0.4 of it, as tables and figures are


class _Blind(Network):
    """Sees nothing: for evidence that is measured before there is a network."""

    def __init__(self) -> None:
        super().__init__(cv2.dnn.Net())

    def map(self, surroundings: Surroundings) -> FloatImage:
        cells = (surroundings.layers.shape[1] - WINDOW_PX) // CELL_PX + 1
        return np.zeros((3, cells, cells), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One soldier after one shot."""

    recording: str
    evidence: Evidence | None
    """What is seen of it but for the network; ``None`` where it stands plainly."""
    layers: NDArray[np.float16]
    along: tuple[float, float]
    """Of its surroundings; kept small."""
    own_mm: Foot | None
    """Where it stands, from its old place; ``None`` where it fell."""
    others_mm: tuple[Foot, ...]
    """Where others stand, likewise."""

    @property
    def surroundings(self) -> Surroundings:
        """What surrounds its old place."""
        return Surroundings(self.layers.astype(np.float32), self.along)

    @property
    def feet_px(self) -> FloatArray:
        """Everybody's foot, (columns, rows) from the middle of the surroundings; its own is the last, if it stands."""
        feet_mm = [*self.others_mm, *([] if self.own_mm is None else [self.own_mm])]
        return self.surroundings.offset_px(np.array(feet_mm))


def cases_in(table: FilmedTable) -> list[Case]:
    """Give the cases of one table."""
    look = look_after(table, _Blind())
    after, unclear, plain = look.after, look.unclear, look.plain
    stirred = np.array([(p.soldier.x_mm, p.soldier.y_mm) for p in unclear]).reshape(-1, 2)
    plain.sort(key=lambda p: np.hypot(*(stirred - (p.soldier.x_mm, p.soldier.y_mm)).T).min(initial=1e9))
    cases = []
    for place in [*unclear, *plain[:_PLAIN]]:
        square = str(place.soldier.square)
        if square not in table.now_mm:
            continue
        x_mm, y_mm = place.soldier.x_mm, place.soldier.y_mm
        shifts_mm = {
            at: None if mm is None else (mm[0] - x_mm, mm[1] - y_mm) for at, mm in table.now_mm.items()
        }
        own_mm = shifts_mm.pop(square)
        surroundings = after.surroundings(place, _REACH_CELLS)
        cases.append(
            Case(
                table.name,
                after.evidence(place, look.taken, look.feet_mm) if place in unclear else None,
                surroundings.layers.astype(np.float16),
                surroundings.along,
                own_mm,
                tuple(mm for mm in shifts_mm.values() if mm is not None),
            )
        )
    return cases


# --- the network


def _varied(cases: Sequence[Case], rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
    """Crop surroundings, each turned, shifted, stretched and lit otherwise, every other one mirrored.

    Returns
    -------
    Layers, and of each cell: whether somebody stands there, how much that counts, and how far he stands from its middle.
    """
    count = len(cases)
    turn, stretch = rng.normal(0, _TURN_RAD, count), np.exp(rng.normal(0, _STRETCH, count))
    mirror = np.where(rng.random(count) < 0.5, -1.0, 1.0)
    reach_px = np.where(rng.random(count) < _FAR_SHARE, _FAR_PX, _NEAR_PX)[:, None]
    shift = rng.uniform(-1, 1, (count, 2)) * reach_px
    across, down = np.cos(turn) * stretch, np.sin(turn) * stretch
    ways = np.stack([across, -down * mirror, down, across * mirror], axis=1).reshape(count, 2, 2)
    side = 2 * _CROP_CELLS * CELL_PX + WINDOW_PX
    half = (cases[0].layers.shape[1] - 1) / 2
    theta = np.concatenate([ways * ((side - 1) / 2 / half), shift[..., None] / half], axis=2)
    grid = functional.affine_grid(
        torch.from_numpy(theta).float(), [count, LAYERS, side, side], align_corners=True
    )
    layers = torch.from_numpy(np.stack([case.layers for case in cases])).float()
    layers = functional.grid_sample(layers, grid, padding_mode="border", align_corners=True)
    gain, shade = (torch.from_numpy(rng.normal(0, sd, (count, 1, 1, 1))).float() for sd in (_GAIN, _SHADE))
    layers[:, _SHADES] = (layers[:, _SHADES] * gain.exp() + shade).clamp(-1, 1)
    layers += _NOISE * torch.randn_like(layers)
    stands, counts, off = (np.zeros((count, n, *[2 * _CROP_CELLS + 1] * 2), np.float32) for n in (1, 1, 2))
    rows, columns = np.mgrid[-_CROP_CELLS : _CROP_CELLS + 1, -_CROP_CELLS : _CROP_CELLS + 1] * CELL_PX
    counts += 1
    for k, case in enumerate(cases):
        feet = case.feet_px
        for n, (u, v) in enumerate((feet - shift[k]) @ np.linalg.inv(ways[k]).T):
            away = np.hypot(columns - u, rows - v)
            right = away < _RIGHT_PX
            counts[k, 0][(away < _NEITHER_PX) & ~right & (stands[k, 0] == 0)] = 0
            stands[k, 0][right] = 1
            is_own = case.own_mm is not None and n == len(feet) - 1
            counts[k, 0][right] = (_PLAINLY if case.evidence is None else _UNCLEAR) if is_own else 1.0
            off[k, :, right] = np.column_stack([u - columns[right], v - rows[right]])
    return layers, torch.from_numpy(stands), torch.from_numpy(counts), torch.from_numpy(off)


def train_networks(cases: Sequence[Case], known: bytes | None) -> bytes:
    """Train networks on cases, from nothing or from those that are known, and write them as one."""
    nets = []
    for seed in range(len(_EPOCHS)):
        torch.manual_seed(seed)
        nets.append(network(LAYERS, _STEPS, CELL_PX, 3, _DROPPED))
    if known is not None:
        take_over(nets, known)
    rate = _RATE if known is None else _GENTLE * _RATE
    for seed, net in enumerate(nets):
        _train(net, cases, seed, rate)
    return as_onnx(nets, "upright")


def _train(net: nn.Sequential, cases: Sequence[Case], seed: int, rate: float) -> None:
    """Train one of the networks."""
    rng, epochs = np.random.default_rng(seed), _EPOCHS[seed]
    # Those that do not stand plainly are looked at twice as often.
    order = [k for k, case in enumerate(cases) for _ in range(1 if case.evidence is None else 2)]
    batches = len(order) // _BATCH
    descent = Descent(net, rate, _DECAY, epochs * batches)
    for epoch in range(epochs):
        rng.shuffle(order)
        total = 0.0
        for k in range(batches):
            layers, stands, counts, off = _varied(
                [cases[n] for n in order[k * _BATCH : (k + 1) * _BATCH]], rng
            )
            told = net(layers)
            doubt = functional.binary_cross_entropy_with_logits(told[:, :1], stands, reduction="none")
            misplaced = (told[:, 1:] - off).abs() * stands
            loss = ((doubt + _PLACE * misplaced.sum(dim=1, keepdim=True)) * counts).sum() / (4 * _BATCH)
            total += descent.step(loss)
        print(f"network {seed + 1}, epoch {epoch + 1} of {epochs}: loss {total / batches:.4f}", flush=True)
    net.eval()


# --- the rest of the evidence


def _counts(judged: Sequence[Case], stands: FloatArray) -> FloatArray:
    """How much each case counts, shape (N,): of tables in disorder, where far more stand, those that do count less."""
    is_disorder = np.array([case.recording.startswith(DISORDER) for case in judged])
    some = is_disorder & (stands > 0)
    fell = float(np.sum(is_disorder & (stands == 0)))
    return np.where(some, _STANDING * fell / max(float(some.sum()), 1.0), 1.0)


def _judged(cases: Iterable[Case], model: bytes) -> list[Case]:
    """Give the unclear cases with what a network says of them; who stands out of its reach cannot be told."""
    net = Network(cv2.dnn.readNetFromONNX(np.frombuffer(model, dtype=np.uint8)))
    return [
        # Whether it throws a shadow there is weighed apart: where it is looked for the network tells.
        replace(
            case,
            evidence=replace(
                case.evidence,
                upright=likeliest(net.map(case.surroundings), case.surroundings, case.others_mm),
                shadow=None,
            ),
        )
        for case in cases
        if case.evidence is not None and (case.own_mm is None or np.hypot(*case.own_mm) < _FARTHEST_MM)
    ]


def train(cases: Sequence[Case], out: Path, *, go_on: bool) -> None:
    """Train on cases, and write networks and weights into a folder; where it goes on, the weights stay."""
    learnt, held_back = parted(cases)
    known = (out / "upright.onnx").read_bytes() if go_on else None
    if known is not None:
        _measure(_judged(held_back, known))
    model = train_networks(learnt, known)
    (out / "upright.onnx").write_bytes(model)
    if known is not None:
        _measure(_judged(held_back, model))
    else:
        fit_fates(_judged(held_back, model), out)


def _measure(judged: Sequence[Case]) -> None:
    """Say how often cases are told wrongly with the weights that are there."""
    chances = [chance_of_standing(case.evidence) for case in judged if case.evidence is not None]
    _say(judged, np.array(chances))


def fit_fates(judged: Sequence[Case], out: Path) -> None:
    """Weigh what a network says of cases that it never saw with the rest of the evidence, and write the weights."""
    table = np.array([measures(case.evidence) for case in judged if case.evidence is not None])
    stands = np.array([case.own_mm is not None for case in judged], dtype=np.float64)
    counts = _counts(judged, stands)
    chances = np.zeros(len(judged))
    fold = np.array([fold_of(case.recording) for case in judged])
    if len(set(fold)) < 2:
        sys.exit(
            "too few recordings held back show a soldier that does not stand plainly: no weights are written"
        )
    for k in range(FOLDS):
        rest = fold != k
        weights, offset = fit_logistic(table[rest], stands[rest], counts[rest])
        chances[fold == k] = 1 / (1 + np.exp(-(table[fold == k] @ weights + offset)))
    _say(judged, chances)
    weights, offset = fit_logistic(table, stands, counts)
    fitted = {"weights": [round(float(w), 5) for w in weights], "offset": round(offset, 5)}
    (out / "fate.json").write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


def _say(judged: Sequence[Case], chances: FloatArray) -> None:
    """Say how well the chances that cases stand agree with the truth."""
    stands = np.array([case.own_mm is not None for case in judged], dtype=np.float64)
    wrong = (chances > 0.5) != (stands > 0)
    right = np.where(stands > 0, chances, 1 - chances)
    print(f"{len({case.recording for case in judged})} recordings held back; not standing plainly:")
    print(f"stand: {int(stands.sum())}, of them taken to have fallen: {int((wrong & (stands > 0)).sum())}")
    print(f"fell: {int((1 - stands).sum())}, of them taken to stand: {int((wrong & (stands == 0)).sum())}")
    print(f"mean log loss {-np.log(np.maximum(right, 1e-9)).mean():.4f}")


def main() -> None:
    """Train on the recordings in the folders given."""
    given = asked(__doc__, "vision/falls/upright.onnx")
    cases = list(from_everywhere(cases_in, given.truths, given.disorders))
    train(cases, given.out, go_on=given.go_on)


if __name__ == "__main__":
    main()
