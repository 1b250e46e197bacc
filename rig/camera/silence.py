"""A camera that hangs while somebody looks at what it sees."""

from __future__ import annotations

import time

from rig.camera.errors import CameraStalled
from rig.camera.frame import Camera

__all__ = ["Silence"]

_LONGEST_S = 2.0  # a shot is refused sooner (camera.stall_s); whoever looks on is not sent away for a hiccup


class Silence:
    """For how long a camera has given nothing, from when it is first asked on."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._since_s = time.monotonic()

    def broken(self) -> None:
        """Pictures came."""
        self._since_s = time.monotonic()

    def lasts(self) -> None:
        """None came.

        Raises
        ------
        CameraStalled
            Where none has come for so long that the camera hangs.
        """
        silent_s = time.monotonic() - self._since_s
        if silent_s > max(_LONGEST_S, 3 / self._camera.fps):
            raise CameraStalled(self._camera.name, round(1e6 * silent_s), round(1e6 / self._camera.fps))
