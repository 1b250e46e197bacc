# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How a group of shots is read
#
# Shoot twelve times at one point and the holes lie here and there. What can be said about the next shot? This notebook
# goes through the figures of `rig stats group`: what each says, how far it can be trusted after few shots, and where the
# methods part. All shots are drawn by a seed, so the truth is known.

# %%
import io
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Image, display
from scipy.stats import ncx2

import rig
from calibration.dispersion import (
    LEVELS,
    Circles,
    Method,
    RangeStatistic,
    Shots,
    describe,
    next_shot_probability,
    sigma_from_range,
)
from calibration.dispersion.circles import extreme_spread
from calibration.dispersion.correlated_normal import CircleProbability
from calibration.dispersion.rayleigh import sigma
from rig.stats.group_file import read_group
from rig.stats.group_plot import draw_group
from rig.stats.group_report import report_group

rng = np.random.default_rng(650)

# %% [markdown]
# ## One group
#
# Twelve shots, in millimetres beside the point of aim. The circles hold half, 90 % and 95 % of the shots if the next
# ones scatter as these did, all of them; the ellipse does so with the group's own shape. One shot lies so far out that it
# is called wild. It is counted nevertheless, since who leaves it out without a reason promises too much; without it sigma
# would be half as large.

# %%
# Found from the package, so that it does not matter in which folder the notebook is run.
project = Path(rig.__file__).parents[1]
report = report_group(read_group(project / "docs/examples/group.csv"))
picture = io.BytesIO()
draw_group(report).savefig(picture, dpi=80)
display(Image(picture.getvalue()))
spread = report.group.spread
print(
    f"sigma {spread.sigma.value:.1f} mm, 95 % between {spread.sigma.lowest:.1f} and {spread.sigma.highest:.1f} mm"
)

# %%
assert report.wild_lines == (13,)
assert spread.sigma.lowest < spread.sigma.value < spread.sigma.highest
without = describe(Shots.of(report.file.points[:-1])).spread
assert without.outliers == ()
print(
    f"without the wild shot: sigma {without.sigma.value:.1f} mm, extreme spread {without.extreme_spread:.0f} mm"
)
assert without.sigma.value < 0.6 * spread.sigma.value

# %% [markdown]
# ## How many shots?
#
# Sigma of the true spread is 7 mm below. Each bar holds the middle 95 % of what groups of so many shots make of it. Three
# shots say next to nothing; ten are good to about a third, and to halve that takes forty. The 95 % interval that is
# stated with sigma is right a little less often than that after very few shots; `calibration.dispersion.rayleigh` says why.

# %%
TRUE_SIGMA_MM = 7.0
COUNTS = (3, 5, 10, 20, 40)
estimates = {
    count: [sigma(Shots.of(points)) for points in rng.normal(0, TRUE_SIGMA_MM, (1000, count, 2))]
    for count in COUNTS
}
values = {count: np.array([each.value for each in found]) for count, found in estimates.items()}
covered = {
    count: np.mean([each.lowest <= TRUE_SIGMA_MM <= each.highest for each in found])
    for count, found in estimates.items()
}

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
places = range(len(COUNTS))
lowest, highest = np.array([np.percentile(values[count], [2.5, 97.5]) for count in COUNTS]).T
axes.vlines(places, lowest, highest, linewidth=6, alpha=0.4, label="middle 95 % of 1,000 groups")
axes.plot(places, [values[count].mean() for count in COUNTS], "o", label="their mean")
axes.axhline(TRUE_SIGMA_MM, color="grey", linewidth=1, label="the true sigma")
axes.set_xticks(places, [str(count) for count in COUNTS])
axes.set(
    title="Sigma as told by groups of 3 to 40 shots",
    xlabel="shots in the group",
    ylabel="sigma (mm)",
    ylim=(0, 15),
)
axes.legend()
plt.show()
for count in COUNTS:
    print(
        f"{count:2d} shots: mean {values[count].mean():.2f} mm, interval right in {covered[count]:.1%} of groups"
    )

# %%
for count in COUNTS:
    # Within four standard errors: the mean of 1,000 groups, and the share of intervals that are right, which for 3
    # shots is 93.7 % in truth.
    assert abs(values[count].mean() - TRUE_SIGMA_MM) < 4 * values[count].std() / math.sqrt(1000)
    assert abs(covered[count] - 0.95) < 0.013 + 4 * math.sqrt(0.95 * 0.05 / 1000)
assert lowest[2] / TRUE_SIGMA_MM > 0.6
assert highest[2] / TRUE_SIGMA_MM < 1.4
assert (highest[4] - lowest[4]) < 0.6 * (highest[2] - lowest[2])

# %% [markdown]
# ## The ruler
#
# The extreme spread, the widest pair, is quickly measured, and it throws away what all other shots say. The table turns it
# into sigma just as well on average, but twenty shots tell no more this way than about twelve do by coordinates.
# Efficiency is the variance of sigma by coordinates over that by the ruler, in the same 4,000 groups; the bars' whiskers
# are the 95 % interval of drawing these groups anew.

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
efficiency, whiskers = {}, {}
for count in (5, 10, 20):
    groups = rng.normal(0, TRUE_SIGMA_MM, (4000, count, 2))
    by_ruler = np.array(
        [
            sigma_from_range(RangeStatistic.EXTREME_SPREAD, extreme_spread(points), count).value
            for points in groups
        ]
    )
    by_coordinates = np.array([sigma(Shots.of(points)).value for points in groups])
    efficiency[count] = by_coordinates.var() / by_ruler.var()
    anew = rng.integers(len(groups), size=(500, len(groups)))
    whiskers[count] = np.percentile(
        by_coordinates[anew].var(axis=1) / by_ruler[anew].var(axis=1), [2.5, 97.5]
    )
    print(
        f"{count:2d} shots: {efficiency[count]:.0%} of what they know ({whiskers[count][0]:.0%} to "
        f"{whiskers[count][1]:.0%}), as much as {1 + efficiency[count] * (count - 1):.1f} by coordinates; "
        f"mean {by_ruler.mean():.2f} mm"
    )
    assert abs(by_ruler.mean() - TRUE_SIGMA_MM) < 4 * by_ruler.std() / math.sqrt(len(groups))
shares = np.array(list(efficiency.values()))
axes.bar(
    [str(count) for count in efficiency],
    100 * shares,
    yerr=100 * np.abs(np.array(list(whiskers.values())).T - shares),
    width=0.5,
    capsize=4,
)
axes.set(
    title="What the extreme spread keeps of what the shots know",
    xlabel="shots in the group",
    ylabel="efficiency (%)",
    ylim=(0, 100),
)
plt.show()

# %%
assert whiskers[5][1] < 1.0
assert whiskers[20][1] < whiskers[10][0]
assert whiskers[10][1] < whiskers[5][0]
assert 11 < 1 + efficiency[20] * 19 < 12.5

# %% [markdown]
# ## Round or long
#
# Spring and elevation scatter a shot more along its way than across. For such a group Rayleigh's circle, which takes
# it as round, is too large for half of the shots and too small for most of them. The correlated normal is right, and
# the variants by Grubbs come near it without an integral. In the figure the truth is known exactly, so that no chance is
# left; below it 20,000 shots three times as long as wide are counted.

# %%
ratios = np.linspace(1, 6, 26)
exact = {level: [] for level in LEVELS}
round_ = {level: [] for level in LEVELS}
for ratio in ratios:
    covariance = np.diag([ratio**2, 1.0])
    truth = CircleProbability.of(np.zeros(2), covariance)
    for level in LEVELS:
        exact[level].append(truth.radius_holding(level))
        round_[level].append(math.sqrt((ratio**2 + 1) / 2) * math.sqrt(-2 * math.log(1 - level)))

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for level in LEVELS:
    axes.plot(
        ratios, 100 * (np.array(round_[level]) / exact[level] - 1), label=f"{100 * level:g} % of the shots"
    )
axes.axhline(0, color="grey", linewidth=1)
axes.set(
    title="Error of Rayleigh's radius where the group is long",
    xlabel="length over width",
    ylabel="error of the radius (%)",
    xlim=(1, 6),
)
axes.legend()
plt.show()

# %%
assert np.allclose([round_[level][0] for level in LEVELS], [exact[level][0] for level in LEVELS])
assert round_[0.5][-1] > 1.15 * exact[0.5][-1]
assert round_[0.95][-1] < 0.95 * exact[0.95][-1]

many = Shots.of(rng.multivariate_normal([0, 0], [[9, 0], [0, 1]], size=20_000))
circles = Circles.about_centre(many)
for method in Method:
    shares = [np.mean(many.radii <= circles.radius(method, level)) for level in LEVELS]
    print(f"{method:<18}", *(f"{share:6.1%}" for share in shares))
    # Three standard errors of a half, and for Grubbs one per cent more.
    if method is not Method.RAYLEIGH:
        assert np.allclose(shares, LEVELS, atol=0.011 if method is Method.CORRELATED_NORMAL else 0.021)

# %% [markdown]
# ## The next shot
#
# How sure is the next shot of a circle about the group's centre? Sigma alone promises too much after few shots: sigma may
# be larger, and the centre lies elsewhere. `next shot` in the report counts in what few shots leave open.
#
# Left, a circle in proportion to the group: the one that holds half of the shots by sigma alone. There `next shot` comes
# true as often as it says. Right, a disc of one size, a soldier's torso of about 12 mm, with sigma 7 mm in truth. Of so small
# a disc either says too much after few shots, `next shot` less so; from ten shots on it is right to 2 points. For a
# group's centre and radius the true chance is known (a non-central chi-square), so no next shot is drawn. The bars are the 95 %
# interval of a mean over groups.

# %%
RADIUS_MM = 6.0
GROUPS = 1000
COUNTS = (3, 4, 6, 10, 20, 40)


def true_chances(off_mm: np.ndarray, radii_mm: np.ndarray) -> np.ndarray:
    """Chances that a shot about the true centre lies within a radius of a group's centre, which is so far off."""
    return ncx2.cdf((radii_mm / TRUE_SIGMA_MM) ** 2, 2, (off_mm / TRUE_SIGMA_MM) ** 2)


def of_half(group: Shots, circles: Circles) -> float:
    return circles.radius(Method.RAYLEIGH, 0.5)


def of_torso(group: Shots, circles: Circles) -> float:
    return RADIUS_MM


def chances(count: int, radius_mm) -> np.ndarray:
    """Of each group: what next shot tells, what sigma alone does, and the truth, in %; shape (groups, 3)."""
    told = []
    for points in rng.normal(0, TRUE_SIGMA_MM, (GROUPS, count, 2)):
        group = Shots.of(points)
        circles = Circles.about_centre(group)
        radius = radius_mm(group, circles)
        told.append(
            (
                next_shot_probability(group, radius),
                circles.probability(Method.RAYLEIGH, radius),
                math.hypot(*group.centre),
                radius,
            )
        )
    by_next_shot, by_sigma, off_mm, radii_mm = np.array(told).T
    return 100 * np.column_stack([by_next_shot, by_sigma, true_chances(off_mm, radii_mm)])


figure, both = plt.subplots(1, 2, figsize=(9, 4), sharex=True, layout="constrained")
means = {}
for axes, radius_mm, title in (
    (both[0], of_half, "Half of the shots, by sigma alone"),
    (both[1], of_torso, "A disc of 12 mm"),
):
    found = np.array([chances(count, radius_mm) for count in COUNTS])
    means[radius_mm], errors = found.mean(axis=1), found.std(axis=1) / math.sqrt(GROUPS)
    for k, (label, style) in enumerate((("next shot", "o"), ("sigma alone", "s"), ("truth", "k_"))):
        axes.errorbar(
            range(len(COUNTS)), means[radius_mm][:, k], 1.96 * errors[:, k], fmt=style, capsize=3, label=label
        )
    axes.set(title=title, xlabel="shots in the group", ylim=(0, 60))
    axes.set_xticks(range(len(COUNTS)), [str(count) for count in COUNTS])
    if radius_mm is of_half:
        apart = found[:, :, 0] - found[:, :, 2]
        # It is as often right as it says, within four standard errors.
        assert np.all(np.abs(apart.mean(axis=1)) < 4 * apart.std(axis=1) / math.sqrt(GROUPS))
both[0].set(ylabel="chance of the next shot (%)")
both[1].legend(loc="lower right")
plt.show()
for count, (told, alone, truth) in zip(COUNTS, means[of_torso], strict=True):
    print(
        f"{count:2d} shots, disc of 12 mm: next shot {told:.1f} %, sigma alone {alone:.1f} %, truth {truth:.1f} %"
    )

# %%
told, alone, truth = means[of_torso].T
assert np.all(truth < told)
assert np.all(told < alone)
assert np.all(told[3:] - truth[3:] < 2)
# The group's centre is off by sigma over the root of n: the mean of the truth has a closed form.
exact = [100 * (1 - math.exp(-((RADIUS_MM / TRUE_SIGMA_MM) ** 2) / (2 + 2 / count))) for count in COUNTS]
assert np.allclose(truth, exact, atol=1.0)
