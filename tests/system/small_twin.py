"""A twin with a small, slow camera: everything is real, and cheaper to draw; and rigs that fire at it."""

import multiprocessing

# Each rig is a process of its own, forked from one that has loaded the programs: that takes as long as a shot.
RIGS = multiprocessing.get_context("forkserver")
RIGS.set_forkserver_preload(
    [
        *("alembic.command", "pytest", "rig.aim.pointing", "rig.cli.arguments.orders", "rig.cli.opening.rig"),
        *("rig.cli.opening.twin", "rig.cli.shoot", "rig.eye", "rig.log", "rig.match", "twin.twin"),
    ]
)

SMALL_TWIN = """
[camera]
width_px = 640
height_px = 360
fps = 60.0
exposure_us = 1000
intrinsics_px = [780.0, 780.0, 319.5, 179.5]

[game]
position = "A A01-A08,A50,A58 G01-G08,G53,G61 0/0 20/20 -"

[twin]
seed = {seed}
"""
