"""The muzzle as it was told, held against what is seen: a slip of a digit puts it where no cannon's is."""

from __future__ import annotations

from vision.registration import BoardView
from vision.scene import Scene
from vision.shot import ShotTrack

__all__ = ["muzzle_too_high", "unseen_from_high"]

# A camera that sees a board at all stands high above it; nearer to the camera, a shot would look larger than a square.
_MOST_OF_CAMERA = 0.5
_HIGH_SQUARES = 3.0  # usual is one


def muzzle_too_high(scene: Scene, view: BoardView) -> str | None:
    """Say that the muzzle would be too near the camera's height for a shot to be followed; ``None`` where it is not."""
    if scene.muzzle_mm is None or scene.muzzle_mm[2] <= _MOST_OF_CAMERA * view.camera_mm[2]:
        return None
    return (
        f"the muzzle would be {scene.muzzle_mm[2]:.0f} mm above the board, and the camera stands "
        f"{view.camera_mm[2]:.0f} mm above it: is the z of cannon.muzzle_mm in mm?"
    )


def unseen_from_high(scene: Scene, track: ShotTrack) -> tuple[str, ...]:
    """Note that no shot is seen to come from a muzzle that is told unusually high."""
    if track.found or scene.muzzle_mm is None or scene.muzzle_mm[2] <= _HIGH_SQUARES * scene.square_mm:
        return ()
    return (
        f"no shot is seen to come from cannon.muzzle_mm, which is {scene.muzzle_mm[2]:.0f} mm above the board: is its z right?",
    )
