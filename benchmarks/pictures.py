"""CPU time of a picture that the twin draws."""

from __future__ import annotations

import time

import mujoco
import numpy as np
from mujoco.egl import GLContext

from benchmarks.figure import Figure
from game.montecassino import Side, parse_squares
from twin.pictures.camera import Camera, CameraSettings
from twin.pictures.scene import Arrangement
from twin.pictures.stage import Stage
from twin.table import Table, TableSettings

_SOLDIERS = {
    square: side
    for squares, side in (("A01-A24", Side.A), ("G01-G24", Side.G))
    for square in parse_squares(squares)
}
_BEFORE_US = 300_000
_AFTER_US = 1_500_000
_BARE_PICTURES = 20


def measure() -> list[Figure]:
    """Draw a shot."""
    table = Table(TableSettings(), _SOLDIERS)
    settings = CameraSettings()
    camera = Camera(settings, table)
    try:
        camera.advance(_BEFORE_US)
        table.launch((180.0, 15.0, 50.0), 0.0, -0.03, 9.6, _BEFORE_US)
        camera.advance(_BEFORE_US + _AFTER_US)
        frames = camera.poll()
        _ = frames[0].image  # sets the drawing up, once a session
        begun_s = time.process_time()
        for frame in frames[1:]:
            _ = frame.image
        drawing_ms = 1000 * (time.process_time() - begun_s) / (len(frames) - 1)
    finally:
        camera.close()
    return [
        Figure(
            f"twin, a picture of {settings.lens.width_px} x {settings.lens.height_px} in a shot, CPU",
            drawing_ms,
            "ms",
            "MuJoCo alone draws the same soldiers",
            _bare_ms(table.arrangement()[1], settings),
        )
    ]


def _bare_ms(arrangement: Arrangement, settings: CameraSettings) -> float:
    """Return the CPU time of MuJoCo's own picture of the table, with lights and shadows as it makes them."""
    width, height = settings.lens.width_px, settings.lens.height_px
    gl = GLContext(width, height)
    gl.make_current()
    stage = Stage(settings.look, TableSettings(), slots=len(_SOLDIERS), picture_px=(width, height))
    stage.arrange(arrangement, np.ones(len(_SOLDIERS), dtype=bool))
    context = mujoco.MjrContext(stage.model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
    scene = mujoco.MjvScene(stage.model, maxgeom=4000)
    eye = mujoco.MjvCamera()
    eye.lookat[:] = settings.pose.aim_mm[0] / 1000, settings.pose.aim_mm[1] / 1000, 0.0
    eye.distance, eye.elevation, eye.azimuth = settings.pose.height_mm / 1000, -90.0, 0.0
    port = mujoco.MjrRect(0, 0, width, height)
    picture = np.empty((height, width, 3), np.uint8)
    begun_s = 0.0
    for number in range(_BARE_PICTURES + 1):
        if number == 1:  # the first sets things up
            begun_s = time.process_time()
        mujoco.mjv_updateScene(
            stage.model,
            stage.data,
            mujoco.MjvOption(),
            None,
            eye,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            scene,
        )
        mujoco.mjr_render(port, scene, context)
        mujoco.mjr_readPixels(picture, None, port, context)
    bare_ms = 1000 * (time.process_time() - begun_s) / _BARE_PICTURES
    context.free()
    gl.free()
    assert picture.std() > 10, "MuJoCo has drawn nothing"
    return bare_ms
