"""Which of two sides each soldier is of, where nothing but the picture tells.

A soldier's looks are a few numbers: how bright its darker and its brighter parts are, and of what colour. Three things make
them differ, and how much each does is learnt from many tables of the twin (`python -m benchmarks._train_sides`): the
soldiers of one side differ among themselves; those of one side look otherwise on the other field, whose colour and
light mix in at the rim; and the sides differ. On a table all three are found together, by expectation and
maximisation: the sides' looks, what the field adds, how much the soldiers of each side vary, and who is of which side.
Whether there is but one side is asked as well.
What colours the soldiers of a side wear together says more than these numbers do of how to part them, and of each soldier; so
the parting that explains both best is taken, each is held against the colours of both sides, and the sides are settled once
more by all of it.
Far from the middle of the board a soldier is likelier of the side whose base is near, and one that looks towards a base of
the other side; where uniforms are alike, that decides. Of several beginnings the one that explains the table best is taken.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from game.montecassino import SOLDIERS_PER_SIDE
from vision.soldiers.heaps import by_field, log_shares_in, odds_by_ratio

__all__ = ["HARDLY_TOLD", "Spreads", "looks_of", "part", "trained"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

HARDLY_TOLD = 4.0
"""Log-odds below which a soldier may as well be of the other side."""
# Of 836 tables of three renderers that do not stand as at the start 75 have soldiers taken for the other side's; 70 of these
# name somebody, and 81 of the others.
_DARK = 8.0  # grey levels that are added before logarithms are taken: below them noise tells more than light
_RANKS = np.array([0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95])
_COLOUR_RANKS = np.array([0.2, 0.8])
_MIDDLE = np.array([0.5])
_GREY = (0.114, 0.587, 0.299)
# Log-odds that a line nearer to its base adds. Soldiers of the twin stand more mixed (0.55) than in a game, where fronts
# meet (1.0 in the recordings at hand). Of 19,133 on 564 tables 141 are taken for the other side's, with 0.8 145, with 1.25 146.
_HOME_ODDS = 1.0
# Soldiers mostly look towards the enemy, but nothing makes a player set them so: it counts no more than four lines or so. Of
# 32,886 soldiers 219 are taken for the other side's without it, 129 with it.
_MOST_FACING = 3.0
# Numbers that describe one soldier go together more than the axes say: what they tell counts by so much.
_INDEPENDENT = 0.5
_FREEDOM = 10.0  # of Student's t: some soldiers look like nobody else
_USUAL_WEIGHT = 10.0  # soldiers' worth of what is known of how they vary, against what this table says
# Beside the one by where they stand: splits of all, and of those of each field by what is left when its mean is taken off,
# for a table on which nearly all stand on their own field looks as if fields made the difference.
_BEGINNINGS = 2
_ROUNDS = 20
_STEADY = 1e-2
_FAST = 0.8  # of a step
_SURE = 50.0  # log-odds
_FEWEST = 0.5  # of a side's soldiers
# How much it counts, beside the looks, how well the colours of a side's soldiers fit one another. Of 15,318 soldiers on 500
# tables 222 are taken for the other side's with 0, 197 with 4 to 12; by looks alone, without `_told_by_colours` too, 234, and
# that on 76 tables instead of 57. What goes with the field is in it as well: so it counts as little as will do.
_COLOURS_WEIGHT = 5.0
# By how much looks and places are surer than they should be: of those parted by log-odds between 4 and 10 one in 12 was of the
# other side. Which way one looks is not: of 20,600 soldiers on 646 tables 140 were taken for the other side's with as much less
# of that, 121 are with all of it.
_TOO_SURE = 0.3
# Mean and spread of the log-likelihood ratio of soldiers' colours, of the first side and of the other.
_ONE_SIDE, _OTHER_SIDE = (0.8, 0.7), (-0.8, 0.7)
_COLOUR_ROUNDS = 4
# Colours tell the sides of figures that the twin does not have better than looks do, which are learnt from its own. Of 1,726 of
# such on 41 tables 25 are taken for the other side's where they count half as much and the sides are not settled once more by
# them, and nothing is taken off for fields, 9 as it is; of 12,500 of the twin's 101 and 99.
_COLOURS_TELL = 2.0
_MOST_OWN = 0.8  # of its side's mean that one soldier can be left out of


@dataclass(frozen=True, slots=True, eq=False)
class Spreads:
    """How looks vary on the twin's tables."""

    axes: FloatArray
    """Shape (numbers, axes): looks times these are independent, and vary by 1 among the soldiers of a side on a field."""
    fields: FloatArray
    """By axis, variance of what the one field adds to the other, shape (axes,)."""
    sides: FloatArray
    """By axis, variance of the difference of two sides, shape (axes,)."""


def looks_of(pixels: FloatImage) -> FloatArray:
    """Describe a soldier by its pixels.

    Parameters
    ----------
    pixels
        Shape (N, colours), blue first, or (N, 1) of a grey picture.

    Returns
    -------
    Logarithms of how bright it is, and of red and of blue against green.
    """
    pixels = np.broadcast_to(pixels, (len(pixels), 3))
    light = np.log(pixels @ np.array(_GREY, dtype=np.float32) + _DARK)
    thirds = np.array_split(np.argsort(light), 3)
    blue, green, red = np.log(pixels.T + _DARK)
    hues = np.stack([red - green, blue - green])
    by_third = np.stack([_at_ranks(hues[:, third], _MIDDLE) for third in thirds], axis=1)
    return np.concatenate(
        [
            _at_ranks(light, _RANKS),
            [light.mean()],
            by_third.ravel(),
            _at_ranks(hues, _MIDDLE).ravel(),
            _at_ranks(hues, _COLOUR_RANKS).ravel(),
        ]
    ).astype(np.float64)


def _at_ranks(values: FloatImage, ranks: FloatArray) -> FloatArray:
    """Give quantiles along the last axis, between two values in proportion; several times as fast as numpy's own."""
    ordered = np.sort(values, axis=-1)
    place = ranks * (values.shape[-1] - 1)
    low = place.astype(np.intp)
    below, above = ordered[..., low], ordered[..., np.minimum(low + 1, values.shape[-1] - 1)]
    return np.asarray(below + (above - below) * (place - low), dtype=np.float64)


@cache
def trained() -> Spreads:
    """Load what was learnt."""
    kept = json.loads(files("vision.soldiers").joinpath("parting.json").read_text("utf-8"))
    return Spreads(np.array(kept["axes"]), np.array(kept["fields"]), np.array(kept["sides"]))


def part(
    looks: FloatArray,
    shares: FloatArray,
    spreads: Spreads,
    forward: FloatArray,
    facing: FloatArray,
    on_first: NDArray[np.bool_],
) -> FloatArray:
    """Part soldiers into two sides: log-odds that each is of the first one, shape (N,).

    Parameters
    ----------
    looks
        As `looks_of` gives them, shape (N, numbers).
    shares
        How often each colour occurs on each, as `count_colours` gives them: shape (N, colours).
    spreads
        How looks vary.
    forward
        How many lines each stands nearer to the first side's base than the middle of the board, shape (N,).
    facing
        Log-odds that each looks towards the other side's base, shape (N,).
    on_first
        Who stands on the first side's field, shape (N,).
    """
    seen = looks @ spreads.axes
    seen = seen - np.median(seen, axis=0)
    looking = np.clip(facing, -_MOST_FACING, _MOST_FACING)
    home = _HOME_ODDS * forward + looking
    field = np.where(on_first, 0.5, -0.5)
    found = [
        settled
        for start in _beginnings(seen, spreads, home, field)
        if (settled := _settle(seen, spreads, home, field, start)) is not None
    ]
    found += [_alone(seen, spreads, home, first) for first in (True, False)]
    found = [(explained + _COLOURS_WEIGHT * _worn_alike(shares, odds), odds) for explained, odds in found]
    odds = max(found, key=lambda each: each[0])[1]
    by_rest = _TOO_SURE * (odds - looking) + looking
    worn = _told_by_colours(by_rest, shares, field)
    if np.ptp(odds) > 0:  # not one side alone
        # With colours it is better known whose looks are which side's; they weigh as what they are, looks as if too sure.
        again = _settle(seen, spreads, home + worn / _TOO_SURE, field, _chance(by_rest + worn))
        if again is not None:
            by_rest = _TOO_SURE * (again[1] - looking) + looking - worn
            worn = _told_by_colours(by_rest, shares, field)
    return _no_more_than_there_are(by_rest + worn)


def _no_more_than_there_are(log_odds: FloatArray) -> FloatArray:
    """Shift log-odds together so that neither side has more soldiers than the game gives it: those least surely its own are not.

    Of 745 tables nine had a side with too many, and 34 soldiers taken for the other side's; of these 19 are left.
    """
    for way in (1.0, -1.0):
        surest = -np.sort(-way * log_odds)
        if len(surest) > SOLDIERS_PER_SIDE and surest[SOLDIERS_PER_SIDE] > 0:
            last, next_one = surest[SOLDIERS_PER_SIDE - 1 : SOLDIERS_PER_SIDE + 1]
            return np.asarray(log_odds - way * (last + next_one) / 2)
    return log_odds


def _worn_alike(shares: FloatArray, log_odds: FloatArray) -> float:
    """How well the soldiers' colours fit the others of the sides that they are parted into."""
    first = _chance(log_odds)
    fits = (part_of @ log_shares_in(shares, part_of) for part_of in (first, 1 - first))
    return float(sum(fits))


def _told_by_colours(log_odds: FloatArray, shares: FloatArray, field: FloatArray) -> FloatArray:
    """Log-odds that soldiers' colours add to those that are known, as the colours of the sides are learnt from both together.

    Most of a side stand on their own field, whose colour shows on all who stand there; so what goes with the field is taken off.
    """
    told = np.zeros(len(log_odds))
    for _ in range(_COLOUR_ROUNDS):
        first = _chance(log_odds + told)
        ratio = log_shares_in(shares, first) - log_shares_in(shares, 1 - first)
        ratio -= by_field(ratio, first, field)
        told = _COLOURS_TELL * odds_by_ratio(ratio, first, _ONE_SIDE, _OTHER_SIDE)
    return told


def _chance(log_odds: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -_SURE, _SURE))))


def _beginnings(seen: FloatArray, spreads: Spreads, home: FloatArray, field: FloatArray) -> list[FloatArray]:
    """Give what part of each soldier is of the first side: by where they stand, then split along the axes of most spread."""
    starts = [1 / (1 + np.exp(-home))]
    if len(seen) < 2:
        return starts
    within = seen.copy()
    for own in (field > 0, field < 0):
        within[own] -= within[own].mean(axis=0) if own.any() else 0.0
    scaled = (seen - seen.mean(axis=0)) / np.sqrt(1 + spreads.fields / 2)
    for centred in (scaled, within):
        ways = np.linalg.svd(centred, full_matrices=False)[2][:_BEGINNINGS]
        for first in (_upper_part(centred @ way) for way in ways):
            starts.append((first if home[first].sum() > home[~first].sum() else ~first).astype(np.float64))
    return starts


def _upper_part(along: FloatArray) -> NDArray[np.bool_]:
    """Split numbers in two so that the parts' means are as far apart as can be, by their sizes (Otsu's threshold)."""
    ordered = np.sort(along)
    sums, lower = np.cumsum(ordered)[:-1], np.arange(1, len(along))
    between = sums**2 / lower + (ordered.sum() - sums) ** 2 / (len(along) - lower)
    return np.asarray(along > ordered[int(np.argmax(between))])


def _settle(
    seen: FloatArray, spreads: Spreads, home: FloatArray, field: FloatArray, start: FloatArray
) -> tuple[float, FloatArray] | None:
    """Find the sides from a beginning: how well they explain the table, and log-odds; None where one has nobody.

    On each axis a soldier's looks are the table's mean, half the sides' difference one way or the other, and half of
    what the field adds.
    """
    count, axes = seen.shape
    terms = [np.column_stack([np.ones(count), np.full(count, way), field]) for way in (0.5, -0.5)]
    known = np.zeros((axes, 3, 3))
    known[:, 0, 0] = 1e-4  # nothing is known of the mean
    known[:, 1, 1], known[:, 2, 2] = 1 / spreads.sides, 1 / spreads.fields
    share = np.clip(start, 0.02, 0.98)
    variances = [np.ones(axes), np.ones(axes)]
    trust = [np.ones(count), np.ones(count)]
    for turn in range(_ROUNDS):
        shares = [share, 1 - share]
        if min(float(each.sum()) for each in shares) < _FEWEST:
            return None
        weights = [of * by for of, by in zip(shares, trust, strict=True)]
        normal, right = known.copy(), np.zeros((axes, 3))
        for term, weight, variance in zip(terms, weights, variances, strict=True):
            weighed = (term * weight[:, None]).T
            normal += (weighed @ term) / variance[:, None, None]
            right += (weighed @ seen / variance).T
        fit = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
        likely = []
        for k, (term, weight, of) in enumerate(zip(terms, weights, shares, strict=True)):
            off2 = (seen - term @ fit.T) ** 2
            variances[k] = (_USUAL_WEIGHT + weight @ off2) / (_USUAL_WEIGHT + max(float(of.sum()) - 1, 0.0))
            # Each pulls its side's mean towards itself; left out, it is farther off.
            own = 1 / (1 - np.minimum(weight / weight.sum(), _MOST_OWN))
            far = (off2 / variances[k]).sum(axis=1) * own
            likely.append(
                -0.5 * (_FREEDOM + axes) * np.log1p(far / _FREEDOM) - 0.5 * np.log(variances[k]).sum()
            )
            trust[k] = (_FREEDOM + axes) / (_FREEDOM + far)
        odds = _INDEPENDENT * (likely[0] - likely[1]) + home
        told = _chance(odds)
        if turn > 3 and float(np.abs(told - share).max()) < _STEADY:
            break
        share = share + _FAST * (told - share)
    explained = np.logaddexp(
        _INDEPENDENT * likely[0] - np.log1p(np.exp(-home)), _INDEPENDENT * likely[1] - np.log1p(np.exp(home))
    ).sum()
    unlikely = (fit[:, 1] ** 2 / spreads.sides + fit[:, 2] ** 2 / spreads.fields).sum()
    unlikely += sum(_USUAL_WEIGHT * (np.log(v) + 1 / v).sum() for v in variances)
    return float(explained - 0.5 * _INDEPENDENT * unlikely), odds


def _alone(seen: FloatArray, spreads: Spreads, home: FloatArray, first: bool) -> tuple[float, FloatArray]:
    """Say how well one side alone explains the table, and give log-odds that all are of it.

    It is simpler than two: what two could be adds to its worth as their evidence takes it away (Laplace's method).
    """
    count, axes = seen.shape
    trust = np.ones(count)
    for _ in range(_ROUNDS // 2):
        off2 = (seen - trust @ seen / trust.sum()) ** 2
        variance = (_USUAL_WEIGHT + trust @ off2) / (_USUAL_WEIGHT + count - 1)
        far = (off2 / variance).sum(axis=1) / (1 - 1 / max(count, 2))
        trust = (_FREEDOM + axes) / (_FREEDOM + far)
    likely = -0.5 * (_FREEDOM + axes) * np.log1p(far / _FREEDOM) - 0.5 * np.log(variance).sum()
    sign = 1.0 if first else -1.0
    explained = float((_INDEPENDENT * likely - np.log1p(np.exp(-sign * home))).sum())
    unlikely = _USUAL_WEIGHT * ((np.log(variance) + 1 / variance).sum() + axes)
    simpler = 0.5 * np.log1p(count / 4 * spreads.sides).sum()
    return explained + _INDEPENDENT * (simpler - 0.5 * unlikely), np.full(count, sign * _SURE)
