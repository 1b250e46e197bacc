"""Where the camera stands in the board frame, from markers or from the board's own lines."""

from vision.registration.camera_pose import only_roughly, register
from vision.registration.view import BoardView, EitherWay, NoBoard

__all__ = ["BoardView", "EitherWay", "NoBoard", "only_roughly", "register"]
