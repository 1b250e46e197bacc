"""Which side a soldier is of, by the colours of its uniform.

The colours are not known beforehand. Where the position is known they are learnt from it, and a soldier that plainly
wears the other side's is named: how often each colour occurs on either side's soldiers is counted, and each soldier
compared with both, itself not counted in (naive Bayes). Where it is not, and nobody taught them, or others were taught than
are seen here, the soldiers are parted by their looks and by where they stand (`vision.soldiers.parting`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import SOLDIERS_PER_SIDE, Side, Square
from vision.registration import BoardView
from vision.scene import Scene, Uniforms
from vision.soldiers.colours import RARE, colours_of, count_colours
from vision.soldiers.feet import Foot
from vision.soldiers.figure import Figure
from vision.soldiers.heaps import by_field, log_shares_in
from vision.soldiers.naming import naming_odds
from vision.soldiers.parting import HARDLY_TOLD, looks_of, part, trained
from vision.soldiers.surface import Raster

__all__ = ["learn_looks", "learn_uniforms", "tell_sides"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_FEWEST_PIXELS = 8  # of the body that are plainly no board; with fewer the whole body is taken
# Mean log-likelihood ratio of a soldier's colours below which the heaps are one: equal ones reach 0.1.
_APART = 0.25
# Log-odds of being parted from its side beyond which a soldier is of the other one, if its colours say so too: of 1,979 on 63
# tables of two renderers none that was told rightly is, and 6 beyond 5; of those who are told wrongly 86 and 97 % would be, and 92
# and 99. Where fewer than so many are parted as they are told, something else parts them: both sides have the same figures.
_PLAINLY_PARTED, _LEAST_AS_TOLD = 7.0, 0.8
# Steps of CIE lightness, a and b in which taught colours are kept, and where nought lies among them.
_TAUGHT_STEPS = np.array([8.0, 6.0, 6.0])
_TAUGHT_ORIGIN = np.array([1, 22, 22])
_TAUGHT_SHAPE = (16, 45, 45)
# Taught uniforms are another table's where the colours of most soldiers fit them worse than this (mean log-likelihood, less
# than their own). Of 62 tables read with what another picture of them taught none reached 0.2, and 0.5 where all had changed
# fields; of 1300 pairs of different tables 8 stay below and have no side too many.
_ANOTHER_TABLE = 0.4
_MISTAKEN = 2  # of 48 soldiers, for one of the other side by what was taught at the same table
# So many soldiers, and this share of them, on the first lines of both fields: nobody has moved far yet.
_START_LINES, _FEWEST_AT_START, _AT_START = 3, 16, 0.85
# Log-odds beyond which one that stands where the other side is set up is of its own all the same: of 7,578 soldiers on 174
# tables at the start wrong ones reached 5.2.
_PLAINLY_LOST = 7.0
# Log-odds by which a position that is told must be the wrong way round to be doubted: all look home, and all together
# stand 20 lines nearer to the other side's bases. Of 38 filmed positions the least certain had 10 the right way round.
_PLAINLY_EXCHANGED = 12.0
_RIM_MM = 2.0  # of a figure: there the board mixes in
_FEWEST_IN_CORE = 20
# Part of a figure's height above which its colours are counted: below it bases show, which both sides' have alike. Of 30,000
# soldiers on 1,027 tables of three renderers, parted without a position, 517 are taken for the other side's with all of it,
# 451 from 0.45 of it on, 431 from 0.6, 425 from 0.7, 433 from 0.85. Of 4,000 of whom the position told the wrong side 336 went
# unnoticed with all of it, 164 from 0.6, 172 from 0.7; of 7,114 told by others' colours 129 were wrong with all of it, 94 and 85.
_UPPER_BODY = 0.6


def tell_sides(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    stands_on: Mapping[Square, Foot],
    scene: Scene,
) -> tuple[dict[Square, Side], tuple[str, ...], bool]:
    """Tell the side of each soldier.

    Parameters
    ----------
    flat
        The picture on the raster.
    cover
        Above 0 where a figure rather than the bare board is seen, on the raster.
    raster, view, figure
        The board's raster, the camera and the size of the figures.
    stands_on
        The foot of each soldier by its square.
    scene
        Its expected position, where there is one, names the sides.

    Returns
    -------
    sides, notes, by_taught
        The side by square; a sentence for each soldier whose colour is not that of its side, for sides that are
        plainly exchanged, and for soldiers that may as well be of the other side; and whether taught uniforms told the sides.
    """
    squares = sorted(stands_on)
    feet = [(stands_on[s].x_mm, stands_on[s].y_mm) for s in squares]
    if scene.expected is None and scene.uniforms is not None and squares:
        by_taught = _told_by(scene.uniforms, squares, _wear(flat, cover, raster, view, figure, feet))
        if by_taught is not None:
            return by_taught, (), True
    if len(squares) < 2:
        return {s: s.field for s in squares} | dict(_named(squares, scene.expected)), (), False

    def parted() -> FloatArray:
        """Part them by looks and places: log-odds that they are of the Allies."""
        looks, shares = learn_looks(flat, cover, raster, view, figure, feet)
        forward = np.array([scene.length_mm / 2 - stands_on[s].y_mm for s in squares]) / scene.square_mm
        facing = np.array([stands_on[s].forward_odds for s in squares])
        on_allied = np.array([s.field is Side.A for s in squares])
        return part(looks, shares, trained(), forward, facing, on_allied)

    if scene.expected is None:
        return *_by_looks(parted(), stands_on, scene.square_mm), False
    worn = _wear(flat, cover, raster, view, figure, feet)
    return *_as_told(scene.expected, worn, parted, stands_on, scene.square_mm), False


def _by_looks(
    odds: FloatArray, stands_on: Mapping[Square, Foot], square_mm: float
) -> tuple[dict[Square, Side], tuple[str, ...]]:
    """Tell the sides of soldiers that were parted, and name those who may as well be of the other one."""
    squares = sorted(stands_on)
    told = _by_odds(squares, odds.tolist())
    named = ((told[s], stands_on[s].y_mm, stands_on[s].forward_odds) for s in squares)
    if naming_odds(named, square_mm) < 0:
        odds = -odds
        told = {s: side.enemy for s, side in told.items()}
    if _as_at_the_start(squares):
        plain = np.abs(odds) > _PLAINLY_LOST
        at_home = {s: s.field for s in squares}
        return at_home | {s: told[s] for s, lost in zip(squares, plain.tolist(), strict=True) if lost}, ()
    return told, _contested(squares, odds)


def _as_told(
    expected: Mapping[Square, Side],
    worn: Sequence[FloatImage],
    parted: Callable[[], FloatArray],
    stands_on: Mapping[Square, Foot],
    square_mm: float,
) -> tuple[dict[Square, Side], tuple[str, ...]]:
    """Take the sides as the position tells them, but for who plainly wears the other's uniform, and say what differs."""
    squares = sorted(stands_on)
    sides = {s: s.field for s in squares} | dict(_named(squares, expected))
    allied = np.array([sides[s] is Side.A for s in squares])
    ratio = _ratios(count_colours(worn), allied)
    as_told = ((side, stands_on[s].y_mm, stands_on[s].forward_odds) for s, side in _named(squares, expected))
    notes: list[str] = []
    if naming_odds(as_told, square_mm) < -_PLAINLY_EXCHANGED:
        notes.append(
            "the position seems to have the sides exchanged: where it names A, soldiers stand and look as those of G do, "
            "and where it names G as those of A"
        )
    if float(np.median(np.abs(ratio))) < _APART:
        return sides, tuple(notes)
    on_allied = np.array([0.5 if s.field is Side.A else -0.5 for s in squares])
    seen = _by_odds(squares, (ratio - by_field(ratio, allied.astype(np.float64), on_allied)).tolist())
    # Where nobody is seen, and the position alone says who stands there, the board would be held for his uniform.
    shown = [s for s in squares if s in expected and stands_on[s].log_odds > 0]
    others = [s for s in shown if seen[s] is not sides[s]]
    if others:
        by_looks = dict(zip(squares, parted().tolist(), strict=True))
        others = _parted_too(others, sides, by_looks)
    notes += [f"{s} should hold a soldier of {sides[s]} and one of {seen[s]} is seen" for s in others]
    sides |= {s: seen[s] for s in squares if s in others or s not in expected}
    return sides, tuple(notes)


def _contested(squares: Sequence[Square], odds: FloatArray) -> tuple[str, ...]:
    """Name those that may as well be of the other side."""
    named = [str(s) for s, each in zip(squares, odds.tolist(), strict=True) if abs(each) < HARDLY_TOLD]
    if not named:
        return ()
    which = ", ".join(named)
    return (
        f"the uniforms look alike, and {which} may be of the other side than told: name the position, or teach the uniforms",
    )


def _told_by(
    taught: Uniforms, squares: Sequence[Square], worn: Sequence[FloatImage]
) -> dict[Square, Side] | None:
    """Tell the sides by taught uniforms; ``None`` where they plainly are not those of these soldiers."""
    ratios, misfits = _against_taught(worn, taught)
    sides = _by_odds(squares, ratios.tolist())
    most = max(sum(of is side for of in sides.values()) for side in Side)
    strange = float(np.median(misfits)) > _ANOTHER_TABLE
    return None if strange or most > SOLDIERS_PER_SIDE + _MISTAKEN else sides


def _parted_too(
    others: Sequence[Square], sides: Mapping[Square, Side], parted: Mapping[Square, float]
) -> list[Square]:
    """Give those that are plainly of the other side by how all were parted too.

    One alone of its side on the other field has colours of its own, since the field's light mixes in; parting knows.
    """
    allied = {s: odds > 0 for s, odds in parted.items()}
    agree = sum(allied[s] is (side is Side.A) for s, side in sides.items()) / len(sides)
    if max(agree, 1 - agree) < _LEAST_AS_TOLD:
        return []
    return [
        s
        for s in others
        if (allied[s] is (sides[s] is Side.A)) is not (agree >= 0.5) and abs(parted[s]) > _PLAINLY_PARTED
    ]


def _by_odds(squares: Sequence[Square], allied: Sequence[float]) -> dict[Square, Side]:
    return {s: Side.A if odds > 0 else Side.G for s, odds in zip(squares, allied, strict=True)}


def _as_at_the_start(squares: Sequence[Square]) -> bool:
    """Whether soldiers stand as they are set up: nearly all on lines 1 to 3 of their fields."""
    at_home = sum(s.own_line(s.field) <= _START_LINES for s in squares)
    fields = {s.field for s in squares if s.own_line(s.field) <= _START_LINES}
    return len(squares) >= _FEWEST_AT_START and len(fields) == 2 and at_home >= _AT_START * len(squares)


def learn_looks(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: Sequence[tuple[float, float]],
) -> tuple[FloatArray, FloatArray]:
    """Describe soldiers for `vision.soldiers.parting` by what is seen of them within their rims.

    Parameters
    ----------
    flat, cover, raster, view, figure
        As for `tell_sides`.
    feet_mm
        Where they stand.

    Returns
    -------
    looks, shares
        Of each soldier numbers, shape (N, numbers), and how often each colour occurs on its upper body, shape (N, colours).
    """
    cores = []
    for foot_mm in feet_mm:
        box, inside = figure.hidden(figure.shadow_of_sight(view.camera_mm, *foot_mm), raster)
        clear = inside & (cover[box] >= 0)
        depth_px = cv2.distanceTransform(np.pad(inside, 1).astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
        core = clear & (depth_px * raster.mm_per_px > _RIM_MM)
        chosen = core if int(core.sum()) >= _FEWEST_IN_CORE else clear
        cores.append(flat[box][chosen if int(chosen.sum()) >= _FEWEST_PIXELS else inside])
    looks = np.array([looks_of(core) for core in cores])
    return looks, count_colours(_wear(flat, cover, raster, view, figure, feet_mm))


def learn_uniforms(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    soldiers: Mapping[tuple[float, float], Side],
) -> Uniforms | None:
    """Learn what the sides wear; ``None`` where a side is missing or they cannot be told apart.

    Parameters
    ----------
    flat, cover, raster, view, figure
        As for `tell_sides`.
    soldiers
        The side of each by its foot (x, y).
    """
    worn = dict(zip(soldiers, _wear(flat, cover, raster, view, figure, list(soldiers)), strict=True))
    shares = {}
    for side in Side:
        own = [_taught_shares(worn[foot]) for foot, of in soldiers.items() if of is side]
        if not own:
            return None
        shares[side] = np.mean(own, axis=0)
    uniforms = Uniforms(
        {
            side: {(int(i), int(j), int(k)): float(share[i, j, k]) for i, j, k in np.argwhere(share > RARE)}
            for side, share in shares.items()
        }
    )
    ratios, _ = _against_taught(list(worn.values()), uniforms)
    towards = ratios * np.array([1 if side is Side.A else -1 for side in soldiers.values()])
    return uniforms if float(np.median(towards)) >= _APART else None


def _taught_shares(pixels: FloatImage) -> FloatArray:
    """Shares of colours on one soldier, in steps that are the same for every picture."""
    shares = np.zeros(_TAUGHT_SHAPE)
    full = np.zeros((len(pixels), 3))
    full[:, : pixels.shape[1]] = pixels
    steps = np.floor(full / _TAUGHT_STEPS).astype(int) + _TAUGHT_ORIGIN
    np.add.at(shares, tuple(np.clip(steps, 1, np.array(_TAUGHT_SHAPE) - 2).T), 1.0 / len(pixels))
    for axis in range(3):
        shares = 0.5 * shares + 0.25 * (np.roll(shares, 1, axis) + np.roll(shares, -1, axis))
    return shares


def _against_taught(worn: Sequence[FloatImage], uniforms: Uniforms) -> tuple[FloatArray, FloatArray]:
    """Hold soldiers' colours against taught ones.

    Returns
    -------
    ratios, misfits
        Of each soldier the mean log-likelihood ratio, above 0 for the Allies, and how far the likelier side's falls short
        of what its own colours would reach.
    """
    known = []
    for side in (Side.A, Side.G):
        shares = np.full(_TAUGHT_SHAPE, RARE)
        for place, share in uniforms.shares[side].items():
            if all(0 <= at < size for at, size in zip(place, _TAUGHT_SHAPE, strict=True)):
                shares[place] += share
        known.append(np.log(shares))
    ratios, misfits = np.zeros(len(worn)), np.zeros(len(worn))
    for i, pixels in enumerate(worn):
        shares = _taught_shares(pixels)
        here = shares > 0
        own = shares[here]
        allied, german = (float(own @ side[here]) for side in known)
        ratios[i] = allied - german
        misfits[i] = float(own @ np.log(own)) - max(allied, german)
    return ratios, misfits


def _wear(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: Sequence[tuple[float, float]],
) -> list[FloatImage]:
    """See what is worn where somebody stands: the colours of the upper body that are plainly no board, each (N, colours).

    From a camera that stands low, or far aside, it may be seen beyond the raster; then the colours are those of the rest.
    """
    worn = []
    for foot_mm in feet_mm:
        for from_z_mm in (_UPPER_BODY * figure.height_mm, 0.0):
            box, inside = figure.hidden(figure.shadow_of_sight(view.camera_mm, *foot_mm, from_z_mm), raster)
            if int(inside.sum()) >= _FEWEST_PIXELS:
                break
        clear = inside & (cover[box] >= 0)
        shown = flat[box][clear if int(clear.sum()) >= _FEWEST_PIXELS else inside]
        worn.append(np.asarray(colours_of(shown[None])[0]))
    return worn


def _named(squares: Sequence[Square], expected: Mapping[Square, Side] | None) -> list[tuple[Square, Side]]:
    return [] if expected is None else [(s, expected[s]) for s in squares if s in expected]


def _ratios(counts: FloatArray, heap: NDArray[np.bool_]) -> FloatArray:
    """Mean log-likelihood ratio of each soldier's colours, above 0 for the heap; itself not counted in."""
    in_one, in_other = (log_shares_in(counts, one.astype(np.float64)) for one in (heap, ~heap))
    return np.asarray(in_one - in_other)
