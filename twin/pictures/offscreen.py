"""Drawing without a screen: MuJoCo's renderer on EGL, or on OSMesa where there is no EGL.

Everything about OpenGL happens on one thread of its own, since a context belongs to one thread at a time and
pictures may be asked for from any.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from twin.pictures.optics import Lens, Pose, Rect
from twin.pictures.stage import Stage
from twin.pictures.stage_model import GROUND_GROUP

_NEAR_M = 0.3
_FAR_M = 4.0
_Result = TypeVar("_Result")


class OffscreenError(RuntimeError):
    """Drawing without a screen does not work on this machine."""


def _gl_context(width: int, height: int) -> Any:
    """Return an OpenGL context for drawing without a screen.

    The environment variable MUJOCO_GL chooses ``egl`` or ``osmesa``; otherwise the first that is there is taken.
    """
    chosen = os.environ.get("MUJOCO_GL", "").lower()
    wanted = [chosen] if chosen in ("egl", "osmesa") else ["egl", "osmesa"]
    faults = []
    for name in wanted:
        library = {"egl": "libEGL.so.1", "osmesa": "libOSMesa.so.8"}[name]
        try:
            ctypes.CDLL(library)
        except OSError:
            faults.append(f"{name}: {library} is not there")
            continue
        try:
            if name == "egl":
                from mujoco.egl import GLContext  # noqa: PLC0415 - only what is chosen may be loaded
            else:
                from mujoco.osmesa import GLContext  # noqa: PLC0415
            return GLContext(width, height)
        except Exception as error:  # PyOpenGL raises a dozen kinds
            faults.append(f"{name}: {error}")
    raise OffscreenError(
        "cannot draw pictures without a screen; on Debian install libegl1 and libgl1 (EGL) or libosmesa6 "
        f"(OSMesa): {'; '.join(faults)}"
    )


@dataclass(frozen=True, slots=True)
class _View:
    """An eye and what it sees: slopes of the four edges against the view, and the size in pixels."""

    position_m: NDArray[np.float64]
    forward: NDArray[np.float64]
    up: NDArray[np.float64]
    left: float
    right: float
    top: float
    bottom: float
    width: int
    height: int


class Offscreen:
    """Draws parts of a stage as a camera sees it, without the lens's distortion.

    Parameters
    ----------
    make_stage : callable
        Makes the stage; called on the drawing thread.
    picture_px : (width, height)
        The largest part that will be drawn.

    Raises
    ------
    OffscreenError
        If neither EGL nor OSMesa works here.
    """

    def __init__(self, make_stage: Callable[[], Stage], picture_px: tuple[int, int]) -> None:
        self.picture_px = picture_px
        """(width, height) of the largest part that can be drawn."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="drawing")
        try:
            self.stage = self._run(lambda: self._open(make_stage, picture_px))
        except BaseException:
            self._thread.shutdown()
            raise

    def _run(self, work: Callable[[], _Result]) -> _Result:
        return self._thread.submit(work).result()

    def _open(self, make_stage: Callable[[], Stage], picture_px: tuple[int, int]) -> Stage:
        self._gl = _gl_context(*picture_px)
        self._gl.make_current()
        stage = make_stage()
        self._context: Any = mujoco.MjrContext(stage.model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene: Any = mujoco.MjvScene(stage.model, maxgeom=4000)
        flags = mujoco.mjtRndFlag
        for flag in (flags.mjRND_SHADOW, flags.mjRND_REFLECTION, flags.mjRND_SKYBOX):
            self._scene.flags[flag] = 0
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        return stage

    def draw(
        self, part: Rect, pose: Pose, lens: Lens, arrange: Callable[[Stage], None]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Draw a part of the picture, without shadows.

        Parameters
        ----------
        part : Rect
            Which pixels of the pinhole picture; may reach beyond the sensor.
        pose, lens : Pose, Lens
            The camera; the lens's distortion is left to the caller.
        arrange : callable
            Puts everything in its place on the stage.

        Returns
        -------
        picture : (height, width, 3) array
            Red, green, blue.
        depth_mm : (height, width) array
            Distance along the view.
        """
        rotation, _ = pose.camera_from_board
        fx, fy, cx, cy = lens.intrinsics
        view = _View(
            position_m=pose.position_mm / 1e3,
            forward=rotation[2],
            up=-rotation[1],
            left=(part.left - 0.5 - cx) / fx,
            right=(part.right - 0.5 - cx) / fx,
            top=-(part.top - 0.5 - cy) / fy,
            bottom=-(part.bottom - 0.5 - cy) / fy,
            width=part.width,
            height=part.height,
        )

        def arranged() -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
            arrange(self.stage)
            return self._look(view, ground=True)

        return self._run(arranged)

    def shadow(
        self, lamp_mm: tuple[float, float, float], ground: Rect, pixels_per_mm: float
    ) -> NDArray[np.bool_]:
        """Return where on the playing surface the light of a lamp does not come, with all in its place as last drawn.

        Seen from the lamp straight down, the surface lies parallel to the picture: what hides a pixel of it casts a
        shadow on just that place.

        Parameters
        ----------
        lamp_mm : (x, y, z)
            The lamp, board frame.
        ground : Rect
            The part of the surface, in whole mm: columns are y and rows are x of the board.
        pixels_per_mm : float
            Resolution of the answer.

        Returns
        -------
        (rows, columns) array
            Rows go with x, columns with y.
        """
        x_mm, y_mm, z_mm = lamp_mm
        view = _View(
            position_m=np.array(lamp_mm) / 1e3,
            forward=np.array([0.0, 0.0, -1.0]),
            up=np.array([-1.0, 0.0, 0.0]),
            left=(ground.left - y_mm) / z_mm,
            right=(ground.right - y_mm) / z_mm,
            top=-(ground.top - x_mm) / z_mm,
            bottom=-(ground.bottom - x_mm) / z_mm,
            width=math.ceil(ground.width * pixels_per_mm),
            height=math.ceil(ground.height * pixels_per_mm),
        )
        _, depth_mm = self._run(lambda: self._look(view, ground=False))
        return np.asarray(depth_mm < _FAR_M * 999.0)

    def _look(self, view: _View, *, ground: bool) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        stage = self.stage
        self._gl.make_current()
        self._options.geomgroup[GROUND_GROUP] = int(ground)
        mujoco.mjv_updateScene(
            stage.model,
            stage.data,
            self._options,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            self._scene,
        )
        for eye in self._scene.camera:
            eye.pos, eye.forward, eye.up = view.position_m, view.forward, view.up
            eye.orthographic = 0
            eye.frustum_near, eye.frustum_far = _NEAR_M, _FAR_M
            eye.frustum_center = (view.left + view.right) / 2 * _NEAR_M
            eye.frustum_width = (view.right - view.left) / 2 * _NEAR_M
            eye.frustum_top, eye.frustum_bottom = view.top * _NEAR_M, view.bottom * _NEAR_M
        port = mujoco.MjrRect(0, 0, view.width, view.height)
        mujoco.mjr_render(port, self._scene, self._context)
        picture = np.empty((view.height, view.width, 3), np.uint8)
        depth = np.empty((view.height, view.width), np.float32)
        mujoco.mjr_readPixels(picture, depth, port, self._context)
        # Reversed depth: 1 at the near plane, 0 at the far one. Rows come from the bottom up.
        near_mm, far_mm = np.float32(_NEAR_M * 1e3), np.float32(_FAR_M * 1e3)
        depth_mm = near_mm * far_mm / (near_mm + depth[::-1] * (far_mm - near_mm))
        return picture[::-1], depth_mm

    def close(self) -> None:
        """Give the drawing surface back."""
        self._run(self._close)
        self._thread.shutdown()

    def _close(self) -> None:
        self._gl.make_current()
        self._context.free()
        self._gl.free()
