"""The muzzle as it was told, held against what is seen: a slip of a digit puts it where no cannon's is."""

from __future__ import annotations

from game.montecassino import Side
from vision.registration import BoardView
from vision.scene import Scene
from vision.shot import ShotTrack

__all__ = ["muzzle_too_high", "unseen_from_odd"]

# A camera that sees a board at all stands high above it; nearer to the camera, a shot would look larger than a square.
_MOST_OF_CAMERA = 0.5
_HIGH_SQUARES = 3.0  # usual is one
_FORWARD_SQUARES = 2.0  # past the edge of its side's first line; usual is half of one


def muzzle_too_high(scene: Scene, view: BoardView) -> str | None:
    """Say that the muzzle would be too near the camera's height for a shot to be followed; ``None`` where it is not."""
    if scene.muzzle_mm is None or scene.muzzle_mm[2] <= _MOST_OF_CAMERA * view.camera_mm[2]:
        return None
    return (
        f"the muzzle would be {scene.muzzle_mm[2]:.0f} mm above the board, and the camera stands "
        f"{view.camera_mm[2]:.0f} mm above it: is the z of cannon.muzzle_mm in mm?"
    )


def unseen_from_odd(scene: Scene, track: ShotTrack) -> tuple[str, ...]:
    """Note that no shot is seen to come from a muzzle that is told unusually high, or far over the board."""
    if track.found or scene.muzzle_mm is None:
        return ()
    _, y_mm, z_mm = scene.muzzle_mm
    over_mm = y_mm if scene.cannon_side is Side.A else scene.length_mm - y_mm
    told = "no shot is seen to come from cannon.muzzle_mm, which is"
    notes = []
    if over_mm > _FORWARD_SQUARES * scene.square_mm:
        notes.append(
            f"{told} {over_mm:.0f} mm past the edge of {scene.cannon_side}'s first line: is its y right?"
        )
    if z_mm > _HIGH_SQUARES * scene.square_mm:
        notes.append(f"{told} {z_mm:.0f} mm above the board: is its z right?")
    return tuple(notes)
