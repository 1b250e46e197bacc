"""From the board seen in many pictures to the lens, with the error that pictures left out of the fit show.

More terms always fit the pictures better that they are fitted to. Whether they describe the lens, only pictures tell
that had no part in the fit: the pictures are parted into a few groups, each group is left out in turn, and its error is
taken under the lens found from the others, with nothing fitted to it but where the board was held. Of all models the
one with the fewest unknowns is taken whose error on pictures left out is as small as that of the best, within one
standard error of the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.lens.adjust import Adjusted, Bend, Lens, adjust, error_of
from vision.lens.coverage import Coverage, cover
from vision.lens.sighting import Flaw, Sighting, Unusable
from vision.lens.target import Target

__all__ = ["Calibrated", "Model", "NoLens", "PictureError", "Trial", "calibrate"]

FloatArray = NDArray[np.float64]

_FEWEST_PICTURES = 4
_GROUPS = 6
# A picture is a misfit where its error is so many times the typical one and more than this.
_MISFIT_TIMES = 3.0
_MISFIT_PX = 0.5
_MOST_MISFITS = 0.3  # of all pictures; with more, it is not the pictures that are wrong
_SAME_PLACE_PX = 1.5
# A standard error of the focal length above this share of it is no calibration: of good photographs the fewest give half
# as much, and boards that lean by 4 degrees or less twice as much and true errors of a tenth. A head 40 mm high, half a
# metre beside a camera that hangs a metre up, is misplaced by 0.2 mm for each hundredth.
_MOST_FOCAL_ERROR = 0.01
# Of boards that lean less than that in every picture, no picture is good enough; of good ones some lean by 11 degrees.
_LEAST_LEAN_RAD = np.radians(3.0)


@dataclass(frozen=True, slots=True)
class Model:
    """What is fitted besides where the board was held."""

    bend: Bend
    bent_board: bool
    """Whether the board's own corners are fitted too, as it is no perfect print on a perfect plane."""

    def __str__(self) -> str:
        terms = {
            Bend.RADIAL: "2 terms of distortion (k1, k2)",
            Bend.BROWN: "5 terms of distortion",
            Bend.RATIONAL: "6 terms of distortion (k4, k5 among them)",
        }[self.bend]
        return f"{terms}, the board {'as measured' if self.bent_board else 'as printed'}"


@dataclass(frozen=True, slots=True)
class Trial:
    """A model, tried."""

    model: Model
    fitted_px: float
    """Root of the mean squared distance of corners from where the fit puts them."""
    left_out_px: float
    """The same on pictures left out of the fit."""


@dataclass(frozen=True, slots=True)
class PictureError:
    """How well the lens fits one picture; each is the root of a mean squared distance, px."""

    name: str
    corners: int
    fitted_px: float
    left_out_px: float
    blur_px: float


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A lens, and what it stands on."""

    lens: Lens
    size_px: tuple[int, int]
    """Width and height of the pictures that it is the lens of."""
    target: Target
    model: Model
    """The one chosen."""
    trials: tuple[Trial, ...]
    """All that were tried."""
    pictures: tuple[PictureError, ...]
    unusable: Mapping[str, Unusable]
    """Pictures that were left out for good, by name, and why."""
    coverage: Coverage
    fit: Adjusted
    """Poses and residuals in the order of `pictures`."""
    sightings: tuple[Sighting, ...]
    """In the order of `pictures`."""

    @property
    def fitted_px(self) -> float:
        """Root of the mean squared distance over all corners, in the fit."""
        return self._chosen.fitted_px

    @property
    def left_out_px(self) -> float:
        """The same, each picture under a lens fitted without it."""
        return self._chosen.left_out_px

    @property
    def describes_corners(self) -> bool:
        """Whether the lens holds in the picture's very corners too, which the board may not have reached."""
        width, height = self.size_px
        return _describes(self.lens, np.array([(u, v) for u in (0, width - 1) for v in (0, height - 1)]))

    @property
    def _chosen(self) -> Trial:
        return next(trial for trial in self.trials if trial.model == self.model)


@dataclass(frozen=True, slots=True)
class NoLens:
    """The pictures do not make a calibration."""

    reason: str
    """One sentence for the person at the table."""
    unusable: Mapping[str, Unusable]


def calibrate(
    seen: Mapping[str, Sighting | Unusable], target: Target, size_px: tuple[int, int]
) -> Calibrated | NoLens:
    """Fit the lens to what pictures of a board show.

    Parameters
    ----------
    seen
        By the pictures' names.
    target
        The board.
    size_px
        Width and height of the pictures.
    """
    unusable = {name: each for name, each in seen.items() if isinstance(each, Unusable)}
    used = {name: each for name, each in seen.items() if isinstance(each, Sighting)}
    unusable |= _repeated(used)
    used = {name: each for name, each in used.items() if name not in unusable}
    most = int(_MOST_MISFITS * len(used))
    while True:
        if len(used) < _FEWEST_PICTURES:
            return NoLens(
                f"{len(used)} picture{'' if len(used) == 1 else 's'} can be used, and {_FEWEST_PICTURES} are needed at least; "
                "a dozen or more from different sides make a good calibration",
                unusable,
            )
        try:
            found = _choose(used, target, size_px, unusable)
        except ValueError as bad:
            return NoLens(
                f"{bad}: show the board tilted, from several sides, in every part of the picture", unusable
            )
        worst = max(found.pictures, key=lambda each: each.left_out_px)
        typical_px = float(np.median([each.left_out_px for each in found.pictures]))
        if worst.left_out_px <= max(_MISFIT_TIMES * typical_px, _MISFIT_PX):
            return _left_open(found) or found
        unusable[worst.name] = Unusable(
            Flaw.MISFIT,
            f"does not fit the others: its corners are off by {worst.left_out_px:.2f} px where "
            f"{typical_px:.2f} px is usual (the board bent, the camera shaken, or corners taken for others?)",
        )
        del used[worst.name]
        if sum(each.flaw is Flaw.MISFIT for each in unusable.values()) > most:
            return NoLens(
                "the pictures do not fit together: are they all of one board, taken with one camera, "
                "zoom and focus unchanged?",
                unusable,
            )


def _left_open(found: Calibrated) -> NoLens | None:
    """Refuse pictures that do not tell a near board before a short lens from a far one before a long lens."""
    named = zip(("fx", "fy"), found.lens.intrinsics_px, found.fit.sigma_px, strict=False)
    name, focal_px, sigma_px = max(named, key=lambda each: each[2] / each[1])
    lean_rad = float(np.abs(found.coverage.tilts_rad).max())
    if sigma_px > _MOST_FOCAL_ERROR * focal_px:
        why = (
            f"{name} {focal_px:.0f} px, standard error {sigma_px:.0f} px, expected "
            f"{_MOST_FOCAL_ERROR * focal_px:.0f} px at most"
        )
    elif lean_rad < _LEAST_LEAN_RAD:
        why = f"the board leans by {np.degrees(lean_rad):.1f} degrees at most"
    else:
        return None
    wanted = found.coverage.tilts_wanted or found.coverage.advice or ("hold it nearer",)
    return NoLens(
        f"the pictures leave the focal length open ({why}); show the board again: {'; '.join(wanted)}",
        found.unusable,
    )


def _choose(
    used: Mapping[str, Sighting], target: Target, size_px: tuple[int, int], unusable: Mapping[str, Unusable]
) -> Calibrated:
    """Try all models and take the simplest that is as good as the best."""
    sightings = tuple(used.values())
    whole = all(len(s.corners) >= len(target.corners_mm) // 2 for s in sightings)
    models = [
        Model(bend, bent_board)
        for bent_board in ((False, True) if whole else (False,))
        for bend in Bend
        if _determined(bend, sightings, bent_board=bent_board)
    ]
    fits = {}
    for model in models:
        fit = adjust(sightings, target, size_px, model.bend, bent_board=model.bent_board)
        if _describes(fit.lens, np.concatenate([s.pixels for s in sightings])):
            fits[model] = fit
    if not fits:
        raise ValueError("the pictures do not determine a lens")
    errors = {model: _left_out(sightings, target, size_px, model, fit) for model, fit in fits.items()}
    counts = np.array([len(s.corners) for s in sightings])
    best = min(errors, key=lambda model: float((errors[model] * counts).sum()))
    chosen = next(model for model in fits if _as_good(errors[model], errors[best], counts))
    fit = fits[chosen]
    fitted = np.array([float((r**2).sum(axis=1).mean()) for r in fit.residuals_px])
    pictures = tuple(
        PictureError(name, len(s.corners), float(np.sqrt(f)), float(np.sqrt(e)), s.blur_px)
        for (name, s), f, e in zip(used.items(), fitted, errors[chosen], strict=True)
    )
    trials = tuple(
        Trial(model, _root(each.residuals_px), float(np.sqrt((errors[model] * counts).sum() / counts.sum())))
        for model, each in fits.items()
    )
    return Calibrated(
        lens=fit.lens,
        size_px=size_px,
        target=target,
        model=chosen,
        trials=trials,
        pictures=pictures,
        unusable=dict(unusable),
        coverage=cover(sightings, fit.poses, size_px),
        fit=fit,
        sightings=sightings,
    )


def _determined(bend: Bend, sightings: Sequence[Sighting], *, bent_board: bool) -> bool:
    """Whether there are pictures enough for a model, with one group left out."""
    needed = {Bend.RADIAL: _FEWEST_PICTURES, Bend.BROWN: 6, Bend.RATIONAL: 9}[bend]
    return len(sightings) >= max(needed, 8 if bent_board else 0)


def _left_out(
    sightings: Sequence[Sighting],
    target: Target,
    size_px: tuple[int, int],
    model: Model,
    fit: Adjusted,
) -> FloatArray:
    """Mean squared error of each picture under a lens found without its group, shape (pictures,)."""
    group = np.arange(len(sightings)) % min(_GROUPS, len(sightings))
    errors = np.zeros(len(sightings))
    for out in range(int(group.max()) + 1):
        kept = np.flatnonzero(group != out).tolist()
        start = Adjusted(fit.lens, fit.board_mm, fit.poses[kept], (), fit.sigma_px)
        without = adjust(
            [sightings[k] for k in kept],
            target,
            size_px,
            model.bend,
            bent_board=model.bent_board,
            start=start,
        )
        for k in np.flatnonzero(group == out).tolist():
            off = error_of(sightings[k], without.lens, without.board_mm)
            errors[k] = float((off**2).sum(axis=1).mean())
    return errors


def _as_good(errors: FloatArray, best: FloatArray, counts: NDArray[np.int64]) -> bool:
    """Whether errors by picture are as small as the best ones, within one standard error of the difference."""
    more = (errors - best) * counts
    return bool(more.sum() <= more.std(ddof=1) * np.sqrt(len(more)))


def _reach(lens: Lens) -> float:
    """Return how far from the axis the lens is described, as a tangent in the picture.

    Farther out must be seen farther out; where the fitted terms turn back, a pixel has no one line of sight any more.
    """
    k1, k2, _, _, k3, *divisor = lens.distortion
    k4, k5, k6 = divisor or (0.0, 0.0, 0.0)
    r = np.linspace(0.0, 10.0, 4001)
    q = r * r
    with np.errstate(divide="ignore"):
        bent = r * (1 + q * (k1 + q * (k2 + q * k3))) / (1 + q * (k4 + q * (k5 + q * k6)))
    turns = np.flatnonzero(~(np.diff(bent) > 0))
    return float(bent[turns[0]] if len(turns) else bent[-1])


def _describes(lens: Lens, pixels: FloatArray) -> bool:
    """Whether the lens gives every one of these pixels a line of sight."""
    fx, fy, cx, cy = lens.intrinsics_px
    return bool(np.linalg.norm((pixels - (cx, cy)) / (fx, fy), axis=1).max() < _reach(lens))


def _repeated(used: Mapping[str, Sighting]) -> dict[str, Unusable]:
    """Find pictures in which the board is held as in an earlier one: they add nothing, and hide the true error."""
    found: dict[str, Unusable] = {}
    names = list(used)
    for k, name in enumerate(names):
        for earlier in names[:k]:
            if earlier not in found and _same_place(used[name], used[earlier]):
                found[name] = Unusable(Flaw.REPEATED, f"the board is held exactly as in {earlier}")
                break
    return found


def _same_place(one: Sighting, other: Sighting) -> bool:
    shared, at_one, at_other = np.intersect1d(one.corners, other.corners, return_indices=True)
    if len(shared) < min(len(one.corners), len(other.corners)) / 2:
        return False
    apart = np.linalg.norm(one.pixels[at_one] - other.pixels[at_other], axis=1)
    return bool(np.median(apart) < _SAME_PLACE_PX)


def _root(residuals: Sequence[FloatArray]) -> float:
    return float(np.sqrt(np.mean(np.concatenate([(r**2).sum(axis=1) for r in residuals]))))
