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
# # How a shot is read
#
# One shot on the twin's table, filmed from above, is read step by step: where the board is, who stands on it, the way of
# the shot, what it touched, who fell and why. The twin knows what really happened, so each step can be held against it.

# %%
import math

import cv2
import matplotlib.pyplot as plt
import numpy as np

from game.montecassino import ALL_SQUARES, Side, Square, parse_squares
from twin.pictures.camera import Camera, CameraSettings
from twin.pictures.optics import project
from twin.pictures.scene import CannonPose
from twin.table import Table, TableSettings
from vision import MarkerMap, Scene, read_shot

FIRE_US = 200_000
MUZZLE_MM = (157.5, 15.0, 48.0)
ELEVATION_RAD = math.radians(-2.0)

soldiers = {square: square.field for square in parse_squares("A01-A08,G01-G08,G60-G61,G53,G68")}
table = Table(TableSettings(), soldiers, seed=19)
camera = Camera(CameraSettings(), table, seed=19)
table.place_cannon(CannonPose(Side.A, MUZZLE_MM, 0.0, ELEVATION_RAD))
camera.advance(FIRE_US)
table.launch(MUZZLE_MM, 0.0, ELEVATION_RAD, 9.6, FIRE_US)
while not table.at_rest:
    camera.advance(table.now_us + 10_000)
camera.advance(table.now_us + 150_000)
truth = table.truth()
film = camera.poll()
frames = [frame.image for frame in film]
times_us = [frame.timestamp_us for frame in film]
print(
    f"{len(frames)} pictures; truly fell: "
    + (", ".join(f"{f.square} {f.cause}" for f in truth.falls) or "nobody")
)

# %% [markdown]
# ## What is known beforehand
#
# The lens, where the markers lie, where the muzzle stood and when the shot left. Nothing is said about who stands where.

# %%
markers = camera.markers
scene = Scene(
    square_mm=45.0,
    cannon_side=Side.A,
    fps=camera.settings.fps,
    markers=MarkerMap(
        dictionary=markers["dictionary"],
        size_mm=markers["size_mm"],
        centres_mm={int(name): tuple(centre) for name, centre in markers["centres_mm"].items()},
    ),
    intrinsics=tuple(camera.intrinsics),
    distortion=tuple(camera.distortion),
    muzzle_mm=MUZZLE_MM,
    exposure_us=camera.settings.exposure_us,
    fire_us=FIRE_US,
)
reading = read_shot(frames, times_us, scene)

# %% [markdown]
# ## The board and the soldiers
#
# The markers' corners give the camera's place in the board frame. With it every square's place in the picture is known, and
# a soldier's foot can be told from its head, which leans away from the middle of the picture. How far the board is off is
# stated as one standard deviation at its worst corner; the twin knows where the middles of the squares really are in the
# picture.

# %%
middles_mm = np.array([[*square.centre_mm(scene.square_mm), 0.0] for square in ALL_SQUARES])
middles_px = project(camera.settings.pose, camera.settings.lens, middles_mm)
board_off_mm = np.linalg.norm(reading.view.on_plane(middles_px) - middles_mm[:, :2], axis=1).max()
assert board_off_mm < 3 * reading.view.error_mm

picture = cv2.cvtColor(frames[0], cv2.COLOR_BGR2RGB)
figure, axes = plt.subplots(figsize=(10, 5.6), layout="constrained")
axes.imshow(picture)
for side, whose, colour in (
    (Side.A, "an Allied soldier", "orange"),
    (Side.G, "a German soldier", "deepskyblue"),
):
    feet = np.array([[s.x_mm, s.y_mm, 0.0] for s in reading.standing.soldiers if s.side is side])
    px = reading.view.project(feet)
    axes.plot(px[:, 0], px[:, 1], "o", mfc="none", color=colour, label=f"foot of {whose}")
axes.set(
    title=f"Soldiers found; the board is {board_off_mm:.2f} mm off at most, {reading.view.error_mm:.2f} mm was stated",
    xlabel="u (px)",
    ylabel="v (px)",
)
axes.legend(loc="lower center", ncols=2)
plt.show()

found = {s.square: s.side for s in reading.standing.soldiers}
foot_errors_mm = [
    math.hypot(reading.standing.at(s.square).x_mm - s.x_mm, reading.standing.at(s.square).y_mm - s.y_mm)
    for s in truth.before
]
print(f"feet: {np.median(foot_errors_mm):.1f} mm off in the median, {max(foot_errors_mm):.1f} mm at worst")
assert found == soldiers
assert max(foot_errors_mm) < 4

# %% [markdown]
# ## The way of the shot
#
# A single camera gives each streak a line of sight. Muzzle, gravity and drag make up for the missing depth; where the
# streaks leave the flight, the shot touched something. Along and across the board the way is good to a few millimetres from
# beginning to end. The height, which no picture shows, is good to two or three millimetres as long as the shot flies freely from the
# muzzle. After the first touch it is little more than a guess: here the shot bounced off the board 6 cm before the soldier
# that it had struck, which the reading takes to be the less likely account, and so it is seen up to 2 cm too high.

# %%
seen_us, *seen_mm = np.array(reading.track.points).T
true_us, *true_mm = np.array(truth.pellet).T
off_mm = np.array(seen_mm) - [np.interp(seen_us, true_us, along) for along in true_mm]
seen_mm, true_mm = np.array(seen_mm).T, np.array(true_mm).T
touched_us, touched = truth.contacts[0]
before = seen_us < touched_us
figure, axes = plt.subplots(2, 1, figsize=(10, 5.4), sharex=True, layout="constrained")
for axis, k, name in ((axes[0], 0, "x (mm)"), (axes[1], 2, "z (mm)")):
    axis.plot(true_mm[:, 1], true_mm[:, k], color="0.7", lw=3, label="the twin's truth")
    axis.plot(seen_mm[:, 1], seen_mm[:, k], "o", color="C1", ms=4, label="read from the pictures")
    axis.set(ylabel=name)
    axis.plot(truth.first_contact_mm[1], truth.first_contact_mm[k], "kx", label=f"{touched} is struck")
axes[0].set(title=f"The shot's way from above: from the Allies' side to {touched}, and back", ylim=(0, 360))
axes[1].set(
    title="The same from the side", xlabel="y (mm), towards the Germans", xlim=(0, 500), ylim=(-5, 80)
)
axes[0].legend()
plt.show()
for when, some in (("before", before), ("after", ~before)):
    x_off_mm, y_off_mm, z_off_mm = np.abs(off_mm[:, some]).max(axis=1)
    print(f"{when} the first touch, at most: x {x_off_mm:.1f}, y {y_off_mm:.1f}, z {z_off_mm:.1f} mm off")
    assert max(x_off_mm, y_off_mm) < 6
    assert z_off_mm < (3 if when == "before" else 30)

speed_mps, sigma_mps = reading.track.speed_mps
first = reading.contacts.first
print(f"speed at the muzzle: {speed_mps:.2f} ± {sigma_mps:.2f} m/s; truly {truth.speed_mps:.2f} m/s")
contact_off_mm = math.dist(first.point_mm[:2], truth.first_contact_mm[:2])
print(f"first touched {first.square}, {contact_off_mm:.1f} mm from the true point")
for course in reading.contacts.courses[:2]:
    print(
        f"{course.probability:.0%}: "
        + ", then ".join(str(touch.square or "the board") for touch in course.touches)
    )
assert first.square == Square.parse(touched)
assert truth.contacts[1][1] == "board"
assert contact_off_mm < 10.0
assert abs(speed_mps - truth.speed_mps) < 3 * sigma_mps

# %% [markdown]
# ## Who fell, and why
#
# Every account of the way is held against the moments at which soldiers began to move, and against who could have fallen
# onto whom. What remains is a probability for each cause.

# %%
figure, axes = plt.subplots(figsize=(8, 1.4 + 0.7 * len(reading.falls)), layout="constrained")
labels = [f"{fall.toppling.soldier.square}" for fall in reading.falls]
left = np.zeros(len(labels))
for cause in ("direct", "ricochet", "dragged", "other"):
    shares = np.array([fall.probabilities.get(cause, 0.0) for fall in reading.falls])
    axes.barh(labels, shares, left=left, label=cause)
    left += shares
axes.set(title="How likely each cause is", xlabel="probability", ylabel="fell from", xlim=(0, 1))
figure.legend(loc="outside lower center", ncols=4)
plt.show()
for fall in reading.falls:
    print(f"{fall.toppling.soldier.square}: {fall.cause}, {fall.confidence:.0%} sure; {fall.evidence}")

assert np.allclose(left, 1), "the causes shown are all there are"
assert {(f.toppling.soldier.square, f.cause) for f in reading.falls} == {
    (f.square, f.cause) for f in truth.falls
}
