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
# # How aim is chosen
#
# `rig aim best` ranks aims by what they are worth under the rules. This notebook goes the same way step by step: from
# the scatter of a shot to the chance that it touches somebody, from there to who falls, and from there to who leaves.
# At each step the twin says whether it is right. Its physics shares no code with the prediction of flight and touches, so
# there it is a judge from outside. Who falls was counted on the twin itself; there it can only say whether the parts are put
# together rightly.

# %%
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from scipy import stats

import rig
from calibration.aim import Aim, body_point_m, solve
from calibration.clearance import clearances
from calibration.figure import Figure
from calibration.flight import Projectile
from calibration.precision import precision_at
from calibration.scatter import Scatter
from calibration.strikes import TouchBins, first_touches
from game.montecassino import Fall, Option, Position, Side, Square, judge, parse_squares
from rig.aim.board_plots import draw_aim_map
from rig.aim.by_rules import AimChooser
from rig.aim.fall_table import fall_table, fall_table_origin
from rig.aim.pointing import cannon_of
from rig.settings import Settings
from twin.physics import ShotSettings
from twin.table import Table, TableSettings

settings = Settings()
square_mm, height_m = settings.board.square_mm, settings.board.soldier_height_mm / 1000
figure_of_a_soldier = Figure(height_m)
shot = ShotSettings()
# The twin's cannon as a calibration knows it: its speed, and the drag of its shot.
cannon = replace(
    cannon_of(Side.A, settings.cannon, settings.board),
    drag_per_m=Projectile(shot.diameter_mm / 1000, shot.mass_g / 1000, shot.drag_coefficient).drag_per_m(
        shot.air_density_kgpm3
    ),
)


def aim_at(square: str, above_m: float = 0.0) -> Aim:
    x_mm, y_mm = Square.parse(square).centre_mm(square_mm)
    x_m, y_m, z_m = body_point_m(x_mm / 1000, y_mm / 1000, height_m)
    found = solve(cannon, (x_m, y_m, z_m + above_m))
    assert isinstance(found, Aim)
    return found


# %% [markdown]
# ## A soldier, as the shot sees it
#
# A stack of cylinders; the shot touches it where its centre passes nearer to the axis than the solid line. The points are
# single shots of the twin at figures with legs, arms and a rifle: black ones touched somebody.

# %%
rng = np.random.default_rng(1)
target = Square.parse("G-36")
foot_mm = target.centre_mm(square_mm)
passes_mm, touched = [], []
for number in range(100):
    beside_mm, height_mm = rng.uniform(-14, 14), rng.uniform(5, 47)
    found = solve(cannon, ((foot_mm[0] + beside_mm) / 1000, foot_mm[1] / 1000, height_mm / 1000))
    assert isinstance(found, Aim)
    table = Table(TableSettings(placement_sd_mm=0.0), {target: Side.G}, seed=number)
    x_m, y_m, z_m = found.muzzle_m
    table.launch(
        (1000 * x_m, 1000 * y_m, 1000 * z_m),
        found.azimuth_rad,
        found.elevation_rad,
        cannon.muzzle_speed_mps,
        0,
    )
    table.advance(90_000)
    table.stop()
    contacts = table.truth().contacts
    passes_mm.append((beside_mm, height_mm))
    touched.append(bool(contacts) and contacts[0][1] == str(target))
passes_mm, touched = np.array(passes_mm), np.array(touched)

heights_m = np.linspace(0.003, figure_of_a_soldier.top_m, 200)
widths_mm = 1000 * figure_of_a_soldier.half_width_m(heights_m)
plot, axes = plt.subplots(figsize=(4.6, 5.2), layout="constrained")
for sign, label in ((-1, None), (1, "predicted edge")):
    axes.plot(sign * widths_mm, 1000 * heights_m, color="#1b4f8f", label=label)
axes.plot(*passes_mm[touched].T, "o", color="black", markersize=4, label="touched the soldier")
axes.plot(*passes_mm[~touched].T, "o", color="#b9b2a5", markersize=4, label="passed by")
axes.set(
    title="Where a shot touches a soldier",
    xlabel="shot beside the axis (mm)",
    ylabel="height of the shot's centre (mm)",
    aspect="equal",
    xlim=(-16, 16),
    ylim=(0, 50),
)
plot.legend(loc="outside lower center", ncols=3, fontsize="small")
plt.show()

# %%
expected = np.abs(passes_mm[:, 0]) < 1000 * figure_of_a_soldier.half_width_m(passes_mm[:, 1] / 1000)
agreement = (expected == touched).mean()
within = stats.binomtest(int((expected == touched).sum()), len(touched)).proportion_ci(0.95, method="wilson")
print(
    f"prediction and twin agree on {100 * agreement:.0f} % of {len(touched)} shots "
    f"(95 %: {100 * within.low:.0f} to {100 * within.high:.0f} %)"
)
assert within.low > 0.85

# %% [markdown]
# ## The chance to hit
#
# Speed, azimuth and elevation scatter a little. At the target that makes an ellipse; and the chance to touch the soldier is
# the part of the shots that pass through its outline. How much scatter can it bear? At 60 cm hardly any of the speed counts,
# all of the angles does: with 5 mrad one shot in thirty misses, and with about 16 mrad, a whole degree, every other one.

# %%
aim = aim_at("G-36")
target_m = (foot_mm[0] / 1000, foot_mm[1] / 1000)


def chance(scatter: Scatter, shots: int = 20_000) -> float:
    touches = first_touches(
        cannon,
        elevations_rad=[aim.elevation_rad],
        traverses_m=[aim.traverse_m],
        azimuths_rad=[aim.azimuth_rad],
        soldiers_m=[target_m],
        figure=figure_of_a_soldier,
        bins=TouchBins((), ()),
        draws=scatter.draw(shots, 1, np.random.default_rng(2)),
    )
    return float(touches.chance()[0, 0, 0, 0])


angles_mrad = np.linspace(0, 30, 13)
chances = [chance(Scatter(0.01, angle / 1000, angle / 1000, 0.0, 0.0016)) for angle in angles_mrad]

speed_only = precision_at(cannon, aim, target_m, Scatter(0.01, 0, 0, 0, 0))
print(f"1 % of the speed alone is {1000 * speed_only.upright_m:.2f} mm in height, 60 cm away")


def fire_on_the_twin(scatter: Scatter, shots: int) -> int:
    """Count the shots that touch the soldier before anything else."""
    hits = 0
    for number in range(shots):
        draw = np.random.default_rng([3, number])
        azimuth_rad = aim.azimuth_rad + scatter.azimuth_rad * draw.standard_normal()
        elevation_rad = aim.elevation_rad + scatter.elevation_rad * draw.standard_normal()
        speed_mps = cannon.muzzle_speed_mps * (1 + scatter.speed_share * draw.standard_normal())
        table = Table(TableSettings(), {target: Side.G}, seed=number)
        x_m, y_m, z_m = cannon.muzzle_m(aim.traverse_m, azimuth_rad, elevation_rad)
        table.launch((1000 * x_m, 1000 * y_m, 1000 * z_m), azimuth_rad, elevation_rad, speed_mps, 0)
        table.advance(90_000)
        table.stop()
        contacts = table.truth().contacts
        hits += bool(contacts) and contacts[0][1] == str(target)
    return hits


fired = {}
for angle_mrad, shots in ((0.0, 25), (12.0, 60), (24.0, 60)):
    hits = fire_on_the_twin(Scatter(0.01, angle_mrad / 1000, angle_mrad / 1000, 0, 0), shots)
    interval = stats.binomtest(hits, shots).proportion_ci(0.99, method="wilson")
    fired[angle_mrad] = (shots, hits / shots, interval.low, interval.high)

plot, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
axes.plot(angles_mrad, chances, label="predicted")
for angle_mrad, (shots, share, low, high) in fired.items():
    axes.plot([angle_mrad, angle_mrad], [low, high], color="#b06d00")
    axes.annotate(f" {shots} shots", (angle_mrad, share), color="#b06d00", va="top")
    axes.plot(
        angle_mrad, share, "o", color="#b06d00", label="twin, with 99 % interval" if angle_mrad == 0 else None
    )
axes.set(
    title="Chance to hit a soldier 60 cm away, speed scatter 1 %",
    xlabel="scatter of azimuth and of elevation (mrad)",
    ylabel="chance",
    ylim=(0, 1.05),
)
axes.grid(alpha=0.3)
axes.legend()
plt.show()

# %%
assert speed_only.upright_m < 0.001
assert chances[0] > 0.99
assert 0.95 < chances[2] < 0.98
half_mrad = np.interp(-0.5, -np.array(chances), angles_mrad)
print(f"every other shot misses from {half_mrad:.1f} mrad on, {math.degrees(half_mrad / 1000):.2f} degrees")
assert 15 < half_mrad < 18
assert all(after <= before + 0.01 for before, after in itertools.pairwise(chances))
for angle_mrad, (_, _, low, high) in fired.items():
    predicted = chance(Scatter(0.01, angle_mrad / 1000, angle_mrad / 1000, 0.0, 0.0016))
    print(f"{angle_mrad:.0f} mrad: predicted {predicted:.2f}, twin {low:.2f} to {high:.2f}")
    assert low <= predicted <= high

# %% [markdown]
# ## Who stands in the way
#
# The path to the enemy's third line is higher than a helmet for less than half of its way. Whoever stands in the other half,
# in the same file, is struck instead.

# %%
in_the_file = parse_squares("A12,A20,A28,A36,A44,A52,A60,A68,G69,G61,G53,G45,G37,G29")
aim_far = aim_at("G-21")
far_mm = Square.parse("G-21").centre_mm(square_mm)
feet_m = np.array([square.centre_mm(square_mm) for square in in_the_file]) / 1000
on_the_way = clearances(cannon, aim_far, (far_mm[0] / 1000, far_mm[1] / 1000), feet_m, figure_of_a_soldier)

plot, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
over_mm = [1000 * each.over_m for each in on_the_way]
colours = ["#a02020" if each.struck else "#1e6b3a" for each in on_the_way]
axes.bar([str(in_the_file[each.soldier]) for each in on_the_way], over_mm, color=colours)
axes.axhline(0, color="black", linewidth=1)
axes.set(
    title="Air between shot and helmet on the way to G-21; red: struck",
    xlabel="square of a soldier in the same file, along the way",
    ylabel="clearance (mm)",
)
axes.tick_params(axis="x", rotation=60)
axes.grid(alpha=0.3, axis="y")
plt.show()

# %%
struck = [each.struck for each in on_the_way]
assert struck == sorted(struck), "once it is lower than the helmets it stays so"
assert 0 < struck.index(True) < len(struck) / 2
print(f"first in the way: {in_the_file[on_the_way[struck.index(True)].soldier]}")

# %% [markdown]
# ## Who falls
#
# Of the soldiers touched, not all fall; and a falling one may drag along whoever stands behind it, or the shot flies on and
# strikes another. These chances come from a table of shots on the twin's physics, at random crowds. Option iii counts only
# the bars on the left, option i all of it. Left with 95 % intervals; right the share of those who stood there, over all
# touches, both sides taken together: the
# table counts every shot as it was and in a mirror, so either column beside the middle one holds all shots, and the middle
# one each of them twice.

# %%
falls = fall_table()
print(fall_table_origin())
counts = json.loads((Path(rig.__file__).parent / "aim" / "fall_table.json").read_text(encoding="utf-8"))
fell, aimed = (np.array(counts[name])[:, 1] // 2 for name in ("fell", "touched"))
assert np.allclose(fell / aimed, falls.fell[:, 1])
plot, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
labels = [
    f"{part}\n{count} shots"
    for part, count in zip(("base and knees", "thighs", "body", "head"), aimed, strict=True)
]
intervals = [stats.binomtest(k, n).proportion_ci(0.95, "wilson") for k, n in zip(fell, aimed, strict=True)]
ends = np.array([[interval.low, interval.high] for interval in intervals]).T
left.barh(
    labels, 100 * falls.fell[:, 1], xerr=100 * np.abs(ends - falls.fell[:, 1]), color="#1b4f8f", capsize=3
)
left.set(title="Touched squarely: falls", xlabel="chance (%)", xlim=(0, 100))
beside = slice(falls.files.index(0), None)
dragged, ricochet, stood = (
    np.array(counts[name]).sum(axis=(0, 1))[:, beside] for name in ("dragged", "ricochet", "neighbours")
)
others = 100 * (dragged + ricochet) / np.maximum(stood, 1)
image = right.imshow(others, origin="lower", cmap="Oranges", vmin=0)
for row, line in enumerate(falls.lines):
    for column, file in enumerate(falls.files[beside]):
        shots = stood[row, column] // (2 if file == 0 else 1)
        text = "touched" if (line, file) == (0, 0) else f"{others[row, column]:.1f}\nof {shots}"
        light = others[row, column] > others.max() / 2
        right.text(
            column, row, text, ha="center", va="center", fontsize=8, color="white" if light else "black"
        )
right.set(
    title="Others fall: dragged or by ricochet (%)",
    xlabel="files to the side",
    ylabel="lines further away",
    xticks=range(others.shape[1]),
    xticklabels=falls.files[beside],
    yticks=range(len(falls.lines)),
    yticklabels=falls.lines,
)
plt.show()

# %%
assert intervals[3].low > intervals[0].high
assert others.argmax() == falls.lines.index(1) * others.shape[1], "right behind"

# %% [markdown]
# ## What an aim is worth
#
# Every soldier, every way to fall: the judge is asked whether it would leave. The sum of the chances is what an aim is
# worth: enemies expected to leave, less own ones. Below, the Allies fire under option i. Two Germans one behind the other are
# worth more than one. The map is of shots at the body of a soldier at each place, with the cannon opposite to it; there
# A-60 protects the Germans behind it. But the cannon may stand beside: the second aim goes past A-60 and is worth nearly
# as much as the first.

# %%
position = Position.parse("A A01-A08,A58,A60 G01-G08,G41,G42,G49,G53,G61 0/0 20/20 -")
zone = parse_squares("G25-G72")
chooser = AimChooser(position, zone, Option.I, settings.cannon, settings.board)
best = chooser.best(3)
for number, each in enumerate(best, start=1):
    leaves = ", ".join(
        f"{square} {100 * value:.0f} %" for square, value in each.leaves.items() if value > 0.01
    )
    print(f"{number}. worth {each.net:.2f}: azimuth {math.degrees(each.azimuth_rad):+.1f}°, leaves {leaves}")

board_map = chooser.board_map()
plot = draw_aim_map(
    board_map,
    position.soldiers,
    zone,
    best,
    square_mm,
    "Allies, option i: worth of aiming at each place",
)
display(plot)

# %%
only_direct = AimChooser(position, zone, Option.III, settings.cannon, settings.board)
worth = {option: only.best(1)[0].net for option, only in ((Option.I, chooser), (Option.III, only_direct))}
print(f"best aim under option i: {worth[Option.I]:.2f}, under option iii: {worth[Option.III]:.2f}")
assert best[0].net > 1.0
assert {str(best[1].main_target), str(best[2].main_target)} == {"G-61", "G-42"}
assert abs(best[1].azimuth_rad) > math.radians(2)
x_mm, y_mm = Square.parse("G-61").centre_mm(square_mm)
straight = board_map.net[np.abs(board_map.y_mm - y_mm).argmin(), np.abs(board_map.x_mm - x_mm).argmin()]
print(f"aimed straight at the body of G-61: worth {straight:.2f}")
assert straight < 0.1
assert worth[Option.I] > worth[Option.III]
assert worth[Option.III] <= 1.0
assert {each.main_target.field for each in best} == {Side.G}

# %% [markdown]
# ## And on the twin?
#
# The best aim, fired at the twin's own soldiers with the scatter that was reckoned with. What falls is judged as in a
# match, and averaged, with a 95 % interval of the mean. Expect the twin to lose somewhat more than reckoned: the table pulls
# what happened to neighbours towards their mean over all touches (`calibration.falls.PRIOR_SHOTS`), lest the search find
# the luckiest counts, and the best aims are those that strike squarely. So the aims' order is to be trusted more than their
# worth, which is good to a fifth.

# %%
first = best[0]
scatter = chooser.scatter
solved = cannon_of(Side.A, settings.cannon, settings.board)
left_board = []
for number in range(60):
    draw = np.random.default_rng([7, number])
    azimuth_rad = first.azimuth_rad + scatter.azimuth_rad * draw.standard_normal()
    elevation_rad = first.elevation_rad + scatter.elevation_rad * draw.standard_normal()
    speed_mps = solved.muzzle_speed_mps * (1 + scatter.speed_share * draw.standard_normal())
    traverse_m = first.traverse_m + scatter.traverse_m * draw.standard_normal()
    table = Table(TableSettings(), dict(position.soldiers), seed=number)
    x_m, y_m, z_m = solved.muzzle_m(traverse_m, azimuth_rad, elevation_rad)
    table.launch((1000 * x_m, 1000 * y_m, 1000 * z_m), azimuth_rad, elevation_rad, speed_mps, 0)
    table.advance(600_000)
    table.stop()
    fell = [Fall(f.square, position.soldiers[f.square], (f.cause,)) for f in table.truth().falls]
    leaving = judge(position, zone, Option.I, fell).casualties
    left_board.append(sum(position.soldiers[square] is Side.G for square in leaving))
mean = np.mean(left_board)
within = stats.t.ppf(0.975, len(left_board) - 1) * np.std(left_board, ddof=1) / math.sqrt(len(left_board))
print(f"expected {first.enemy:.2f}, on the twin {mean:.2f} ± {within:.2f} in {len(left_board)} shots")
assert mean - within < 1.2 * first.enemy
assert mean + within > first.enemy
