"""A view of the board whose pixels are its millimetres, for tests of what is drawn on a picture."""

import numpy as np

from vision import BoardView

__all__ = ["straight_down"]


def straight_down() -> BoardView:
    """A camera 1250 mm over the middle of the board, 1 mm a pixel, +y of the board to the right."""
    return BoardView(
        camera_matrix=np.array([[1250.0, 0.0, 500.0], [0.0, 1250.0, 300.0], [0.0, 0.0, 1.0]]),
        distortion=np.zeros(5),
        rotation=np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]),
        translation_mm=np.array([-405.0, -180.0, 1250.0]),
        width_px=1000,
        height_px=600,
        error_mm=0.1,
    )
