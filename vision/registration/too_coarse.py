"""Pictures so coarse that nobody can be told on a square, as of a camera that hangs far too high."""

from __future__ import annotations

from vision.registration.view import BoardView
from vision.scene import Scene

__all__ = ["too_coarse"]

# Of eight recordings that were made smaller until a square was 18 px wide, 14, 11 and 7, exactly the fallen were told of 7, 7, 8 and 5;
# of two of the last the board was not found.
_LEAST_PX = 6.0


def too_coarse(scene: Scene, view: BoardView) -> str | None:
    """Say that a square is hardly wider in the picture than a few pixels; ``None`` where it is wide enough."""
    across_px = scene.square_mm / view.mm_per_px(*scene.centre_mm)
    if across_px >= _LEAST_PX:
        return None
    return (
        f"a square of the board is {across_px:.1f} px wide in the picture, and {_LEAST_PX:g} are needed: "
        "hang the camera lower, or ask it for larger pictures"
    )
