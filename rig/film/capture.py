"""Opening films, cameras and streams through OpenCV, whose decoder says nothing beside our own sentences."""

import os
from pathlib import Path

import cv2

from rig.keys.camera import is_device_number

__all__ = ["as_file", "open_capture"]

# Read once in a process, by the first capture that is opened.
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")


def open_capture(source: str) -> cv2.VideoCapture:
    """Open a device by its number, or a file or URL; whether it did open is for the caller to ask."""
    # OpenCV's own warnings ("can't open camera by index") say less than ours.
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    if is_device_number(source):
        return cv2.VideoCapture(int(source))
    path = Path(source)
    return cv2.VideoCapture(as_file(path) if path.is_file() else source)


def as_file(path: Path) -> str:
    """Name a file so that FFmpeg takes it for one: "12:30/clip.mkv" by itself is to it the address of a stream."""
    return str(path) if path.is_absolute() else f"./{path}"
