"""Networks that were trained, loaded once for each thread: two threads must not share one of OpenCV's."""

from __future__ import annotations

import threading
from importlib import resources

import cv2
import numpy as np

__all__ = ["trained_net"]


class _Loaded(threading.local):
    def __init__(self) -> None:
        self.nets: dict[tuple[str, str], cv2.dnn.Net] = {}


_loaded = _Loaded()


def trained_net(package: str, name: str) -> cv2.dnn.Net:
    """Return a network that lies in a package as ONNX, for this thread alone.

    Parameters
    ----------
    package
        The package's name, ``vision.falls`` for one.
    name
        The file's name.
    """
    if (package, name) not in _loaded.nets:
        kept = np.frombuffer((resources.files(package) / name).read_bytes(), dtype=np.uint8)
        _loaded.nets[package, name] = cv2.dnn.readNetFromONNX(kept)
    return _loaded.nets[package, name]
