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
from rig.group_file import read_group
from rig.group_plot import draw_group
from rig.group_report import report_group

rng = np.random.default_rng(650)

# %% [markdown]
# ## One group
#
# Twelve shots, in millimetres beside the point of aim. The circles hold half, 90 % and 95 % of the shots if the next
# ones scatter as these did; the ellipse does so with the group's own shape. One shot lies so far out that it is called
# wild.

# %%
report = report_group(read_group(Path("docs/examples/group.csv")))
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
# shots say next to nothing; ten are good to about a third, and to halve that takes forty.

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
    title="Sigma as groups of some shots tell it",
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
    # The mean of 1,000 groups, and the share of intervals that are right, within four standard errors.
    assert abs(values[count].mean() - TRUE_SIGMA_MM) < 4 * values[count].std() / math.sqrt(1000)
    assert abs(covered[count] - 0.95) < 0.01 + 4 * math.sqrt(0.05 / 1000)
assert highest[2] / TRUE_SIGMA_MM < 1.4
assert (highest[4] - lowest[4]) < 0.6 * (highest[2] - lowest[2])

# %% [markdown]
# ## The ruler
#
# The extreme spread, the widest pair, is quickly measured, and it throws away what all other shots say. The table turns it
# into sigma just as well on average, but twenty shots tell no more this way than eleven or twelve do by coordinates.

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
efficiency = {}
for count in (5, 10, 20):
    groups = rng.normal(0, TRUE_SIGMA_MM, (1000, count, 2))
    by_ruler = np.array(
        [
            sigma_from_range(RangeStatistic.EXTREME_SPREAD, extreme_spread(points), count).value
            for points in groups
        ]
    )
    by_coordinates = np.array([sigma(Shots.of(points)).value for points in groups])
    efficiency[count] = by_coordinates.var() / by_ruler.var()
    print(f"{count:2d} shots: {efficiency[count]:.0%} of what they know; mean {by_ruler.mean():.2f} mm")
    assert abs(by_ruler.mean() - TRUE_SIGMA_MM) < 4 * by_ruler.std() / math.sqrt(1000)
axes.bar([str(count) for count in efficiency], [100 * share for share in efficiency.values()], width=0.5)
axes.set(
    title="What the extreme spread keeps of what the shots know",
    xlabel="shots in the group",
    ylabel="efficiency (%)",
    ylim=(0, 100),
)
plt.show()

# %%
assert 0.7 < efficiency[5] < 1.0
assert efficiency[20] < efficiency[5]

# %% [markdown]
# ## Round or long
#
# Spring and elevation scatter a shot more along its way than across. For such a group Rayleigh's circle, which takes
# it as round, is too large for half of the shots and too small for most of them. The correlated normal is right, and
# the variants by Grubbs come near it without an integral. Below the truth is known exactly, so that no chance is left.

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
    if method is Method.CORRELATED_NORMAL:
        assert np.allclose(shares, LEVELS, atol=0.012)

# %% [markdown]
# ## The next shot
#
# A soldier's torso is about 12 mm wide. With sigma 7 mm in truth, how sure is the next shot of a disc of that size, as
# far as a group can tell? Sigma alone promises too much after few shots; counting in what they leave open is what
# `next shot` in the report does.

# %%
RADIUS_MM = 6.0
true_chance = 1 - math.exp(-((RADIUS_MM / TRUE_SIGMA_MM) ** 2) / 2)
for count in (4, 12, 40):
    groups = [Shots.of(points) for points in rng.normal(0, TRUE_SIGMA_MM, (800, count, 2))]
    told = np.mean([next_shot_probability(group, RADIUS_MM) for group in groups])
    alone = np.mean([Circles.about_centre(group).probability(Method.RAYLEIGH, RADIUS_MM) for group in groups])
    hits = np.mean(
        [
            math.dist(shot, group.centre) <= RADIUS_MM
            for group, shot in zip(groups, rng.normal(0, TRUE_SIGMA_MM, (800, 2)), strict=True)
        ]
    )
    print(f"after {count:2d} shots: told {told:.1%}, by sigma alone {alone:.1%}, hit {hits:.1%}")
    # Four standard errors of the hits.
    assert abs(told - hits) < 4 * math.sqrt(true_chance / 800)
    assert told < alone
