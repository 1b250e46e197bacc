"""The overhead camera: frames with timestamps on the controller's clock, and the clip cut around a shot."""

from rig.camera.errors import (
    CameraError,
    CameraGone,
    CameraStalled,
    FramesDropped,
    TooFewFrames,
    TooManyFrames,
    too_few,
)
from rig.camera.frame import Camera, Frame
from rig.camera.opencv_camera import OpenCvCamera
from rig.camera.ring import FrameRing

__all__ = [
    "Camera",
    "CameraError",
    "CameraGone",
    "CameraStalled",
    "Frame",
    "FrameRing",
    "FramesDropped",
    "OpenCvCamera",
    "TooFewFrames",
    "TooManyFrames",
    "too_few",
]
