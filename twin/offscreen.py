"""Drawing without a screen: MuJoCo's renderer on EGL, or on OSMesa where there is no EGL.

Everything about OpenGL happens on one thread of its own, since a context belongs to one thread at a time and
pictures may be asked for from any.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from twin.optics import Lens, Pose, Rect
from twin.stage import Stage

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
        for flag in (mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_SKYBOX):
            self._scene.flags[flag] = 0
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        return stage

    def draw(
        self,
        part: Rect,
        pose: Pose,
        lens: Lens,
        arrange: Callable[[Stage], None],
        *,
        shadows: bool = True,
        with_depth: bool = False,
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32] | None]:
        """Draw a part of the picture.

        Parameters
        ----------
        part : Rect
            Which pixels of the pinhole picture; may reach beyond the sensor.
        pose, lens : Pose, Lens
            The camera; the lens's distortion is left to the caller.
        arrange : callable
            Puts everything in its place on the stage.
        shadows : bool
            Whether to draw shadows; most of the cost.
        with_depth : bool
            Whether to return the depth too.

        Returns
        -------
        picture : (height, width, 3) array
            Red, green, blue.
        depth_m : (height, width) array or None
            Distance along the view.
        """
        return self._run(lambda: self._draw(part, pose, lens, arrange, shadows, with_depth))

    def _draw(
        self,
        part: Rect,
        pose: Pose,
        lens: Lens,
        arrange: Callable[[Stage], None],
        shadows: bool,
        with_depth: bool,
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32] | None]:
        stage = self.stage
        self._gl.make_current()
        arrange(stage)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = int(shadows)
        mujoco.mjv_updateScene(
            stage.model,
            stage.data,
            self._options,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            self._scene,
        )
        rotation, _ = pose.camera_from_board
        fx, fy, cx, cy = lens.intrinsics
        left, right = ((edge - 0.5 - cx) / fx * _NEAR_M for edge in (part.left, part.right))
        top, bottom = (-(edge - 0.5 - cy) / fy * _NEAR_M for edge in (part.top, part.bottom))
        for eye in self._scene.camera:
            eye.pos = pose.position_mm / 1e3
            eye.forward = rotation[2]
            eye.up = -rotation[1]
            eye.orthographic = 0
            eye.frustum_near, eye.frustum_far = _NEAR_M, _FAR_M
            eye.frustum_center = (left + right) / 2
            eye.frustum_width = (right - left) / 2
            eye.frustum_top, eye.frustum_bottom = top, bottom
        view = mujoco.MjrRect(0, 0, part.width, part.height)
        mujoco.mjr_render(view, self._scene, self._context)
        picture = np.empty((part.height, part.width, 3), np.uint8)
        depth = np.empty((part.height, part.width), np.float32) if with_depth else None
        mujoco.mjr_readPixels(picture, depth, view, self._context)
        if depth is None:
            return picture[::-1], None
        # Reversed depth: 1 at the near plane, 0 at the far one.
        depth_m = _NEAR_M * _FAR_M / (_NEAR_M + depth[::-1] * (_FAR_M - _NEAR_M))
        return picture[::-1], depth_m.astype(np.float32)

    def close(self) -> None:
        """Give the drawing surface back."""
        self._run(self._close)
        self._thread.shutdown()

    def _close(self) -> None:
        self._gl.make_current()
        self._context.free()
        self._gl.free()
